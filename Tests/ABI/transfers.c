/* Sending and saving: files, forms and fields; files, descriptors and events; and progress. */
#include "checks.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

static nh_cache *cache;
static const char *base;

static nh_request *make(const char *path, const char *method) {
    nh_request *request = NULL;
    nh_request_create(url_of(base, path), &request);
    SET(request, .method = method, .delivery = NH_DELIVERY_FRESH);
    return request;
}

/* Returns the path of a file beside the cache's folder. */
static const char *beside(const char *name) {
    static char paths[4][4200];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/saved/%s", folder, name);
    return path;
}

static void write_file(const char *path, size_t size) {
    FILE *file = fopen(path, "wb");
    for (size_t i = 0; i < size; i++) fputc((int)(i % 251), file);
    fclose(file);
}

static int64_t size_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : -1;
}

static const char *echo_of(nh_request *request) {
    static char text[20000];
    nh_response *response = NULL;
    const char *json = "";
    text[0] = 0;
    CHECK("sent", nh_perform(cache, request, &response) == NH_OK && nh_response_json(response, &json, NULL) == NH_OK);
    snprintf(text, sizeof text, "%s", json);
    nh_response_release(response);
    return text;
}

static void bodies(void) {
    nh_request *request = make("/echo", "POST");
    write_file(beside("small"), 10);
    FILE *file = fopen(beside("text"), "w");
    fputs("a file's bytes", file);
    fclose(file);
    nh_request_add_part(request, NH_PART(.name = "title", .data = "Nut", .size = 3));
    nh_request_add_part(request, NH_PART(.name = "data", .data = "xyz", .size = 3, .file_name = "d.txt", .type = "text/plain"));
    CHECK("a form", nh_request_add_part(request, NH_PART(.name = "file", .path = beside("text"), .type = "text/x")) == NH_OK);
    const char *echo = echo_of(request);
    CHECK("its type", strstr(echo, "multipart/form-data; boundary=") != NULL);
    CHECK("its parts", strstr(echo, "name=\\\"title\\\"") && strstr(echo, "filename=\\\"d.txt\\\"") &&
                           strstr(echo, "filename=\\\"text\\\"") && strstr(echo, "a file's bytes"));
    nh_request_free(request);
    request = make("/echo", "POST");
    nh_request_add_field(request, "a b", "1&2");
    CHECK("fields", nh_request_add_field(request, "c", "") == NH_OK);
    echo = echo_of(request);
    CHECK("encoded", strstr(echo, "a+b=1%262&c=") && strstr(echo, "application/x-www-form-urlencoded"));
    nh_request_free(request);
    request = make("/echo", "PUT");
    nh_response *response = NULL;
    nh_request_set_body_file(request, beside("missing"));
    CHECK("a missing file", nh_perform(cache, request, &response) == NH_IO);
    nh_request_set_body_file(request, beside("text"));
    CHECK("a file", strstr(echo_of(request), "a file's bytes") != NULL);
    nh_request_free(request);
}

/* A gate of the server, which is opened after the first progress event. */
static const char *gate;

static void open_gate(void) {
    char json[64];
    snprintf(json, sizeof json, "{\"gate\": \"%s\", \"do\": \"open\"}", gate);
    gate = NULL;
    tell(cache, base, "gate", json);
}

/* Takes a request's events by nh_poll until the final one, which is returned. Adds up their figures. */
static nh_event last_of(nh_request *request, int64_t sums[3]) {
    nh_event event = {0};
    sums[0] = sums[1] = sums[2] = 0;
    CHECK("submit", nh_submit_request(cache, request, NULL) == NH_OK);
    struct pollfd ready = {.fd = nh_fd(cache), .events = POLLIN};
    while (poll(&ready, 1, 60000) == 1) {
        if (nh_poll(cache, &event, 1, sizeof event) != 1) continue;
        if (event.is_final) return event;
        if (event.kind == NH_EVENT_PROGRESS) sums[event.is_upload ? 0 : 1] = event.bytes_done;
        if (event.kind == NH_EVENT_PROGRESS && event.is_upload && event.bytes_total != 3000000) failures++;
        if (event.kind == NH_EVENT_PROGRESS && event.bytes_done > 0 && gate) open_gate();
        if (event.kind == NH_EVENT_DATA) {
            sums[2] += (int64_t)event.data_size;
            if (event.bytes_done != sums[2] || memchr(event.data, 'x', event.data_size) != event.data) failures++;
        }
        nh_event_clear(&event);
    }
    return event;
}

static void progress(void) {
    int64_t sums[3];
    /* The answers end after an event of progress: the final event removes those that were not taken. */
    tell(cache, base, "on", "{\"path\": \"/taken\", \"script\": {\"steps\": [{\"wait\": \"taken\"}, {\"bytes\": \"nut\"}]}}");
    tell(cache, base, "on", "{\"path\": \"/halves\", \"script\": {\"steps\": "
                            "[{\"bytes\": \"nut\"}, {\"wait\": \"half\"}, {\"bytes\": \"ha\"}]}}");
    nh_request *request = make("/taken", "POST");
    write_file(beside("large"), 3000000);
    nh_request_set_body_file(request, beside("large"));
    SET(request, .progress_events = NH_YES);
    gate = "taken";
    nh_event event = last_of(request, sums);
    CHECK("an upload's end", event.code == NH_OK && event.http_status == 200);
    CHECK("how much was sent", sums[0] > 0 && sums[0] <= 3000000);
    nh_event_clear(&event);
    nh_request_free(request);
    request = make("/halves", "GET");
    SET(request, .progress_events = NH_YES);
    gate = "half";
    event = last_of(request, sums);
    CHECK("how much has come", event.code == NH_OK && sums[1] > 0 && sums[1] <= 5);
    nh_event_clear(&event);
    nh_request_free(request);
}

