/* Requests that wait for the network, and their outcomes; reachability of sites; cancelling, submitting again, and waiting. */
#include "checks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

static nh_cache *cache;
static const char *base;

/* A connection of this program, which stays open while the server is down. */
static int control_line(void) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    place.sin_port = htons((uint16_t)atoi(strrchr(base, ':') + 1));
    int line = socket(AF_INET, SOCK_STREAM, 0);
    if (line < 0 || connect(line, (struct sockaddr *)&place, sizeof place) != 0) exit(2);
    return line;
}

static void server_is(int line, const char *state) {
    char text[512], json[64];
    snprintf(json, sizeof json, "{\"state\": \"%s\"}", state);
    snprintf(text, sizeof text, "POST /_control/host HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", strlen(json),
             json);
    if (write(line, text, strlen(text)) < 0 || read(line, text, sizeof text) <= 0) exit(2);
}

static nh_request *make(const char *path, const char *body) {
    nh_request *request = NULL;
    nh_request_create(url_of(base, path), &request);
    SET(request, .method = "post");
    nh_request_set_body(request, body, strlen(body));
    SET(request, .freezable = NH_YES);
    return request;
}

static uint64_t freeze(nh_request *request) {
    nh_response *response = NULL;
    nh_error_info error = {.struct_size = sizeof error};
    nh_status status = nh_perform(cache, request, &response);
    nh_error_get_info(&error);
    CHECK("frozen", status == NH_FROZEN && response == NULL && error.code == NH_FROZEN && error.outbox_id > 0);
    nh_request_free(request);
    return error.outbox_id;
}

static nh_frozen_state state_of(uint64_t id) {
    nh_frozen *frozen = NULL;
    nh_frozen_info info = {.struct_size = sizeof info};
    if (nh_outbox_get(cache, id, &frozen) != NH_OK) return (nh_frozen_state)0;
    nh_frozen_get_info(frozen, &info);
    nh_frozen_release(frozen);
    return info.state;
}

static int becomes(uint64_t id, nh_frozen_state state) {
    for (int i = 0; i < 3000 && state_of(id) != state; i++) usleep(10000);
    return state_of(id) == state;
}

/* A request that waits is sent again from time to time. */
static int is_to_be_sent(nh_frozen_state state) { return state == NH_FROZEN_WAITING || state == NH_FROZEN_SENDING; }

/* Waits until the outbox has made its first attempt, which fails. */
static int was_tried(uint64_t id) {
    for (int i = 0; i < 6000; i++, usleep(10000)) {
        nh_frozen *frozen = NULL;
        nh_frozen_info info = {.struct_size = sizeof info};
        if (nh_outbox_get(cache, id, &frozen) != NH_OK) return 0;
        nh_frozen_get_info(frozen, &info);
        nh_frozen_release(frozen);
        if (info.state == NH_FROZEN_WAITING && info.history_count > 0) return 1;
    }
    return 0;
}

static nh_event next(void) {
    nh_event event = {0};
    struct pollfd place = {.fd = nh_fd(cache), .events = POLLIN};
    poll(&place, 1, 60000);
    nh_poll(cache, &event, 1, sizeof event);
    return event;
}

static int finds_secret;

static int look_into(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)place;
    FILE *file = kind == FTW_F ? fopen(path, "rb") : NULL;
    if (file == NULL) return 0;
    char *bytes = malloc((size_t)status->st_size + 1);
    size_t count = fread(bytes, 1, (size_t)status->st_size, file);
    finds_secret += memmem(bytes, count, "hush", 4) != NULL;
    if (strstr(path, "/outbox/") && (status->st_mode & 077) != 0) finds_secret += 100;
    free(bytes);
    fclose(file);
    return 0;
}

static int is_on_disk(void) {
    finds_secret = 0;
    nftw(folder, look_into, 16, FTW_PHYS);
    return finds_secret;
}

