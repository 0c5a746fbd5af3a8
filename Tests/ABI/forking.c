/* What a forked child may do with what it inherits, while the parent's threads are at work. */
#include "checks.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static const char *base;

static nh_image *image;

static int in_child(nh_cache *cache, nh_ticket *ticket, nh_response *response) {
    nh_image_info picture = {.struct_size = sizeof picture};
    nh_statistics statistics = {.struct_size = sizeof statistics};
    nh_response *fresh = NULL;
    nh_event event;
    nh_response_info info = {.struct_size = sizeof info};
    alarm(60);
    CHECK("child: get", nh_get(cache, url_of(base, "/bytes/10"), &fresh) == NH_FORKED && fresh == NULL);
    CHECK("child: wait", nh_wait(ticket, -1, &event, sizeof event) == NH_FORKED);
    CHECK("child: poll", nh_poll(cache, &event, 1, sizeof event) == -NH_FORKED && nh_fd(cache) == -NH_FORKED);
    CHECK("child: dispatch", nh_dispatch(cache, -1) == -NH_FORKED && nh_shutdown(cache) == NH_OK);
    CHECK("child: image", nh_image_get_info(image, &picture) == NH_OK && ((const unsigned char *)picture.pixels)[3] == 255);
    CHECK("child: statistics", nh_stats(cache, &statistics) == NH_FORKED && nh_wait_idle(cache, -1) == NH_FORKED);
    nh_image *peeked = NULL;
    CHECK("child: peek", nh_peek(cache, url_of(base, "/png/20/20"), 10, 0, &peeked) == NH_FORKED && peeked == NULL);
    CHECK("child: cancel", nh_cancel(ticket) == NH_OK);
    CHECK("child: response", nh_response_get_info(response, &info) == NH_OK && info.body_size == 1000);
    CHECK("child: close", nh_close(cache) == NH_OK);
    nh_cache *own = open_cache(NULL);
    CHECK("child: own cache", nh_get(own, url_of(base, "/bytes/10"), &fresh) == NH_OK);
    CHECK("child: close own", nh_close(own) == NH_OK);
    CHECK("child: release", nh_response_release(response) == NH_OK && nh_ticket_release(ticket) == NH_OK);
    return failures != 0;
}

static nh_cache *shared;

static void *submit_many(void *context) {
    nh_request *request = NULL;
    if (nh_request_new(url_of(base, "/bytes/10"), &request) != NH_OK) abort();
    for (int i = 0; i < 20000; i++) {
        nh_ticket *ticket = NULL;
        if (nh_submit(shared, request, &ticket) != NH_OK) abort();
        nh_cancel(ticket);
        nh_ticket_release(ticket);
    }
    nh_request_release(request);
    return context;
}

/* The child's first thread, the one that forked, wants the same locks as others that the child started. */
static int busy_child(void) {
    pthread_t threads[4];
    alarm(120);
    shared = open_cache(NULL);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, submit_many, NULL);
    submit_many(NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return nh_close(shared) != NH_OK;
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    nh_cache *cache = open_cache(NULL);
    nh_response *response = NULL, *again = NULL;
    CHECK("get before", nh_get(cache, url_of(base, "/bytes/1000"), &response) == NH_OK);
    CHECK("image before", nh_thumbnail(cache, url_of(base, "/png/20/20"), 10, &image) == NH_OK && nh_fd(cache) >= 0);
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    nh_request_new(url_of(base, "/delay/600000"), &request);
    nh_request_set_timeout(request, -1);
    nh_submit(cache, request, &ticket);

    for (int round = 0; round < 20; round++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) _exit(in_child(cache, ticket, response));
        int status = 0;
        CHECK("parent goes on", nh_get(cache, url_of(base, "/bytes/10"), &again) == NH_OK);
        nh_response_release(again);
        CHECK("child ended well", waitpid(child, &status, 0) == child && status == 0);
    }

    for (int round = 0; round < 3; round++) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) _exit(busy_child());
        CHECK("threads of a child", waitpid(child, &status, 0) == child && status == 0);
    }

    nh_event event;
    nh_cancel(ticket);
    CHECK("parent's ticket", nh_wait(ticket, 0, &event, sizeof event) == NH_OK && event.code == NH_CANCELLED);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
    nh_request_release(request);
    CHECK("close", nh_close(cache) == NH_OK && nh_response_release(response) == NH_OK);
    return failures != 0;
}
