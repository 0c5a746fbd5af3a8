/* nh_fd and nh_poll: the handle and the order of events, each one once; shutting down and closing. */
#include "checks.h"

#include <poll.h>
#include <pthread.h>

static const char *base;

static nh_ticket *submit(nh_cache *cache, const char *path, void *user) {
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    nh_request_create(url_of(base, path), &request);
    SET(request, .user_data = user, .delivery = NH_DELIVERY_FRESH);
    if (nh_submit_request(cache, request, &ticket) != NH_OK) ticket = NULL;
    nh_request_free(request);
    return ticket;
}

static int is_readable(nh_cache *cache, int timeout) {
    struct pollfd place = {.fd = nh_fd(cache), .events = POLLIN};
    return poll(&place, 1, timeout) == 1 && (place.revents & POLLIN);
}

/* 1,000 requests in one poll loop: each ticket has exactly one final event. */
static void many(void) {
    enum { count = 1000 };
    static int finals[count];
    nh_cache *cache = open_cache(NULL);
    nh_event events[64];
    int done = 0, wrong = 0;
    char path[64];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "/bytes/%d", i % 100);
        nh_ticket *ticket = submit(cache, path, &finals[i]);
        if (i % 10 == 0) nh_cancel(ticket);
        /* Whether the ticket is kept doesn't matter. */
        if (i % 2 == 0) nh_ticket_release(ticket);
    }
    while (done < count && is_readable(cache, 60000)) {
        int got;
        while ((got = nh_poll(cache, events, 64, sizeof *events)) > 0) {
            for (int i = 0; i < got; i++) {
                done += events[i].is_final;
                *(int *)events[i].user_data += events[i].is_final;
                wrong += events[i].code != NH_OK && events[i].code != NH_CANCELLED;
                nh_ticket_release(events[i].ticket);
                nh_event_clear(&events[i]);
            }
        }
    }
    for (int i = 0; i < count; i++) wrong += finals[i] != 1;
    CHECK("each of 1,000 ends once", done == count && wrong == 0);
    CHECK("nothing is left", nh_poll(cache, events, 64, sizeof *events) == 0 && !is_readable(cache, 0));
    CHECK("idle", nh_wait_idle(cache, 0) == NH_OK && activity(cache) == 0);
    nh_close(cache, 2000);
}

/* Two handles of one directory. Each gets the events of its own requests. */
static void two_handles(void) {
    nh_cache *one = open_cache(NULL), *other = NULL;
    nh_event event;
    int marks[2];
    CHECK("a second handle", nh_open(folder, NULL, &other) == NH_OK && other != one);
    CHECK("a descriptor each", nh_fd(one) >= 0 && nh_fd(other) >= 0 && nh_fd(one) != nh_fd(other));
    CHECK("the same at every call", nh_fd(one) == nh_fd(one));
    nh_ticket *first = submit(one, "/bytes/77", &marks[0]), *second = submit(other, "/bytes/77", &marks[1]);
    CHECK("both are idle", nh_wait_idle(one, -1) == NH_OK && nh_wait_idle(other, -1) == NH_OK);
    CHECK("the other's", nh_poll(other, &event, 1, sizeof event) == 1 && event.user_data == &marks[1] && event.ticket == second);
    nh_event_clear(&event);
    CHECK("no more for the other", nh_poll(other, &event, 1, sizeof event) == 0 && !is_readable(other, 0));
    nh_ticket_release(second);
    CHECK("close the other", nh_close(other, 2000) == NH_OK);
    CHECK("the first's", is_readable(one, 0) && nh_poll(one, &event, 1, sizeof event) == 1 && event.user_data == &marks[0]);
    nh_event_clear(&event);
    nh_ticket_release(first);
    CHECK("closed handle", nh_poll(other, &event, 1, sizeof event) == -NH_INVALID && nh_fd(other) == -NH_INVALID);
    nh_close(one, 2000);
}

