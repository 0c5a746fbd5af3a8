#define _GNU_SOURCE
#include "nhs_decoder.h"

#include "nhs_linux.h"
#include "nhs_process.h"
#include "start_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "nuthatch-decoder"

int nhs_decoder_find(char *path, size_t size) {
    /* In a wheel and in a build it is beside the library; an installation has it in a folder of its own. */
    static const char *const folders[] = {"", "nuthatch/"};
    Dl_info own;
    char library[PATH_MAX];
    const char *said = nhs_environment("NUTHATCH_DECODER");
    if (said != NULL && *said != 0) return said[0] == '/' && (size_t)snprintf(path, size, "%s", said) < size;
    if (!dladdr((const void *)nhs_decoder_find, &own) || realpath(own.dli_fname, library) == NULL) return 0;
    *(strrchr(library, '/') + 1) = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int length = snprintf(path, size, "%s%s" PROGRAM, library, folders[i]);
        if (length > 0 && (size_t)length < size && access(path, X_OK) == 0) return 1;
    }
    return 0;
}

typedef struct start {
    char *const *arguments, *const *environment;
    const int *fds;
    size_t count;
    int failure, pidfd;
} start;

/* Runs in the process between. It shares memory and descriptors with this process, whose thread waits for its end. */
static int start_guard(void *context) {
    start *own = context;
    pid_t guard = 0;
    own->failure = nhs_spawn(own->arguments, own->environment, own->fds, own->count, POSIX_SPAWN_SETSID, &guard);
    if (own->failure) return 0;
    /* Nothing reaps the guard before this process ends, so the number is still its own. */
    own->pidfd = (int)syscall(SYS_pidfd_open, guard, 0);
    if (own->pidfd < 0) {
        own->failure = errno;
        kill(guard, SIGKILL);
    }
    return 0;
}

/*
 * A child would be found by wait(-1), and its end would raise SIGCHLD. So a process between starts the guard, and ends: the
 * guard then belongs to init. The process between has no signal for its end, so that only __WCLONE finds it.
 */
static int start_between(start *own) {
    enum { stack_bytes = 64 << 10 };
    sigset_t all, before;
    char *stack = malloc(stack_bytes);
    if (!stack) return ENOMEM;
    /* It shares memory with this process: a handler of a signal must not run there. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    char *top = (char *)((uintptr_t)(stack + stack_bytes) & ~(uintptr_t)15);
    pid_t between = clone(start_guard, top, CLONE_VM | CLONE_VFORK | CLONE_FILES, own);
    int failure = between < 0 ? errno : 0;
    while (between >= 0 && waitpid(between, NULL, __WCLONE) < 0 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(stack);
    return failure ? failure : own->failure;
}

/* fork() closes it in the child: otherwise the decoder would live as long as the child. */
static int keep_private(int fd) { return nhs_close_in_child(fd) == 0 ? 0 : EMFILE; }

static void close_private(int fd) {
    if (fd < 0) return;
    nhs_keep_in_child(fd);
    close(fd);
}

static int pair(int *own, int *other) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    *own = ends[0];
    *other = ends[1];
    return keep_private(ends[0]);
}

int nhs_decoder_start(
    const char *program, const char *libraries, const char *memory, char *const *environment, int lane_count,
    nhs_decoder_process *process) {
    enum { first = 3 };
    int fds[first + 1 + NHS_DECODER_MOST_LANES];
    size_t count = first;
    char *const arguments[] = {(char *)program, (char *)libraries, (char *)memory, NULL};
    start own = {.arguments = arguments, .environment = environment, .fds = fds, .pidfd = -1};
    *process = (nhs_decoder_process){.pidfd = -1, .control = -1};
    if (lane_count < 1 || lane_count > NHS_DECODER_MOST_LANES) return EINVAL;
    /* A child that is forked meanwhile would keep the ends of the decoder, and hide its end. */
    nhs_hold_forks();
    for (int i = 0; i < first; i++) fds[i] = -1;
    int failure = pair(&process->control, &fds[count]);
    if (process->control >= 0) count++;
    while (!failure && process->lane_count < lane_count) {
        process->lanes[process->lane_count] = -1;
        failure = pair(&process->lanes[process->lane_count], &fds[count]);
        if (process->lanes[process->lane_count] < 0) break;
        process->lane_count++;
        count++;
    }
    own.count = count;
    if (!failure) failure = start_between(&own);
    for (size_t i = first; i < count; i++) close(fds[i]);
    process->pidfd = own.pidfd;
    if (!failure) failure = keep_private(own.pidfd);
    nhs_release_forks();
    if (failure) {
        nhs_decoder_kill(process);
        nhs_decoder_close(process);
    }
    return failure;
}

