#define _GNU_SOURCE
#include "start_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

enum { most = 32 };

static int add(posix_spawn_file_actions_t *actions, int from, int to) {
    if (from >= 0) return posix_spawn_file_actions_adddup2(actions, from, to);
    return posix_spawn_file_actions_addopen(actions, to, "/dev/null", to == 0 ? O_RDONLY : O_WRONLY, 0);
}

static int run(
    char *const *arguments, char *const *environment, const int *fds, size_t count, short flags, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure) return failure;
    failure = posix_spawnattr_init(&attributes);
    if (failure) {
        posix_spawn_file_actions_destroy(&actions);
        return failure;
    }
    sigemptyset(&none);
    sigfillset(&all);
    for (size_t i = 0; i < count && !failure; i++) failure = add(&actions, fds[i], (int)i);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&actions, (int)count);
    if (!failure) failure = posix_spawn_file_actions_addchdir_np(&actions, "/");
    if (!failure) failure = posix_spawnattr_setsigmask(&attributes, &none);
    if (!failure) failure = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!failure) failure = posix_spawnattr_setpgroup(&attributes, 0);
    if (!failure) {
        flags = (short)(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        failure = posix_spawnattr_setflags(&attributes, flags);
    }
    if (!failure) failure = posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

int nhs_spawn(
    char *const *arguments, char *const *environment, const int *fds, size_t count, short flags, pid_t *child) {
    int moved[most], failure = 0;
    size_t made = 0;
    if (count > most) return EINVAL;
    /* A descriptor with a number below `count` could be replaced before it is passed on. */
    for (; made < count && !failure; made++) {
        moved[made] = fds[made] < 0 ? -1 : fcntl(fds[made], F_DUPFD_CLOEXEC, (int)count);
        if (fds[made] >= 0 && moved[made] < 0) failure = errno;
    }
    if (!failure) failure = run(arguments, environment, moved, count, flags, child);
    for (size_t i = 0; i < made; i++) {
        if (moved[i] >= 0) close(moved[i]);
    }
    return failure;
}
