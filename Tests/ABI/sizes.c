/* Structs of every size, from none to twice their own, and deep JSON, on a thread with a stack of 64 KiB. */
#include "checks.h"

#include <poll.h>
#include <pthread.h>

static nh_cache *cache;
static const char *base;

/* The arguments of the last call: twice as long as the longest struct. */
enum { longest = 2048 };
typedef union {
    unsigned char bytes[longest];
    uint32_t size;
    uint64_t aligned;
} place;

/* Half of a member doesn't count: returns the size of the whole members. */
static size_t whole(size_t size) { return size < sizeof(uint32_t) ? size : size / 8 * 8; }

/* Structs that the library reads. Garbage in half a member and after the struct makes no difference. */
static void reads(const char *name, size_t known, nh_status (*call)(const void *)) {
    int are_equal = 1;
    for (size_t size = 0; size <= 2 * known; size++) {
        place plain, odd;
        memset(&plain, 0, sizeof plain);
        memset(&odd, 0xAA, sizeof odd);
        memset(&odd, 0, size < known ? whole(size) : size);
        plain.size = (uint32_t)(size < known ? whole(size) : size);
        odd.size = (uint32_t)size;
        nh_status without = call(&plain), with = call(&odd);
        if (with != without && size >= 8) are_equal = 0, printf("# %s of %zu: %d, not %d\n", name, size, with, without);
        if (size < 4 && with != NH_INVALID) are_equal = 0, printf("# %s of %zu is taken\n", name, size);
    }
    CHECK(name, are_equal);
    /* A member of a newer program that is set is not ignored. */
    place newer;
    memset(&newer, 0, sizeof newer);
    newer.size = (uint32_t)known + 8;
    newer.bytes[known + 7] = 1;
    CHECK(name, call(&newer) == NH_INVALID);
}

/* All members, as they are now. */
static nh_status read_all(place *found, size_t known, nh_status (*call)(void *)) {
    memset(found, 0, sizeof *found);
    found->size = (uint32_t)known;
    return call(found);
}

/* Structs that the library writes: whole members only, and zeros after them for a newer program. A cache goes on by
   itself while it is asked, so that a call counts only if the members are the same before and after it. */
static void writes(const char *name, size_t known, nh_status (*call)(void *)) {
    int are_right = 1;
    place full, later;
    CHECK(name, read_all(&full, known, call) == NH_OK);
    for (size_t size = 0; size <= 2 * known; size++) {
        place found;
        nh_status status;
        int tries = 0;
        do {
            read_all(&full, known, call);
            memset(&found, 0xEE, sizeof found);
            found.size = (uint32_t)size;
            status = call(&found);
            read_all(&later, known, call);
        } while (memcmp(&full, &later, sizeof full) != 0 && ++tries < 1000);
        size_t end = size < 4 ? 4 : size < known ? (whole(size) < 4 ? 4 : whole(size)) : known;
        int is_right = (status == NH_OK) == (size >= 4) && found.size == size;
        if (size >= 4) is_right &= memcmp(found.bytes + 4, full.bytes + 4, end - 4) == 0;
        for (size_t at = end; at < longest; at++) is_right &= found.bytes[at] == (at >= known && at < size ? 0 : 0xEE);
        if (!is_right) are_right = 0, printf("# %s of %zu: %d\n", name, size, status);
    }
    CHECK(name, are_right);
}

static nh_status open_with(const void *options) {
    nh_cache *other = NULL;
    nh_status status = nh_open(folder, options, &other);
    if (status == NH_OK) nh_close(other, 2000);
    return status;
}

static nh_status site_with(const void *options) {
    nh_site *site = NULL;
    nh_status status = nh_site_open(cache, base, options, &site);
    if (status == NH_OK) nh_site_close(site);
    return status;
}

static nh_status queue_with(const void *options) { return nh_queue_set(options); }

static nh_response *response;
static nh_image *image;

static nh_status image_with(const void *options) {
    nh_image *made = NULL;
    nh_status status = nh_response_image(response, options, &made);
    if (status == NH_OK) nh_image_release(made);
    return status;
}

static nh_status decoded_with(const void *options) {
    nh_image *made = NULL;
    nh_status status = nh_image_decode("no picture", 10, options, &made);
    if (status == NH_OK) nh_image_release(made);
    return status;
}

/* Answers a question, for a request that asks it each time. */
static nh_status answer_with(const void *reply) {
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    nh_event event = {0};
    nh_request_create(url_of(base, "/echo?sizes"), &request);
    SET(request, .asks = NH_ASK_HEADERS);
    if (nh_submit_request(cache, request, &ticket) != NH_OK || nh_wait(ticket, 60000, &event, sizeof event) != NH_OK ||
        event.kind != NH_EVENT_QUESTION)
        printf("# no question: %s\n", nh_error_message());
    nh_event_clear(&event);
    nh_status status = nh_answer(ticket, reply);
    nh_cancel(ticket);
    nh_ticket_release(ticket);
    nh_request_free(request);
    return status;
}

static nh_status response_info(void *info) { return nh_response_get_info(response, info); }
static nh_status interim(void *info) { return nh_response_interim_at(response, 0, info); }
static nh_status image_info(void *info) { return nh_image_get_info(image, info); }
static nh_status error_info(void *info) {
    nh_close(NULL, 2000);
    return nh_error_get_info(info);
}
static nh_status stats(void *statistics) { return nh_stats(cache, statistics); }

static nh_status row(void *option) { return nh_option_next("timeout", option); }
static nh_status cache_options(void *options) { return nh_cache_get_options(cache, options); }