static void sinks(void) {
    int64_t sums[3];
    nh_request *request = make("/bytes/300000", "GET");
    int descriptor = open(beside("by-descriptor"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    write_file(beside("all"), 10);
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = beside("one")));
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = beside("two")));
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_APPEND, .path = beside("all")));
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_EVENTS));
    CHECK("several sinks", nh_request_save_to(request, NH_SINK(.kind = NH_SINK_DESCRIPTOR, .descriptor = descriptor)) == NH_OK);
    CHECK("no descriptor", nh_request_save_to(request, NH_SINK(.kind = NH_SINK_DESCRIPTOR, .descriptor = -1)) == NH_INVALID);
    for (int round = 1; round <= 2; round++) {
        nh_event event = last_of(request, sums);
        nh_response_info info = {.struct_size = sizeof info};
        CHECK("saved", event.code == NH_OK && event.is_in_cache == (round == 2));
        nh_response_get_info(event.response, &info);
        CHECK("in the response, too", info.body_size == 300000 && info.status == 200);
        CHECK("files", size_of(beside("one")) == 300000 && size_of(beside("two")) == 300000);
        CHECK("added to a file", size_of(beside("all")) == 10 + round * 300000);
        CHECK("a descriptor", size_of(beside("by-descriptor")) == round * 300000);
        CHECK("events", sums[2] == 300000);
        nh_event_clear(&event);
    }
    nh_request_free(request);
    close(descriptor);
}

static void failing_sinks(void) {
    nh_response *response = NULL;
    nh_request *request = make("/bytes/300000?full", "GET");
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = "/dev/full"));
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = beside("never")));
    CHECK("a full disk", nh_perform(cache, request, &response) == NH_NO_SPACE && response == NULL);
    nh_request_free(request);
    request = make("/bytes/300000?none", "GET");
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = beside("no/such/folder")));
    CHECK("no folder", nh_perform(cache, request, &response) == NH_IO);
    nh_request_free(request);
    request = make("/truncated?announced=1000&sent=10", "GET");
    SET(request, .retries = NH_NONE, .resume = NH_NO);
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = beside("never")));
    CHECK("cut off", nh_perform(cache, request, &response) == NH_TRUNCATED);
    nh_request_free(request);
    request = make("/status/404", "GET");
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = beside("never")));
    CHECK("no success", nh_perform(cache, request, &response) == NH_OK);
    nh_response_release(response);
    nh_request_free(request);
    CHECK("nothing is left", size_of(beside("never")) < 0 && size_of(beside(".never.nuthatch-part")) < 0 &&
                                 size_of(beside(".never.nuthatch-info")) < 0);
    /* The hidden file of a broken download stays. */
    request = make("/bytes/3000000", "GET");
    SET(request, .max_bytes = 100000);
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = beside("never")));
    CHECK("too large", nh_perform(cache, request, &response) == NH_TOO_LARGE && size_of(beside("never")) < 0);
    nh_request_free(request);
}

/* Sets the answer of the server. */
static void scripted(const char *script) {
    nh_response *response = NULL;
    nh_request *request = make("/_control/on", "POST");
    nh_request_set_body(request, script, strlen(script));
    if (nh_perform(cache, request, &response) != NH_OK) exit(2);
    nh_response_release(response);
    nh_request_free(request);
}

/* The next request resumes a broken download, also in a later process. */
static void resuming(void) {
    const char *target = beside("resumed"), *log = NULL;
    nh_response *response = NULL;
    nh_request *request = make("/half", "GET");
    SET(request, .retries = NH_NONE);
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = target));
    scripted("{\"path\": \"/half\", \"script\": {\"headers\": [[\"ETag\", \"\\\"1\\\"\"], [\"Content-Length\", \"300000\"]], "
             "\"steps\": [{\"fill\": {\"count\": 100000, \"byte\": 97}}]}}");
    CHECK("breaks off", nh_perform(cache, request, &response) == NH_TRUNCATED && size_of(target) < 0);
    CHECK("a part stays", size_of(beside(".resumed.nuthatch-part")) == 100000);
    nh_close(cache, 2000);
    cache = open_cache(NULL);
    scripted("{\"path\": \"/half\", \"script\": {\"headers\": [[\"ETag\", \"\\\"1\\\"\"]], \"answersConditions\": true, "
             "\"answersRanges\": true, \"steps\": [{\"fill\": {\"count\": 300000, \"byte\": 97}}]}}");
    CHECK("gone on with", nh_perform(cache, request, &response) == NH_OK && size_of(target) == 300000);
    nh_response_release(response);
    nh_request_free(request);
    CHECK("nothing is left", size_of(beside(".resumed.nuthatch-part")) < 0 && size_of(beside(".resumed.nuthatch-info")) < 0);
    nh_get(cache, url_of(base, "/_control/log?path=/half"), NULL, &response);
    CHECK("by a range", nh_response_text(response, &log, NULL) == NH_OK && strstr(log, "bytes=100000-") && strstr(log, "If-Range"));
    nh_response_release(response);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(NULL);
    char saved[4200];
    snprintf(saved, sizeof saved, "%s/saved", folder);
    if (mkdir(saved, 0700) != 0) return 2;
    bodies();
    progress();
    sinks();
    failing_sinks();
    resuming();
    nh_close(cache, 2000);
    return failures != 0;
}
