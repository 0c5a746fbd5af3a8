/* Fetches URLs slowly in the background, with a log and a display of activity:  ./polite CACHE < urls.txt */
#include <nuthatch.h>
#include <stdio.h>
#include <string.h>

static void write_line(nh_log_level level, const char *line, void *user) {
    fprintf(user, "%s: %s\n", level == NH_LOG_ERROR ? "error" : level == NH_LOG_WARNING ? "warning" : "note", line);
}

static void light(nh_event *event, void *user) {
    fputs(event->kind == NH_EVENT_BUSY ? "at work\n" : "at rest\n", user);
}

int main(int count, char **arguments) {
    nh_cache *cache;
    char url[4096];
    nh_log_set(NH_LOG_INFO, write_line, stderr);
    /* For all caches of the process: four requests at once, two at one host, and ten a second at one host. */
    if (nh_queue_set(NH_OPTIONS(.concurrency = 4, .per_host = 2, .rate = 10)) != NH_OK) return puts(nh_error_message()), 1;
    if (nh_open(count > 1 ? arguments[1] : NULL, NULL, &cache) != NH_OK) return puts(nh_error_message()), 1;
    nh_activity_watch(cache, light, stdout);
    while (fgets(url, sizeof url, stdin)) {
        url[strcspn(url, "\n")] = 0;
        /* If another process holds the lock for long, answers can't be stored, so wait. */
        while (nh_is_held_up(cache, 30000) == 1) nh_dispatch(cache, 250);
        if (nh_submit(cache, url, NH_OPTIONS(.quiet = NH_YES, .batched = NH_YES, .tag = "list"), NULL) != NH_OK) puts(nh_error_message());
    }
    do nh_dispatch(cache, 250);
    while (nh_wait_idle(cache, 0) == NH_TIMEOUT);
    nh_cancel_all(cache, NH_OPTIONS(.tag = "list")); /* does nothing here; a "stop" button would call it earlier */
    nh_shutdown(cache); /* accept no more requests; events can still be taken */
    while (nh_dispatch(cache, 0) > 0) continue;
    nh_status status = nh_close(cache, 2000);
    nh_log_dispatch(); /* the lines about the close */
    return status != NH_OK;
}
