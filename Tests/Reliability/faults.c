/* Preloaded into a program: makes the kth call of a kind fail, or all from the kth on, if the library or the command makes it.

   FAULTS_KIND   which calls (the names below)
   FAULTS_AT     k, from 1 on; 0: none, they are counted only
   FAULTS_GOOD   1: all calls from the kth on
   FAULTS_COUNT  a file of two 64-bit numbers: calls of the kind, and those that failed
   FAULTS_FILES  names of files, each with a colon after it; only calls from the code of these files count
   FAULTS_OWN    the one of them that must be loaded before any call counts
   FAULTS_SPARE  FILE=FIRST-END,FIRST-END…;FILE=…: code that always gets memory, by its addresses in the file (hexadecimal) */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

typedef struct range {
    uintptr_t first, end;
} range;

static range counted[64], spared[4096];
static int counted_count, spared_count, has_own;
static const char *wanted;
static long at;
static int for_good;
static volatile int64_t *counts;

static void spare(const char *text, uintptr_t base) {
    while (spared_count < 4096 && *text && *text != ';') {
        char *end;
        uintptr_t first = strtoul(text, &end, 16);
        uintptr_t last = *end == '-' ? strtoul(end + 1, &end, 16) : first;
        spared[spared_count++] = (range){base + first, base + last};
        text = *end == ',' ? end + 1 : end;
    }
}

static int note_file(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    char own[4096];
    const char *path = info->dlpi_name;
    if (!*path) {
        ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
        own[length > 0 ? length : 0] = 0;
        path = own;
    }
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char key[300];
    const char *files = getenv("FAULTS_FILES"), *spares = getenv("FAULTS_SPARE");
    if (!files || strlen(name) > 200) return 0;
    strcat(strcpy(key, name), ":");
    const char *found = strstr(files, key);
    if (!found || (found > files && found[-1] != ':')) return 0;
    const char *own_name = getenv("FAULTS_OWN");
    if (own_name && strcmp(name, own_name) == 0) has_own = 1;
    for (int i = 0; i < info->dlpi_phnum && counted_count < 64; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t first = info->dlpi_addr + part->p_vaddr;
        counted[counted_count++] = (range){first, first + part->p_memsz};
    }
    strcat(strcpy(key, name), "=");
    if (spares && (found = strstr(spares, key))) spare(found + strlen(key), info->dlpi_addr);
    return 0;
}

/* Finds the code of the files. Finds none until the file of FAULTS_OWN is loaded: Python loads it late, and until then, modules
   of Python, which are not tested, may use some of the other files. */
static void look(void) {
    static int is_looking;
    if (has_own || is_looking) return;
    is_looking = 1;
    counted_count = spared_count = 0;
    dl_iterate_phdr(note_file, NULL);
    if (!has_own) counted_count = 0;
    is_looking = 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTS_COUNT");
    if (!path || !getenv("FAULTS_AT")) return;
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    long memory = syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (memory == -1) return;
    look();
    at = atol(getenv("FAULTS_AT"));
    for_good = getenv("FAULTS_GOOD") && *getenv("FAULTS_GOOD") == '1';
    wanted = getenv("FAULTS_KIND");
    counts = (volatile int64_t *)memory;
}

/* Python loads the library by dlopen, so look for the files again after each dlopen. */
void *dlopen(const char *path, int flags) {
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    void *result = next(path, flags);
    if (counts) look();
    return result;
}

static int is_in(uintptr_t place, const range *ranges, int count) {
    for (int i = 0; i < count; i++)
        if (place >= ranges[i].first && place < ranges[i].end) return 1;
    return 0;
}

static int fails(const char *kind, void *caller, int error) {
    if (!counts || !wanted || strcmp(kind, wanted) != 0) return 0;
    if (!is_in((uintptr_t)caller, counted, counted_count)) return 0;
    if (strstr(kind, "alloc") && is_in((uintptr_t)caller, spared, spared_count)) return 0;
    int64_t number = __atomic_add_fetch(&counts[0], 1, __ATOMIC_SEQ_CST);
    if (at <= 0 || (for_good ? number < at : number != at)) return 0;
    __atomic_add_fetch(&counts[1], 1, __ATOMIC_SEQ_CST);
    errno = error;
    return 1;
}

#define CALLER __builtin_return_address(0)
#define NEXT(name) ((__typeof__(&name))next_of(#name, &(static_##name)))
static void *next_of(const char *name, void **kept) {
    if (!*kept) *kept = dlsym(RTLD_NEXT, name);
    return *kept;
}

#define WRAP(result, name, kind, error, failed, declared, given)   \
    static void *static_##name;                                    \
    result name declared {                                         \
        if (fails(kind, CALLER, error)) return failed;             \
        return NEXT(name) given;                                   \
    }

/* Memory */

