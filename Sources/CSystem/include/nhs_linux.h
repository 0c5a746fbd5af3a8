/* Linux calls and constants that Swift's Glibc module does not show, or shows as macros it can't read. */
#ifndef NHS_LINUX_H
#define NHS_LINUX_H

#include "nhs_mapping.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/*
 * Waits while *word holds `expected`, at most until `deadline_ns` of CLOCK_MONOTONIC (INT64_MAX: for ever).
 * Returns on a wake, on a time-out, on a changed word or for no reason: the caller looks again.
 */
void nhs_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns);
void nhs_futex_wake_all(const uint32_t *word);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t nhs_monotonic_ns(void);

/* An epoll descriptor, and an eventfd that never blocks; both closed on exec. -1 and errno on failure. */
int nhs_epoll_new(void);
int nhs_eventfd_new(void);
/* Watches `fd` for `events` (0: stops watching). The descriptor itself is what nhs_epoll_wait gives back. */
int nhs_epoll_watch(int epoll, int fd, uint32_t events, int is_new);
/* Up to `count` ready descriptors with their events; waits at most `timeout_ms` (-1: for ever). */
int nhs_epoll_wait(int epoll, int *fds, uint32_t *events, int count, int timeout_ms);

/* A file without a name in `folder`, closed on exec. -1 and errno on failure. */
int nhs_unlinked_file(const char *folder);
/*
 * Makes the file `size` bytes long, all of them with room on the disk, and maps it to be read, in the place of what is mapped
 * of it (a NULL base at first). 0, or an error number; the mapping is as it was then.
 */
int nhs_map_longer(int fd, size_t size, nhs_mapping *mapping);
/* Writes all of it. 0, or an error number. */
int nhs_write_at(int fd, const void *bytes, size_t count, int64_t offset);

/* Room on the disk for bytes to come, without making the file longer. -1 and errno on failure. */
int nhs_reserve_ahead(int fd, int64_t offset, int64_t count);

/* The one spelling of an IPv6 address (RFC 5952). 0, or -1 when `text` is none. */
int nhs_canonical_ipv6(const char *text, char *printed, size_t capacity);

#endif
