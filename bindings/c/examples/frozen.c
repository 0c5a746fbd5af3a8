/* Shows and changes an outbox:  ./frozen CACHE [list | show ID | answer ID | replay ID | drop ID] */
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *states[] = {"", "waiting", "sending", "paused", "done", "dead"};

static void show(nh_frozen *frozen, int is_long) {
    nh_frozen_info info = {.struct_size = sizeof info};
    nh_frozen_get_info(frozen, &info);
    printf("%llu %s %s %s%s%s\n", (unsigned long long)info.id, states[info.state], info.method, info.url,
           info.reason ? ": " : "", info.reason ? info.reason : "");
    for (int32_t i = 0; is_long && i < info.history_count; i++) {
        nh_frozen_attempt attempt = {.struct_size = sizeof attempt};
        nh_frozen_attempt_at(frozen, i, &attempt);
        printf("  %s (%s)\n", attempt.reason, nh_status_name(attempt.code));
    }
}

static nh_status list(nh_cache *cache) {
    nh_frozen *frozen;
    nh_frozen_info info = {.struct_size = sizeof info};
    nh_status status;
    while ((status = nh_outbox_next(cache, info.id, &frozen)) == NH_OK && frozen != NULL) {
        nh_frozen_get_info(frozen, &info);
        show(frozen, 0);
        nh_frozen_release(frozen);
    }
    return status;
}

int main(int count, char **arguments) {
    nh_cache *cache;
    nh_frozen *frozen;
    nh_response *response;
    /* This program sends nothing. Other processes do. */
    if (count < 2 || nh_open(arguments[1], NH_OPTIONS(.outbox = NH_OUTBOX_OFF), &cache) != NH_OK) return puts(nh_error_message()), 1;
    const char *what = count > 3 ? arguments[2] : "list";
    uint64_t id = count > 3 ? strtoull(arguments[3], NULL, 10) : 0;
    nh_status status = NH_OK;
    if (!strcmp(what, "show") && (status = nh_outbox_get(cache, id, &frozen)) == NH_OK) show(frozen, 1), nh_frozen_release(frozen);
    if (!strcmp(what, "answer") && (status = nh_outbox_response(cache, id, &response)) == NH_OK) {
        nh_response_info info = {.struct_size = sizeof info};
        nh_response_get_info(response, &info);
        printf("%d, %zu bytes\n", info.status, info.body_size);
        nh_response_release(response);
    }
    if (!strcmp(what, "replay")) printf("%d are sent again\n", nh_outbox_replay(cache, id));
    if (!strcmp(what, "drop")) status = nh_outbox_drop(cache, id);
    if (!strcmp(what, "list")) status = list(cache);
    if (status != NH_OK) fprintf(stderr, "%s\n", nh_error_message());
    nh_close(cache, 0);
    return status != NH_OK;
}