/* An event that nh_wait takes doesn't come by nh_poll, and the other way round. */
static void waited_for(void) {
    nh_cache *cache = open_cache(NULL);
    nh_event event;
    nh_ticket *ticket = submit(cache, "/bytes/5", NULL);
    is_readable(cache, 60000);
    CHECK("wait", nh_wait(ticket, -1, &event, sizeof event) == NH_OK && event.is_final);
    nh_event_clear(&event);
    CHECK("nothing to poll", nh_poll(cache, &event, 1, sizeof event) == 0 && !is_readable(cache, 0));
    nh_ticket_release(ticket);
    ticket = submit(cache, "/bytes/5?2", NULL);
    CHECK("readable", is_readable(cache, 60000) && nh_poll(cache, &event, 1, sizeof event) == 1);
    nh_event_clear(&event);
    CHECK("taken by poll", nh_wait(ticket, 0, &event, sizeof event) == NH_INVALID);
    nh_ticket_release(ticket);

    nh_request *request = NULL;
    nh_request_create(url_of(base, "/bytes/6"), &request);
    SET(request, .delivery = NH_DELIVERY_FRESH);
    CHECK("quiet", SET(request, .quiet = NH_YES) == NH_OK && nh_submit_request(cache, request, &ticket) == NH_OK);
    nh_wait_idle(cache, -1);
    CHECK("a quiet one isn't polled", nh_poll(cache, &event, 1, sizeof event) == 0);
    CHECK("but waited for", nh_wait(ticket, -1, &event, sizeof event) == NH_OK && event.code == NH_OK);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
    CHECK("not quiet", SET(request, .quiet = NH_NO) == NH_OK);
    CHECK("without a ticket", nh_submit_request(cache, request, NULL) == NH_OK && is_readable(cache, 60000));
    CHECK("its event", nh_poll(cache, &event, 1, sizeof event) == 1 && event.ticket == NULL && event.response != NULL);
    nh_event_clear(&event);
    nh_request_free(request);
    nh_close(cache, 2000);
}

/* First comes the stale answer, then the current one. Of several progress events only the newest is kept. */
static void several_events(void) {
    nh_cache *cache = open_cache(NULL);
    nh_event events[4];
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    nh_response *response = NULL;
    CHECK("fill", nh_get(cache, url_of(base, "/etag/1"), NULL, &response) == NH_OK);
    nh_response_release(response);
    nh_request_create(url_of(base, "/etag/1"), &request);
    nh_submit_request(cache, request, &ticket);
    nh_request_free(request);
    nh_wait_idle(cache, -1);
    CHECK("two events", nh_poll(cache, events, 4, sizeof *events) == 2);
    CHECK("stale", events[0].kind == NH_EVENT_CACHED && !events[0].is_final && events[0].is_stale && events[0].is_in_cache);
    CHECK("then unchanged", events[1].kind == NH_EVENT_UNCHANGED && events[1].is_final && !events[1].is_stale &&
                                events[1].source == NH_SOURCE_REVALIDATED);
    nh_event_clear(&events[0]);
    nh_event_clear(&events[1]);
    nh_ticket_release(ticket);

    tell(cache, base, "on",
         "{\"path\": \"/progress\", \"script\": {\"headers\": [[\"Content-Length\", \"9\"]], \"steps\": [{\"bytes\": "
         "\"abc\"}, {\"pause\": 300}, {\"bytes\": \"def\"}, {\"wait\": \"p\"}, {\"bytes\": \"ghi\"}]}}");
    nh_request_create(url_of(base, "/progress"), &request);
    SET(request, .progress_events = NH_YES);
    nh_submit_request(cache, request, &ticket);
    int64_t done = 0;
    int others = 0;
    while (done < 6) {
        if (nh_wait(ticket, 60000, events, sizeof *events) != NH_OK || events[0].kind != NH_EVENT_PROGRESS) break;
        others += events[0].bytes_total != 9 || events[0].bytes_done <= done || events[0].is_final;
        done = events[0].bytes_done;
    }
    CHECK("progress", done == 6 && others == 0);
    tell(cache, base, "gate", "{\"gate\": \"p\", \"do\": \"open\"}");
    nh_wait_idle(cache, -1);
    CHECK("only the end is left", nh_poll(cache, events, 4, sizeof *events) == 1 && events[0].kind == NH_EVENT_FRESH);
    nh_event_clear(&events[0]);
    nh_ticket_release(ticket);
    nh_request_free(request);
    nh_close(cache, 2000);
}

static void *blocked_get(void *cache) {
    nh_response *response = NULL;
    char url[512];
    snprintf(url, sizeof url, "%s/delay/60000?get", base);
    return (void *)(intptr_t)nh_get(cache, url, NULL, &response);
}

