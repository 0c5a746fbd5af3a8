#define _GNU_SOURCE
#include "nhs_process.h"

#include <errno.h>
#include <malloc.h>
#include <pwd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t fork_epoch;

enum { private_fd_capacity = 1024 };
static int private_fds[private_fd_capacity];
static int private_fd_count;

/* Makes forks and threads that hold forks take turns: otherwise a loop that is never idle would delay a fork
   forever. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int holders, forks;
static _Thread_local int own_holds;

void nhs_hold_forks(void) {
    if (own_holds++) return;
    pthread_mutex_lock(&gate);
    while (forks) pthread_cond_wait(&gate_moved, &gate);
    holders++;
    pthread_mutex_unlock(&gate);
}

void nhs_release_forks(void) {
    if (--own_holds) return;
    pthread_mutex_lock(&gate);
    holders--;
    if (forks) pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate);
}

/* The gate stays locked until the fork is over. A thread that forks while it holds forks doesn't wait for itself. */
static void before_fork(void) {
    pthread_mutex_lock(&gate);
    forks++;
    while (holders > (own_holds ? 1 : 0)) pthread_cond_wait(&gate_moved, &gate);
    pthread_mutex_lock(&process_lock);
}

static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&process_lock);
    forks--;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate);
}

static void after_fork_in_child(void) {
    __atomic_fetch_add(&fork_epoch, 1, __ATOMIC_SEQ_CST);
    /* The waiting threads don't exist in the child. */
    gate_moved = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    forks = 0;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < private_fd_count; i++) close(private_fds[i]);
    private_fd_count = 0;
    pthread_mutex_unlock(&process_lock);
}

/* At load time, so that no fork is missed. */
__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

uint64_t nhs_fork_epoch(void) { return __atomic_load_n(&fork_epoch, __ATOMIC_ACQUIRE); }

void nhs_process_lock(void) { pthread_mutex_lock(&process_lock); }

void nhs_process_unlock(void) { pthread_mutex_unlock(&process_lock); }

int nhs_close_in_child(int fd) {
    int result = -1;
    pthread_mutex_lock(&process_lock);
    if (private_fd_count < private_fd_capacity) {
        private_fds[private_fd_count++] = fd;
        result = 0;
    }
    pthread_mutex_unlock(&process_lock);
    return result;
}

void nhs_keep_in_child(int fd) {
    pthread_mutex_lock(&process_lock);
    for (int i = 0; i < private_fd_count; i++) {
        if (private_fds[i] == fd) {
            private_fds[i] = private_fds[--private_fd_count];
            break;
        }
    }
    pthread_mutex_unlock(&process_lock);
}

int nhs_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

typedef struct beginning {
    void *(*body)(void *);
    void *context;
} beginning;

static void *begin(void *context) {
    beginning own = *(beginning *)context;
    free(context);
    nhs_hold_forks();
    void *result = own.body(own.context);
    nhs_release_forks();
    return result;
}

int nhs_thread_start(uint64_t *thread, const char *name, void *(*body)(void *), void *context) {
    sigset_t all, before;
    pthread_t started;
    beginning *own = malloc(sizeof *own);
    if (!own) return ENOMEM;
    *own = (beginning){body, context};
    sigfillset(&all);
    /* Failed accesses to mappings raise SIGBUS (nhs_mapping.h); if it were blocked, the kernel would kill the
       process. */
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&started, NULL, begin, own);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure) {
        free(own);
        return failure;
    }
    pthread_setname_np(started, name);
    *thread = (uint64_t)started;
    return 0;
}

int nhs_thread_join(uint64_t thread) { return pthread_join((pthread_t)thread, NULL); }

const char *nhs_environment(const char *name) { return secure_getenv(name); }

int nhs_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

int nhs_home_of_user(char *path, size_t size) {
    char texts[16384];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(geteuid(), &entry, texts, sizeof texts, &found) != 0 || !found || found->pw_dir[0] != '/') return -1;
    return (size_t)snprintf(path, size, "%s", found->pw_dir) < size ? 0 : -1;
}

void nhs_forget_unsafe_environment(void) {
    // Variables that libcurl itself reads. OpenSSL and the C library check for a privileged process themselves.
    static const char *const names[] = {"SSLKEYLOGFILE", "QLOGDIR", "CURL_SSL_BACKEND", "CURL_HOME"};
    if (!nhs_is_privileged()) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

void nhs_trim_allocator(void) { malloc_trim(0); }

static int64_t smaller(int64_t one, int64_t other) { return one < other ? one : other; }

void nhs_keep_freed_memory(int64_t of) {
    // A progressive JPEG of 12 MP has 36 MiB of coefficients in three pieces, the largest of 24 MiB. Each of the
    // allocator's arenas keeps as much, and there is one for each thread.
    mallopt(M_TRIM_THRESHOLD, (int)smaller(128 << 20, of / 16));
    mallopt(M_TOP_PAD, (int)smaller(1 << 20, of / 256));
    mallopt(M_MMAP_THRESHOLD, (int)smaller(32 << 20, of / 64));
}

void nhs_work_as_batch(void) {
    const struct sched_param none = {0};
    // A container may forbid it; continue without it.
    if (sched_getscheduler(0) == SCHED_OTHER) (void)sched_setscheduler(0, SCHED_BATCH, &none);
}

nhs_error_facts *nhs_last_error(void) {
    static _Thread_local nhs_error_facts facts = {.retry_after = -1};
    return &facts;
}

static _Thread_local uint32_t own_depth;

int nhs_go_deeper(uint32_t deepest) { return own_depth < deepest ? (own_depth++, 1) : 0; }

void nhs_come_back(void) { own_depth--; }

char *nhs_message_buffer(void) {
    static _Thread_local char buffer[nhs_message_capacity];
    return buffer;
}
