/* nh_get and nh_perform: answers, their contents, and errors. */
#include "checks.h"

static nh_cache *cache;
static const char *base;

static void answers(void) {
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    CHECK("get", nh_get(cache, url_of(base, "/bytes/1000"), NULL, &response) == NH_OK);
    CHECK("info", nh_response_get_info(response, &info) == NH_OK);
    CHECK("status", info.status == 200);
    CHECK("body", info.body != NULL && info.body_size == 1000);
    CHECK("url", strcmp(info.url, url_of(base, "/bytes/1000")) == 0);
    CHECK("final url", strcmp(info.final_url, info.url) == 0);
    CHECK("source", info.source == NH_SOURCE_NETWORK && info.is_in_cache == 0);
    CHECK("stored", info.is_stored == 1 && info.is_removal_due == 0);
    CHECK("struct_size is kept", info.struct_size == sizeof info);

    const char *value = "?", *name = "?";
    CHECK("header", nh_response_header(response, "content-LENGTH", &value) == NH_OK && strcmp(value, "1000") == 0);
    CHECK("missing header", nh_response_header(response, "X-None", &value) == NH_OK && value == NULL);
    CHECK("header line", info.header_count > 0 && nh_response_header_at(response, 0, &name, &value) == NH_OK);
    CHECK("no such line", nh_response_header_at(response, info.header_count, &name, &value) == NH_INVALID);
    CHECK("no line before the first", nh_response_header_at(response, -1, &name, &value) == NH_INVALID);
    CHECK("release", nh_response_release(response) == NH_OK);
    CHECK("release again", nh_response_release(response) == NH_INVALID);
    CHECK("stale handle", nh_response_get_info(response, &info) == NH_INVALID);
}

static void empty_answer(void) {
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    CHECK("get 404", nh_get(cache, url_of(base, "/status/404"), NULL, &response) == NH_OK);
    nh_response_get_info(response, &info);
    CHECK("404 is an answer", info.status == 404);
    CHECK("body is never NULL", info.body != NULL);
    nh_response_release(response);
}

/* An older program has a shorter struct. The library must not write behind it. */
static void shorter_struct(void) {
    nh_response *response = NULL;
    nh_response_info info;
    memset(&info, 0x5a, sizeof info);
    info.struct_size = offsetof(nh_response_info, url);
    CHECK("get for an old program", nh_get(cache, url_of(base, "/bytes/10"), NULL, &response) == NH_OK);
    CHECK("old struct", nh_response_get_info(response, &info) == NH_OK && info.body_size == 10);
    CHECK("memory behind an old struct is unchanged", *(unsigned char *)&info.url == 0x5a);
    info.struct_size = 0;
    CHECK("struct_size not set", nh_response_get_info(response, &info) == NH_INVALID);
    nh_response_release(response);
}

static void errors(void) {
    nh_response *response = (nh_response *)1;
    CHECK("bad url", nh_get(cache, "ftp://example.org/", NULL, &response) == NH_BAD_URL && response == NULL);
    CHECK("message", strstr(nh_error_message(), "ftp://example.org/") != NULL);
    CHECK("not UTF-8", nh_get(cache, "http://example.org/\xff\xfe", NULL, &response) == NH_INVALID);
    CHECK("null url", nh_get(cache, NULL, NULL, &response) == NH_INVALID);
    CHECK("null place", nh_get(cache, base, NULL, NULL) == NH_INVALID);
    CHECK("truncated", nh_get(cache, url_of(base, "/truncated"), NULL, &response) == NH_TRUNCATED && response == NULL);
    CHECK("redirects", nh_get(cache, url_of(base, "/redirect-loop"), NULL, &response) == NH_TOO_MANY_REDIRECTS);
    CHECK("as many redirects as allowed are followed", nh_get(cache, url_of(base, "/redirect/1"), NH_OPTIONS(.redirects = 1), &response) == NH_OK);
    nh_response_release(response);
    CHECK("no more redirects are followed", nh_get(cache, url_of(base, "/redirect/2"), NH_OPTIONS(.redirects = 1), &response) ==
                             NH_TOO_MANY_REDIRECTS && response == NULL);
    nh_response_info info = {.struct_size = sizeof info};
    CHECK("redirects = NH_NONE follows none", nh_get(cache, url_of(base, "/redirect/1"), NH_OPTIONS(.redirects = NH_NONE), &response) == NH_OK &&
                      nh_response_get_info(response, &info) == NH_OK && info.status == 302 && info.redirects == 0);
    nh_response_release(response);
    CHECK("redirects out of range is refused", nh_get(cache, base, NH_OPTIONS(.redirects = 101), &response) == NH_INVALID &&
                                 strstr(nh_error_message(), "redirects") != NULL);
    CHECK("name", strcmp(nh_status_name(NH_TOO_MANY_REDIRECTS), "too_many_redirects") == 0);
    CHECK("no name", strcmp(nh_status_name((nh_status)12345), "unknown") == 0);
    CHECK("refused", nh_get(cache, "http://127.0.0.1:1/", NULL, &response) == NH_REFUSED);
}

