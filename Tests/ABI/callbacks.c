/* nh_dispatch: the thread of callbacks, their allowed calls, and the return of nh_dispatch. */
#include "checks.h"

#include <pthread.h>

static const char *base;
static nh_cache *cache;
static int calls, elsewhere, finals, busy, overlaps;
static pthread_t dispatcher;
static nh_response *kept;

static void count_call(nh_event *event, void *user) {
    calls++;
    elsewhere += !pthread_equal(pthread_self(), dispatcher);
    finals += event->is_final;
    if (user != event->user_data) failures++;
}

static void keep(nh_event *event, void *user) {
    (void)user;
    kept = event->response;
    event->response = NULL;
}

static void submit_again(nh_event *event, void *user) {
    nh_request *request = user;
    (void)event;
    if (++calls < 10) nh_submit_request(cache, request, NULL);
}

static void close_it(nh_event *event, void *user) {
    (void)event, (void)user;
    calls++;
    CHECK("close in a callback", nh_close(cache, 2000) == NH_OK);
}

static nh_request *make(const char *path, nh_callback callback) {
    nh_request *request = NULL;
    nh_request_create(url_of(base, path), &request);
    SET(request, .callback = callback, .delivery = NH_DELIVERY_FRESH);
    return request;
}

static void basics(void) {
    nh_event event;
    nh_ticket *ticket = NULL;
    nh_request *request = make("/bytes/3", count_call);
    dispatcher = pthread_self();
    cache = open_cache(NULL);
    CHECK("nothing yet", nh_dispatch(cache, 0) == 0 && nh_dispatch(cache, 10) == 0);
    for (int i = 0; i < 100; i++) nh_submit_request(cache, request, NULL);
    CHECK("events with a callback are not for nh_poll", nh_wait_idle(cache, -1) == NH_OK && nh_poll(cache, &event, 1, sizeof event) == 0);
    CHECK("none called so far", calls == 0);
    CHECK("all called", nh_dispatch(cache, -1) == 100 && calls == 100 && finals == 100 && elsewhere == 0);
    nh_submit_request(cache, request, &ticket);
    CHECK("no wait for one with a callback", nh_wait(ticket, -1, &event, sizeof event) == NH_INVALID);
    while (finals < 101) nh_dispatch(cache, -1);
    nh_ticket_release(ticket);
    nh_request_free(request);

    request = make("/bytes/4", keep);
    nh_submit_request(cache, request, NULL);
    nh_response_info info = {.struct_size = sizeof info};
    CHECK("one that keeps", nh_dispatch(cache, -1) == 1);
    CHECK("kept", nh_response_get_info(kept, &info) == NH_OK && info.body_size == 4);
    CHECK("release what was kept", nh_response_release(kept) == NH_OK);
    nh_request_free(request);

    /* Events that callbacks cause come with the next call. */
    request = make("/bytes/5", submit_again);
    SET(request, .user_data = request);
    calls = 0;
    nh_submit_request(cache, request, NULL);
    int rounds = 0;
    while (calls < 10 && nh_dispatch(cache, 60000) == 1) rounds++;
    CHECK("requests made in callbacks", calls == 10 && rounds == 10);
    nh_request_free(request);
}

static int dispatched;

/* Goes on when the last event has come, and the other threads have looked for it several times. */
static void slow_call(nh_event *event, void *user) {
    overlaps += __atomic_fetch_add(&busy, 1, __ATOMIC_SEQ_CST) != 0;
    while (activity(cache) > 0) usleep(1000);
    const int due = __atomic_load_n(&dispatched, __ATOMIC_SEQ_CST) + 8;
    while (__atomic_load_n(&dispatched, __ATOMIC_SEQ_CST) < due && __atomic_load_n(&finals, __ATOMIC_SEQ_CST) == 0) {
        usleep(1000);
    }
    __atomic_fetch_sub(&busy, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add((int *)user, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&finals, event->is_final, __ATOMIC_SEQ_CST);
}

static void *dispatch_until_final(void *unused) {
    while (__atomic_load_n(&finals, __ATOMIC_SEQ_CST) == 0) {
        nh_dispatch(cache, 10);
        __atomic_fetch_add(&dispatched, 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}

/* Two threads dispatch, and a ticket has two events. They must not be delivered at the same time. */
static void two_threads(void) {
    pthread_t threads[4];
    nh_response *response = NULL;
    int told = 0;
    nh_request *request = make("/etag/callbacks", slow_call);
    SET(request, .user_data = &told, .delivery = NH_DELIVERY_TWICE);
    nh_get(cache, url_of(base, "/etag/callbacks"), NULL, &response);
    nh_response_release(response);
    finals = 0;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, dispatch_until_final, NULL);
    nh_submit_request(cache, request, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    CHECK("two events, one after the other", told == 2 && finals == 1 && overlaps == 0);
    nh_request_free(request);
}

static int depth, deepest, refused;

static void dispatch_within(nh_event *event, void *user) {
    (void)event, (void)user;
    calls++;
    if (++depth > deepest) deepest = depth;
    refused += nh_dispatch(cache, 0) == -NH_INVALID;
    depth--;
}

static void *dispatch_all(void *unused) {
    while (calls < 3000 && nh_dispatch(cache, 60000) > 0) continue;
    return unused;
}

/* Each callback takes the next event. However many there are, the stack is not used up. */
static void one_within_the_other(void) {
    pthread_t thread;
    pthread_attr_t small;
    nh_request *request = make("/bytes/6", dispatch_within);
    calls = 0;
    for (int i = 0; i < 3000; i++) nh_submit_request(cache, request, NULL);
    CHECK("all are there", nh_wait_idle(cache, -1) == NH_OK);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    CHECK("a thread", pthread_create(&thread, &small, dispatch_all, NULL) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
    CHECK("all are called", calls == 3000);
    CHECK("callbacks nest to a limited depth", deepest == 20 && refused > 0);
    nh_request_free(request);
}

static pid_t blocked;

static void *blocked_dispatch(void *unused) {
    (void)unused;
    __atomic_store_n(&blocked, gettid(), __ATOMIC_SEQ_CST);
    return (void *)(intptr_t)nh_dispatch(cache, -1);
}

static void ends(void) {
    pthread_t thread;
    void *result = NULL;
    nh_request *request = make("/delay/60000", count_call);
    calls = finals = 0;
    for (int i = 0; i < 20; i++) nh_submit_request(cache, request, NULL);
    nh_shutdown(cache);
    CHECK("all ends after a shutdown", nh_dispatch(cache, -1) == 20 && finals == 20);
    CHECK("then no more", nh_dispatch(cache, -1) == -NH_CLOSED);
    nh_close(cache, 2000);
    CHECK("closed", nh_dispatch(cache, -1) == -NH_INVALID);

    cache = open_cache(NULL);
    pthread_create(&thread, NULL, blocked_dispatch, NULL);
    wait_until_asleep(&blocked);
    nh_close(cache, 2000);
    pthread_join(thread, &result);
    int answer = (int)(intptr_t)result;
    CHECK("nh_dispatch returns when another thread closes the cache", answer == -NH_CLOSED || answer == -NH_INVALID);
    nh_request_free(request);

    cache = open_cache(NULL);
    request = make("/bytes/9", close_it);
    calls = 0;
    for (int i = 0; i < 3; i++) nh_submit_request(cache, request, NULL);
    nh_wait_idle(cache, -1);
    CHECK("the rest is discarded", nh_dispatch(cache, -1) == 1 && calls == 1);
    nh_request_free(request);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    basics();
    two_threads();
    one_within_the_other();
    ends();
    return failures != 0;
}
