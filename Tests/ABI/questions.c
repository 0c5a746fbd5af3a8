/* Questions to the program, and its replies: by nh_poll, in callbacks, in blocking calls. */
#include "checks.h"

#include <poll.h>

static nh_cache *cache;
static const char *base;

static nh_request *make(const char *path, uint32_t asks) {
    nh_request *request = NULL;
    nh_request_create(url_of(base, path), &request);
    SET(request, .delivery = NH_DELIVERY_FRESH);
    if (SET(request, .asks = asks) != NH_OK) failures++;
    return request;
}

static nh_event next(void) {
    nh_event event = {0};
    struct pollfd place = {.fd = nh_fd(cache), .events = POLLIN};
    poll(&place, 1, 60000);
    nh_poll(cache, &event, 1, sizeof event);
    return event;
}

static void polled(void) {
    const nh_header token = {"Authorization", "Bearer 7"};
    nh_reply reply = {.struct_size = sizeof reply, .headers = &token, .header_count = 1};
    nh_request *request = make("/echo?polled", NH_ASK_HEADERS);
    nh_ticket *ticket = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    CHECK("no such question", SET(request, .asks = 64) == NH_INVALID);
    CHECK("a ticket to answer by", nh_submit_request(cache, request, NULL) == NH_INVALID);
    CHECK("submit", nh_submit_request(cache, request, &ticket) == NH_OK);
    CHECK("before it is asked", nh_answer(ticket, &reply) == NH_INVALID);
    nh_event event = next();
    CHECK("a question", event.kind == NH_EVENT_QUESTION && event.question == NH_ASK_HEADERS && !event.is_final);
    CHECK("its URL", event.message != NULL && strstr(event.message, "/echo?polled") && event.response == NULL);
    nh_event_clear(&event);
    reply.struct_size = 0;
    CHECK("no size", nh_answer(ticket, &reply) == NH_INVALID);
    reply.struct_size = sizeof reply;
    CHECK("answer", nh_answer(ticket, &reply) == NH_OK && nh_answer(ticket, &reply) == NH_INVALID);
    event = next();
    CHECK("the end", event.is_final && event.code == NH_OK && event.question == NH_ASK_NOTHING);
    nh_response_get_info(event.response, &info);
    char *echo = strndup(info.body, info.body_size);
    CHECK("the header went out", strstr(echo, "Bearer 7") != NULL);
    free(echo);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
    nh_request_free(request);
}

static int asked, told;

static void answer(nh_event *event, void *user) {
    nh_reply reply = {.struct_size = sizeof reply, .user = "u", .password = "p", .verdict = NH_VERDICT_REJECT,
                      .reason = "too sweet"};
    if (event->kind == NH_EVENT_QUESTION) {
        asked |= (int)event->question;
        if (event->question == NH_ASK_CREDENTIALS && event->http_status != 401) failures++;
        CHECK("answer in a callback", nh_answer(event->ticket, &reply) == NH_OK);
    } else {
        told += event->is_final && event->code == *(nh_status *)user;
    }
}

static void in_callbacks(void) {
    nh_status wanted = NH_OK;
    nh_request *request = make("/basic-auth/u/p", NH_ASK_CREDENTIALS);
    SET(request, .callback = answer, .user_data = &wanted);
    CHECK("without a ticket", nh_submit_request(cache, request, NULL) == NH_OK);
    while (activity(cache) > 0 || told == 0) {
        if (nh_dispatch(cache, 60000) <= 0) break;
    }
    CHECK("credentials", asked == NH_ASK_CREDENTIALS && told == 1);
    nh_request_free(request);
}

static void blocking(void) {
    nh_status wanted = NH_HTTP;
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    nh_request *request = make("/basic-auth/u/p?blocking", NH_ASK_CREDENTIALS);
    asked = 0;
    CHECK("without a callback, a blocking call asks no questions", nh_perform(cache, request, &response) == NH_OK && nh_response_get_info(response, &info) == NH_OK);
    CHECK("the answer without", info.status == 401);
    nh_response_release(response);
    SET(request, .callback = answer, .user_data = &wanted);
    CHECK("asked on this thread", nh_perform(cache, request, &response) == NH_OK && asked == NH_ASK_CREDENTIALS);
    nh_response_get_info(response, &info);
    CHECK("the answer with", info.status == 200);
    nh_response_release(response);
    nh_request_free(request);
    request = make("/bytes/10?verdict", NH_ASK_VERDICT);
    SET(request, .callback = answer, .user_data = &wanted);
    CHECK("refused", nh_perform(cache, request, &response) == NH_HTTP && strstr(nh_error_message(), "too sweet"));
    nh_request_free(request);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(NULL);
    polled();
    in_callbacks();
    blocking();
    nh_close(cache, 2000);
    return failures != 0;
}