/* Texts without a lifetime are stale at once. Pictures are, too, by the rules of HTTP. */
static void deliveries(void) {
    const struct {
        nh_delivery delivery;
        int is_stale;
    } wanted[] = {{NH_DELIVERY_FRESH, 0}, {NH_DELIVERY_TWICE, 0}, {NH_DELIVERY_FIRST, 1}};
    nh_response *response = NULL;
    nh_image *image = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    nh_image_info shown = {.struct_size = sizeof shown};
    nh_request *text = NULL, *picture = NULL;
    nh_request_create(url_of(base, "/etag/deliveries"), &text);
    nh_request_create(url_of(base, "/png/64/48?seed=7"), &picture);
    SET(picture, .policy = NH_POLICY_RFC9111, .size = 8);
    CHECK("text", nh_perform(cache, text, &response) == NH_OK && nh_response_release(response) == NH_OK);
    CHECK("picture", nh_perform_images(cache, picture, &image, 1) == NH_OK && nh_image_release(image) == NH_OK);
    for (int i = 0; i < 3; i++) {
        SET(text, .delivery = wanted[i].delivery);
        SET(picture, .delivery = wanted[i].delivery);
        CHECK("text again", nh_perform(cache, text, &response) == NH_OK && nh_response_get_info(response, &info) == NH_OK &&
                                info.is_in_cache && info.is_stale == wanted[i].is_stale &&
                                (info.source == NH_SOURCE_REVALIDATED) == !wanted[i].is_stale);
        CHECK("picture again", nh_perform_images(cache, picture, &image, 1) == NH_OK &&
                                   nh_image_get_info(image, &shown) == NH_OK && shown.is_in_cache &&
                                   shown.is_stale == wanted[i].is_stale);
        nh_response_release(response);
        nh_image_release(image);
    }
    nh_request_free(text);
    nh_request_free(picture);
}

static void requests(void) {
    nh_request *request = NULL;
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    CHECK("request", nh_request_create(url_of(base, "/echo"), &request) == NH_OK);
    CHECK("method", SET(request, .method = "Put") == NH_OK);
    CHECK("header of a request", nh_request_add_header(request, "X-Seed", "hazel") == NH_OK);
    CHECK("the same header once more", nh_request_add_header(request, "X-Seed", "walnut") == NH_OK);
    CHECK("body of a request", nh_request_set_body(request, "nut", 3) == NH_OK);
    CHECK("user", SET(request, .user = "u", .password = "p") == NH_OK);
    CHECK("limits", SET(request, .timeout_ms = 5000) == NH_OK && SET(request, .deadline_ms = NH_NONE) == NH_OK &&
                        SET(request, .batched = NH_YES) == NH_OK &&
                        SET(request, .max_bytes = 100000) == NH_OK);
    CHECK("perform", nh_perform(cache, request, &response) == NH_OK);
    nh_response_get_info(response, &info);
    char *echo = strndup(info.body, info.body_size);
    CHECK("echo", strstr(echo, "PUT") && strstr(echo, "\"hazel\"") && strstr(echo, "\"walnut\"") && strstr(echo, "\"nut\"") && strstr(echo, "Basic dTpw"));
    free(echo);
    nh_response_release(response);

    SET(request, .max_bytes = 5);
    CHECK("too large", nh_perform(cache, request, &response) == NH_TOO_LARGE && response == NULL);
    CHECK("no limit", SET(request, .max_bytes = NH_NONE) == NH_OK);
    CHECK("within no limit", nh_perform(cache, request, &response) == NH_OK);
    nh_response_release(response);
    nh_request_add_header(request, "X", "a\r\nHost: evil");
    CHECK("bad header", nh_perform(cache, request, &response) == NH_BAD_HEADER);
    CHECK("null body with a size", nh_request_set_body(request, NULL, 3) == NH_INVALID);
    CHECK("release request", nh_request_free(request) == NH_OK && nh_request_free(request) == NH_INVALID);
}