static void looking(int line) {
    nh_frozen *frozen = NULL;
    nh_frozen_info info = {.struct_size = sizeof info};
    nh_frozen_attempt attempt = {.struct_size = sizeof attempt};
    nh_response *response = NULL;
    CHECK("nothing is there", nh_outbox_next(cache, 0, &frozen) == NH_OK && frozen == NULL);
    server_is(line, "down");
    nh_request *request = make("/echo?looking", "seeds");
    SET(request, .tag = "t");
    CHECK("names", SET(request, .outbox_queue = "q") == NH_OK &&
                       SET(request, .outbox_handler = "rows") == NH_OK);
    CHECK("limits", SET(request, .outbox_attempts = 3, .outbox_max_age_ms = 60000, .outbox_key_lifetime_ms = NH_NONE) == NH_OK);
    uint64_t first = freeze(request), second = freeze(make("/echo?looking", "more"));
    CHECK("numbers rise", second > first);
    CHECK("both were tried", was_tried(first) && was_tried(second));
    CHECK("the first", nh_outbox_next(cache, 0, &frozen) == NH_OK && nh_frozen_get_info(frozen, &info) == NH_OK);
    CHECK("what is known", info.id == first && is_to_be_sent(info.state) && !strcmp(info.method, "POST") &&
                               !strcmp(info.url, url_of(base, "/echo?looking")) && !strcmp(info.queue, "q") &&
                               !strcmp(info.handler, "rows") && !strcmp(info.tag, "t") && info.body_size == 5 &&
                               info.frozen_at > 1700000000 && strlen(info.key) == 38 && info.key[0] == '"');
    CHECK("no such attempt", nh_frozen_attempt_at(frozen, info.history_count, &attempt) == NH_INVALID);
    nh_frozen_release(frozen);
    CHECK("the second", nh_outbox_next(cache, first, &frozen) == NH_OK && nh_frozen_get_info(frozen, &info) == NH_OK &&
                            info.id == second && info.handler == NULL && info.tag == NULL);
    nh_frozen_release(frozen);
    CHECK("no third", nh_outbox_next(cache, second, &frozen) == NH_OK && frozen == NULL);
    CHECK("no answer yet", nh_outbox_response(cache, first, &response) == NH_INVALID && response == NULL);
    CHECK("clear leaves it alone", nh_clear(cache) == NH_OK && is_to_be_sent(state_of(first)));
    CHECK("drop", nh_outbox_drop(cache, first) == NH_OK && nh_outbox_drop(cache, first) == NH_INVALID &&
                      nh_outbox_get(cache, first, &frozen) == NH_INVALID && frozen == NULL);
    /* Before the server is there, which could get the request without the replay. */
    CHECK("replay", nh_outbox_replay(cache, 0) == 1 && nh_outbox_replay(cache, 12345) == 0);
    server_is(line, "up");
    CHECK("done", becomes(second, NH_FROZEN_DONE));
    CHECK("its answer", nh_outbox_response(cache, second, &response) == NH_OK);
    nh_response_info answer = {.struct_size = sizeof answer};
    nh_response_get_info(response, &answer);
    CHECK("of the server", answer.status == 200 && memmem(answer.body, answer.body_size, "more", 4) &&
                               memmem(answer.body, answer.body_size, "Idempotency-Key", 15));
    nh_response_release(response);
    CHECK("collected", nh_outbox_drop(cache, second) == NH_OK && state_of(second) == 0);
}

/* Stores more in the outbox than its default limit allows. */
static void without_limit(int line) {
    nh_cache *large = NULL;
    nh_request *request = make("/echo?large", "");
    nh_response *response = NULL;
    char path[4200], body[4300];
    nh_options options = {.struct_size = sizeof options, .outbox_bytes = NH_NONE, .outbox_items = NH_NONE};
    snprintf(path, sizeof path, "%s/large", folder);
    CHECK("open without a limit", nh_open(path, &options, &large) == NH_OK);
    snprintf(body, sizeof body, "%s/body", path);
    CHECK("a large body", close(open(body, O_WRONLY | O_CREAT, 0600)) == 0 && truncate(body, 257L << 20) == 0);
    nh_request_set_body_file(request, body);
    server_is(line, "down");
    CHECK("more than the usual limit", nh_perform(large, request, &response) == NH_FROZEN);
    nh_request_free(request);
    CHECK("close", nh_close(large, 2000) == NH_OK);
    server_is(line, "up");
}

