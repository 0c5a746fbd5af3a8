#define _GNU_SOURCE
#include "nhs_command.h"

#include "nhs_linux.h"
#include "start_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* How often the end of a command is checked that may have passed its output on to another program; and of one that has closed
   it, and usually ends right after that. */
static const int check_ms = 20, check_closed_ms = 2;

/* Returns 0, or an error number. */
static int start(char *const *arguments, int out, pid_t *child) {
    /* The standard error stays; it may be closed. */
    const int fds[] = {-1, out, fcntl(2, F_GETFD) < 0 ? -1 : 2};
    return nhs_spawn(arguments, environ, fds, 3, POSIX_SPAWN_SETPGROUP, child);
}

/* Whether the child has ended. Its status stays for `reap`. */
static bool has_ended(pid_t child) {
    siginfo_t ended = {0};
    int result;
    do {
        result = waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT);
    } while (result != 0 && errno == EINTR);
    return result != 0 || ended.si_pid == child;
}

static nhs_command_end reap(pid_t child, int *detail) {
    int status = 0;
    pid_t result;
    do {
        result = waitpid(child, &status, 0);
    } while (result < 0 && errno == EINTR);
    *detail = -1;
    if (result != child) return NHS_COMMAND_EXITED;
    if (WIFSIGNALED(status)) {
        *detail = WTERMSIG(status);
        return NHS_COMMAND_KILLED;
    }
    *detail = WEXITSTATUS(status);
    return NHS_COMMAND_EXITED;
}

/* Reads until the child has ended, and no more bytes are there. */
static nhs_command_end take_output(
    pid_t child, int in, int64_t due, char *output, size_t capacity, size_t *length, int *detail) {
    bool is_open = true;
    while (true) {
        int64_t left = due - nhs_monotonic_ns();
        if (left <= 0) return NHS_COMMAND_TOO_SLOW;
        /* Checked before the read: what it wrote before its end is then in the pipe. */
        bool ended = has_ended(child);
        struct pollfd ready = {.fd = is_open ? in : -1, .events = POLLIN};
        int64_t step = is_open ? check_ms : check_closed_ms;
        int wait = ended ? 0 : (int)(left < step * 1000000 ? left / 1000000 + 1 : step);
        int count = poll(&ready, 1, wait);
        if (count < 0 && errno != EINTR) {
            *detail = errno;
            return NHS_COMMAND_FAILED;
        }
        if (count <= 0) {
            if (ended) return NHS_COMMAND_EXITED;
            continue;
        }
        char rest[1];
        bool is_full = *length == capacity;
        ssize_t got = read(in, is_full ? rest : output + *length, is_full ? 1 : capacity - *length);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) {
            *detail = errno;
            return NHS_COMMAND_FAILED;
        }
        if (got > 0 && is_full) return NHS_COMMAND_TOO_LONG;
        if (got == 0) is_open = false;
        else *length += (size_t)got;
    }
}

nhs_command_end nhs_command_run(
    char *const *arguments, int64_t nanoseconds, char *output, size_t capacity, size_t *length, int *detail) {
    int pipes[2];
    pid_t child = 0;
    int64_t due = nhs_monotonic_ns() + nanoseconds;
    *length = 0;
    *detail = 0;
    if (pipe2(pipes, O_CLOEXEC) != 0) {
        *detail = errno;
        return NHS_COMMAND_FAILED;
    }
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    *detail = start(arguments, pipes[1], &child);
    close(pipes[1]);
    if (*detail) {
        close(pipes[0]);
        return NHS_COMMAND_FAILED;
    }
    nhs_command_end end = take_output(child, pipes[0], due, output, capacity, length, detail);
    close(pipes[0]);
    if (end == NHS_COMMAND_EXITED) return reap(child, detail);
    int kept = *detail;
    kill(-child, SIGKILL);
    reap(child, detail);
    *detail = kept;
    return end;
}
