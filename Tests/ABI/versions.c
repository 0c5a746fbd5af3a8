/* Programs that were compiled with an older or a newer nuthatch.h, and all functions that read or write options. */
#include "checks.h"

#include <stddef.h>
#include <sys/mman.h>

/* nh_options of the first version with this table, before redirects. */
typedef struct {
    uint32_t struct_size;
    nh_policy policy;
    int64_t validator_ttl_ms, image_ttl_ms, no_cache_ttl_ms;
    double heuristic;
    int64_t timeout_ms, deadline_ms, retries, give_up_after_ms, max_bytes, max_pixels;
    nh_choice batched;
    nh_site *site;
    nh_addresses addresses;
    uint32_t reserved_1;
    const char *proxy, *method;
    const nh_header *headers;
    size_t header_count;
    const char *cross_origin_headers, *user_agent, *accept, *user, *password, *user_place, *bearer;
    nh_sign_in sign_in;
    uint32_t reserved_2;
    const char *cert, *cert_key, *cert_password, *netrc, *partition;
    nh_cookie_jar cookie_jar;
    uint32_t reserved_3;
    uint64_t asks, asks_not;
    const char *cache_key;
    nh_choice ignore_query;
    uint32_t reserved_4;
    int64_t size;
    const nh_size *sizes;
    size_t size_count;
    nh_fit fit;
    nh_choice enlarge;
    nh_scaling scaling;
    nh_choice allow_damaged, early_stop, decode;
    nh_delivery delivery;
    uint32_t reserved_5;
    int64_t priority;
    const char *tag;
    nh_choice progress_events, resume, freezable, outbox_durable;
    const char *outbox_queue, *outbox_handler;
    const nh_secret *secrets;
    size_t secret_count;
    const char *password_provider;
    int64_t outbox_attempts, outbox_max_age_ms, outbox_key_lifetime_ms;
    void *user_data;
    nh_callback callback;
    nh_choice quiet;
    uint32_t reserved_6;
    int64_t memory_bytes, memory_items, disk_bytes;
    nh_spill spill;
    nh_thumb_store thumb_store;
    nh_choice keep_source, allow_files;
    nh_outbox outbox;
    uint32_t reserved_7;
    int64_t outbox_bytes, outbox_items, concurrency, per_host;
    nh_choice per_host_grows;
    uint32_t reserved_8;
    double rate;
    int64_t inflight_bytes;
} older_options;

#define SAME_PLACE(member) \
    _Static_assert(offsetof(older_options, member) == offsetof(nh_options, member), #member " has moved")

_Static_assert(sizeof(older_options) == 568, "the oldest struct that is read");
_Static_assert(offsetof(nh_options, redirects) == sizeof(older_options), "the first row after it");
SAME_PLACE(policy);
SAME_PLACE(site);
SAME_PLACE(headers);
SAME_PLACE(sign_in);
SAME_PLACE(asks);
SAME_PLACE(size);
SAME_PLACE(priority);
SAME_PLACE(secrets);
SAME_PLACE(user_data);
SAME_PLACE(memory_bytes);
SAME_PLACE(outbox);
SAME_PLACE(rate);
SAME_PLACE(inflight_bytes);

/* nh_options of a later version. */
typedef struct {
    nh_options known;
    int64_t shine;
    const char *colour;
} newer_options;

static nh_cache *cache;
static nh_response *response;
static const char *base, *picture;

/* Memory that ends with the struct. A read or write after it ends the program. */
static void *last_bytes(size_t size) {
    long page = sysconf(_SC_PAGESIZE);
    char *room = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || mprotect(room + page, (size_t)page, PROT_NONE) != 0) exit(2);
    return room + (size_t)page - size;
}

static const nh_options *older(const older_options *said) {
    older_options *placed = last_bytes(sizeof *said);
    *placed = *said;
    placed->struct_size = sizeof *placed;
    return (const nh_options *)placed;
}

static newer_options *newer(const older_options *said) {
    newer_options *placed = last_bytes(sizeof *placed);
    memcpy(placed, said, sizeof *said);
    placed->known.struct_size = sizeof *placed;
    return placed;
}

/* Returns the result of nh_error_message. */
static int is_told(const char *text) { return strstr(nh_error_message(), text) != NULL; }

static nh_status let_go(nh_status status, nh_response *got, nh_image *made) {
    if (got) nh_response_release(got);
    if (made) nh_image_release(made);
    return status;
}

static nh_status last_status(void) {
    nh_error_info error = {.struct_size = sizeof error};
    nh_error_get_info(&error);
    return error.code;
}

