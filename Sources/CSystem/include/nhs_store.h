/* What a store of mapped files needs: atomics on mapped memory, checksums, and Linux calls that Swift does not show. */
#ifndef NHS_STORE_H
#define NHS_STORE_H

#include <stddef.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Atomics on memory that other processes map too. Swift's Atomic owns its storage and can't be laid over a mapping.
 * Every address is aligned to the size of what is read. Names without an order are relaxed.
 */
static inline uint8_t nhs_load8(const void *at) { return __atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED); }
static inline void nhs_store8(void *at, uint8_t value) { __atomic_store_n((uint8_t *)at, value, __ATOMIC_RELAXED); }
static inline uint32_t nhs_load32(const void *at) { return __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED); }
static inline uint32_t nhs_load32_acquire(const void *at) {
    return __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
}
static inline uint64_t nhs_load64_acquire(const void *at) { return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE); }
static inline uint64_t nhs_load64(const void *at) { return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED); }
static inline void nhs_store32(void *at, uint32_t value) { __atomic_store_n((uint32_t *)at, value, __ATOMIC_RELAXED); }
static inline void nhs_store32_release(void *at, uint32_t value) {
    __atomic_store_n((uint32_t *)at, value, __ATOMIC_RELEASE);
}
static inline void nhs_store64_release(void *at, uint64_t value) { __atomic_store_n((uint64_t *)at, value, __ATOMIC_RELEASE); }
static inline void nhs_store64(void *at, uint64_t value) { __atomic_store_n((uint64_t *)at, value, __ATOMIC_RELAXED); }
/* The value before the addition, which wraps. */
static inline uint32_t nhs_add32(void *at, uint32_t amount) {
    return __atomic_fetch_add((uint32_t *)at, amount, __ATOMIC_ACQ_REL);
}
static inline uint64_t nhs_add64(void *at, uint64_t amount) {
    return __atomic_fetch_add((uint64_t *)at, amount, __ATOMIC_ACQ_REL);
}
static inline void nhs_or32(void *at, uint32_t bits) { __atomic_fetch_or((uint32_t *)at, bits, __ATOMIC_RELAXED); }
/* Stores `desired` where `expected` stands; 1 when it did. */
static inline int nhs_swap32(void *at, uint32_t expected, uint32_t desired) {
    return __atomic_compare_exchange_n((uint32_t *)at, &expected, desired, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
static inline int nhs_swap64(void *at, uint64_t expected, uint64_t desired) {
    return __atomic_compare_exchange_n((uint64_t *)at, &expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
/* The value before. */
static inline uint64_t nhs_or64(void *at, uint64_t bits) { return __atomic_fetch_or((uint64_t *)at, bits, __ATOMIC_ACQ_REL); }
static inline uint64_t nhs_and64(void *at, uint64_t bits) { return __atomic_fetch_and((uint64_t *)at, bits, __ATOMIC_ACQ_REL); }
/* Begins to fetch a line, which may be anywhere. */
static inline void nhs_prefetch(const void *at) { __builtin_prefetch(at); }
static inline void nhs_fence_acquire(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
static inline void nhs_fence_release(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }

/* How long the calling thread waits for locks, in nanoseconds, and until when; zeros where it has not said so. */
typedef struct nhs_patience_state {
    int64_t length, deadline;
} nhs_patience_state;
nhs_patience_state nhs_patience(void);
void nhs_set_patience(nhs_patience_state state);

/* Sleeps for so many nanoseconds, or less when a signal comes. */
void nhs_nap(int64_t nanoseconds);

/* The name of the program, in 16 bytes that end with a zero. */
void nhs_program_name(char name[16]);

/* XXH3. The two halves of the 128-bit hash, and the 64-bit one. */
void nhs_hash128(const void *bytes, size_t count, uint64_t seed, uint64_t *low, uint64_t *high);
uint64_t nhs_hash64(const void *bytes, size_t count, uint64_t seed);

/* The same 64-bit hash (seed 0) of bytes that come in pieces. NULL when there is no memory. */
typedef struct nhs_hasher nhs_hasher;
nhs_hasher *nhs_hasher_new(void);
void nhs_hasher_add(nhs_hasher *hasher, const void *bytes, size_t count);
uint64_t nhs_hasher_value(const nhs_hasher *hasher);
void nhs_hasher_free(nhs_hasher *hasher);

/* What a search for a hash found in an index: the slot's number, and what the slot says. */
typedef struct nhs_slot {
    ptrdiff_t place;
    uint32_t pack, offset, flags;
} nhs_slot;

/*
 * Looks a hash up among `count` slots (docs/FORMAT.md, "The index"). 1: found; 0: not there, or in a slot that its writer died
 * in. Nothing that it reads is believed.
 */
int nhs_find_slot(const void *slots, ptrdiff_t count, uint64_t low, uint64_t high, nhs_slot *found);

/* What a record's header says. */
typedef struct nhs_record {
    ptrdiff_t payload, length;
    uint64_t checksum, sequence;
    uint32_t width, height;
    uint8_t form;
    /* Not said by `nhs_match_record`, which is asked for one of them. */
    uint8_t kind, is_retired;
    uint16_t key_length;
} nhs_record;

/* The checksum of a record's header and key, at an offset of a pack. */
uint64_t nhs_record_checksum(const void *record, size_t key_length, ptrdiff_t offset, uint64_t salt);

/* The record at an offset of a pack of `count` bytes, retired or not, if its header holds (docs/FORMAT.md, "A record"). 0 or 1. */
int nhs_read_record(const void *pack, ptrdiff_t count, ptrdiff_t offset, uint64_t salt, nhs_record *found);

/* The same, if it is one of this key that isn't retired. 0 or 1. */
int nhs_match_record(const void *pack, ptrdiff_t count, ptrdiff_t offset, uint64_t salt, uint8_t kind, const void *key,
                     ptrdiff_t key_length, nhs_record *found);

/* How many of these bytes, from the first on, are 0. */
size_t nhs_count_zeros(const void *bytes, size_t count);

/* A small number that stays with the calling thread; threads get 0, 1, 2 … in turn. */
uint32_t nhs_thread_number(void);

/*
 * A lock of one word, for a few instructions at a time: 0 free, 1 taken, 2 taken and waited for. In line, because it
 * costs half of what a pthread mutex does where nobody else wants it.
 */
void nhs_word_wait(uint32_t *word);
/* The same until a time on the monotonic clock. 0 when it isn't free by then. */
int nhs_word_wait_until(uint32_t *word, int64_t deadline);
void nhs_word_wake(uint32_t *word);
static inline int nhs_word_try(void *at) {
    uint32_t expected = 0;
    return __atomic_compare_exchange_n((uint32_t *)at, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
static inline void nhs_word_lock(void *at) {
    if (!nhs_word_try(at)) nhs_word_wait((uint32_t *)at);
}
static inline void nhs_word_unlock(void *at) {
    uint32_t *word = (uint32_t *)at;
    if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2) nhs_word_wake(word);
}

/* Each returns what the call returns, or the negated error number. An interrupted call is begun again. */
int nhs_openat(int directory, const char *name, int flags, unsigned mode);
int nhs_mkdirat(int directory, const char *name, unsigned mode);
int nhs_symlinkat(int directory, const char *name, const char *target);
int nhs_unlinkat(int directory, const char *name);
/* Without `replaces`, EEXIST when `to` is there already. */
int nhs_renameat(int directory, const char *from, const char *to, int replaces);
int nhs_ftruncate(int fd, int64_t size);
int nhs_reserve(int fd, int64_t offset, int64_t length);
int nhs_punch(int fd, int64_t offset, int64_t length);
ssize_t nhs_pwritev(int fd, const struct iovec *parts, int count, int64_t offset);
/* Zeros, `length` of them. How many were written. */
ssize_t nhs_write_zeros(int fd, int64_t offset, size_t length);
ssize_t nhs_pread(int fd, void *bytes, size_t count, int64_t offset);
/*
 * Sees to it that all pages of a mapping are there and may be written: what else would be a signal at the first touch is an
 * error now.
 */
int nhs_populate(void *base, size_t length);
/* 0x10000 × the kernel's version + its second number. */
uint32_t nhs_kernel_version(void);
/* Where written bytes begin, from `offset` on; -ENXIO when there are none. */
int64_t nhs_data_begins(int fd, int64_t offset);
// Where the next hole begins, or the file ends.
int64_t nhs_data_ends(int fd, int64_t offset);

/* The kind of file system, the magic number of statfs(2), or a negated error number. */
int64_t nhs_file_system(int fd);

/*
 * A lock of one byte that belongs to the open file, not to the process (an OFD lock): the kernel frees it with the last
 * descriptor. `kind` is 'r' (shared), 'w' (exclusive) or 'u' (unlock). Without `waits`, -EAGAIN when somebody has it.
 */
int nhs_lock_byte(int fd, int64_t byte, char kind, int waits);

/* Calls `each` with every name in the directory but "." and "..". */
int nhs_list(int directory, void (*each)(void *context, const char *name), void *context);

#endif
