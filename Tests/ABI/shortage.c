/* More requests than descriptors, and no descriptor at all. */
#include "checks.h"

#include <sys/resource.h>

enum { many = 2000, limit = 64 };

static const char *base;
static nh_ticket *tickets[many];

static void more_requests_than_descriptors(void) {
    nh_cache *cache = open_cache(NULL);
    nh_request *request = NULL;
    int submitted = 0, answered = 0;
    nh_request_create(url_of(base, "/bytes/10"), &request);
    for (int i = 0; i < many; i++) submitted += nh_submit_request(cache, request, &tickets[i]) == NH_OK;
    CHECK("all are taken", submitted == many);
    /* Cancel every third request. The others must not notice. */
    for (int i = 0; i < many; i += 3) nh_cancel(tickets[i]);
    for (int i = 0; i < many; i++) {
        nh_event event;
        if (nh_wait(tickets[i], 60000, &event, sizeof event) == NH_OK) {
            answered += event.code == NH_OK || (i % 3 == 0 && event.code == NH_CANCELLED);
        }
        nh_event_clear(&event);
        nh_ticket_release(tickets[i]);
    }
    CHECK("all are answered", answered == many);
    nh_request_free(request);
    CHECK("close", nh_close(cache, 2000) == NH_OK);
}

static void no_descriptor_at_all(void) {
    int taken[limit], count = 0;
    nh_response *response = NULL;
    nh_cache *cache = open_cache(NULL), *other = NULL;
    while (count < limit && (taken[count] = dup(1)) >= 0) count++;
    CHECK("no socket", nh_get(cache, url_of(base, "/bytes/10"), NULL, &response) == NH_IO && response == NULL);
    CHECK("message", strstr(nh_error_message(), "Too many open files") != NULL);
    nh_close(cache, 2000);
    while (count < limit && (taken[count] = dup(1)) >= 0) count++;
    CHECK("no loop", nh_open(folder, NULL, &other) == NH_IO && other == NULL);
    while (count > 0) close(taken[--count]);
    CHECK("again", nh_open(folder, NULL, &other) == NH_OK);
    CHECK("get", nh_get(other, url_of(base, "/bytes/10"), NULL, &response) == NH_OK);
    nh_response_release(response);
    CHECK("close other", nh_close(other, 2000) == NH_OK);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    struct rlimit few = {.rlim_cur = limit, .rlim_max = limit};
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) return 2;
    more_requests_than_descriptors();
    no_descriptor_at_all();
    return failures != 0;
}
