/* exit() and exec() while requests are under way. */
#include "checks.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

static const char *base;

static int entries(const char *path) {
    int count = 0;
    DIR *directory = opendir(path);
    if (directory == NULL) return -1;
    while (readdir(directory) != NULL) count++;
    closedir(directory);
    return count;
}

/* Runs after the library's own handler, as OpenSSL's clean-up does. No thread of the library may run any more. */
static void one_thread_is_left(void) {
    /* A joined thread may still be in /proc for a moment. A running one stays there. */
    for (int round = 0; round < 3000; round++) {
        if (entries("/proc/self/task") == 2 + 1) _exit(0);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    _exit(1);
}

static void submit(nh_cache *cache, const char *path, nh_ticket **ticket) {
    nh_request *request = NULL;
    if (nh_request_create(url_of(base, path), &request) != NH_OK || nh_submit_request(cache, request, ticket) != NH_OK) _exit(2);
}

static void leave_with_requests_under_way(void) {
    nh_ticket *ticket;
    atexit(one_thread_is_left);
    nh_cache *cache = open_cache(NULL);
    for (int i = 0; i < 10; i++) submit(cache, "/delay/60000", &ticket);
    exit(3);
}

/* Counts connections that the next program would inherit. */
static int inherited_connections(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        int domain = 0;
        socklen_t size = sizeof domain;
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && (domain == AF_INET || domain == AF_INET6) &&
            (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) {
            count++;
        }
    }
    return count;
}

static int ended_well(pid_t child) {
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    pid_t child = fork();
    if (child == 0) leave_with_requests_under_way();
    CHECK("exit() ends the library's thread first", ended_well(child));

    int before = inherited_connections();
    nh_cache *cache = open_cache(NULL);
    nh_response *response = NULL;
    CHECK("get", nh_get(cache, url_of(base, "/bytes/10"), NULL, &response) == NH_OK);
    CHECK("the kept connection is closed on exec", inherited_connections() == before);
    nh_response_release(response);

    /* The child inherits the exit handler, but not the thread that the handler ends. */
    child = fork();
    if (child == 0) {
        alarm(60);
        exit(0);
    }
    CHECK("a forked child can exit()", ended_well(child));
    CHECK("close", nh_close(cache, 2000) == NH_OK);
    return failures != 0;
}
