#define _GNU_SOURCE
#include "nhs_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Inline, so that no library is needed at run time. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#define AGAIN(result, call)                          \
    do {                                             \
        result = (call);                             \
    } while (result < 0 && errno == EINTR);          \
    return result < 0 ? -errno : result

void nhs_hash128(const void *bytes, size_t count, uint64_t seed, uint64_t *low, uint64_t *high) {
    XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, count, seed);
    *low = hash.low64;
    *high = hash.high64;
}

uint64_t nhs_hash64(const void *bytes, size_t count, uint64_t seed) { return XXH3_64bits_withSeed(bytes, count, seed); }

struct nhs_hasher {
    XXH3_state_t state;
};

nhs_hasher *nhs_hasher_new(void) {
    nhs_hasher *hasher = aligned_alloc(64, sizeof *hasher);
    if (hasher) XXH3_64bits_reset(&hasher->state);
    return hasher;
}

void nhs_hasher_add(nhs_hasher *hasher, const void *bytes, size_t count) {
    XXH3_64bits_update(&hasher->state, bytes, count);
}

uint64_t nhs_hasher_value(const nhs_hasher *hasher) { return XXH3_64bits_digest(&hasher->state); }

void nhs_hasher_free(nhs_hasher *hasher) { free(hasher); }

/* The longest distance of a record from its first place. */
enum { max_probe_length = 1024 };

/* For a slot that a writer is changing: a writer takes a few instructions, unless it died there. */
static __attribute__((noinline)) int find_again(const char *at, const void *slots, ptrdiff_t count, uint64_t low,
                                                uint64_t high, nhs_slot *found) {
    for (int tries = 0; nhs_load32_acquire(at + 16) & 1; tries++) {
        if (tries == 1000) return 0;
    }
    return nhs_find_slot(slots, count, low, high, found);
}

int nhs_find_slot(const void *slots, ptrdiff_t count, uint64_t low, uint64_t high, nhs_slot *found) {
    ptrdiff_t place = (ptrdiff_t)((unsigned __int128)low * (uint64_t)count >> 64);
    const ptrdiff_t limit = count < max_probe_length ? count : max_probe_length;
    for (ptrdiff_t tried = 0; tried < limit; tried++) {
        const char *at = (const char *)slots + place * 32;
        /* Every third probe continues in the next cache line. */
        if (tried == 0) nhs_prefetch(at + 64);
        uint32_t version = nhs_load32_acquire(at + 16);
        uint32_t pack = nhs_load32(at + 20);
        if (nhs_load64(at) == low && nhs_load64(at + 8) == high) {
            uint32_t offset = nhs_load32(at + 24), flags = nhs_load32(at + 28);
            nhs_fence_acquire();
            if (version & 1 || nhs_load32(at + 16) != version) return find_again(at, slots, count, low, high, found);
            if (pack == 0 || pack == UINT32_MAX) return 0;
            *found = (nhs_slot){.place = place, .pack = pack, .offset = offset, .flags = flags};
            return 1;
        }
        if (pack == 0) return 0;
        if (++place == count) place = 0;
    }
    return 0;
}

enum { header_size = 48, valid_record = 0x3152484E, retired_record = 0x7852484E };

/* Inline, like the functions after it: the fewer instructions a hit takes, the sooner the processor can begin the
   next one. */
static inline __attribute__((always_inline)) uint64_t record_checksum(const char *at, size_t key_length,
                                                                      ptrdiff_t offset, uint64_t salt) {
    uint32_t front;
    memcpy(&front, at + 4, 4);
    uint64_t seed = (salt + (uint64_t)offset) ^ (uint64_t)front << 32;
    return XXH3_64bits_withSeed(at + 16, header_size - 16 + key_length, seed);
}

/* Reads the record at an offset if its header is intact: any record, or only a valid one with this key. */
static inline __attribute__((always_inline)) int read_record(const char *pack, ptrdiff_t count, ptrdiff_t offset,
                                                             uint64_t salt, int any, uint8_t kind, const void *key,
                                                             ptrdiff_t key_length, nhs_record *found) {
    /* `count` is the length of a mapping, so these sums can't overflow. */
    if (!pack || offset & 7 || offset < 0 || offset > count - header_size) return 0;
    const char *at = pack + offset;
    /* Another process may retire the record at this moment. */
    uint32_t state = nhs_load32(at);
    if (state != valid_record && (!any || state != retired_record)) return 0;
    uint32_t front;
    uint64_t checksum;
    int64_t length;
    memcpy(&front, at + 4, 4);
    memcpy(&checksum, at + 8, 8);
    memcpy(&length, at + 24, 8);
    if (!any && ((front & 0xFF) != kind || front >> 16 != (uint64_t)key_length)) return 0;
    if (any) key_length = front >> 16;
    ptrdiff_t payload = (offset + header_size + key_length + 15) & ~(ptrdiff_t)15;
    if (key_length == 0 || payload > count || length < 0 || length > count - payload) return 0;
    if (!any && memcmp(at + header_size, key, (size_t)key_length) != 0) return 0;
    if (record_checksum(at, (size_t)key_length, offset, salt) != checksum) return 0;
    found->payload = payload;
    found->length = length;
    memcpy(&found->checksum, at + 40, 8);
    memcpy(&found->sequence, at + 16, 8);
    memcpy(&found->width, at + 32, 4);
    memcpy(&found->height, at + 36, 4);
    found->form = (uint8_t)(front >> 8);
    if (!any) return 1;
    found->key_length = (uint16_t)key_length;
    found->kind = (uint8_t)front;
    found->is_retired = state == retired_record;
    return 1;
}

uint64_t nhs_record_checksum(const void *record, size_t key_length, ptrdiff_t offset, uint64_t salt) {
    return record_checksum(record, key_length, offset, salt);
}

