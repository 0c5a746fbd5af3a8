/* Preloaded: public addresses lead to this machine, but report the public address. Other addresses that aren't this machine's
 * can't be reached. So a test can connect to any host of the world and sends nothing there. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { DESCRIPTORS = 4096 };

/* The only public address that leads to a server. */
static const char public_address[] = "93.184.216.34";
static char is_public[DESCRIPTORS];

int connect(int fd, const struct sockaddr *address, socklen_t length) {
    int (*next)(int, const struct sockaddr *, socklen_t);
    *(void **)&next = dlsym(RTLD_NEXT, "connect");
    if (fd >= 0 && fd < DESCRIPTORS) is_public[fd] = 0;
    if (address->sa_family != AF_INET && address->sa_family != AF_INET6) return next(fd, address, length);
    if (address->sa_family == AF_INET) {
        struct sockaddr_in there;
        memcpy(&there, address, sizeof there);
        if (there.sin_addr.s_addr == htonl(INADDR_LOOPBACK)) return next(fd, address, length);
        if (there.sin_addr.s_addr == inet_addr(public_address) && fd < DESCRIPTORS) {
            is_public[fd] = 1;
            there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            return next(fd, (const struct sockaddr *)&there, sizeof there);
        }
    }
    errno = ECONNREFUSED;
    return -1;
}

int getpeername(int fd, struct sockaddr *restrict address, socklen_t *restrict length) {
    int (*next)(int, struct sockaddr *, socklen_t *);
    *(void **)&next = dlsym(RTLD_NEXT, "getpeername");
    int result = next(fd, address, length);
    if (result == 0 && fd < DESCRIPTORS && is_public[fd] && address->sa_family == AF_INET) {
        ((struct sockaddr_in *)(void *)address)->sin_addr.s_addr = inet_addr(public_address);
    }
    return result;
}
