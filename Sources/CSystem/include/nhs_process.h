/* What belongs to a whole process or to one thread of it: fork, threads, the last error message. */
#ifndef NHS_PROCESS_H
#define NHS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* How often this process has been forked off since the library was loaded: differs between parent and child. */
uint64_t nhs_fork_epoch(void);

/*
 * The one lock for state of the whole process. It is taken across fork(), so that a child never inherits it held by
 * a thread that it doesn't have. Held for a few instructions only, never while another lock is wanted.
 */
void nhs_process_lock(void);
void nhs_process_unlock(void);

/*
 * Between these two fork() waits. For calls of libraries that know nothing of forks: their locks would be held for ever in a child
 * that was forked in the middle of one, and its own requests, or its exit(), wait for them. Those of libcrypto, and those of the
 * Swift runtime, under which it makes what it needs of a type when that is needed first. A thread may do both repeatedly; it must
 * not wait for anything that a thread that forks may hold, nor have a lock when it begins to hold.
 */
void nhs_hold_forks(void);
void nhs_release_forks(void);

/* Descriptors that a forked child must not share with its parent; closed there at once. 0, or -1 when there are too many. */
int nhs_close_in_child(int fd);
void nhs_keep_in_child(int fd);

/* How many processors this process may use. */
int nhs_processors(void);

/*
 * Starts a thread that has every signal but SIGBUS blocked, so that the program's handlers run on the program's own threads. It holds forks from
 * its first step; its body releases them while it waits.
 */
int nhs_thread_start(uint64_t *thread, const char *name, void *(*body)(void *), void *context);
int nhs_thread_join(uint64_t thread);

/* Gives memory that the allocator holds, but nobody uses, back to the system. */
void nhs_trim_allocator(void);
/*
 * Has the allocator keep what is freed: memory that goes back to the kernel after each picture has to be asked for,
 * and filled with zeros, again. Of `of` bytes that the process may have it keeps a small part. For programs, not for libraries.
 */
void nhs_keep_freed_memory(int64_t of);
/*
 * Tells the kernel that this program's work is a heap to get through, and nobody waits for a part of it: this thread, and all
 * that it starts from now on, no longer interrupt others when they wake up. What somebody chose instead of the usual stays. For
 * programs, not for libraries.
 */
void nhs_work_as_batch(void);

/* A variable of the environment; NULL also in programs that run with more rights than who started them. */
const char *nhs_environment(const char *name);
/* Whether this is such a program. */
int nhs_is_privileged(void);
/* The folder that the system has for the user whose rights the program has. -1 when there is none, or it is longer. */
int nhs_home_of_user(char *path, size_t size);
/* In such a program, takes variables out of the environment that libcurl would heed. */
void nhs_forget_unsafe_environment(void);

/* This thread's last error message: a buffer of `nhs_message_capacity` bytes, terminated by NUL. */
enum { nhs_message_capacity = 2048 };
char *nhs_message_buffer(void);

/* What else is known of this thread's last error: its code, an HTTP status or 0, seconds to wait or -1. */
typedef struct nhs_error_facts {
    uint32_t code;
    int32_t http_status;
    int32_t retry_after;
    uint64_t outbox_id;
} nhs_error_facts;
nhs_error_facts *nhs_last_error(void);

/* Counts calls of this thread that are one within the callback of the other. 0, uncounted, where they are `deepest` deep. */
int nhs_go_deeper(uint32_t deepest);
void nhs_come_back(void);

#endif
