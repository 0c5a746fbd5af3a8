/* Options of requests, caches, sites and the queue, and their effects. */
#include "checks.h"

#include <pthread.h>
#include <sys/stat.h>

static const char *base;
static nh_cache *cache;

static nh_request *make(const char *path) {
    nh_request *request = NULL;
    nh_request_create(url_of(base, path), &request);
    return request;
}

static int32_t was_cached(nh_request *request) {
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    if (nh_perform(cache, request, &response) != NH_OK) return -1;
    nh_response_get_info(response, &info);
    nh_response_release(response);
    return info.is_in_cache;
}

static void sizes(void) {
    nh_image *images[3] = {NULL};
    nh_image_info info = {.struct_size = sizeof info};
    nh_response *response = NULL;
    nh_event event;
    nh_ticket *ticket = NULL;
    nh_request *request = make("/png/200/100");
    CHECK("no sizes, no images", nh_perform_images(cache, request, images, 1) == NH_INVALID);
    CHECK("sizes", SET(request, .sizes = (nh_size[]){{20, 0}, {50, 50}, {400, 300}}, .size_count = 3) == NH_OK);
    CHECK("no such sizes", SET(request, .sizes = &(nh_size){0, 5}, .size_count = 1) == NH_INVALID &&
                               SET(request, .sizes = &(nh_size){5, -1}, .size_count = 1) == NH_INVALID &&
                               SET(request, .sizes = &(nh_size){65536, 5}, .size_count = 1) == NH_INVALID);
    CHECK("images", nh_perform_images(cache, request, images, 3) == NH_OK);
    const int widths[] = {20, 50, 200};
    for (int i = 0; i < 3; i++) {
        nh_image_get_info(images[i], &info);
        CHECK("in their order", info.width == widths[i] && info.height == widths[i] / 2 && info.original_width == 200);
        nh_image_release(images[i]);
    }
    CHECK("room for too few", nh_perform_images(cache, request, images, 2) == NH_INVALID && images[0] == NULL);
    CHECK("no response", nh_perform(cache, request, &response) == NH_INVALID && response == NULL);
    CHECK("submit", nh_submit_request(cache, request, &ticket) == NH_OK);
    CHECK("event", nh_wait(ticket, -1, &event, sizeof event) == NH_OK && event.image_count == 3 && event.response == NULL);
    nh_image *taken = event.images[1];
    event.images[1] = NULL;
    nh_image *other = event.images[0];
    CHECK("clear", nh_event_clear(&event) == NH_OK && nh_image_get_info(other, &info) == NH_INVALID);
    CHECK("taken", nh_image_get_info(taken, &info) == NH_OK && info.width == 50 && info.is_in_cache);
    nh_image_release(taken);
    nh_ticket_release(ticket);
    nh_request_free(request);

    request = make("/png/40/20?2");
    SET(request, .size = 80);
    CHECK("mode and enlarge", SET(request, .fit = NH_FIT_STRETCH) == NH_OK &&
                                  SET(request, .enlarge = NH_YES) == NH_OK &&
                                  SET(request, .scaling = NH_SCALING_FAST) == NH_OK);
    CHECK("no mode", SET(request, .fit = (nh_fit)9) == NH_INVALID);
    CHECK("exactly", nh_perform_images(cache, request, images, 1) == NH_OK);
    nh_image_get_info(images[0], &info);
    CHECK("its sides", info.width == 80 && info.height == 80);
    nh_image_release(images[0]);
    CHECK("max pixels", SET(request, .max_pixels = 100) == NH_OK &&
                            nh_perform_images(cache, request, images, 1) == NH_TOO_MANY_PIXELS && images[0] == NULL);
    nh_request_free(request);

    request = make("/status/404");
    SET(request, .size = 80);
    nh_error_info error = {.struct_size = sizeof error};
    CHECK("no picture", nh_perform_images(cache, request, images, 1) == NH_HTTP);
    CHECK("why", nh_error_get_info(&error) == NH_OK && error.code == NH_HTTP && error.http_status == 404);
    CHECK("a failed thumbnail is not tried again for a minute", nh_perform_images(cache, request, images, 1) == NH_HTTP &&
                                        nh_error_get_info(&error) == NH_OK && error.retry_after > 0);
    nh_submit_request(cache, request, &ticket);
    CHECK("in events, too", nh_wait(ticket, -1, &event, sizeof event) == NH_OK && event.http_status == 404 &&
                                event.retry_after > 0 && event.image_count == 0);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
    nh_request_free(request);
}

