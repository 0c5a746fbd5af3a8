/* Support for the store: atomics on mapped memory, checksums, searches, locks, and Linux calls that Swift lacks. */
#ifndef NHS_STORE_H
#define NHS_STORE_H

#include <stddef.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Atomics on memory that other processes map, too. Swift's Atomic owns its storage and can't be placed on a mapping.
 * Every address is aligned to the size of its value. Functions without an order in their names are relaxed.
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
/* Returns the value before the addition, which wraps. */
static inline uint32_t nhs_add32(void *at, uint32_t amount) {
    return __atomic_fetch_add((uint32_t *)at, amount, __ATOMIC_ACQ_REL);
}
static inline uint64_t nhs_add64(void *at, uint64_t amount) {
    return __atomic_fetch_add((uint64_t *)at, amount, __ATOMIC_ACQ_REL);
}
static inline void nhs_or32(void *at, uint32_t bits) { __atomic_fetch_or((uint32_t *)at, bits, __ATOMIC_RELAXED); }
/* Stores `desired` if the value is `expected`. Returns 1 if it did. */
static inline int nhs_swap32(void *at, uint32_t expected, uint32_t desired) {
    return __atomic_compare_exchange_n((uint32_t *)at, &expected, desired, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
static inline int nhs_swap64(void *at, uint64_t expected, uint64_t desired) {
    return __atomic_compare_exchange_n((uint64_t *)at, &expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
/* Returns the previous value. */
static inline uint64_t nhs_or64(void *at, uint64_t bits) { return __atomic_fetch_or((uint64_t *)at, bits, __ATOMIC_ACQ_REL); }
static inline uint64_t nhs_and64(void *at, uint64_t bits) { return __atomic_fetch_and((uint64_t *)at, bits, __ATOMIC_ACQ_REL); }
/* Prefetches a cache line; any address is allowed. */
static inline void nhs_prefetch(const void *at) { __builtin_prefetch(at); }
static inline void nhs_fence_acquire(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
static inline void nhs_fence_release(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }

/* The calling thread's limit for waits for locks, in nanoseconds: its length and its end. Zeros if it isn't set. */
typedef struct nhs_wait_limit {
    int64_t length, deadline;
} nhs_wait_limit;
nhs_wait_limit nhs_get_wait_limit(void);
void nhs_set_wait_limit(nhs_wait_limit limit);

/* Sleeps for that many nanoseconds, or less if a signal comes. */
void nhs_nap(int64_t nanoseconds);

/* The program's name in 16 bytes, zero-terminated. */
void nhs_program_name(char name[16]);

/* XXH3: the two halves of the 128-bit hash, and the 64-bit one. */
void nhs_hash128(const void *bytes, size_t count, uint64_t seed, uint64_t *low, uint64_t *high);
uint64_t nhs_hash64(const void *bytes, size_t count, uint64_t seed);

/* The 64-bit hash (seed 0) of bytes in pieces. NULL if there is no memory. */
typedef struct nhs_hasher nhs_hasher;
nhs_hasher *nhs_hasher_new(void);
void nhs_hasher_add(nhs_hasher *hasher, const void *bytes, size_t count);
uint64_t nhs_hasher_value(const nhs_hasher *hasher);
void nhs_hasher_free(nhs_hasher *hasher);

/* The result of a search in an index: the slot's number and contents. */
typedef struct nhs_slot {
    ptrdiff_t place;
    uint32_t pack, offset, flags;
} nhs_slot;

/*
 * Searches for a hash in `count` slots (docs/FORMAT.md, "The index"). Returns 1 if it is there; 0 if not, or if the
 * slot's writer died in the middle. Any contents of the slots are allowed: the caller must check the found values.
 */
int nhs_find_slot(const void *slots, ptrdiff_t count, uint64_t low, uint64_t high, nhs_slot *found);

/* The contents of a record's header. */
typedef struct nhs_record {
    ptrdiff_t payload, length;
    uint64_t checksum, sequence;
    uint32_t width, height;
    uint8_t form;
    /* Not set by `nhs_match_record`, whose caller knows them. */
    uint8_t kind, is_retired;
    uint16_t key_length;
} nhs_record;

/* The checksum of a record's header and key, at an offset of a pack. */
uint64_t nhs_record_checksum(const void *record, size_t key_length, ptrdiff_t offset, uint64_t salt);

/* Reads the record at an offset of a pack of `count` bytes, retired or not. Returns 1 if its header is intact
   (docs/FORMAT.md, "A record"), else 0. */
int nhs_read_record(const void *pack, ptrdiff_t count, ptrdiff_t offset, uint64_t salt, nhs_record *found);

/* Reads the record at an offset. Returns 1 if it has this key and isn't retired, else 0. */
int nhs_match_record(const void *pack, ptrdiff_t count, ptrdiff_t offset, uint64_t salt, uint8_t kind, const void *key,
                     ptrdiff_t key_length, nhs_record *found);

/* Returns the number of zero bytes before the first other byte. */
size_t nhs_count_zeros(const void *bytes, size_t count);

/* Returns the calling thread's number. Threads are numbered 0, 1, 2 … in the order of their first calls. */
uint32_t nhs_thread_number(void);

/*
 * A lock of one word: 0 free, 1 taken, 2 taken with waiters. Inline, because an uncontended lock then costs half of a
 * pthread mutex.
 */
void nhs_word_wait(uint32_t *word);
/* Waits for the lock, at most until `deadline` of the monotonic clock, and takes it. Returns 0 if it isn't free. */
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

/* Each returns the result of the call, or the negated error number. Interrupted calls are repeated. */
int nhs_openat(int directory, const char *name, int flags, unsigned mode);
int nhs_mkdirat(int directory, const char *name, unsigned mode);
int nhs_symlinkat(int directory, const char *name, const char *target);
int nhs_unlinkat(int directory, const char *name);
/* Without `replaces`, returns -EEXIST if `to` exists. */
int nhs_renameat(int directory, const char *from, const char *to, int replaces);
int nhs_ftruncate(int fd, int64_t size);
int nhs_reserve(int fd, int64_t offset, int64_t length);
int nhs_punch(int fd, int64_t offset, int64_t length);
ssize_t nhs_pwritev(int fd, const struct iovec *parts, int count, int64_t offset);
/* Writes `length` zeros. Returns how many were written. */
ssize_t nhs_write_zeros(int fd, int64_t offset, size_t length);
ssize_t nhs_pread(int fd, void *bytes, size_t count, int64_t offset);
/*
 * Makes all pages of a mapping present and writable. If that fails for a page, returns an error now instead of a
 * signal at the first access.
 */
int nhs_populate(void *base, size_t length);
/* Returns 0x10000 × the kernel's version + its second number. */
uint32_t nhs_kernel_version(void);
/* Returns the offset of the next written bytes, from `offset` on; -ENXIO if there are none. */
int64_t nhs_data_begins(int fd, int64_t offset);
// Returns the offset of the next hole or of the end of the file.
int64_t nhs_data_ends(int fd, int64_t offset);

/* Returns the file system's magic number of statfs(2), or a negated error number. */
int64_t nhs_file_system(int fd);

/*
 * A lock of one byte that belongs to the open file description, not to the process (an OFD lock): the kernel releases
 * it with the last descriptor. `kind` is 'r' (shared), 'w' (exclusive) or 'u' (unlock). Without `waits`, returns
 * -EAGAIN if the lock is taken.
 */
int nhs_lock_byte(int fd, int64_t byte, char kind, int waits);

/* Calls `each` with every name in the directory except "." and "..". */
int nhs_list(int directory, void (*each)(void *context, const char *name), void *context);

#endif