static nh_site *site;
static nh_status site_options(void *options) { return nh_site_get_options(site, options); }

/* The struct must be the same as at the call. */
static nh_frozen *frozen;

static nh_status frozen_info(void *info) { return nh_frozen_get_info(frozen, info); }
static nh_status frozen_attempt(void *attempt) { return nh_frozen_attempt_at(frozen, 0, attempt); }

static void events(void) {
    int are_right = 1;
    for (size_t size = 0; size <= 2 * sizeof(nh_event); size++) {
        nh_event events[4];
        memset(events, 0, sizeof events);
        int is_fit = size >= sizeof(nh_event) && size % 8 == 0;
        are_right &= (nh_poll(cache, events, 1, size) >= 0) == is_fit;
        nh_event_clear(&events[0]);
    }
    CHECK("events of every size", are_right);
}

/* A request that waits after an attempt, because no server is there. */
static void freeze(void) {
    nh_request *request = NULL;
    nh_response *none = NULL;
    nh_error_info error = {.struct_size = sizeof error};
    nh_request_create("http://127.0.0.1:1/", &request);
    SET(request, .method = "POST", .freezable = NH_YES, .retries = NH_NONE);
    CHECK("frozen", nh_perform(cache, request, &none) == NH_FROZEN);
    nh_error_get_info(&error);
    nh_request_free(request);
    for (int tries = 0; tries < 6000; tries++) {
        nh_frozen_info info = {.struct_size = sizeof info};
        if (nh_outbox_get(cache, error.outbox_id, &frozen) != NH_OK || frozen_info(&info) != NH_OK) break;
        if (info.history_count > 0) return;
        nh_frozen_release(frozen);
        usleep(10000);
    }
    CHECK("an attempt", 0);
}

static nh_status status_of_json(int depth) {
    static char json[3000], script[4000];
    nh_response *told = NULL;
    const char *text;
    size_t size;
    memset(json, '[', (size_t)depth);
    memset(json + depth, ']', (size_t)depth);
    json[2 * depth] = 0;
    snprintf(script, sizeof script, "{\"path\": \"/deep%d\", \"script\": {\"steps\": [{\"bytes\": \"%s\"}]}}", depth, json);
    tell(cache, base, "on", script);
    char path[20];
    snprintf(path, sizeof path, "/deep%d", depth);
    if (nh_get(cache, url_of(base, path), NULL, &told) != NH_OK) return NH_INTERNAL;
    nh_status status = nh_response_json(told, &text, &size);
    if (status == NH_OK && size != 2 * (size_t)depth) status = NH_INTERNAL;
    nh_response_release(told);
    return status;
}

static void *all(void *unused) {
    (void)unused;
    reads("nh_open", sizeof(nh_options), open_with);
    reads("nh_site_open", sizeof(nh_options), site_with);
    reads("nh_queue_set", sizeof(nh_options), queue_with);
    reads("nh_response_image", sizeof(nh_options), image_with);
    reads("nh_image_decode", sizeof(nh_options), decoded_with);
    reads("nh_answer", sizeof(nh_reply), answer_with);
    writes("nh_response_get_info", sizeof(nh_response_info), response_info);
    writes("nh_response_interim_at", sizeof(nh_interim), interim);
    writes("nh_image_get_info", sizeof(nh_image_info), image_info);
    writes("nh_error_get_info", sizeof(nh_error_info), error_info);
    freeze();
    writes("nh_frozen_get_info", sizeof(nh_frozen_info), frozen_info);
    writes("nh_frozen_attempt_at", sizeof(nh_frozen_attempt), frozen_attempt);
    writes("nh_stats", sizeof(nh_statistics), stats);
    writes("nh_option_next", sizeof(nh_option), row);
    writes("nh_cache_get_options", sizeof(nh_options), cache_options);
    CHECK("a site", nh_site_open(cache, base, NH_OPTIONS(.timeout_ms = 5000, .user_agent = "seeds"), &site) == NH_OK);
    writes("nh_site_get_options", sizeof(nh_options), site_options);
    nh_site_close(site);
    events();
    CHECK("deep JSON", status_of_json(250) == NH_OK && status_of_json(512) == NH_OK);
    CHECK("JSON that is too deep", status_of_json(513) == NH_WRONG_FORMAT && status_of_json(1400) == NH_WRONG_FORMAT);
    return NULL;
}

int main(int count, char **arguments) {
    nh_options options = {.struct_size = sizeof options, .policy = NH_POLICY_RELOAD};
    pthread_attr_t small;
    pthread_t thread;
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(&options);
    tell(cache, base, "on",
         "{\"path\": \"/early\", \"script\": {\"steps\": [{\"interim\": {\"status\": 103, \"headers\": [[\"Link\", "
         "\"</a.css>\"]]}}, {\"bytes\": \"x\"}]}}");
    CHECK("a response", nh_get(cache, url_of(base, "/early"), NULL, &response) == NH_OK);
    CHECK("an image", nh_thumbnail(cache, url_of(base, "/png/64/48"), NH_OPTIONS(.size = 8), &image) == NH_OK);
    pthread_attr_init(&small);
    CHECK("a small stack", pthread_attr_setstacksize(&small, 65536) == 0);
    CHECK("a thread", pthread_create(&thread, &small, all, NULL) == 0 && pthread_join(thread, NULL) == 0);
    nh_response_release(response);
    nh_image_release(image);
    nh_frozen_release(frozen);
    nh_close(cache, 2000);
    return failures != 0;
}