static void keys(void) {
    nh_request *request = make("/headers?Cache-Control=max-age%3D60&sig=1"), *other = make("/headers?Cache-Control=max-age%3D60&sig=2");
    CHECK("another query is another answer", was_cached(request) == 0 && was_cached(other) == 0);
    SET(request, .ignore_query = NH_YES);
    SET(other, .ignore_query = NH_YES);
    CHECK("unless it is ignored", was_cached(request) == 0 && was_cached(other) == 1);
    SET(request, .cache_key = "a key");
    SET(other, .cache_key = "a key");
    CHECK("a key", was_cached(request) == 0 && was_cached(other) == 1);
    SET(other, .partition = "somebody");
    CHECK("a partition", was_cached(other) == 0 && was_cached(other) == 1 && was_cached(request) == 1);
    CHECK("remove", nh_remove(cache, url_of(base, "/headers?Cache-Control=max-age%3D60&sig=2"), NH_OPTIONS(.ignore_query = NH_YES, .cache_key = "a key", .partition = "somebody")) == NH_OK && was_cached(other) == 0 && was_cached(request) == 1);
    CHECK("reload", SET(request, .policy = NH_POLICY_RELOAD) == NH_OK && was_cached(request) == 0);
    CHECK("no policy", SET(request, .policy = (nh_policy)77) == NH_INVALID);
    SET(request, .policy = NH_POLICY_OFFLINE);
    CHECK("offline", was_cached(request) == 1);
    SET(request, .cache_key = "another");
    nh_response *response = NULL;
    CHECK("offline and not there", nh_perform(cache, request, &response) == NH_OFFLINE);
    CHECK("an empty key", SET(request, .cache_key = "") == NH_INVALID && strstr(nh_error_message(), "cache_key is empty"));
    nh_request_free(request);
    nh_request_free(other);

    /* A picture without a lifetime is fresh for the time that the policy sets. */
    request = make("/png/5/5?ttl");
    CHECK("fresh for days", was_cached(request) == 0 && was_cached(request) == 1);
    SET(request, .validator_ttl_ms = NH_NONE, .image_ttl_ms = NH_NONE);
    CHECK("or not at all", SET(request, .policy = NH_POLICY_OFFLINE) == NH_OK);
    CHECK("no number", SET(request, .heuristic = 2) == NH_INVALID);
    nh_request_free(request);
}

static void limits(void) {
    nh_response *response = NULL;
    nh_request *request = make("/status/503?limits");
    nh_error_info error = {.struct_size = sizeof error};
    CHECK("no attempt more", SET(request, .retries = NH_NONE) == NH_OK && nh_perform(cache, request, &response) == NH_OK);
    nh_response_release(response);
    nh_request_free(request);
    request = make("/bytes/10?limits");
    CHECK("guard", SET(request, .addresses = NH_ADDRESSES_PUBLIC) == NH_OK);
    CHECK("no private addresses", nh_perform(cache, request, &response) == NH_DENIED);
    CHECK("no guard", SET(request, .addresses = (nh_addresses)9) == NH_INVALID);
    CHECK("error info", nh_error_get_info(&error) == NH_OK && error.code == NH_INVALID && strstr(error.message, "which is not a value of nh_addresses"));
    SET(request, .addresses = NH_ADDRESSES_ANY);
    CHECK("any", nh_perform(cache, request, &response) == NH_OK);
    nh_response_release(response);
    nh_request_free(request);
}