/* After nh_shutdown every final event can still be polled. Blocked calls return NH_CLOSED. */
static void shutting_down(void) {
    enum { count = 50 };
    nh_cache *cache = open_cache(NULL);
    nh_ticket *tickets[count];
    nh_event events[8];
    nh_response *response = NULL;
    pthread_t thread;
    void *result = NULL;
    int got, finals = 0, wrong = 0;
    for (int i = 0; i < count; i++) tickets[i] = submit(cache, "/delay/60000", &tickets[i]);
    pthread_create(&thread, NULL, blocked_get, cache);
    while (activity(cache) < count + 1) usleep(1000);
    CHECK("shutdown", nh_shutdown(cache) == NH_OK && nh_shutdown(cache) == NH_OK);
    pthread_join(thread, &result);
    CHECK("a blocked caller", (intptr_t)result == NH_CLOSED);
    CHECK("no more requests", nh_get(cache, base, NULL, &response) == NH_CLOSED);
    while ((got = nh_poll(cache, events, 8, sizeof *events)) > 0) {
        for (int i = 0; i < got; i++) {
            finals += events[i].is_final && events[i].kind == NH_EVENT_CANCELLED;
            wrong += events[i].ticket != *(nh_ticket **)events[i].user_data;
            nh_event_clear(&events[i]);
        }
    }
    CHECK("every final event", finals == count && wrong == 0);
    CHECK("statistics still", nh_wait_idle(cache, 0) == NH_OK);
    CHECK("close", nh_close(cache, 2000) == NH_OK);
    for (int i = 0; i < count; i++) nh_ticket_release(tickets[i]);

    cache = open_cache(NULL);
    nh_ticket *ticket = submit(cache, "/bytes/8", NULL);
    nh_wait_idle(cache, -1);
    CHECK("close with events left", nh_close(cache, 2000) == NH_OK);
    CHECK("poll a closed one", nh_poll(cache, events, 8, sizeof *events) == -NH_INVALID);
    CHECK("a ticket outlives it", nh_ticket_release(ticket) == NH_OK);
}

/* Returns the problem of a shutdown after 40 * ROUND answers, while others arrive. NULL: each ticket ended once, and no
   event came later. */
static const char *shut_down_after(unsigned round, int *answered) {
    enum { count = 400 };
    static nh_ticket *tickets[count];
    static int finals[count];
    static char text[160];
    const char *wrong = NULL;
    nh_cache *cache = open_cache(NULL);
    nh_event events[16];
    char path[64];
    int got, done = 0;
    memset(finals, 0, sizeof finals);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "/bytes/9?%u,%d", round, i);
        tickets[i] = submit(cache, path, &finals[i]);
    }
    while (activity(cache) > count - 40 * (int)round) usleep(100);
    if (nh_shutdown(cache) != NH_OK) wrong = "nh_shutdown fails";
    while ((got = nh_poll(cache, events, 16, sizeof *events)) > 0) {
        for (int i = 0; i < got; i++) {
            done += events[i].is_final;
            *answered += events[i].code == NH_OK;
            if (++*(int *)events[i].user_data != 1) wrong = "a ticket has two events";
            if (events[i].code != NH_OK && events[i].code != NH_CANCELLED) {
                snprintf(text, sizeof text, "%s: %s", nh_status_name(events[i].code), events[i].message ? events[i].message : "");
                wrong = text;
            }
            nh_event_clear(&events[i]);
        }
    }
    if (done != count && !wrong) {
        snprintf(text, sizeof text, "%d of %d have ended", done, count);
        wrong = text;
    }
    if (!wrong && activity(cache) != 0) wrong = "something is under way";
    /* A moment for an event that must not come: nothing else would come after it. */
    if (!wrong && is_readable(cache, 20)) wrong = "an event is announced";
    for (int i = 0; i < count; i++) nh_ticket_release(tickets[i]);
    if (nh_close(cache, 2000) != NH_OK && !wrong) wrong = "nh_close fails";
    return wrong;
}

static void shutting_down_in_a_hurry(void) {
    int answered = 0;
    const char *wrong = NULL;
    for (unsigned round = 0; round < 10 && !wrong; round++) wrong = shut_down_after(round, &answered);
    printf("# %d were answered before%s%s\n", answered, wrong ? "; " : "", wrong ? wrong : "");
    CHECK("each ends once", !wrong);
}

static void wrong_arguments(void) {
    nh_cache *cache = open_cache(NULL);
    nh_event event;
    CHECK("no events", nh_poll(cache, NULL, 1, sizeof event) == -NH_INVALID);
    CHECK("no room", nh_poll(cache, &event, 0, sizeof event) == 0);
    CHECK("short events", nh_poll(cache, &event, 1, 8) == -NH_INVALID);
    CHECK("foreign handle", nh_poll((nh_cache *)&event, &event, 1, sizeof event) == -NH_INVALID);
    CHECK("message", strstr(nh_error_message(), "not an open cache") != NULL);
    nh_close(cache, 2000);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    many();
    two_handles();
    waited_for();
    several_events();
    shutting_down();
    shutting_down_in_a_hurry();
    wrong_arguments();
    return failures != 0;
}
