/* nh_peek and nh_peek_response return what is ready. nh_thumbnail_now and nh_get_now do the same, and count hits. */
#include "checks.h"

#include <pthread.h>
#include <stdatomic.h>

static struct {
    nh_cache *cache;
    const char *url;
    atomic_int shown, wrong;
} shared;

static void *peek_until_closed(void *unused) {
    (void)unused;
    nh_status status;
    do {
        nh_image *image = NULL;
        nh_image_info info = {.struct_size = sizeof info};
        status = peek_at(shared.cache, shared.url, NH_OPTIONS(.size = 100), &image);
        if (image == NULL) continue;
        if (nh_image_get_info(image, &info) != NH_OK || info.width != 100 || nh_image_release(image) != NH_OK) shared.wrong++;
        shared.shown++;
    } while (status == NH_OK);
    if (status != NH_CLOSED && status != NH_INVALID) shared.wrong++;
    return NULL;
}

/* A handle is closed while other threads look up with it. */
static void close_while_peeking(const char *url) {
    pthread_t threads[4];
    nh_image *image = NULL;
    shared.url = url;
    for (int round = 1; round <= 20; round++) {
        shared.cache = open_cache(NULL);
        if (nh_thumbnail(shared.cache, url, NH_OPTIONS(.size = 100), &image) != NH_OK || nh_image_release(image) != NH_OK) shared.wrong++;
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, peek_until_closed, NULL);
        while (shared.shown < round * 20 && !shared.wrong) usleep(100);
        nh_close(shared.cache, 2000);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    }
    CHECK("closed while others look", shared.wrong == 0);
}

static int lines;

static void note_line(nh_log_level level, const char *text, void *user) {
    (void)text, (void)user;
    lines += level == NH_LOG_DEBUG;
}

static void check_hits(const char *base) {
    nh_cache *cache = open_cache(NULL), *other = NULL;
    nh_image *image = NULL;
    nh_image_info info = {.struct_size = sizeof info};
    nh_response_info facts = {.struct_size = sizeof facts};
    nh_found found = {.body = "x", .body_size = 1};
    nh_statistics before = {.struct_size = sizeof before}, after = before;
    char url[512], never[512];
    snprintf(url, sizeof url, "%s/png/40/40?now", base);
    snprintf(never, sizeof never, "%s/png/40/40?never", base);
    CHECK("nothing yet", nh_thumbnail_now(cache, url, NH_OPTIONS(.size = 20)) == NULL && nh_get_now(cache, url, NULL, &found) == NH_OK && !found.response && !found.body);
    nh_thumbnail(cache, url, NH_OPTIONS(.size = 20), &image);
    nh_image_release(image);
    CHECK("another handle", nh_open(folder, NULL, &other) == NH_OK);
    nh_stats(other, &before);
    image = nh_thumbnail_now(cache, url, NH_OPTIONS(.size = 20));
    CHECK("a picture", image != NULL && nh_image_get_info(image, &info) == NH_OK && info.width == 20 && info.is_in_cache);
    nh_image_release(image);
    CHECK("found", nh_get_now(cache, url, NULL, &found) == NH_OK && found.response);
    CHECK("an answer", nh_response_get_info(found.response, &facts) == NH_OK && facts.status == 200 && facts.is_in_cache);
    CHECK("its body", found.body == facts.body && found.body_size == facts.body_size && facts.body_size > 50);
    CHECK("the picture", !memcmp((const char *)found.body + 1, "PNG", 3));
    CHECK("its strings", !strcmp(facts.url, url) && !strcmp(facts.content_type, "image/png") && !strcmp(facts.reason, "OK"));
    nh_response_release(found.response);
    nh_stats(other, &after);
    CHECK("both handles count the hits", after.requests == before.requests + 2 && after.hits == before.hits + 2);
    CHECK("nothing", nh_thumbnail_now(cache, never, NH_OPTIONS(.size = 20)) == NULL && nh_get_now(cache, never, NULL, &found) == NH_OK && !found.response);
    CHECK("bad", nh_thumbnail_now(cache, "nonsense", NH_OPTIONS(.size = 20)) == NULL && nh_get_now(cache, "nonsense", NULL, &found) == NH_BAD_URL);
    CHECK("NULL", nh_thumbnail_now(cache, NULL, NH_OPTIONS(.size = 20)) == NULL && nh_get_now(cache, NULL, NULL, &found) == NH_INVALID && nh_get_now(cache, url, NULL, NULL) == NH_INVALID);
    CHECK("no size", nh_thumbnail_now(cache, url, NH_OPTIONS(.size = 0)) == NULL && nh_thumbnail_now(cache, url, NH_OPTIONS(.size = -1)) == NULL);
    nh_stats(other, &after);
    CHECK("no others", after.requests == before.requests + 2 && after.hits == before.hits + 2);
    lines = 0;
    nh_log_set(NH_LOG_DEBUG, note_line, NULL);
    nh_image_release(nh_thumbnail_now(cache, url, NH_OPTIONS(.size = 20)));
    CHECK("once more", nh_get_now(cache, url, NULL, &found) == NH_OK && nh_response_release(found.response) == NH_OK);
    nh_log_set(NH_LOG_NONE, NULL, NULL);
    CHECK("hits are written to the log", lines == 2);
    nh_stats(other, &after);
    CHECK("and counted", after.requests == before.requests + 4 && after.hits == before.hits + 4);
    nh_close(cache, 2000);
    CHECK("closed", nh_thumbnail_now(cache, url, NH_OPTIONS(.size = 20)) == NULL && nh_get_now(cache, url, NULL, &found) == NH_INVALID && !found.response);
    nh_close(other, 2000);
}