static void tags_and_priorities(void) {
    enum { count = 6 };
    nh_ticket *tickets[count];
    nh_request *request = make("/delay/60000?tags");
    nh_event event;
    int cancelled = 0;
    CHECK("no priority", SET(request, .priority = 100) == NH_INVALID && strstr(nh_error_message(), "priority is 100; it must be -10 to 10"));
    CHECK("back to none", SET(request, .priority = 5) == NH_OK && SET(request, .priority = NH_NONE) == NH_OK);
    CHECK("more sizes than there can be", SET(request, .sizes = &(nh_size){1, 1}, .size_count = SIZE_MAX) == NH_INVALID &&
                                             SET(request, .secrets = &(nh_secret){"a", NULL, "b"}, .secret_count = SIZE_MAX) == NH_INVALID);
    CHECK("a negative time", SET(request, .outbox_max_age_ms = -1) == NH_INVALID && SET(request, .outbox_key_lifetime_ms = -1) == NH_INVALID);
    CHECK("off in a list", SET(request, .headers = &(nh_header){"a", NH_OFF}, .header_count = 1) == NH_INVALID &&
                              SET(request, .secrets = &(nh_secret){"a", NH_OFF, "b"}, .secret_count = 1) == NH_INVALID);
    CHECK("off with a password", SET(request, .user = NH_OFF, .password = "p") == NH_INVALID);
    CHECK("what only a site has", SET(request, .cookie_jar = NH_COOKIE_JAR_MEMORY) == NH_INVALID &&
                                     strstr(nh_error_message(), "cookie_jar is an option of a site, not of a request"));
    CHECK("priority", SET(request, .priority = 10) == NH_OK);
    for (int i = 0; i < count; i++) {
        SET(request, .tag = i % 2 ? "odd" : "even");
        nh_submit_request(cache, request, &tickets[i]);
        CHECK("another priority", nh_ticket_set_priority(tickets[i], i) == NH_OK);
    }
    CHECK("cancel by tag", nh_cancel_all(cache, NH_OPTIONS(.tag = "odd")) == NH_OK && activity(cache) == 3);
    for (int i = 1; i < count; i += 2) {
        cancelled += nh_wait(tickets[i], 0, &event, sizeof event) == NH_OK && event.code == NH_CANCELLED;
        nh_event_clear(&event);
    }
    CHECK("cancelled", cancelled == 3 && nh_cancel_all(cache, NH_OPTIONS(.tag = "none")) == NH_OK && activity(cache) == 3);
    CHECK("cancel all", nh_cancel_all(cache, NULL) == NH_OK && activity(cache) == 0);
    for (int i = 0; i < count; i++) nh_ticket_release(tickets[i]);
    nh_request_free(request);
}

