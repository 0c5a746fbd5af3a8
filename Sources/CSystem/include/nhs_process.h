/* State of the process or of one thread: forks, threads, the last error message. */
#ifndef NHS_PROCESS_H
#define NHS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* Returns a number that differs between a parent and its forked child. */
uint64_t nhs_fork_epoch(void);

/*
 * The lock for state of the whole process. fork() takes it: otherwise a child could inherit it locked by a thread that
 * doesn't exist there. Hold it for a few instructions only, and take no other lock meanwhile.
 */
void nhs_process_lock(void);
void nhs_process_unlock(void);

/*
 * fork() waits between these two calls. Use them around calls of libraries that don't handle forks: libcrypto, and the
 * Swift runtime, which creates type metadata at first use. After a fork in the middle of such a call, the library's
 * locks would stay locked in the child. The child's requests or its exit() would wait for them forever.
 *
 * Pairs of calls may be nested. Hold no lock when you call nhs_hold_forks. Before nhs_release_forks, don't wait for
 * anything that a forking thread may hold.
 */
void nhs_hold_forks(void);
void nhs_release_forks(void);

/* Closes `fd` in every forked child at once, because the child must not share it. Returns 0, or -1 if there are too
   many such descriptors. */
int nhs_close_in_child(int fd);
/* Undoes nhs_close_in_child. Call it before you close the descriptor: its number may be used again. */
void nhs_keep_in_child(int fd);

/* Returns the number of processors that this process may use. */
int nhs_processors(void);

/*
 * Starts a thread with every signal except SIGBUS blocked, so that the program's handlers run on its own threads. The
 * thread calls nhs_hold_forks before `body`, which must release forks while it waits. Returns 0, or an error number.
 */
int nhs_thread_start(uint64_t *thread, const char *name, void *(*body)(void *), void *context);
int nhs_thread_join(uint64_t thread);

/* Returns memory that the allocator holds unused to the kernel. */
void nhs_trim_allocator(void);
/*
 * Makes the allocator keep freed memory. Otherwise it would return memory to the kernel after each picture, and the
 * kernel would have to zero it for the next one. The kept amount is a small part of `of`, the bytes that the process
 * may use. For programs, not for libraries.
 */
void nhs_keep_freed_memory(int64_t of);
/*
 * Sets SCHED_BATCH for this thread and for the threads that it starts later. When they wake up, they no longer preempt
 * a running thread. Does nothing if the scheduling policy isn't SCHED_OTHER. For programs, not for libraries.
 */
void nhs_work_as_batch(void);

/* Returns a variable of the environment; NULL in a privileged program. */
const char *nhs_environment(const char *name);
/* Returns whether the program has more rights than its user, such as a setuid program. */
int nhs_is_privileged(void);
/* Copies the home folder of the effective user. Returns -1 if there is none, or it is too long. */
int nhs_home_of_user(char *path, size_t size);
/* In a privileged program, removes variables from the environment that libcurl would read. */
void nhs_forget_unsafe_environment(void);

/* This thread's last error message: a buffer of `nhs_message_capacity` bytes, NUL-terminated. */
enum { nhs_message_capacity = 2048 };
char *nhs_message_buffer(void);

/* Other facts of this thread's last error: its code, an HTTP status or 0, seconds to wait or -1. */
typedef struct nhs_error_facts {
    uint32_t code;
    int32_t http_status;
    int32_t retry_after;
    uint64_t outbox_id;
} nhs_error_facts;
nhs_error_facts *nhs_last_error(void);

/* Counts nested calls from callbacks on this thread. Returns 0, without counting, if they are already `deepest`
   deep. */
int nhs_go_deeper(uint32_t deepest);
void nhs_come_back(void);

#endif