static void bodies(void) {
    const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char path[300];
    snprintf(path, sizeof path, "%s/nuthatch-upload-%d", folder, (int)getpid());
    FILE *file = fopen(path, "w");
    fputs("hazelnuts", file);
    fclose(file);
    const struct { const char *what, *sent; } cases[] = {
        {"file", "hazelnuts"}, {"form", "filename=\\\"nuthatch-upload-"}, {"fields", "a+b=%26&c="}};
    for (int i = 0; i < 3; i++) {
        nh_request *request = NULL;
        nh_response *response = NULL;
        nh_response_info info = {.struct_size = sizeof info};
        nh_request_create(url_of(base, "/echo"), &request);
        SET(request, .method = "POST");
        if (i == 0) CHECK("file", nh_request_set_body_file(request, path) == NH_OK);
        if (i == 1) {
            CHECK("form", nh_request_add_part(request, NH_PART(.name = "kind", .data = "nut", .size = 3)) == NH_OK &&
                              nh_request_add_part(request, NH_PART(.name = "file", .path = path, .type = "text/plain")) == NH_OK);
        }
        if (i == 2) {
            CHECK("fields", nh_request_add_field(request, "a b", "&") == NH_OK &&
                                nh_request_add_field(request, "c", "") == NH_OK);
        }
        CHECK("body sent", nh_perform(cache, request, &response) == NH_OK);
        nh_response_get_info(response, &info);
        char *echo = strndup(info.body, info.body_size);
        CHECK(cases[i].what, strstr(echo, cases[i].sent) != NULL);
        free(echo);
        nh_response_release(response);
        if (i == 0) {
            nh_request_set_body_file(request, "/does/not/exist");
            CHECK("no such file", nh_perform(cache, request, &response) == NH_IO);
        }
        nh_request_free(request);
    }
    unlink(path);
}

static void downloads(void) {
    const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char path[300], content[2001];
    snprintf(path, sizeof path, "%s/nuthatch-saved-%d", folder, (int)getpid());
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    nh_event event;
    size_t told = 0, given = 0;
    int pipes[2];
    CHECK("pipe", pipe(pipes) == 0);
    nh_request_create(url_of(base, "/bytes/1000?saved"), &request);
    CHECK("save to file", nh_request_save_to(request, NH_SINK(.kind = NH_SINK_APPEND, .path = path)) == NH_OK);
    CHECK("save to descriptor", nh_request_save_to(request, NH_SINK(.kind = NH_SINK_DESCRIPTOR, .descriptor = pipes[1])) == NH_OK);
    CHECK("no descriptor", nh_request_save_to(request, NH_SINK(.kind = NH_SINK_DESCRIPTOR, .descriptor = -1)) == NH_INVALID);
    CHECK("save to events", nh_request_save_to(request, NH_SINK(.kind = NH_SINK_EVENTS)) == NH_OK && SET(request, .resume = NH_NO) == NH_OK);
    for (int i = 0; i < 2; i++) {
        CHECK("submit", nh_submit_request(cache, request, &ticket) == NH_OK);
        for (int is_final = 0; !is_final;) {
            CHECK("event", nh_wait(ticket, 30000, &event, sizeof event) == NH_OK);
            is_final = event.is_final;
            if (event.kind == NH_EVENT_DATA) told += event.data_size;
            CHECK("answer", !is_final || event.code == NH_OK);
            nh_event_clear(&event);
        }
        nh_ticket_release(ticket);
    }
    close(pipes[1]);
    for (ssize_t count; (count = read(pipes[0], content, sizeof content)) > 0;) given += (size_t)count;
    close(pipes[0]);
    CHECK("events and descriptor", told == 2000 && given == 2000);
    FILE *file = fopen(path, "r");
    CHECK("appended", file && fread(content, 1, sizeof content, file) == 2000);
    if (file) fclose(file);
    unlink(path);
    nh_request_free(request);
    nh_request_create(url_of(base, "/bytes/1000?full"), &request);
    nh_response *response = NULL;
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = "/dev/full"));
    CHECK("full", nh_perform(cache, request, &response) == NH_NO_SPACE);
    nh_request_free(request);
}

static void options(void) {
    nh_cache *other = NULL;
    nh_response *response = NULL;
    nh_options options = {.struct_size = sizeof options, .timeout_ms = 100, .user_agent = "old/1"};
    CHECK("open with options", nh_open(folder, &options, &other) == NH_OK);
    CHECK("timeout", nh_get(other, url_of(base, "/delay/60000"), NULL, &response) == NH_TIMEOUT);
    nh_close(other, 2000);
    options.struct_size = 264;
    CHECK("options of 0.1", nh_open(folder, &options, &other) == NH_INVALID && strstr(nh_error_message(), "version 0.1"));
    options.struct_size = 0;
    CHECK("options without a size", nh_open(folder, &options, &other) == NH_INVALID && other == NULL);
    options = (nh_options){.struct_size = sizeof options, .user_agent = "a\r\nb"};
    CHECK("user agent that can't be sent", nh_open(folder, &options, &other) == NH_BAD_HEADER);
    CHECK("no directory", nh_open("/dev/null/x", NULL, &other) == NH_IO && other == NULL);
}

