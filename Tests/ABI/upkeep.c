/* Statistics of a cache, removal, and the log. */
#include "checks.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *base;
static nh_cache *cache;

static int32_t was_cached(const char *path) {
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    if (nh_get(cache, url_of(base, path), NULL, &response) != NH_OK) return -1;
    nh_response_get_info(response, &info);
    nh_response_release(response);
    return info.is_in_cache;
}

static const char *const one = "/headers?Cache-Control=max-age%3D60&n=1";
static const char *const two = "/headers?Cache-Control=max-age%3D60&n=2";

static void forgetting(void) {
    CHECK("kept", was_cached(one) == 0 && was_cached(two) == 0 && was_cached(one) == 1);
    CHECK("remove", nh_remove(cache, url_of(base, one), NULL) == NH_OK && was_cached(one) == 0 && was_cached(two) == 1);
    CHECK("remove what isn't there", nh_remove(cache, url_of(base, "/never"), NULL) == NH_OK);
    CHECK("remove a bad URL", nh_remove(cache, "nonsense", NULL) == NH_BAD_URL);
    CHECK("clear", nh_clear(cache) == NH_OK && was_cached(one) == 0 && was_cached(two) == 0);
    CHECK("trim to what there is", nh_trim(cache, 1 << 30) == NH_OK && was_cached(one) == 1);
    CHECK("trim to nothing", nh_trim(cache, 0) == NH_OK && was_cached(one) == 0);
    CHECK("trim to less", nh_trim(cache, -1) == NH_INVALID);
}

static void statistics(void) {
    nh_statistics before = {.struct_size = sizeof before}, after = before;
    nh_image *image = NULL;
    char json[4096], small[10];
    CHECK("stats", nh_stats(cache, &before) == NH_OK && before.struct_size == sizeof before);
    nh_thumbnail(cache, url_of(base, "/png/90/90?stats"), NH_OPTIONS(.size = 30), &image);
    nh_image_release(image);
    nh_thumbnail(cache, url_of(base, "/png/90/90?stats"), NH_OPTIONS(.size = 30), &image);
    nh_image_release(image);
    nh_stats(cache, &after);
    CHECK("counted", after.requests == before.requests + 2 && after.hits == before.hits + 1 &&
                         after.decodes == before.decodes + 1 && after.transfers == before.transfers + 1 &&
                         after.bytes_received > before.bytes_received);
    CHECK("held", after.thumbs == before.thumbs + 1 && after.bodies == before.bodies + 1 && after.disk_bytes > 0 &&
                      after.disk_limit == (int64_t)4 << 30 && after.memory_items > 0 && after.activity == 0);
    /* The figures may change between two calls, and so may the length. */
    int32_t length = nh_stats_json(cache, json, sizeof json), later = -1;
    for (int tries = 0; tries < 1000 && (later = nh_stats_json(cache, NULL, 0)) != length; tries++) {
        length = nh_stats_json(cache, json, sizeof json);
    }
    CHECK("json", length > 0 && (size_t)length == strlen(json) && json[0] == '{' && json[length - 1] == '}');
    CHECK("a member", strstr(json, "\"disk_limit\":4294967296,") && strstr(json, ",\"warning\":"));
    CHECK("from the first to the last", strstr(json, "{\"requests\":") == json && strstr(json, ",\"held_up\":0,\"warning\":"));
    CHECK("no other members", !strstr(json, "struct_size") && !strstr(json, "reserved"));
    CHECK("its length alone", later == length);
    CHECK("what fits", nh_stats_json(cache, small, sizeof small) > 9 && strlen(small) == 9 && !strncmp(small, json, 9));
    CHECK("no buffer", nh_stats_json(cache, NULL, 5) == -NH_INVALID);
    before.struct_size = offsetof(nh_statistics, failed);
    before.failed = 4711;
    CHECK("an older struct", nh_stats(cache, &before) == NH_OK && before.requests == after.requests && before.failed == 4711);
    CHECK("pressure", nh_memory_pressure(NH_PRESSURE_CRITICAL) == NH_OK && nh_stats(cache, &after) == NH_OK);
    CHECK("given up", after.memory_items == 0 && after.pressure_criticals == 1);
    CHECK("no such pressure", nh_memory_pressure((nh_pressure)7) == NH_INVALID);
    CHECK("idle", nh_wait_idle(cache, 0) == NH_OK && activity(cache) == 0);
    nh_request *request = NULL;
    nh_request_create(url_of(base, "/delay/60000?idle"), &request);
    nh_submit_request(cache, request, NULL);
    nh_request_free(request);
    CHECK("busy", nh_wait_idle(cache, 20) == NH_TIMEOUT && activity(cache) == 1);
    CHECK("idle again", nh_cancel_all(cache, NULL) == NH_OK && nh_wait_idle(cache, -1) == NH_OK);
}

static char lines[100][400];
static int line_count, on_other_thread;
static pthread_t main_thread;

