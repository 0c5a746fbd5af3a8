/* Linux calls and constants that Swift's Glibc module doesn't have, or has as macros that Swift can't read. */
#ifndef NHS_LINUX_H
#define NHS_LINUX_H

#include "nhs_mapping.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/*
 * Waits while *word is `expected`, at most until `deadline_ns` of CLOCK_MONOTONIC (INT64_MAX: no limit). May return
 * early, so the caller must check again.
 */
void nhs_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns);
void nhs_futex_wake_all(const uint32_t *word);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t nhs_monotonic_ns(void);

/* An epoll descriptor, and an eventfd that never blocks; both closed on exec. -1 and errno on failure. */
int nhs_epoll_new(void);
int nhs_eventfd_new(void);
/* Watches `fd` for `events` (0: stops watching). nhs_epoll_wait returns the descriptor itself. */
int nhs_epoll_watch(int epoll, int fd, uint32_t events, int is_new);
/* Returns up to `count` ready descriptors with their events; waits at most `timeout_ms` (-1: no limit). */
int nhs_epoll_wait(int epoll, int *fds, uint32_t *events, int count, int timeout_ms);

/* A file without a name in `folder`, closed on exec. -1 and errno on failure. */
int nhs_unlinked_file(const char *folder);
/*
 * Extends the file to `size` bytes with reserved disk space, and maps it for reading in place of the present mapping (a
 * NULL base at first). Returns 0, or an error number; then the mapping is unchanged.
 */
int nhs_map_longer(int fd, size_t size, nhs_mapping *mapping);
/* Writes all bytes. Returns 0, or an error number. */
int nhs_write_at(int fd, const void *bytes, size_t count, int64_t offset);

/* Reserves disk space for later bytes without extending the file. -1 and errno on failure. */
int nhs_reserve_ahead(int fd, int64_t offset, int64_t count);

/* Prints an IPv6 address in its canonical form (RFC 5952). Returns 0, or -1 if `text` isn't one. */
int nhs_canonical_ipv6(const char *text, char *printed, size_t capacity);

#endif
