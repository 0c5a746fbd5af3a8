/*
 * Maps files. If a page of a mapping can't be read or written (a full disk, a disk error, a truncated file), the kernel
 * sends SIGBUS at the first access, which would kill the process. Here the access continues with zeros that belong to
 * this process, and the mapping is marked as broken from then on.
 */
#ifndef NHS_MAPPING_H
#define NHS_MAPPING_H

#include <stddef.h>
#include <stdint.h>

typedef struct nhs_mapping {
    void *base;
    size_t length;
    /* Not 0 after an access has failed. Valid until the mapping is unmapped. */
    const uint32_t *broken;
} nhs_mapping;

typedef enum nhs_map_access {
    NHS_MAP_READ,
    /* Writes reach the file. */
    NHS_MAP_SHARED,
    /* Writes stay in this process. Without a file (-1) it is all zeros. */
    NHS_MAP_PRIVATE,
} nhs_map_access;

/*
 * Maps a part of a file. Returns 0, or a negated error number.
 *
 * If an access to a writable mapping fails, the whole mapping becomes zeros: later writes don't reach the file, as if
 * the process had been killed at that moment, though this process reads them back. In a read-only mapping only the page
 * becomes zeros.
 *
 * The first call installs a SIGBUS handler for the process. It passes on signals that don't come from these mappings. A
 * thread that accesses a mapping must not have SIGBUS blocked: the kernel would kill the process.
 */
int nhs_map_file(int fd, int64_t offset, size_t length, nhs_map_access access, nhs_mapping *made);
/*
 * Maps the same file from another descriptor in the place of a broken mapping, which other threads may access
 * meanwhile. The mapping is intact then, unless an access fails at that moment. Returns 0, or a negated error number.
 */
int nhs_map_again(const nhs_mapping *mapping, int fd, int64_t offset);
/* Unmaps it. No thread may access it any more. */
void nhs_unmap_file(const nhs_mapping *mapping);

/*
 * Returns whether an access to the mapping has failed. After reading, it tells whether the result may have been zeros;
 * after writing, whether the data may not have reached the file.
 */
static inline int nhs_is_broken(const uint32_t *broken) {
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
    return __atomic_load_n(broken, __ATOMIC_RELAXED) != 0;
}

/* Counts the failed accesses to all mappings in this process. */
__attribute__((visibility("hidden"))) extern uint64_t nhs_failed_touch_count;
static inline uint64_t nhs_failed_touches(void) { return __atomic_load_n(&nhs_failed_touch_count, __ATOMIC_ACQUIRE); }

#endif