static void cache_options(void) {
    char other_folder[4200], command[4400];
    nh_cache *other = NULL, *again = NULL;
    nh_request *request = make("/echo");
    const nh_header headers[] = {{"X-Colour", "hazel"}, {"X-Both", "cache"}};
    nh_options options = {.struct_size = sizeof options, .headers = headers, .header_count = 2, .accept = "text/x",
                          .partition = "p", .proxy = "", .retries = NH_NONE, .addresses = NH_ADDRESSES_ANY, .policy = NH_POLICY_RFC9111,
                          .memory_bytes = 1 << 20, .memory_items = 100, .disk_bytes = 8 << 20, .spill = NH_SPILL_PRESSURE,
                          .thumb_store = NH_THUMB_STORE_RAW, .keep_source = NH_NO, .max_pixels = NH_NONE, .max_bytes = NH_NONE};
    snprintf(other_folder, sizeof other_folder, "%s/options", folder);
    CHECK("open", nh_open(other_folder, &options, &other) == NH_OK);
    nh_statistics statistics = {.struct_size = sizeof statistics};
    CHECK("limits", nh_stats(other, &statistics) == NH_OK && statistics.memory_limit == 1 << 20 &&
                        statistics.disk_limit == 8 << 20);
    nh_request_add_header(request, "x-both", "request");
    const char *echo = echoed(other, request);
    CHECK("headers of the cache", strstr(echo, "hazel") && strstr(echo, "text/x") && !strstr(echo, "\"cache\""));
    CHECK("and of the request", strstr(echo, "\"request\"") != NULL);
    nh_request_free(request);
    char page[600];
    nh_response *response = NULL;
    snprintf(page, sizeof page, "%s/headers?Cache-Control=max-age%%3D60&flush", base);
    CHECK("in memory only", nh_get(other, page, NULL, &response) == NH_OK && nh_stats(other, &statistics) == NH_OK &&
                                statistics.unwritten > 0);
    nh_response_release(response);
    CHECK("flush", nh_flush(other) == NH_OK && nh_stats(other, &statistics) == NH_OK && statistics.unwritten == 0);
    CHECK("the same directory options are accepted again", nh_open(other_folder, &options, &again) == NH_OK && nh_close(again, 2000) == NH_OK);
    CHECK("nothing said", nh_open(other_folder, NULL, &again) == NH_OK && nh_close(again, 2000) == NH_OK);
    options.thumb_store = NH_THUMB_STORE_PACKED;
    CHECK("another store", nh_open(other_folder, &options, &again) == NH_CONFLICT && again == NULL);
    options.thumb_store = NH_THUMB_STORE_RAW;
    options.memory_bytes = 2 << 20;
    CHECK("another memory", nh_open(other_folder, &options, &again) == NH_CONFLICT);
    nh_options wrong[] = {{.policy = (nh_policy)9}, {.addresses = (nh_addresses)9},      {.spill = (nh_spill)9},
                          {.thumb_store = (nh_thumb_store)9},   {.keep_source = (nh_choice)9}, {.allow_files = (nh_choice)9},
                          {.header_count = 1},      {.disk_bytes = 5},           {.disk_bytes = -1},          {.priority = 5},           {.timeout_ms = -1},        {.size_count = 3},
                          {.proxy = "ftp://x"},     {.user = "u"},               {.heuristic = 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        wrong[i].struct_size = sizeof *wrong;
        CHECK("wrong options", nh_open(other_folder, &wrong[i], &again) == NH_INVALID && again == NULL);
    }
    const nh_header bad = {"X-Bad", "a\nb"};
    options = (nh_options){.struct_size = sizeof options, .headers = &bad, .header_count = 1};
    CHECK("a header that can't be sent", nh_open(other_folder, &options, &again) == NH_BAD_HEADER);
    nh_close(other, 2000);
    snprintf(command, sizeof command, "rm -r '%s'", other_folder);
    if (system(command) != 0) failures++;
}

static void sites(void) {
    nh_site *site = NULL;
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    nh_image *image = NULL;
    nh_request *request = NULL;
    const nh_header headers[] = {{"Authorization", "Bearer 1"}};
    nh_options options = {.struct_size = sizeof options, .headers = headers, .header_count = 1, .user_agent = "siter/1"};
    CHECK("site", nh_site_open(cache, url_of(base, "/bytes/"), &options, &site) == NH_OK);
    CHECK("get", nh_get(cache, "12", NH_OPTIONS(.site = site), &response) == NH_OK);
    nh_response_get_info(response, &info);
    CHECK("below the base", info.body_size == 12 && strcmp(info.url, "12") == 0 &&
                                strcmp(info.final_url, url_of(base, "/bytes/12")) == 0);
    nh_response_release(response);
    CHECK("thumbnail", nh_thumbnail(cache, "/png/30/30?site", NH_OPTIONS(.site = site, .size = 10), &image) == NH_OK && nh_image_release(image) == NH_OK);
    CHECK("request", site_request(site, "/echo", &request) == NH_OK);
    const char *echo = echoed(cache, request);
    CHECK("its headers", strstr(echo, "Bearer 1") && strstr(echo, "siter/1"));
    nh_request_free(request);
    char elsewhere[600];
    snprintf(elsewhere, sizeof elsewhere, "http://localhost:%s/echo", strrchr(base, ':') + 1);
    site_request(site, elsewhere, &request);
    echo = echoed(cache, request);
    CHECK("secret headers are not sent to another host", !strstr(echo, "Bearer 1") && strstr(echo, "siter/1"));
    nh_request_free(request);
    CHECK("release", nh_site_close(site) == NH_OK && nh_site_close(site) == NH_INVALID);
    CHECK("released", nh_get(cache, "12", NH_OPTIONS(.site = site), &response) == NH_INVALID);

    options = (nh_options){.struct_size = sizeof options, .user = "u", .password = "p", .policy = NH_POLICY_OFFLINE};
    CHECK("with a user", nh_site_open(cache, base, &options, &site) == NH_OK);
    site_request(site, "/basic-auth/u/p", &request);
    CHECK("a policy", nh_perform(cache, request, &response) == NH_OFFLINE);
    SET(request, .policy = NH_POLICY_KIT);
    CHECK("the request's counts first", nh_perform(cache, request, &response) == NH_OK);
    nh_response_get_info(response, &info);
    CHECK("credentials", info.status == 200);
    nh_response_release(response);
    nh_request_free(request);
    nh_site_close(site);
    options = (nh_options){.struct_size = sizeof options, .disk_bytes = 1 << 30};
    CHECK("no options of the directory", nh_site_open(cache, base, &options, &site) == NH_INVALID && site == NULL);
    CHECK("bad base", nh_site_open(cache, "not a url", NULL, &site) == NH_BAD_URL);
}

static void *one_get(void *path) {
    nh_response *response = NULL;
    char url[512];
    snprintf(url, sizeof url, "%s%s", base, (const char *)path);
    nh_status status = nh_get(cache, url, NULL, &response);
    nh_response_release(response);
    return (void *)(intptr_t)status;
}

static void queue(void) {
    pthread_t threads[4];
    /* Answers that would overlap if there were more than one request at a time. */
    const char *const paths[] = {"/delay/200?q1", "/delay/200?q2", "/delay/200?q3", "/delay/200?q4"};
    nh_options options = {.struct_size = sizeof options, .per_host = 1, .inflight_bytes = 1 << 20};
    CHECK("per host", nh_queue_set(&options) == NH_OK);
    tell(cache, base, "reset", "{\"logOnly\": true}");
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, one_get, (void *)paths[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    nh_request *request = make("/_control/counts");
    const char *counts = echoed(cache, request);
    const char *high = strstr(counts, "\"highWater\":");
    CHECK("one at a time", high != NULL && atoi(high + strlen("\"highWater\":")) == 1);
    nh_request_free(request);
    nh_options growing = {.struct_size = sizeof growing, .per_host_grows = NH_YES, .rate = NH_NONE, .inflight_bytes = NH_NONE};
    CHECK("per host as measured", nh_queue_set(&growing) == NH_OK);
    const struct {
        nh_options options;
        const char *message;
    } wrong[] = {
        {{.concurrency = -1}, "concurrency is -1; it must be 1 to 512"},
        {{.concurrency = 100000}, "concurrency is 100000; it must be 1 to 512"},
        {{.per_host = -1}, "per_host is -1; it must be 1 to 512"},
        {{.rate = -1}, "rate is -1.0; it must be 0.000001 to 1000000, or none"},
        {{.inflight_bytes = -1}, "inflight_bytes is -1; it must be 0 or more, or none"},
        {{.timeout_ms = 5}, "timeout is an option of a cache and a site and a request, not of the process"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        nh_options said = wrong[i].options;
        said.struct_size = sizeof said;
        CHECK("wrong numbers", nh_queue_set(&said) == NH_INVALID);
        CHECK(wrong[i].message, strcmp(nh_error_message(), wrong[i].message) == 0);
    }
    nh_cache *none = NULL;
    nh_options of_process = {.struct_size = sizeof of_process, .concurrency = 4};
    CHECK("of the process only", nh_open(NULL, &of_process, &none) == NH_INVALID);
    CHECK("said so", strcmp(nh_error_message(), "concurrency is an option of the process, not of a cache") == 0);
    CHECK("as at the start", nh_queue_set(NULL) == NH_OK);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(NULL);
    sizes();
    keys();
    limits();
    tags_and_priorities();
    cache_options();
    sites();
    queue();
    nh_close(cache, 2000);
    return failures != 0;
}
