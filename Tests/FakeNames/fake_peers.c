#define _GNU_SOURCE
#include "FakeNames.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/socket.h>

typedef int (*inquiry)(int, struct sockaddr *, socklen_t *);

static atomic_int lost_port;

void fake_peer_lost(int port) { lost_port = port; }

int getpeername(int fd, struct sockaddr *restrict address, socklen_t *restrict length) {
    inquiry next;
    *(void **)&next = dlsym(RTLD_NEXT, "getpeername");
    int result = next(fd, address, length);
    int port = lost_port;
    if (result != 0 || !port || address->sa_family != AF_INET) return result;
    if (ntohs(((struct sockaddr_in *)(void *)address)->sin_port) != port) return result;
    errno = ENOTCONN;
    return -1;
}