void *malloc(size_t size) { return fails("malloc", CALLER, ENOMEM) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails("calloc", CALLER, ENOMEM) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails("realloc", CALLER, ENOMEM) ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) {
    return fails("aligned_alloc", CALLER, ENOMEM) ? NULL : __libc_memalign(alignment, size);
}
WRAP(void *, mmap, "mmap", ENOMEM, MAP_FAILED, (void *a, size_t n, int p, int f, int d, off_t o), (a, n, p, f, d, o))
WRAP(void *, mmap64, "mmap", ENOMEM, MAP_FAILED, (void *a, size_t n, int p, int f, int d, off64_t o), (a, n, p, f, d, o))
void *mremap(void *a, size_t old, size_t new, int flags, ...) {
    static void *static_mremap;
    va_list rest;
    va_start(rest, flags);
    void *to = flags & MREMAP_FIXED ? va_arg(rest, void *) : NULL;
    va_end(rest);
    if (fails("mremap", CALLER, ENOMEM)) return MAP_FAILED;
    return ((void *(*)(void *, size_t, size_t, int, void *))next_of("mremap", &static_mremap))(a, old, new, flags, to);
}

/* Files */

#define OPEN(name, first, given)                                                      \
    int name(first const char *path, int flags, ...) {                                \
        static void *kept;                                                            \
        va_list rest;                                                                 \
        va_start(rest, flags);                                                        \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;       \
        va_end(rest);                                                                 \
        if (fails("open", CALLER, EMFILE)) return -1;                                 \
        return ((int (*)(first const char *, int, mode_t))next_of(#name, &kept)) given; \
    }
#define FOLDER int folder,
#define NOTHING
OPEN(open, NOTHING, (path, flags, mode))
OPEN(open64, NOTHING, (path, flags, mode))
OPEN(openat, FOLDER, (folder, path, flags, mode))
OPEN(openat64, FOLDER, (folder, path, flags, mode))

WRAP(ssize_t, read, "read", EIO, -1, (int d, void *b, size_t n), (d, b, n))
WRAP(ssize_t, pread, "read", EIO, -1, (int d, void *b, size_t n, off_t o), (d, b, n, o))
WRAP(ssize_t, pread64, "read", EIO, -1, (int d, void *b, size_t n, off64_t o), (d, b, n, o))
WRAP(ssize_t, preadv, "read", EIO, -1, (int d, const struct iovec *v, int n, off_t o), (d, v, n, o))
WRAP(ssize_t, preadv64, "read", EIO, -1, (int d, const struct iovec *v, int n, off64_t o), (d, v, n, o))

/* A write fails with ENOSPC or EIO, or writes only a part. */
#define SHORT(count) ((count) > 1 && fails("write_short", CALLER, 0) ? ((count) + 1) / 2 : (count))
#define WRITE(name, declared, given, n)                                                   \
    ssize_t name declared {                                                               \
        static void *kept;                                                                \
        if (fails("write_full", CALLER, ENOSPC) || fails("write", CALLER, EIO)) return -1; \
        n = SHORT(n);                                                                     \
        return ((__typeof__(&name))next_of(#name, &kept)) given;                          \
    }
WRITE(write, (int d, const void *b, size_t n), (d, b, n), n)
WRITE(pwrite, (int d, const void *b, size_t n, off_t o), (d, b, n, o), n)
WRITE(pwrite64, (int d, const void *b, size_t n, off64_t o), (d, b, n, o), n)
WRITE(writev, (int d, const struct iovec *v, int n), (d, v, n), n)
WRITE(pwritev, (int d, const struct iovec *v, int n, off_t o), (d, v, n, o), n)
WRITE(pwritev64, (int d, const struct iovec *v, int n, off64_t o), (d, v, n, o), n)

WRAP(int, fsync, "sync", EIO, -1, (int d), (d))
WRAP(int, fdatasync, "sync", EIO, -1, (int d), (d))
WRAP(int, msync, "sync", EIO, -1, (void *a, size_t n, int f), (a, n, f))
WRAP(int, rename, "rename", EACCES, -1, (const char *a, const char *b), (a, b))
WRAP(int, renameat, "rename", EACCES, -1, (int d, const char *a, int e, const char *b), (d, a, e, b))
WRAP(int, renameat2, "rename", EACCES, -1, (int d, const char *a, int e, const char *b, unsigned f), (d, a, e, b, f))
WRAP(int, link, "link", EPERM, -1, (const char *a, const char *b), (a, b))
WRAP(int, linkat, "link", EPERM, -1, (int d, const char *a, int e, const char *b, int f), (d, a, e, b, f))
WRAP(int, unlink, "unlink", EPERM, -1, (const char *a), (a))
WRAP(int, unlinkat, "unlink", EPERM, -1, (int d, const char *a, int f), (d, a, f))
WRAP(int, mkdir, "mkdir", EACCES, -1, (const char *a, mode_t m), (a, m))
WRAP(int, mkdirat, "mkdir", EACCES, -1, (int d, const char *a, mode_t m), (d, a, m))
WRAP(int, ftruncate, "ftruncate", ENOSPC, -1, (int d, off_t n), (d, n))
WRAP(int, ftruncate64, "ftruncate", ENOSPC, -1, (int d, off64_t n), (d, n))
WRAP(int, fallocate, "fallocate", ENOSPC, -1, (int d, int m, off_t o, off_t n), (d, m, o, n))
WRAP(int, fallocate64, "fallocate", ENOSPC, -1, (int d, int m, off64_t o, off64_t n), (d, m, o, n))
WRAP(int, posix_fallocate, "fallocate", ENOSPC, ENOSPC, (int d, off_t o, off_t n), (d, o, n))
WRAP(int, stat, "stat", EIO, -1, (const char *a, struct stat *s), (a, s))
WRAP(int, fstat, "stat", EIO, -1, (int d, struct stat *s), (d, s))
WRAP(int, lstat, "stat", EIO, -1, (const char *a, struct stat *s), (a, s))
WRAP(int, fstatat, "stat", EIO, -1, (int d, const char *a, struct stat *s, int f), (d, a, s, f))
WRAP(int, statfs, "statfs", EIO, -1, (const char *a, struct statfs *s), (a, s))
WRAP(int, fstatfs, "statfs", EIO, -1, (int d, struct statfs *s), (d, s))
WRAP(int, statvfs, "statfs", EIO, -1, (const char *a, struct statvfs *s), (a, s))
WRAP(int, fstatvfs, "statfs", EIO, -1, (int d, struct statvfs *s), (d, s))
WRAP(DIR *, opendir, "opendir", EMFILE, NULL, (const char *a), (a))
WRAP(DIR *, fdopendir, "opendir", ENOMEM, NULL, (int d), (d))
WRAP(struct dirent *, readdir, "readdir", EIO, NULL, (DIR *d), (d))
WRAP(int, flock, "lock", ENOLCK, -1, (int d, int o), (d, o))

static int fcntl_of(const char *name, void **kept, void *caller, int fd, int command, void *argument) {
    int is_lock = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    int is_release = is_lock && ((struct flock *)argument)->l_type == F_UNLCK;
    if (is_lock && !is_release && (fails("lock", caller, ENOLCK) || fails("lock_interrupted", caller, EINTR))) return -1;
    if (is_release && fails("unlock", caller, ENOLCK)) return -1;
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && fails("open", caller, EMFILE)) return -1;
    return ((int (*)(int, int, void *))next_of(name, kept))(fd, command, argument);
}
#define FCNTL(name)                                                        \
    int name(int fd, int command, ...) {                                   \
        static void *kept;                                                 \
        va_list rest;                                                      \
        va_start(rest, command);                                           \
        void *argument = va_arg(rest, void *);                             \
        va_end(rest);                                                      \
        return fcntl_of(#name, &kept, CALLER, fd, command, argument);      \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

/* The rest of the system */

static void *static_pthread_create;
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *c) {
    if (fails("thread", CALLER, EAGAIN)) return EAGAIN;
    return NEXT(pthread_create)(t, a, f, c);
}
WRAP(int, socket, "socket", EMFILE, -1, (int a, int b, int c), (a, b, c))
WRAP(int, socketpair, "socket", EMFILE, -1, (int a, int b, int c, int d[2]), (a, b, c, d))
WRAP(int, connect, "connect", ENETUNREACH, -1, (int d, const struct sockaddr *a, socklen_t n), (d, a, n))
WRAP(ssize_t, recv, "recv", ECONNRESET, -1, (int d, void *b, size_t n, int f), (d, b, n, f))
WRAP(ssize_t, send, "send", ECONNRESET, -1, (int d, const void *b, size_t n, int f), (d, b, n, f))
WRAP(int, setsockopt, "setsockopt", ENOPROTOOPT, -1, (int d, int l, int o, const void *v, socklen_t n), (d, l, o, v, n))
WRAP(int, epoll_create1, "epoll", EMFILE, -1, (int f), (f))
WRAP(int, epoll_ctl, "epoll_ctl", ENOMEM, -1, (int d, int o, int e, struct epoll_event *v), (d, o, e, v))
WRAP(int, epoll_wait, "wait_interrupted", EINTR, -1, (int d, struct epoll_event *v, int n, int t), (d, v, n, t))
WRAP(int, poll, "wait_interrupted", EINTR, -1, (struct pollfd *p, nfds_t n, int t), (p, n, t))
WRAP(int, eventfd, "eventfd", EMFILE, -1, (unsigned n, int f), (n, f))
WRAP(int, pipe2, "pipe", EMFILE, -1, (int d[2], int f), (d, f))
WRAP(ssize_t, getrandom, "getrandom", ENOSYS, -1, (void *b, size_t n, unsigned f), (b, n, f))
WRAP(int, getentropy, "getrandom", ENOSYS, -1, (void *b, size_t n), (b, n))
static void *static_getaddrinfo;
int getaddrinfo(const char *a, const char *b, const struct addrinfo *h, struct addrinfo **r) {
    if (fails("getaddrinfo", CALLER, ENOMEM)) return EAI_MEMORY;
    return NEXT(getaddrinfo)(a, b, h, r);
}
