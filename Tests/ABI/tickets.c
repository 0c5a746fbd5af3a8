/* nh_submit, nh_wait, nh_cancel; closing while others wait; many threads on the same handles. */
#include "checks.h"

#include <pthread.h>

static nh_cache *cache;
static const char *base;

static nh_ticket *submit(const char *path) {
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    if (nh_request_create(url_of(base, path), &request) == NH_OK) nh_submit_request(cache, request, &ticket);
    nh_request_free(request);
    return ticket;
}

static void answer(void) {
    nh_event event;
    nh_ticket_status state = 0;
    nh_ticket *ticket = submit("/bytes/10");
    CHECK("submit", ticket != NULL);
    CHECK("wrong event size", nh_wait(ticket, -1, &event, sizeof event - 1) == NH_INVALID);
    CHECK("wait", nh_wait(ticket, -1, &event, sizeof event) == NH_OK);
    CHECK("event", event.kind == NH_EVENT_FRESH && event.is_final && event.code == NH_OK && event.http_status == 200);
    CHECK("event's ticket", event.ticket == ticket && event.user_data == NULL);
    CHECK("event's bytes", event.bytes_done == 10 && event.bytes_total == 10);
    CHECK("state", nh_ticket_state(ticket, &state) == NH_OK && state == NH_TICKET_DONE);
    nh_response *kept = event.response;
    event.response = NULL;
    CHECK("clear", nh_event_clear(&event) == NH_OK && event.kind == NH_EVENT_NONE);
    CHECK("clear a cleared one", nh_event_clear(&event) == NH_OK);
    CHECK("final event only once", nh_wait(ticket, 0, &event, sizeof event) == NH_INVALID);
    CHECK("release", nh_ticket_release(ticket) == NH_OK && nh_ticket_release(ticket) == NH_INVALID);
    nh_response_info info = {.struct_size = sizeof info};
    CHECK("kept response", nh_response_get_info(kept, &info) == NH_OK && info.body_size == 10);
    CHECK("release kept", nh_response_release(kept) == NH_OK);
}

static void cancelled(void) {
    nh_event event;
    nh_ticket *ticket = submit("/delay/60000");
    CHECK("not yet", nh_wait(ticket, 0, &event, sizeof event) == NH_TIMEOUT && event.kind == NH_EVENT_NONE);
    CHECK("cancel", nh_cancel(ticket) == NH_OK);
    CHECK("cancelled", nh_wait(ticket, 0, &event, sizeof event) == NH_OK && event.kind == NH_EVENT_CANCELLED);
    CHECK("code", event.code == NH_CANCELLED && event.is_final && event.message != NULL);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
}

static void user_data(void) {
    nh_event event;
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    nh_request_create(url_of(base, "/truncated"), &request);
    CHECK("user data", SET(request, .user_data = &request) == NH_OK);
    CHECK("submit with user data", nh_submit_request(cache, request, &ticket) == NH_OK);
    SET(request, .user_data = NULL);
    CHECK("wait with user data", nh_wait(ticket, -1, &event, sizeof event) == NH_OK);
    CHECK("it comes back", event.user_data == &request && event.ticket == ticket);
    CHECK("no length of what failed", event.code == NH_TRUNCATED && event.bytes_total == -1);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
    nh_request_free(request);
}

static void failed(void) {
    nh_event event;
    nh_ticket *ticket = submit("/truncated");
    CHECK("wait for a failure", nh_wait(ticket, -1, &event, sizeof event) == NH_OK);
    CHECK("failed", event.kind == NH_EVENT_FAILED && event.code == NH_TRUNCATED && strstr(event.message, "/truncated"));
    nh_event_clear(&event);
    nh_ticket_release(ticket);
}

static void *blocked_get(void *result) {
    nh_response *response = NULL;
    char url[512];
    snprintf(url, sizeof url, "%s/delay/60000", base);
    *(nh_status *)result = nh_get(cache, url, NULL, &response);
    return NULL;
}

/* A thread that waits in nh_get returns when another thread closes the cache. */
static void closing(void) {
    pthread_t threads[4];
    nh_status results[4];
    nh_event event;
    nh_ticket *ticket = submit("/delay/60000");
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, blocked_get, &results[i]);
    CHECK("close with requests under way", nh_close(cache, 2000) == NH_OK);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) CHECK("a blocked call returns when the cache is closed", results[i] == NH_CLOSED || results[i] == NH_INVALID);
    CHECK("a ticket of a closed cache ends with NH_CLOSED", nh_wait(ticket, -1, &event, sizeof event) == NH_OK && event.code == NH_CLOSED);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
}

enum { shared_count = 8, rounds = 20000 };
static nh_request *shared[shared_count];
static unsigned seeds[4] = {1, 2, 3, 4};

/* Uses, ends and makes handles that other threads use and end at the same moment. Every call must return, and none may
 * crash. */
static void *hammer(void *seed) {
    for (int i = 0; i < rounds; i++) {
        nh_request **slot = &shared[rand_r(seed) % shared_count];
        nh_request *request = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        nh_request_add_header(request, "X", "y");
        if (i % 3 == 0 && nh_request_free(request) == NH_OK) {
            nh_request *fresh = NULL;
            nh_request_create("http://127.0.0.1/", &fresh);
            __atomic_store_n(slot, fresh, __ATOMIC_RELEASE);
        }
        nh_cancel((nh_ticket *)request);
    }
    return NULL;
}

/* A program that was built with a later header uses this library. */
static void longer_event(void) {
    struct {
        nh_event known;
        uint64_t from_the_future, behind;
    } newer;
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    memset(&newer, 0x5a, sizeof newer);
    nh_request_create(url_of(base, "/bytes/11"), &request);
    nh_submit_request(cache, request, &ticket);
    CHECK("longer event", nh_wait(ticket, -1, &newer.known, sizeof newer - sizeof newer.behind) == NH_OK);
    CHECK("what isn't known is 0", newer.known.kind == NH_EVENT_FRESH && newer.from_the_future == 0);
    CHECK("memory behind it untouched", *(unsigned char *)&newer.behind == 0x5a);
    CHECK("clear a longer event", nh_event_clear(&newer.known) == NH_OK);
    nh_ticket_release(ticket);
    nh_request_free(request);
}

static void races(void) {
    pthread_t threads[4];
    for (int i = 0; i < shared_count; i++) nh_request_create("http://127.0.0.1/", &shared[i]);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, hammer, &seeds[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    int open = 0;
    for (int i = 0; i < shared_count; i++) open += nh_request_free(shared[i]) == NH_OK;
    CHECK("every slot holds one open handle in the end", open == shared_count);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(NULL);
    answer();
    cancelled();
    failed();
    user_data();
    longer_event();
    closing();
    races();
    return failures != 0;
}