static void of_a_get(int line) {
    nh_response *response = NULL;
    nh_request *request = make("/echo?get", "");
    SET(request, .method = "get");
    server_is(line, "down");
    CHECK("a GET can't be freezable", nh_perform(cache, request, &response) == NH_INVALID && response == NULL);
    SET(request, .freezable = NH_NO, .retries = NH_NONE);
    CHECK("a GET isn't frozen", nh_perform(cache, request, &response) == NH_REFUSED);
    server_is(line, "up");
    nh_request_free(request);
    request = make("/status/503", "x");
    CHECK("a request that is answered is not frozen", nh_perform(cache, request, &response) == NH_OK);
    nh_response_release(response);
    nh_request_free(request);
}

static void with_events(int line) {
    nh_ticket *ticket = NULL;
    nh_frozen_info info = {.struct_size = sizeof info};
    nh_request *request = make("/echo?events", "seeds");
    SET(request, .outbox_handler = "polled", .outbox_durable = NH_YES);
    server_is(line, "down");
    CHECK("attach", nh_outbox_attach(cache, "polled", NULL, &info) == NH_OK);
    nh_submit_request(cache, request, &ticket);
    nh_event event = next();
    uint64_t id = event.outbox_id;
    CHECK("an event", event.kind == NH_EVENT_FROZEN && event.is_final && event.code == NH_FROZEN && id > 0);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
    nh_request_free(request);
    server_is(line, "up");
    nh_outbox_replay(cache, id);
    event = next();
    CHECK("the outcome", event.kind == NH_EVENT_OUTCOME && event.outbox_id == id && event.code == NH_OK &&
                             event.http_status == 200 && event.ticket == NULL && event.user_data == &info);
    CHECK("the outcome has its frozen request", nh_frozen_get_info(event.frozen, &info) == NH_OK && info.id == id && info.state == NH_FROZEN_DONE &&
                         !strcmp(info.handler, "polled"));
    nh_event_clear(&event);
    /* It was not dropped, so the event comes again after the directory was opened again. */
    nh_close(cache, 2000);
    cache = open_cache(NULL);
    nh_outbox_attach(cache, "polled", NULL, NULL);
    event = next();
    CHECK("the outcome comes again", event.kind == NH_EVENT_OUTCOME && event.outbox_id == id);
    nh_event_clear(&event);
    CHECK("until it is dropped", nh_outbox_drop(cache, id) == NH_OK);
    CHECK("detach", nh_outbox_detach(cache, "polled") == NH_OK);
}

static int told;
static uint64_t told_of;

static void hear(nh_event *event, void *user) {
    told += user == &told && event->kind == NH_EVENT_OUTCOME && event->code == NH_HTTP && event->http_status == 404 &&
            strstr(event->message, "404");
    told_of = event->outbox_id;
}

static void in_callbacks(int line) {
    nh_request *request = make("/status/404", "seeds");
    SET(request, .outbox_handler = "called");
    server_is(line, "down");
    uint64_t id = freeze(request);
    CHECK("attach with a callback", nh_outbox_attach(cache, "called", hear, &told) == NH_OK);
    /* Without a replay: if the request had been refused already, that would send it again. */
    server_is(line, "up");
    CHECK("called", nh_dispatch(cache, 60000) == 1 && told == 1 && told_of == id);
    CHECK("a refused request is dead, and stays", state_of(id) == NH_FROZEN_DEAD);
    CHECK("forgotten", nh_outbox_drop(cache, id) == NH_OK);
}

