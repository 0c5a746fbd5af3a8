/* Fetches every URL on standard input in one poll loop:  ./many CACHE < urls.txt */
#include <nuthatch.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
    nh_cache *cache;
    nh_event events[32];
    char url[4096];
    int started = 0, done = 0, failed = 0;

    if (nh_open(count > 1 ? arguments[1] : NULL, NULL, &cache) != NH_OK) return puts(nh_error_message()), 1;
    while (fgets(url, sizeof url, stdin)) {
        url[strcspn(url, "\n")] = 0;
        if (nh_submit(cache, url, NH_OPTIONS(.delivery = NH_DELIVERY_FRESH), NULL) == NH_OK) started++;
        else failed++, fprintf(stderr, "%s\n", nh_error_message());
    }
    /* A real program has more descriptors here. */
    struct pollfd ready = {.fd = nh_fd(cache), .events = POLLIN};
    while (done < started && poll(&ready, 1, -1) >= 0) {
        int got = nh_poll(cache, events, 32, sizeof *events);
        for (int i = 0; i < got; i++) {
            done += events[i].is_final;
            if (events[i].code != NH_OK) failed++, fprintf(stderr, "%s\n", events[i].message);
            nh_event_clear(&events[i]);
        }
    }
    printf("%d of %d, %d failed\n", done - failed, started, failed);
    nh_close(cache, 2000);
    return failed != 0;
}
