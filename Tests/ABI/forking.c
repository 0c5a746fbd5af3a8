/* Calls that a forked child may make, while threads of the parent are at work. */
#include "checks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static const char *base;

static nh_image *image;

/* Wraps the function of libcrypto. It holds locks of libcrypto for milliseconds. If a child were forked while another thread is in
   it, the child would wait for these locks for ever, at the latest in exit(). */
typedef struct evp_md_st *looked_up(void *, const char *, const char *);

looked_up EVP_MD_fetch;

static int lookups;

struct evp_md_st *EVP_MD_fetch(void *context, const char *name, const char *properties) {
    looked_up *own;
    *(void **)&own = dlsym(RTLD_NEXT, "EVP_MD_fetch");
    __atomic_fetch_add(&lookups, 1, __ATOMIC_SEQ_CST);
    return own(context, name, properties);
}

static int in_child(nh_cache *cache, nh_ticket *ticket, nh_response *response) {
    nh_image_info picture = {.struct_size = sizeof picture};
    nh_statistics statistics = {.struct_size = sizeof statistics};
    nh_response *fresh = NULL;
    nh_event event;
    nh_response_info info = {.struct_size = sizeof info};
    alarm(60);
    CHECK("child: get", nh_get(cache, url_of(base, "/bytes/10"), NULL, &fresh) == NH_FORKED && fresh == NULL);
    CHECK("child: wait", nh_wait(ticket, -1, &event, sizeof event) == NH_FORKED);
    CHECK("child: poll", nh_poll(cache, &event, 1, sizeof event) == -NH_FORKED && nh_fd(cache) == -NH_FORKED);
    CHECK("child: dispatch", nh_dispatch(cache, -1) == -NH_FORKED && nh_shutdown(cache) == NH_OK);
    CHECK("child: image", nh_image_get_info(image, &picture) == NH_OK && ((const unsigned char *)picture.pixels)[3] == 255);
    CHECK("child: statistics", nh_stats(cache, &statistics) == NH_FORKED && nh_wait_idle(cache, -1) == NH_FORKED);
    nh_image *peeked = NULL;
    CHECK("child: peek", peek_at(cache, url_of(base, "/png/20/20"), NH_OPTIONS(.size = 10), &peeked) == NH_FORKED && peeked == NULL);
    CHECK("child: cancel", nh_cancel(ticket) == NH_OK);
    CHECK("child: response", nh_response_get_info(response, &info) == NH_OK && info.body_size == 1000);
    CHECK("child: close", nh_close(cache, 2000) == NH_OK);
    nh_cache *own = open_cache(NULL);
    CHECK("child: own cache", nh_get(own, url_of(base, "/bytes/10"), NULL, &fresh) == NH_OK);
    CHECK("child: close own", nh_close(own, 2000) == NH_OK);
    CHECK("child: release", nh_response_release(response) == NH_OK && nh_ticket_release(ticket) == NH_OK);
    return failures != 0;
}

/* Wraps the function of libcurl, too, and sometimes makes it slow: it holds locks of OpenSSL for a connection. */
typedef int act(void *, int, int, int *);

act curl_multi_socket_action;

static int acting, is_slow;

int curl_multi_socket_action(void *multi, int socket, int mask, int *running) {
    act *own;
    *(void **)&own = dlsym(RTLD_NEXT, "curl_multi_socket_action");
    __atomic_store_n(&acting, 1, __ATOMIC_SEQ_CST);
    /* Long enough for a fork meanwhile. Were it too short, a wrong fork would be found less often. */
    if (__atomic_load_n(&is_slow, __ATOMIC_SEQ_CST)) usleep(2000);
    int code = own(multi, socket, mask, running);
    __atomic_store_n(&acting, 0, __ATOMIC_SEQ_CST);
    return code;
}

static int has_enough;

static void *fetch_on(void *context) {
    nh_request *request = NULL;
    nh_response *response = NULL;
    if (nh_request_create(url_of(base, "/bytes/10"), &request) != NH_OK) abort();
    SET(request, .policy = NH_POLICY_RELOAD);
    while (!__atomic_load_n(&has_enough, __ATOMIC_SEQ_CST)) {
        if (nh_perform(context, request, &response) == NH_OK) nh_response_release(response);
    }
    nh_request_free(request);
    return NULL;
}

