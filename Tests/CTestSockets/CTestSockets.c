#define _GNU_SOURCE
#include "CTestSockets.h"

#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

const int16_t test_poll_hangup = POLLRDHUP | POLLHUP | POLLERR;

int test_accept(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

int test_eventfd(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void test_eventfd_signal(int descriptor)
{
    (void)eventfd_write(descriptor, 1);
}

void test_eventfd_clear(int descriptor)
{
    eventfd_t count;
    (void)eventfd_read(descriptor, &count);
}
