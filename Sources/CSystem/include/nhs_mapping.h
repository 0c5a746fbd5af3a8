/*
 * The one door through which files are mapped. A mapped page that can't be had (a full disk, an error of the disk, a file
 * that somebody cut) is the signal SIGBUS at the first touch, which would end the process. Here the touch goes on with
 * zeros that are this process's own, and the mapping is known to be broken from then on.
 */
#ifndef NHS_MAPPING_H
#define NHS_MAPPING_H

#include <stddef.h>
#include <stdint.h>

typedef struct nhs_mapping {
    void *base;
    size_t length;
    /* Not 0 once a touch has failed. Valid until the mapping is unmade. */
    const uint32_t *broken;
} nhs_mapping;

typedef enum nhs_map_access {
    NHS_MAP_READ,
    /* What is written reaches the file. */
    NHS_MAP_SHARED,
    /* What is written stays in this process. Without a file (-1) all of it is zeros. */
    NHS_MAP_PRIVATE,
} nhs_map_access;

/*
 * Maps a part of a file. 0, or a negated error number.
 *
 * When a touch of what may be written fails, all of the mapping becomes zeros: nothing that is written after it reaches the
 * file, as if the process had been killed at that moment, though this process reads it back. Of what is only read, the page
 * becomes zeros.
 *
 * The first call installs a handler of SIGBUS for the process, which passes on what is no failed touch of these mappings. A
 * thread that touches one must not have SIGBUS blocked: the kernel ends the process then.
 */
int nhs_map_file(int fd, int64_t offset, size_t length, nhs_map_access access, nhs_mapping *made);
/*
 * Maps another opening of the same file where a broken mapping is, of which a touch may come at any moment. It is whole then,
 * unless a touch fails in that moment. 0, or a negated error number.
 */
int nhs_map_again(const nhs_mapping *mapping, int fd, int64_t offset);
/* Nobody touches it any more. */
void nhs_unmap_file(const nhs_mapping *mapping);

/*
 * Whether a touch of the mapping has failed. Whoever asks after reading knows whether what was read may have been zeros; who
 * asks after writing, whether it may not have reached the file.
 */
static inline int nhs_is_broken(const uint32_t *broken) {
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
    return __atomic_load_n(broken, __ATOMIC_RELAXED) != 0;
}

/* Counts the touches of all mappings that have failed in this process. */
__attribute__((visibility("hidden"))) extern uint64_t nhs_failed_touch_count;
static inline uint64_t nhs_failed_touches(void) { return __atomic_load_n(&nhs_failed_touch_count, __ATOMIC_ACQUIRE); }

#endif