/* Interim answers: their status and headers, which are valid as long as the response. */
static void interim_answers(void) {
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    nh_interim early = {.struct_size = sizeof early}, late = early;
    tell(cache, base, "on",
         "{\"path\": \"/early\", \"script\": {\"headers\": [[\"Cache-Control\", \"max-age=60\"]], \"steps\": [{\"interim\": "
         "{\"status\": 103, \"headers\": [[\"Link\", \"</a.css>\"], [\"Link\", \"</b.css>\"]]}}, {\"interim\": {\"status\": "
         "102, \"headers\": []}}, {\"bytes\": \"nut\"}]}}");
    CHECK("get with hints", nh_get(cache, url_of(base, "/early"), NULL, &response) == NH_OK);
    CHECK("how many", nh_response_get_info(response, &info) == NH_OK && info.status == 200 && info.interim_count == 2);
    CHECK("a hint", nh_response_interim_at(response, 0, &early) == NH_OK && early.status == 103);
    CHECK("its lines", early.header_count == 2 && !strcmp(early.headers[1].name, "Link") &&
                           !strcmp(early.headers[1].value, "</b.css>"));
    CHECK("without lines", nh_response_interim_at(response, 1, &late) == NH_OK && late.status == 102 &&
                               late.header_count == 0 && late.headers == NULL);
    CHECK("no third", nh_response_interim_at(response, 2, &late) == NH_INVALID);
    CHECK("none before the first", nh_response_interim_at(response, -1, &late) == NH_INVALID);
    nh_response_release(response);
    CHECK("get what was kept", nh_get(cache, url_of(base, "/early"), NULL, &response) == NH_OK);
    nh_response_get_info(response, &info);
    CHECK("hints aren't kept", info.is_in_cache && info.interim_count == 0);
    nh_response_release(response);
}

static void files(void) {
    nh_cache *other = NULL;
    nh_site *site = NULL;
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    nh_options options = {.struct_size = sizeof options, .allow_files = NH_YES};
    FILE *file = NULL;
    char path[4200], own[4300];
    snprintf(path, sizeof path, "%s.txt", folder);
    snprintf(own, sizeof own, "file://%s", path);
    CHECK("a file", (file = fopen(path, "w")) != NULL && fputs("seeds", file) >= 0 && fclose(file) == 0);
    CHECK("no files by default", nh_get(cache, own, NULL, &response) == NH_DENIED && strstr(nh_error_message(), "allow_files"));
    CHECK("not for a site", nh_site_open(cache, base, &options, &site) == NH_INVALID);
    CHECK("allowed", nh_open(folder, &options, &other) == NH_OK && nh_get(other, own, NULL, &response) == NH_OK);
    nh_response_get_info(response, &info);
    CHECK("its bytes", info.status == 200 && info.body_size == 5 && !memcmp(info.body, "seeds", 5));
    nh_response_release(response);
    nh_close(other, 2000);
    options.allow_files = NH_NO;
    CHECK("not allowed", nh_open(folder, &options, &other) == NH_OK && nh_get(other, own, NULL, &response) == NH_DENIED);
    nh_close(other, 2000);
    options.allow_files = (nh_choice)3;
    CHECK("no such choice", nh_open(folder, &options, &other) == NH_INVALID);
    remove(path);
}

/* The table at run time: each option has its place in the struct, and no place is used twice. */
static void table(void) {
    nh_option option = {.struct_size = sizeof option};
    int count = 0, are_right = 1;
    size_t before = 0;
    while (nh_option_next(option.name, &option) == NH_OK && option.name) {
        are_right &= option.offset >= before && option.offset < sizeof(nh_options) && *option.help && option.levels != 0;
        before = option.offset;
        if (!strcmp(option.name, "timeout"))
            CHECK("timeout", option.kind == NH_OPTION_DURATION && option.offset == offsetof(nh_options, timeout_ms) &&
                                 option.least == 1 && !strcmp(option.none, "unlimited") &&
                                 option.levels == (NH_LEVEL_CACHE | NH_LEVEL_SITE | NH_LEVEL_REQUEST));
        if (!strcmp(option.name, "policy")) CHECK("words", !strcmp(option.words, "kit,rfc9111,offline,reload"));
        count++;
    }
    CHECK("all options", count > 60 && are_right);
    CHECK("no such option", nh_option_next("nonsense", &option) == NH_INVALID && nh_option_next(NULL, NULL) == NH_INVALID);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(NULL);
    answers();
    empty_answer();
    shorter_struct();
    errors();
    deliveries();
    requests();
    bodies();
    downloads();
    options();
    interim_answers();
    files();
    table();
    CHECK("close", nh_close(cache, 2000) == NH_OK);
    CHECK("close again", nh_close(cache, 2000) == NH_INVALID);
    CHECK("versions", nh_version_num() == NH_VERSION_NUM && !strcmp(nh_version(), NH_VERSION));
    return failures != 0;
}