void nhs_decoder_kill(const nhs_decoder_process *process) {
    /* Its child, which decodes, is killed by the kernel when it ends. */
    if (process->pidfd >= 0) syscall(SYS_pidfd_send_signal, process->pidfd, SIGKILL, NULL, 0);
}

int nhs_decoder_status(const nhs_decoder_process *process, int milliseconds) {
    int32_t status = -1;
    int64_t due = nhs_monotonic_ns() + (int64_t)milliseconds * 1000000;
    return nhs_decoder_receive(process->control, &status, sizeof status, NULL, due) == 0 ? status : -1;
}

void nhs_decoder_close(nhs_decoder_process *process) {
    siginfo_t ended;
    close_private(process->control);
    /* A process that adopts orphans, such as the first of a container, has become its parent: nothing else would reap it. It
       has been killed or ends now. In all other processes this fails at once. */
    if (process->pidfd >= 0) {
        while (waitid(P_PIDFD, (id_t)process->pidfd, &ended, WEXITED) != 0 && errno == EINTR) {}
    }
    close_private(process->pidfd);
    for (int i = 0; i < process->lane_count; i++) close_private(process->lanes[i]);
    *process = (nhs_decoder_process){.pidfd = -1, .control = -1};
}

int nhs_decoder_memory(size_t bytes) {
    int memory = memfd_create("nuthatch-picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) return -1;
    if (ftruncate(memory, (off_t)bytes) == 0 &&
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        return memory;
    }
    int failure = errno;
    close(memory);
    errno = failure;
    return -1;
}

void *nhs_decoder_map(int memory, size_t bytes) {
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    return base == MAP_FAILED ? NULL : base;
}

void nhs_decoder_unmap(void *base, size_t bytes) { munmap(base, bytes); }

int nhs_decoder_send(int lane, const void *message, size_t bytes, int memory) {
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)message, .iov_len = bytes};
    struct msghdr parts = {.msg_iov = &part, .msg_iovlen = 1};
    if (memory >= 0) {
        parts.msg_control = control.bytes;
        parts.msg_controllen = sizeof control.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&parts);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof memory);
        memcpy(CMSG_DATA(head), &memory, sizeof memory);
    }
    ssize_t sent;
    do {
        sent = sendmsg(lane, &parts, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)bytes ? 0 : sent < 0 ? errno : EIO;
}

/* Returns the only descriptor of a message, and closes all others. */
static int taken(struct msghdr *parts) {
    int found = -1;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(parts); head != NULL; head = CMSG_NXTHDR(parts, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
            if (found >= 0) close(found);
            found = fd;
        }
    }
    return found;
}

static int wait_for(int lane, int64_t deadline_ns) {
    while (1) {
        int64_t left = deadline_ns == INT64_MAX ? INT64_MAX : deadline_ns - nhs_monotonic_ns();
        if (left <= 0) return ETIMEDOUT;
        int64_t wait = left / 1000000 + 1;
        struct pollfd ready = {.fd = lane, .events = POLLIN};
        int count = poll(&ready, 1, deadline_ns == INT64_MAX ? -1 : wait > INT_MAX ? INT_MAX : (int)wait);
        if (count > 0) return 0;
        if (count < 0 && errno != EINTR) return errno;
    }
}

int nhs_decoder_receive(int lane, void *message, size_t bytes, int *memory, int64_t deadline_ns) {
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = message, .iov_len = bytes};
    if (memory != NULL) *memory = -1;
    while (1) {
        int failure = wait_for(lane, deadline_ns);
        if (failure) return failure;
        struct msghdr parts = {.msg_iov = &part, .msg_iovlen = 1};
        /* Without room for descriptors the kernel drops them. */
        if (memory != NULL) {
            parts.msg_control = control.bytes;
            parts.msg_controllen = sizeof control.bytes;
        }
        ssize_t got = recvmsg(lane, &parts, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return errno;
        int found = memory != NULL ? taken(&parts) : -1;
        if (got == (ssize_t)bytes && !(parts.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
            if (memory != NULL) *memory = found;
            return 0;
        }
        if (found >= 0) close(found);
        /* A SEQPACKET socket has no other sign of its end. */
        return got == 0 ? ECONNRESET : EBADMSG;
    }
}