/* libcurl and OpenSSL must work in the child: its own requests and its exit() need them. */
static void fork_while_fetching(nh_cache *cache) {
    pthread_t thread;
    int caught = 0;
    __atomic_store_n(&is_slow, 1, __ATOMIC_SEQ_CST);
    pthread_create(&thread, NULL, fetch_on, cache);
    for (int round = 0; round < 50; round++) {
        int status = 0;
        fflush(stdout);
        while (!__atomic_load_n(&acting, __ATOMIC_SEQ_CST)) usleep(100);
        pid_t child = fork();
        if (child == 0) _exit(__atomic_load_n(&acting, __ATOMIC_SEQ_CST));
        caught += waitpid(child, &status, 0) != child || status != 0;
    }
    __atomic_store_n(&has_enough, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    __atomic_store_n(&is_slow, 0, __ATOMIC_SEQ_CST);
    CHECK("no fork happens in the middle of a call of libcurl", caught == 0);
}

static int lines_seen;

static void note(nh_log_level level, const char *line, void *user) {
    (void)level, (void)line, (void)user;
    lines_seen++;
}

/* The child gets its own log lines. Lines that the parent has not taken yet stay with the parent. */
static int logging_child(void) {
    alarm(60);
    CHECK("child: no log line of the parent is delivered", nh_log_dispatch() == NH_OK && lines_seen == 0);
    CHECK("child: open and close", nh_close(open_cache(NULL), 2000) == NH_OK);
    CHECK("child: its own lines", nh_log_dispatch() == NH_OK && lines_seen == 2);
    return failures != 0;
}

static void *set_on(void *context) {
    while (!__atomic_load_n(&has_enough, __ATOMIC_SEQ_CST)) {
        nh_log_set(NH_LOG_DEBUG, note, NULL);
        nh_log_set(NH_LOG_NONE, NULL, NULL);
    }
    return context;
}

static void fork_while_logging(void) {
    int status = 0, stuck = 0;
    pthread_t thread;
    nh_log_set(NH_LOG_INFO, note, NULL);
    CHECK("log lines wait for delivery", nh_close(open_cache(NULL), 2000) == NH_OK);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) _exit(logging_child());
    CHECK("the log of a child", waitpid(child, &status, 0) == child && status == 0);
    CHECK("the parent gets its log lines after a fork", nh_log_dispatch() == NH_OK && lines_seen == 2);

    __atomic_store_n(&has_enough, 0, __ATOMIC_SEQ_CST);
    pthread_create(&thread, NULL, set_on, NULL);
    for (int round = 0; round < 500 && !stuck; round++) {
        child = fork();
        if (child == 0) {
            alarm(20);
            nh_log_set(NH_LOG_INFO, note, NULL);
            _exit(nh_log_dispatch());
        }
        stuck = waitpid(child, &status, 0) != child || status != 0;
    }
    __atomic_store_n(&has_enough, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    CHECK("a child forked while another thread logs isn't stuck", !stuck);
    nh_log_set(NH_LOG_NONE, NULL, NULL);
}

static nh_cache *shared;

static void *submit_many(void *context) {
    nh_request *request = NULL;
    if (nh_request_create(url_of(base, "/bytes/10"), &request) != NH_OK) abort();
    for (int i = 0; i < 20000; i++) {
        nh_ticket *ticket = NULL;
        if (nh_submit_request(shared, request, &ticket) != NH_OK) abort();
        nh_cancel(ticket);
        nh_ticket_release(ticket);
    }
    nh_request_free(request);
    return context;
}

/* The child's first thread, which has forked, takes the same locks as other threads of the child. */
static int busy_child(void) {
    pthread_t threads[4];
    alarm(120);
    shared = open_cache(NULL);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, submit_many, NULL);
    submit_many(NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return nh_close(shared, 2000) != NH_OK;
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    nh_cache *cache = open_cache(NULL);
    nh_response *response = NULL, *again = NULL;
    CHECK("get before", nh_get(cache, url_of(base, "/bytes/1000"), NULL, &response) == NH_OK);
    CHECK("image before", nh_thumbnail(cache, url_of(base, "/png/20/20"), NH_OPTIONS(.size = 10), &image) == NH_OK && nh_fd(cache) >= 0);
    CHECK("the library looks up no digest in libcrypto, which would take locks", lookups == 0);
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    nh_request_create(url_of(base, "/delay/600000"), &request);
    SET(request, .timeout_ms = NH_NONE);
    nh_submit_request(cache, request, &ticket);

    for (int round = 0; round < 20; round++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) _exit(in_child(cache, ticket, response));
        int status = 0;
        CHECK("parent goes on", nh_get(cache, url_of(base, "/bytes/10"), NULL, &again) == NH_OK);
        nh_response_release(again);
        CHECK("child ended well", waitpid(child, &status, 0) == child && status == 0);
    }

    fork_while_fetching(cache);
    fork_while_logging();

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
    nh_request_free(request);
    CHECK("close", nh_close(cache, 2000) == NH_OK && nh_response_release(response) == NH_OK);
    return failures != 0;
}