static void note(nh_log_level level, const char *line, void *user) {
    if (user != lines || !pthread_equal(pthread_self(), main_thread)) on_other_thread++;
    if (line_count < 100) snprintf(lines[line_count++], sizeof *lines, "%d %s", (int)level, line);
}

static int has_line(const char *text) {
    for (int i = 0; i < line_count; i++) {
        if (strstr(lines[i], text)) return 1;
    }
    return 0;
}

static void logging(void) {
    nh_cache *other = NULL;
    main_thread = pthread_self();
    CHECK("no lines unless asked for", nh_log_dispatch() == NH_OK && line_count == 0);
    CHECK("log", nh_log_set(NH_LOG_DEBUG, note, lines) == NH_OK);
    was_cached("/bytes/10?log");
    CHECK("a request's last log line comes before its final event", has_line("/bytes/10?log") && has_line("status 200"));
    nh_open(folder, NULL, &other);
    nh_close(other, 2000);
    CHECK("the rest comes later", nh_log_dispatch() == NH_OK && has_line("3 opened") && has_line("3 closing"));
    CHECK("on this thread", on_other_thread == 0);
    int before = line_count;
    CHECK("only what matters", nh_log_set(NH_LOG_ERROR, note, lines) == NH_OK && was_cached("/bytes/10?more") == 0);
    CHECK("off", nh_log_set(NH_LOG_NONE, NULL, NULL) == NH_OK && nh_log_dispatch() == NH_OK && line_count == before);
    CHECK("no such level", nh_log_set((nh_log_level)9, note, NULL) == NH_INVALID);
}

static int32_t turns[8], turned;

/* Takes the notices that are there. A notice may come a little later than its cause. */
static void take_turns(int32_t until, void *user) {
    for (int tries = 0; turned < until && tries < 3000; tries++) {
        nh_event event;
        while (nh_poll(cache, &event, 1, sizeof event) == 1) {
            if (event.kind == NH_EVENT_BUSY || event.kind == NH_EVENT_IDLE) {
                CHECK("a turn", !event.ticket && !event.is_final && event.user_data == user);
                if (turned < 8) turns[turned++] = (int32_t)event.kind;
            }
            nh_event_clear(&event);
        }
        usleep(10000);
    }
}

static void count_turn(nh_event *event, void *user) { *(int32_t *)user += event->kind == NH_EVENT_IDLE ? 1 : 100; }

static void watch_activity(void) {
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    int32_t called = 0;
    CHECK("watch", nh_activity_watch(cache, NULL, &called) == NH_OK && activity(cache) == 0);
    nh_request_create(url_of(base, "/headers?activity=1"), &request);
    for (int round = 1; round <= 2; round++) {
        CHECK("submit", nh_submit_request(cache, request, &ticket) == NH_OK);
        nh_ticket_release(ticket);
        take_turns(2 * round, &called);
    }
    CHECK("turns", turned == 4 && turns[0] == NH_EVENT_BUSY && turns[1] == NH_EVENT_IDLE &&
                       turns[2] == NH_EVENT_BUSY && turns[3] == NH_EVENT_IDLE);
    /* Of events that aren't taken, the last ones are kept. */
    for (int round = 0; round < 4; round++) {
        CHECK("unseen", nh_submit_request(cache, request, NULL) == NH_OK && nh_wait_idle(cache, 60000) == NH_OK);
    }
    turned = 0;
    take_turns(2, &called);
    CHECK("the last turns", turned == 2 && turns[0] == NH_EVENT_BUSY && turns[1] == NH_EVENT_IDLE);
    /* Only the last listener is called. */
    CHECK("callback", nh_activity_watch(cache, count_turn, &called) == NH_OK && nh_submit_request(cache, request, NULL) == NH_OK);
    for (int tries = 0; called < 101 && tries < 3000; tries++) nh_dispatch(cache, 10);
    CHECK("called", called == 101);
    nh_request_free(request);
    CHECK("no cache", nh_activity_watch(NULL, NULL, NULL) == NH_INVALID);
}

/* Changes the last byte of a body in a file, if it is there. */
static void change_in(const char *packs, const char *name, const uint8_t *body, size_t size) {
    char path[6000];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", packs, name);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) return;
    uint8_t *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    uint8_t *found = memmem(bytes, (size_t)status.st_size, body, size);
    if (found) found[size - 1] ^= 1;
    munmap(bytes, (size_t)status.st_size);
    close(file);
}

