/* State of the process or of one thread: forks, threads, the last error message. */
#ifndef NHS_PROCESS_H
#define NHS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* Returns a number that differs between a parent and its forked child. */
uint64_t nhs_fork_epoch(void);

/*
 * The lock for state of the whole process. fork() takes it, so that a child never inherits it held by a thread that
 * doesn't exist there. Hold it for a few instructions only, and take no other lock meanwhile.
 */
void nhs_process_lock(void);
void nhs_process_unlock(void);

/*
 * fork() waits between these two calls. For calls of libraries that don't handle forks: in a child that is forked in
 * the middle of such a call, their locks would stay held forever, and the child's requests, or its exit(), would wait
 * for them. This concerns locks of libcrypto, and of the Swift runtime when it creates type metadata at first use. A
 * thread may call them repeatedly. Between the calls it must not wait for anything that a forking thread may hold, and
 * it must hold no lock when it calls nhs_hold_forks.
 */
void nhs_hold_forks(void);
void nhs_release_forks(void);

/* Descriptors that a forked child must not share with its parent: they are closed in the child at once. Returns 0,
   or -1 if there are too many. */
int nhs_close_in_child(int fd);
void nhs_keep_in_child(int fd);

/* Returns the number of processors that this process may use. */
int nhs_processors(void);

/*
 * Starts a thread with every signal except SIGBUS blocked, so that the program's handlers run on its own threads. The
 * thread holds forks from its first step; its body releases them while it waits.
 */
int nhs_thread_start(uint64_t *thread, const char *name, void *(*body)(void *), void *context);
int nhs_thread_join(uint64_t thread);

/* Returns memory that the allocator holds unused to the kernel. */
void nhs_trim_allocator(void);
/*
 * Makes the allocator keep freed memory. Otherwise memory would be returned to the kernel after each picture, and have
 * to be requested and zeroed again. The kept amount is a small part of `of`, the bytes that the process may use. For
 * programs, not for libraries.
 */
void nhs_keep_freed_memory(int64_t of);
/*
 * Sets SCHED_BATCH for this thread and for the threads that it starts later. When they wake up, they no longer preempt
 * a running thread. Does nothing if the scheduling policy isn't SCHED_OTHER. For programs, not for libraries.
 */
void nhs_work_as_batch(void);

/* Returns a variable of the environment; NULL in a program with more rights than its user, such as a setuid program. */
const char *nhs_environment(const char *name);
/* Returns whether this is such a program. */
int nhs_is_privileged(void);
/* Copies the home folder of the effective user. Returns -1 if there is none, or it is too long. */
int nhs_home_of_user(char *path, size_t size);
/* In such a program, removes variables from the environment that libcurl would read. */
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
