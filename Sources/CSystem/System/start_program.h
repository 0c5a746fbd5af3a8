/* Starts programs that inherit nothing from this process but what is passed on. */
#ifndef NHS_START_PROGRAM_H
#define NHS_START_PROGRAM_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Starts arguments[0], which is looked up in PATH if it has no slash. Its descriptor i is fds[i], or /dev/null where that is
 * -1; it has no others. Its folder is /. No signal is blocked or ignored. `flags` are further POSIX_SPAWN_ flags: a process
 * group or a session of its own. Doesn't call fork handlers. Returns 0, or an error number.
 */
int nhs_spawn(
    char *const *arguments, char *const *environment, const int *fds, size_t count, short flags, pid_t *child);

#endif
