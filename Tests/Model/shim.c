// Preloaded into each worker of the model check. It does two things that Python can't do from inside the process:
// - a thread notes how late it wakes up, and how long other threads of the process waited for a processor: a stop of the
//   process, or a busy machine, kept it from running for that long;
// - it stops the process (SIGSTOP) right after a write lock on the byte 0 of the index's lock file was granted, when the
//   driver wants that.
// Both talk to the driver through a page of shared memory, the file that $NUTHATCH_MODEL_PAGE names.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16000, THREADS = 256, INTERVAL = 20000000, ROUNDS = 5, WORTH = 4000000 };

// machine.py reads and writes the same layout.
struct page {
    _Atomic int64_t countdown;  // at which lock from now the process stops; 0: at none
    _Atomic int64_t locks;      // granted so far
    _Atomic int64_t stops;      // by this shim
    _Atomic int64_t count;      // of the entries that follow
    struct { int64_t due, woke; } late[MOST];
};

static struct page *page;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// For each thread: how long it had waited for a processor in all, at the last look.
static struct { long thread; int64_t waited; } seen[THREADS];

static int64_t waited_since_last(long thread, int64_t waited) {
    for (int at = 0; at < THREADS; at++) {
        if (seen[at].thread != thread && seen[at].thread != 0) continue;
        int64_t before = seen[at].thread ? seen[at].waited : 0;
        seen[at].thread = thread;
        seen[at].waited = waited;
        return waited - before;
    }
    return 0;
}

// Returns the longest time that one thread of this process waited for a processor since the last call.
static int64_t longest_wait(void) {
    int64_t longest = 0;
    DIR *folder = opendir("/proc/self/task");
    if (!folder) return 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[64], text[96];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        ssize_t length = read(fd, text, sizeof text - 1);
        close(fd);
        if (length <= 0) continue;
        text[length] = 0;
        char *end;
        strtoll(text, &end, 10);
        int64_t waited = waited_since_last(atol(entry->d_name), strtoll(end, NULL, 10));
        if (waited > longest) longest = waited;
    }
    closedir(folder);
    return longest;
}

static void note(int64_t from, int64_t to) {
    int64_t count = atomic_load(&page->count);
    if (to - from < WORTH || count >= MOST) return;
    page->late[count].due = from;
    page->late[count].woke = to;
    atomic_store(&page->count, count + 1);
}

static void *watch(void *unused) {
    (void)unused;
    for (int round = 0;; round = (round + 1) % ROUNDS) {
        int64_t due = now() + INTERVAL;
        struct timespec until = {due / 1000000000, due % 1000000000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
        note(due, now());
        if (round != 0) continue;
        int64_t waited = longest_wait(), end = now();
        note(end - waited, end);
    }
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("NUTHATCH_MODEL_PAGE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *place = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (place == MAP_FAILED) return;
    page = place;
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, watch, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int is_lock_of_index(int fd) {
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0) return 0;
    name[length] = 0;
    const char *end = strrchr(name, '/');
    // Version 0.1 calls it `lock`.
    int is_locks = end && (strcmp(end, "/locks") == 0 || strcmp(end, "/lock") == 0);
    return is_locks && !strstr(name, "/outbox/") && !strstr(name, "/cookies/");
}

static int locked(int fd, int command, const void *argument, int result) {
    if (result != 0 || !page || (command != F_OFD_SETLK && command != F_OFD_SETLKW)) return result;
    const struct flock *lock = argument;
    if (lock->l_type != F_WRLCK || lock->l_start != 0 || !is_lock_of_index(fd)) return result;
    int before = errno;
    atomic_fetch_add(&page->locks, 1);
    int64_t left = atomic_load(&page->countdown);
    while (left > 0 && !atomic_compare_exchange_weak(&page->countdown, &left, left - 1)) {}
    if (left == 1) {
        atomic_fetch_add(&page->stops, 1);
        kill(getpid(), SIGSTOP);
    }
    errno = before;
    return result;
}

typedef int call(int, int, ...);

#define FORWARD(name)                                        \
    int name(int fd, int command, ...) {                     \
        static call *_Atomic real;                           \
        if (!real) real = (call *)dlsym(RTLD_NEXT, #name);   \
        va_list rest;                                        \
        va_start(rest, command);                             \
        void *argument = va_arg(rest, void *);               \
        va_end(rest);                                        \
        return locked(fd, command, argument, real(fd, command, argument)); \
    }

FORWARD(fcntl)
FORWARD(fcntl64)
