/* Runs a command without a shell and takes its output. */
#ifndef NHS_COMMAND_H
#define NHS_COMMAND_H

#include <stddef.h>
#include <stdint.h>

typedef enum nhs_command_end {
    /* The command has ended. `detail` is its exit status, or -1 if the program has taken it (SIGCHLD ignored). */
    NHS_COMMAND_EXITED,
    /* A signal has ended it. `detail` is the signal. */
    NHS_COMMAND_KILLED,
    /* It could not be started, or its output can't be read. `detail` is the error number. */
    NHS_COMMAND_FAILED,
    /* It took longer than its time, or wrote more than `capacity` bytes. It was killed. */
    NHS_COMMAND_TOO_SLOW,
    NHS_COMMAND_TOO_LONG
} nhs_command_end;

/*
 * Runs arguments[0], which is looked up in PATH if it has no slash, and writes its standard output to `output`. Its
 * standard input is /dev/null, its standard error that of this process, its folder is /. It inherits no other descriptor, no
 * blocked signal and no ignored signal, and has a process group of its own, which is killed as a whole. Doesn't call
 * fork handlers. Waits at most `nanoseconds`.
 */
nhs_command_end nhs_command_run(
    char *const *arguments, int64_t nanoseconds, char *output, size_t capacity, size_t *length, int *detail);

#endif