static void secrets(int line) {
    nh_response *response = NULL;
    nh_request *request = make("/echo?secrets", "seeds");
    nh_request_add_header(request, "Authorization", "Bearer hush-1");
    server_is(line, "down");
    CHECK("refused without a provider", nh_perform(cache, request, &response) == NH_SECRET_NEEDS_PROVIDER &&
                                            !strstr(nh_error_message(), "hush"));
    setenv("NUTHATCH_TEST_KEY", "hush-2", 1);
    const nh_secret secrets[] = {{"Authorization", "Bearer ", "token"}, {"X-Api-Key", NULL, "env:NUTHATCH_TEST_KEY"}};
    CHECK("a provider, and the environment", SET(request, .secrets = secrets, .secret_count = 2) == NH_OK);
    uint64_t id = freeze(request);
    CHECK("nothing of it on disk", is_on_disk() == 0);
    server_is(line, "up");
    CHECK("ask", nh_outbox_ask(cache, NULL, NULL, &told) == NH_OK);
    nh_outbox_replay(cache, id);
    nh_event event = next();
    CHECK("a question", event.kind == NH_EVENT_QUESTION && event.question == NH_ASK_SECRET && !event.is_final &&
                            !strcmp(event.message, "token") && event.user_data == &told && event.ticket == NULL);
    nh_event_clear(&event);
    CHECK("it waits", state_of(id) == NH_FROZEN_WAITING);
    CHECK("provide", nh_outbox_provide(cache, "token", "hush-3") == NH_OK && becomes(id, NH_FROZEN_DONE));
    nh_response_info answer = {.struct_size = sizeof answer};
    nh_outbox_response(cache, id, &response);
    nh_response_get_info(response, &answer);
    CHECK("sent", memmem(answer.body, answer.body_size, "Bearer hush-3", 13) &&
                      memmem(answer.body, answer.body_size, "hush-2", 6));
    nh_response_release(response);
    nh_outbox_drop(cache, id);

    request = make("/status/401", "seeds");
    SET(request, .user = "ann", .password = "hush-4");
    CHECK("a password's", SET(request, .password_provider = "password") == NH_OK);
    server_is(line, "down");
    id = freeze(request);
    nh_outbox_provide(cache, "password", "hush-4");
    server_is(line, "up");
    nh_outbox_replay(cache, id);
    CHECK("refused by the server", becomes(id, NH_FROZEN_PAUSED));
    event = next();
    CHECK("another is asked for", event.question == NH_ASK_SECRET && !strcmp(event.message, "password"));
    nh_event_clear(&event);
    nh_frozen *frozen = NULL;
    nh_frozen_info info = {.struct_size = sizeof info};
    nh_frozen_attempt attempt = {.struct_size = sizeof attempt};
    nh_outbox_get(cache, id, &frozen);
    nh_frozen_get_info(frozen, &info);
    CHECK("its history", info.wait == -1 && info.http_status == 401 && info.history_count > 0 &&
                             nh_frozen_attempt_at(frozen, info.history_count - 1, &attempt) == NH_OK &&
                             attempt.http_status == 401 && attempt.code == NH_OK && attempt.time > 1700000000);
    nh_frozen_release(frozen);
    nh_outbox_drop(cache, id);
}