static void check_responses(const char *base) {
    char url[512], never[512], stale[512];
    nh_cache *cache = open_cache(NULL);
    nh_response *response = NULL, *other = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    nh_statistics figures = {.struct_size = sizeof figures};
    const char *type = NULL, *name = NULL;
    snprintf(url, sizeof url, "%s/png/60/40?peek_response", base);
    snprintf(never, sizeof never, "%s/png/60/41?peek_response", base);
    snprintf(stale, sizeof stale, "%s/bytes/100?peek_response", base);
    CHECK("no answer yet", nh_peek_response(cache, url, NULL, &response) == NH_OK && response == NULL);
    CHECK("fetched", nh_get(cache, url, NULL, &response) == NH_OK && nh_response_release(response) == NH_OK);
    CHECK("there", nh_peek_response(cache, url, NULL, &response) == NH_OK && response != NULL);
    CHECK("its facts", nh_response_get_info(response, &info) == NH_OK && info.status == 200 && info.is_in_cache &&
                           info.source == NH_SOURCE_DISK && info.body_size > 50 && !strcmp(info.url, url));
    CHECK("its type", !strcmp(info.content_type, "image/png"));
    CHECK("its header", nh_response_header(response, "content-type", &type) == NH_OK && !strcmp(type, "image/png"));
    CHECK("its lines", info.header_count > 1 && nh_response_header_at(response, 0, &name, &type) == NH_OK && *name);
    CHECK("no line more", nh_response_header_at(response, info.header_count, &name, &type) == NH_INVALID);
    CHECK("another", nh_peek_response(cache, url, NULL, &other) == NH_OK && other != response);
    nh_response_release(other);
    CHECK("never asked for", nh_peek_response(cache, never, NULL, &other) == NH_OK && other == NULL);
    CHECK("fetched", nh_get(cache, stale, NULL, &other) == NH_OK && nh_response_release(other) == NH_OK);
    CHECK("not fresh", nh_peek_response(cache, stale, NULL, &other) == NH_OK && other == NULL);
    CHECK("needs a worker", nh_peek_response(cache, "data:,seeds", NULL, &other) == NH_OK && other == NULL);
    CHECK("bad URL", nh_peek_response(cache, "nonsense", NULL, &other) == NH_BAD_URL && other == NULL);
    CHECK("NULL", nh_peek_response(cache, NULL, NULL, &other) == NH_INVALID && nh_peek_response(NULL, url, NULL, &other) == NH_INVALID);
    CHECK("no place", nh_peek_response(cache, url, NULL, NULL) == NH_INVALID);
    nh_stats(cache, &figures);
    CHECK("no requests", figures.requests == 2 && figures.activity == 0);
    nh_remove(cache, url, NULL);
    CHECK("removed", nh_peek_response(cache, url, NULL, &other) == NH_OK && other == NULL);
    nh_shutdown(cache);
    CHECK("shut down", nh_peek_response(cache, url, NULL, &other) == NH_CLOSED);
    nh_close(cache, 2000);
    CHECK("closed", nh_peek_response(cache, url, NULL, &other) == NH_INVALID);
    CHECK("still readable", !memcmp((const char *)info.body + 1, "PNG", 3));
    nh_response_release(response);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    const char *base = arguments[1];
    char url[512];
    nh_cache *cache = open_cache(NULL);
    nh_image *image = NULL, *again = NULL;
    nh_image_info info = {.struct_size = sizeof info}, other = info;
    snprintf(url, sizeof url, "%s/png/300/300?peek", base);
    CHECK("nothing yet", peek_at(cache, url, NH_OPTIONS(.size = 100), &image) == NH_OK && image == NULL);
    CHECK("fetched", nh_thumbnail(cache, url, NH_OPTIONS(.size = 100), &image) == NH_OK && nh_image_release(image) == NH_OK);
    CHECK("shown", peek_at(cache, url, NH_OPTIONS(.size = 100), &image) == NH_OK && image != NULL);
    nh_image_get_info(image, &info);
    CHECK("from memory", info.width == 100 && info.is_in_cache && info.source == NH_SOURCE_MEMORY && !strcmp(info.url, url));
    CHECK("its status", info.http_status == 200);
    CHECK("a second peek returns another handle", peek_at(cache, url, NH_OPTIONS(.size = 100), &again) == NH_OK && again != NULL && again != image);
    nh_image_release(image);
    image = nh_peek(cache, url, NH_OPTIONS(.size = 100));
    CHECK("as a result", image != NULL && image != again && nh_image_release(image) == NH_OK);
    CHECK("nothing as a result", nh_peek(cache, url, NH_OPTIONS(.size = 99)) == NULL && nh_peek(cache, "nonsense", NH_OPTIONS(.size = 100)) == NULL);
    CHECK("each has its own handle", nh_image_get_info(again, &other) == NH_OK && !strcmp(other.final_url, url));
    CHECK("release", nh_image_release(again) == NH_OK && nh_image_release(again) == NH_INVALID);
    CHECK("another size", peek_at(cache, url, NH_OPTIONS(.size = 99), &image) == NH_OK && image == NULL);

    CHECK("without a size", peek_at(cache, url, NULL, &image) == NH_INVALID && peek_at(cache, url, NH_OPTIONS(.retries = 2), &image) == NH_INVALID);
    CHECK("with options", peek_at(cache, url, NH_OPTIONS(.size = 100, .timeout_ms = 5, .user_data = cache), &image) == NH_OK && image != NULL);
    nh_image_release(image);
    CHECK("in a list", peek_at(cache, url, NH_OPTIONS(.sizes = &(nh_size){100, 0}, .size_count = 1), &image) == NH_OK && image != NULL);
    nh_image_release(image);
    CHECK("a bad option", peek_at(cache, url, NH_OPTIONS(.size = 100, .timeout_ms = -1), &image) == NH_INVALID && image == NULL);
    CHECK("with what reaches no hit", peek_at(cache, url, NH_OPTIONS(.size = 100, .deadline_ms = 5, .priority = 2), &image) == NH_OK && image != NULL);
    nh_image_release(image);
    CHECK("no other side", peek_at(cache, url, NH_OPTIONS(.size = 98, .priority = 2), &image) == NH_OK && image == NULL);
    CHECK("a bad priority", peek_at(cache, url, NH_OPTIONS(.size = 100, .priority = 11), &image) == NH_INVALID && image == NULL);
    CHECK("a URL that is off", peek_at(cache, NH_OFF, NH_OPTIONS(.size = 100), &image) == NH_INVALID && image == NULL);
    CHECK("a thumbnail of another partition is not returned", peek_at(cache, url, NH_OPTIONS(.size = 100, .partition = "somebody else"), &image) == NH_OK && image == NULL);

    nh_memory_pressure(NH_PRESSURE_CRITICAL);
    CHECK("packed on disk", peek_at(cache, url, NH_OPTIONS(.size = 100), &image) == NH_OK && image == NULL);
    CHECK("unpacked on request", peek_at(cache, url, NH_OPTIONS(.size = 100, .decode = NH_YES), &image) == NH_OK && image != NULL);
    nh_image_release(image);
    CHECK("remove", nh_remove(cache, url, NULL) == NH_OK && peek_at(cache, url, NH_OPTIONS(.size = 100, .decode = NH_YES), &image) == NH_OK && image == NULL);
    CHECK("bad URL", peek_at(cache, "nonsense", NH_OPTIONS(.size = 100), &image) == NH_BAD_URL);
    CHECK("not UTF-8", peek_at(cache, "http://a/\xff", NH_OPTIONS(.size = 100), &image) == NH_BAD_URL);
    CHECK("no size", peek_at(cache, url, NH_OPTIONS(.size = 0), &image) == NH_INVALID && peek_at(cache, url, NH_OPTIONS(.size = -1), &image) == NH_INVALID);
    nh_shutdown(cache);
    CHECK("shut down", peek_at(cache, url, NH_OPTIONS(.size = 100), &image) == NH_CLOSED || image == NULL);
    nh_close(cache, 2000);
    CHECK("closed", peek_at(cache, url, NH_OPTIONS(.size = 100), &image) == NH_INVALID);
    check_responses(base);
    check_hits(base);
    close_while_peeking(url);
    return failures != 0;
}