static nh_status open_with(const nh_options *options) {
    nh_cache *other = NULL;
    char path[4200];
    snprintf(path, sizeof path, "%s/other", folder);
    nh_status status = nh_open(path, options, &other);
    if (status == NH_OK) nh_close(other, 2000);
    return status;
}

static nh_status site_with(const nh_options *options) {
    nh_site *site = NULL;
    nh_status status = nh_site_open(cache, base, options, &site);
    if (status == NH_OK) nh_site_close(site);
    return status;
}

static nh_status get_with(const nh_options *options) {
    nh_response *got = NULL;
    nh_status status = nh_get(cache, picture, options, &got);
    return let_go(status, got, NULL);
}

static nh_status thumbnail_with(const nh_options *options) {
    nh_image *made = NULL;
    nh_status status = nh_thumbnail(cache, picture, options, &made);
    return let_go(status, NULL, made);
}

static nh_status submit_with(const nh_options *options) {
    nh_ticket *ticket = NULL;
    nh_event event = {0};
    nh_status status = nh_submit(cache, picture, options, &ticket);
    if (status != NH_OK) return status;
    status = nh_wait(ticket, 60000, &event, sizeof event);
    if (status == NH_OK && event.user_data != &cache) status = NH_INTERNAL;
    nh_event_clear(&event);
    nh_ticket_release(ticket);
    return status;
}

static nh_status set_with(const nh_options *options) {
    nh_request *request = NULL;
    nh_response *got = NULL;
    nh_request_create(picture, &request);
    nh_status status = nh_request_set(request, options);
    if (status == NH_OK) status = nh_perform(cache, request, &got);
    nh_request_free(request);
    return let_go(status, got, NULL);
}

static nh_status peek_with(const nh_options *options) {
    nh_image *made = nh_peek(cache, picture, options);
    return let_go(made ? NH_OK : last_status(), NULL, made);
}

static nh_status thumbnail_now_with(const nh_options *options) {
    nh_image *made = nh_thumbnail_now(cache, picture, options);
    return let_go(made ? NH_OK : last_status(), NULL, made);
}

static nh_status peek_response_with(const nh_options *options) {
    nh_response *got = NULL;
    nh_status status = nh_peek_response(cache, picture, options, &got);
    return let_go(status, got, NULL);
}

static nh_status get_now_with(const nh_options *options) {
    nh_found found = {0};
    nh_status status = nh_get_now(cache, picture, options, &found);
    return let_go(status, found.response, NULL);
}

static nh_status image_with(const nh_options *options) {
    nh_image *made = NULL;
    nh_status status = nh_response_image(response, options, &made);
    return let_go(status, NULL, made);
}

static nh_status decode_with(const nh_options *options) {
    nh_response_info info = {.struct_size = sizeof info};
    nh_image *made = NULL;
    nh_response_get_info(response, &info);
    nh_status status = nh_image_decode(info.body, info.body_size, options, &made);
    return let_go(status, NULL, made);
}

static nh_status cancel_with(const nh_options *options) { return nh_cancel_all(cache, options); }
static nh_status remove_with(const nh_options *options) { return nh_remove(cache, picture, options); }

static const struct {
    const char *name;
    nh_status (*call)(const nh_options *);
    older_options said;
} calls[] = {
    {"nh_open", open_with, {.timeout_ms = 5000, .disk_bytes = 1 << 24, .inflight_bytes = 0}},
    {"nh_queue_set", nh_queue_set, {.concurrency = 9, .inflight_bytes = 1 << 26}},
    {"nh_site_open", site_with, {.timeout_ms = 5000, .user_agent = "seeds"}},
    {"nh_get", get_with, {.retries = NH_NONE, .priority = 3}},
    {"nh_thumbnail", thumbnail_with, {.size = 16}},
    {"nh_thumbnail with more", thumbnail_with, {.size = 16, .fit = NH_FIT_COVER}},
    {"nh_submit", submit_with, {.size = 16, .user_data = &cache, .delivery = NH_DELIVERY_FRESH}},
    {"nh_request_set", set_with, {.timeout_ms = 5000, .method = "GET"}},
    {"nh_peek", peek_with, {.size = 16}},
    {"nh_thumbnail_now", thumbnail_now_with, {.size = 16}},
    {"nh_peek_response", peek_response_with, {.max_bytes = 1 << 20}},
    {"nh_get_now", get_now_with, {.max_bytes = 1 << 20}},
    {"nh_response_image", image_with, {.size = 8, .enlarge = NH_NO}},
    {"nh_image_decode", decode_with, {.size = 8}},
    {"nh_cancel_all", cancel_with, {.tag = "list"}},
    {"nh_remove", remove_with, {.partition = "ann"}},
};