/* Freezes a request. Another process sends it, which only opens the directory. */
static void elsewhere(int line) {
    const nh_options off = {.struct_size = sizeof off, .outbox = NH_OUTBOX_OFF};
    char place[sizeof folder + 8];
    nh_cache *sender = NULL, *own;
    nh_close(cache, 2000);
    own = cache = open_cache(&off);
    snprintf(place, sizeof place, "%s/sender", folder);
    CHECK("another directory", nh_open(place, NULL, &sender) == NH_OK);
    server_is(line, "down");
    uint64_t id = freeze(make("/echo?elsewhere", "seeds"));
    cache = sender;
    uint64_t first = freeze(make("/echo?sender", "seeds")), second = freeze(make("/echo?sender", "more"));
    server_is(line, "up");
    CHECK("replay", nh_outbox_replay(own, 0) == 1 && nh_outbox_replay(sender, 0) >= 0);
    CHECK("a cache that sends", becomes(first, NH_FROZEN_DONE) && becomes(second, NH_FROZEN_DONE));
    nh_close(sender, 2000);
    cache = own;
    CHECK("off sends nothing", state_of(id) == NH_FROZEN_WAITING);
    pid_t child = fork();
    if (child == 0) {
        if (nh_open(folder, NULL, &cache) != NH_OK) _exit(1);
        int is_done = becomes(id, NH_FROZEN_DONE);
        nh_close(cache, 2000);
        _exit(is_done ? 0 : 2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK("another process has sent it", status == 0 && state_of(id) == NH_FROZEN_DONE);
    nh_outbox_drop(cache, id);
    const nh_options none = {.struct_size = sizeof none, .outbox = (nh_outbox)7};
    nh_cache *other = NULL;
    CHECK("no outbox", nh_open(folder, &none, &other) == NH_INVALID && other == NULL);
    nh_close(cache, 2000);
    cache = open_cache(NULL);
}

static void sites(int line) {
    nh_site *site = NULL, *same = NULL;
    nh_request *request = NULL;
    nh_response *response = NULL;
    nh_choice reachable = NH_UNSAID;
    char address[256];
    snprintf(address, sizeof address, "%s/", base);
    CHECK("site", nh_site_open(cache, address, NULL, &site) == NH_OK && nh_site_open(cache, address, NULL, &same) == NH_OK);
    CHECK("watch", nh_site_watch(site, NULL, &site) == NH_OK);
    CHECK("an answer", nh_get(cache, "bytes/10?sites", NH_OPTIONS(.site = site), &response) == NH_OK);
    nh_response_release(response);
    CHECK("reachable", nh_site_reachable(site, &reachable) == NH_OK && reachable == NH_YES);
    /* Its first connection may have caused an event, too. */
    nh_event event;
    while (nh_poll(cache, &event, 1, sizeof event) == 1) nh_event_clear(&event);
    server_is(line, "down");
    site_request(site, "bytes/11?sites", &request);
    SET(request, .retries = NH_NONE);
    CHECK("no answer", nh_perform(cache, request, &response) == NH_REFUSED);
    event = next();
    CHECK("news", event.kind == NH_EVENT_REACHABILITY && event.is_reachable == 0 && !event.is_final &&
                      event.user_data == &site && !strcmp(event.message, address));
    nh_event_clear(&event);
    CHECK("not reachable", nh_site_reachable(site, &reachable) == NH_OK && reachable == NH_NO);

    nh_ticket *ticket = NULL, *again = NULL;
    nh_submit_request(cache, request, &ticket);
    event = next();
    CHECK("failed", event.is_final && event.code == NH_REFUSED);
    nh_event_clear(&event);
    server_is(line, "up");
    CHECK("once more", nh_resubmit(cache, ticket, &again) == NH_OK && again != ticket);
    event = next();
    if (event.kind == NH_EVENT_REACHABILITY) {
        nh_event_clear(&event);
        event = next();
    }
    CHECK("answered", event.is_final && event.code == NH_OK && event.ticket == again);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
    nh_ticket_release(again);
    nh_request_free(request);

    nh_ticket *tickets[3];
    for (int i = 0; i < 3; i++) {
        site_request(i < 2 ? site : same, "delay/60000?sites", &request);
        nh_submit_request(cache, request, &tickets[i]);
        nh_request_free(request);
    }
    CHECK("cancel by site", nh_cancel_all(cache, NH_OPTIONS(.site = site)) == NH_OK && activity(cache) == 1);
    CHECK("not yet", nh_drain(cache, 0) == NH_TIMEOUT && nh_wait_idle(cache, 0) == NH_TIMEOUT);
    CHECK("cancel all", nh_cancel_all(cache, NULL) == NH_OK && nh_drain(cache, 60000) == NH_OK);
    for (int i = 0; i < 3; i++) nh_ticket_release(tickets[i]);
    nh_site_close(site);
    nh_site_close(same);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    base = arguments[1];
    int line = control_line();
    cache = open_cache(NULL);
    looking(line);
    without_limit(line);
    of_a_get(line);
    with_events(line);
    in_callbacks(line);
    secrets(line);
    elsewhere(line);
    sites(line);
    nh_close(cache, 2000);
    close(line);
    return failures != 0;
}
