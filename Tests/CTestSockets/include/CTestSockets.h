#ifndef C_TEST_SOCKETS_H
#define C_TEST_SOCKETS_H

#include <stdint.h>
#include <zlib.h>

// What the test server needs of Linux and zlib, and Swift's Glibc module doesn't have.

/// A connection that child processes don't inherit; negative with errno on error.
int test_accept(int listener);

/// A counter to poll on, neither inherited nor blocking; negative with errno on error.
int test_eventfd(void);

/// Makes it readable.
void test_eventfd_signal(int descriptor);

/// Makes it unreadable.
void test_eventfd_clear(int descriptor);

/// POLLRDHUP, POLLHUP and POLLERR.
extern const int16_t test_poll_hangup;

#endif
