#define _GNU_SOURCE
#include "nhs_linux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void nhs_futex_wait(const uint32_t *word, uint32_t expected, int64_t deadline_ns) {
    struct timespec deadline = {.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};
    /* FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC; plain FUTEX_WAIT takes a relative one. */
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
            deadline_ns == INT64_MAX ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

void nhs_futex_wake_all(const uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0);
}

int64_t nhs_monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int nhs_epoll_new(void) { return epoll_create1(EPOLL_CLOEXEC); }

int nhs_eventfd_new(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int nhs_epoll_watch(int epoll, int fd, uint32_t events, int is_new) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (events == 0) return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
    return epoll_ctl(epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

int nhs_epoll_wait(int epoll, int *fds, uint32_t *events, int count, int timeout_ms) {
    struct epoll_event ready[64];
    if (count > 64) count = 64;
    int found = epoll_wait(epoll, ready, count, timeout_ms);
    for (int i = 0; i < found; i++) {
        fds[i] = ready[i].data.fd;
        events[i] = ready[i].events;
    }
    return found;
}

int nhs_canonical_ipv6(const char *text, char *printed, size_t capacity) {
    struct in6_addr address;
    if (inet_pton(AF_INET6, text, &address) != 1) return -1;
    return inet_ntop(AF_INET6, &address, printed, (socklen_t)capacity) ? 0 : -1;
}

int nhs_unlinked_file(const char *folder) {
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
        return fd;
    }
    // The file system doesn't support O_TMPFILE: create a file and delete it.
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/inflight-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        unlink(path);
    }
    return fd;
}

int nhs_map_longer(int fd, size_t size, nhs_mapping *mapping) {
    int problem = posix_fallocate(fd, 0, (off_t)size);
    if (problem != 0) return problem;
    nhs_mapping made;
    problem = -nhs_map_file(fd, 0, size, NHS_MAP_READ, &made);
    if (problem != 0) return problem;
    if (mapping->base) nhs_unmap_file(mapping);
    *mapping = made;
    return 0;
}

int nhs_write_at(int fd, const void *bytes, size_t count, int64_t offset) {
    const char *at = bytes;
    while (count > 0) {
        ssize_t written = pwrite(fd, at, count, (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : ENOSPC;
        at += written;
        count -= (size_t)written;
        offset += written;
    }
    return 0;
}

int nhs_reserve_ahead(int fd, int64_t offset, int64_t count) {
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)count);
}