int nhs_read_record(const void *pack, ptrdiff_t count, ptrdiff_t offset, uint64_t salt, nhs_record *found) {
    return read_record(pack, count, offset, salt, 1, 0, NULL, 0, found);
}

int nhs_match_record(const void *pack, ptrdiff_t count, ptrdiff_t offset, uint64_t salt, uint8_t kind, const void *key,
                     ptrdiff_t key_length, nhs_record *found) {
    return read_record(pack, count, offset, salt, 0, kind, key, key_length, found);
}

size_t nhs_count_zeros(const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    size_t done = 0;
    for (uint64_t word; done + sizeof word <= count; done += sizeof word) {
        memcpy(&word, at + done, sizeof word);
        if (word != 0) break;
    }
    while (done < count && at[done] == 0) done++;
    return done;
}

uint32_t nhs_thread_number(void) {
    static uint32_t last;
    static _Thread_local uint32_t mine;
    if (mine == 0) mine = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return mine - 1;
}

static _Thread_local nhs_wait_limit wait_limit;

nhs_wait_limit nhs_get_wait_limit(void) { return wait_limit; }

void nhs_set_wait_limit(nhs_wait_limit limit) { wait_limit = limit; }

void nhs_nap(int64_t nanoseconds) {
    struct timespec length = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    nanosleep(&length, NULL);
}

void nhs_program_name(char name[16]) {
    memset(name, 0, 16);
    strncpy(name, program_invocation_short_name, 15);
}

void nhs_word_wait(uint32_t *word) {
    while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

int nhs_word_wait_until(uint32_t *word, int64_t deadline) {
    struct timespec until = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
    while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0) {
        // Without a flag the clock is the monotonic one.
        long result =
            syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, 2, &until, NULL, FUTEX_BITSET_MATCH_ANY);
        if (result < 0 && errno == ETIMEDOUT) return 0;
    }
    return 1;
}

void nhs_word_wake(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

int nhs_openat(int directory, const char *name, int flags, unsigned mode) {
    int result;
    AGAIN(result, openat(directory, name, flags, mode));
}

int nhs_mkdirat(int directory, const char *name, unsigned mode) {
    return mkdirat(directory, name, mode) < 0 ? -errno : 0;
}

int nhs_symlinkat(int directory, const char *name, const char *target) {
    return symlinkat(target, directory, name) < 0 ? -errno : 0;
}

int nhs_unlinkat(int directory, const char *name) { return unlinkat(directory, name, 0) < 0 ? -errno : 0; }

int nhs_renameat(int directory, const char *from, const char *to, int replaces) {
    int result = renameat2(directory, from, directory, to, replaces ? 0 : RENAME_NOREPLACE);
    return result < 0 ? -errno : 0;
}

int nhs_ftruncate(int fd, int64_t size) {
    int result;
    AGAIN(result, ftruncate(fd, size));
}

int nhs_reserve(int fd, int64_t offset, int64_t length) {
    int result;
    AGAIN(result, fallocate(fd, 0, offset, length));
}

int nhs_punch(int fd, int64_t offset, int64_t length) {
    int result;
    AGAIN(result, fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length));
}

ssize_t nhs_pwritev(int fd, const struct iovec *parts, int count, int64_t offset) {
    ssize_t result;
    AGAIN(result, pwritev(fd, parts, count, offset));
}

ssize_t nhs_write_zeros(int fd, int64_t offset, size_t length) {
    /* One page for all writes, so that the copied bytes stay in the processor's cache. */
    static const char page[4096];
    struct iovec parts[512];
    int count = 0;
    for (size_t left = length; left > 0 && count < 512; count++) {
        size_t some = left < sizeof page ? left : sizeof page;
        parts[count] = (struct iovec){.iov_base = (void *)page, .iov_len = some};
        left -= some;
    }
    return nhs_pwritev(fd, parts, count, offset);
}

ssize_t nhs_pread(int fd, void *bytes, size_t count, int64_t offset) {
    ssize_t result;
    AGAIN(result, pread(fd, bytes, count, offset));
}

int nhs_populate(void *base, size_t length) {
    int result;
    AGAIN(result, madvise(base, length, MADV_POPULATE_WRITE));
}

uint32_t nhs_kernel_version(void) {
    struct utsname name;
    unsigned major = 0, minor = 0;
    if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2 || minor > 0xFFFF) return 0;
    return major << 16 | minor;
}

int64_t nhs_data_ends(int fd, int64_t offset) {
    int64_t result = lseek(fd, offset, SEEK_HOLE);
    return result < 0 ? -errno : result;
}

int64_t nhs_data_begins(int fd, int64_t offset) {
    int64_t result = lseek(fd, offset, SEEK_DATA);
    return result < 0 ? -errno : result;
}

int64_t nhs_file_system(int fd) {
    struct statfs found;
    return fstatfs(fd, &found) < 0 ? -errno : (int64_t)(uint32_t)found.f_type;
}

int nhs_lock_byte(int fd, int64_t byte, char kind, int waits) {
    struct flock lock = {.l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    lock.l_type = kind == 'r' ? F_RDLCK : kind == 'w' ? F_WRLCK : F_UNLCK;
    int result;
    AGAIN(result, fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock));
}

int nhs_list(int directory, void (*each)(void *context, const char *name), void *context) {
    /* Use a new descriptor: reading moves its position, and the stream closes it. */
    int own = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0) return -errno;
    DIR *stream = fdopendir(own);
    if (!stream) {
        int problem = errno;
        close(own);
        return -problem;
    }
    int problem = 0;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(stream);
        if (!entry) {
            problem = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) each(context, entry->d_name);
    }
    closedir(stream);
    return -problem;
}