/* A disk that changes bytes without an error. */
static void changed_bytes(void) {
    for (int always = 0; always < 2; always++) {
        char path[4200], pack[5000];
        nh_cache *own = NULL;
        nh_response *response = NULL;
        nh_response_info info = {.struct_size = sizeof info};
        nh_options told = {.struct_size = sizeof told};
        snprintf(path, sizeof path, "%s/check %d", folder, always);
        const nh_check_bytes check = always ? NH_CHECK_BYTES_ALWAYS : NH_CHECK_BYTES_FIRST;
        CHECK("open", nh_open(path, NH_OPTIONS(.check_bytes = check, .expire_after_ms = NH_FOREVER), &own) == NH_OK);
        CHECK("said", nh_cache_get_options(own, &told) == NH_OK && told.check_bytes == check && told.expire_after_ms == NH_FOREVER);
        for (int round = 0; round < 3; round++) {
            CHECK("get", nh_get(own, url_of(base, "/bytes/9000"), NULL, &response) == NH_OK);
            nh_response_get_info(response, &info);
            CHECK("from the cache", info.is_in_cache == (round == 1 || (round == 2 && !always)));
            if (round == 1) {
                // The pack with the body. Changes the last bytes of the body there.
                DIR *packs;
                struct dirent *entry;
                snprintf(pack, sizeof pack, "%s/packs", path);
                packs = opendir(pack);
                while (packs && (entry = readdir(packs)))
                    if (entry->d_name[0] != '.') change_in(pack, entry->d_name, info.body, info.body_size);
                if (packs) closedir(packs);
            }
            nh_response_release(response);
        }
        CHECK("for one only", nh_get(own, url_of(base, "/bytes/9000"), NH_OPTIONS(.expire_after_ms = NH_NONE), &response) == NH_OK);
        nh_response_get_info(response, &info);
        CHECK("expired", info.source == NH_SOURCE_REVALIDATED || info.source == NH_SOURCE_NETWORK);
        nh_response_release(response);
        nh_close(own, 2000);
    }
}

/* Options in force: given, default, of the directory's first open, and of the site's cache. */
static void options_in_force(void) {
    char path[4200];
    nh_cache *first = NULL, *second = NULL;
    nh_site *site = NULL;
    nh_options told = {.struct_size = sizeof told};
    const nh_header headers[] = {{"X-Api-Key", "hush"}, {"Accept-Language", "en"}};
    snprintf(path, sizeof path, "%s/in force", folder);
    CHECK("open", nh_open(path, NH_OPTIONS(.retries = NH_NONE, .max_bytes = NH_FOREVER, .memory_items = 7, .outbox_items = 3, .headers = headers,
                                           .header_count = 2, .proxy = "http://me:hush@127.0.0.1:1/"), &first) == NH_OK);
    CHECK("open again", nh_open(path, NULL, &second) == NH_OK && nh_cache_get_options(second, &told) == NH_OK);
    CHECK("of the directory", told.memory_items == 7 && told.outbox_items == 3 && told.disk_bytes == (int64_t)4 << 30 &&
                                  told.thumb_store == NH_THUMB_STORE_PACKED && told.spill == NH_SPILL_EAGER && told.keep_source == NH_YES);
    CHECK("by default", told.timeout_ms == 30000 && told.retries == 3 && told.policy == NH_POLICY_KIT && told.heuristic == 0.1 &&
                            told.validator_ttl_ms == 86400000 && told.allow_files == NH_NO && told.headers == NULL && told.proxy == NULL);
    nh_close(second, 0);
    CHECK("other limits of the outbox", nh_open(path, NH_OPTIONS(.outbox_items = 4), &second) == NH_CONFLICT &&
                                            strstr(nh_error_message(), "outbox_items") && second == NULL);
    CHECK("another limit", nh_open(path, NH_OPTIONS(.memory_items = 4), &second) == NH_CONFLICT && strstr(nh_error_message(), "memory_items"));
    CHECK("another check", nh_open(path, NH_OPTIONS(.check_bytes = NH_CHECK_BYTES_ALWAYS), &second) == NH_CONFLICT &&
                               strstr(nh_error_message(), "check_bytes"));
    CHECK("what was said", nh_cache_get_options(first, &told) == NH_OK && told.retries == NH_NONE && told.max_bytes == NH_FOREVER);
    CHECK("nothing secret", !strcmp(told.proxy, "http://me:***@127.0.0.1:1/") && told.header_count == 2 &&
                                !strcmp(told.headers[0].value, "***") && !strcmp(told.headers[1].value, "en"));
    CHECK("site", nh_site_open(first, base, NH_OPTIONS(.user = "me", .password = "hush", .timeout_ms = 70, .accept = ""), &site) == NH_OK);
    const char *before = told.headers[0].name;
    told = (nh_options){.struct_size = sizeof told};
    CHECK("of the site and its cache", nh_site_get_options(site, &told) == NH_OK && told.timeout_ms == 70 && told.retries == NH_NONE &&
                                           *told.accept == 0 && told.user == NULL && told.password == NULL && told.disk_bytes == 0);
    CHECK("its own texts", told.headers[0].name != before && !strcmp(told.headers[0].name, "X-Api-Key"));
    CHECK("wrong", nh_cache_get_options(first, NULL) == NH_INVALID && nh_site_get_options(NULL, &told) == NH_INVALID);
    nh_site_close(site);
    nh_close(first, 0);
    CHECK("closed", nh_cache_get_options(first, &told) == NH_INVALID);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(NULL);
    forgetting();
    statistics();
    logging();
    watch_activity();
    options_in_force();
    changed_bytes();
    nh_close(cache, 2000);
    return failures != 0;
}