static void every_call(void) {
    char message[200];
    for (size_t at = 0; at < sizeof calls / sizeof *calls; at++) {
        const older_options *said = &calls[at].said;
        CHECK(calls[at].name, calls[at].call(older(said)) == NH_OK);
        newer_options *more = newer(said);
        CHECK(calls[at].name, calls[at].call(&more->known) == NH_OK);
        more->shine = 1;
        snprintf(message, sizeof message, "options has a value at byte %zu, where Nuthatch %s has no member: ",
                 offsetof(newer_options, shine), nh_version());
        CHECK(calls[at].name, calls[at].call(&more->known) == NH_INVALID && is_told(message));
        more->shine = 0;
        more->colour = (const char *)((uintptr_t)7 << 56); /* its last byte only */
        snprintf(message, sizeof message, "options has a value at byte %zu, ", sizeof *more - 1);
        CHECK(calls[at].name, calls[at].call(&more->known) == NH_INVALID && is_told(message));
    }
}

/* Options that an older program sets are used. Newer options have their defaults. */
static void counts(void) {
    CHECK("a limit", get_with(older(&(older_options){.max_bytes = 3})) == NH_TOO_LARGE);
    CHECK("of another level", get_with(older(&(older_options){.disk_bytes = 1 << 24})) == NH_INVALID);
    older_options said = {.max_bytes = 1 << 20};
    nh_response *got = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    CHECK("a redirect", nh_get(cache, url_of(base, "/redirect/2"), older(&said), &got) == NH_OK &&
                            nh_response_get_info(got, &info) == NH_OK && info.redirects == 2);
    nh_response_release(got);
}

static void telling(void) {
    nh_cache *other = NULL;
    nh_site *site = NULL;
    char path[4200];
    older_options none = {.struct_size = 0}, said = {.timeout_ms = 7000, .retries = 2};
    snprintf(path, sizeof path, "%s/told", folder);
    CHECK("open", nh_open(path, older(&said), &other) == NH_OK);
    said = (older_options){.timeout_ms = 6000};
    CHECK("site", nh_site_open(other, base, older(&said), &site) == NH_OK);
    older_options *told = (older_options *)(uintptr_t)older(&none);
    CHECK("a cache's", nh_cache_get_options(other, (nh_options *)told) == NH_OK && told->timeout_ms == 7000 &&
                           told->retries == 2 && told->struct_size == sizeof *told);
    CHECK("a site's", nh_site_get_options(site, (nh_options *)told) == NH_OK && told->timeout_ms == 6000);
    newer_options *more = newer(&none);
    more->shine = 7;
    CHECK("a newer cache's", nh_cache_get_options(other, &more->known) == NH_OK && more->known.timeout_ms == 7000 &&
                                 more->known.redirects == 10 && more->shine == 0);
    more->shine = 7;
    CHECK("a newer site's", nh_site_get_options(site, &more->known) == NH_OK && more->known.timeout_ms == 6000 && more->shine == 0);
    nh_site_close(site);
    nh_close(other, 2000);
}

static void places(void) {
    older_options said = {.concurrency = 9};
    nh_option option = {.struct_size = sizeof option};
    newer_options *more = newer(&said);
    more->known.struct_size = sizeof(older_options) - 8;
    CHECK("of version 0.1", nh_queue_set(&more->known) == NH_INVALID && is_told("as in version 0.1"));
    char message[80];
    more->known.struct_size = sizeof(nh_options);
    more->known.reserved_8 = 1;
    snprintf(message, sizeof message, "options has a value at byte %zu, ", offsetof(nh_options, reserved_8));
    CHECK("in a gap", nh_queue_set(&more->known) == NH_INVALID && is_told(message));
    CHECK("asked beforehand", nh_option_next("redirects", &option) == NH_OK && nh_option_next("shine", &option) == NH_INVALID);
}

static void builds(void) {
    const char *told = nh_build_info();
    CHECK("build info", told != NULL && told[0] == '{' && strstr(told, "\"libcurl\"") && strstr(told, nh_version()));
    CHECK("build info stays where it is", nh_build_info() == told);
}

int main(int count, char **arguments) {
    char url[512];
    if (count < 2) return 2;
    base = arguments[1];
    snprintf(url, sizeof url, "%s/png/64/48", base);
    picture = url;
    cache = open_cache(NULL);
    CHECK("a response", nh_get(cache, picture, NULL, &response) == NH_OK);
    every_call();
    counts();
    telling();
    places();
    builds();
    nh_response_release(response);
    const char *before = nh_build_info();
    nh_close(cache, 2000);
    CHECK("build info outlives a cache", nh_build_info() == before && strlen(before) > 100);
    return failures != 0;
}
