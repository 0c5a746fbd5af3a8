/* Prints whether a server can be reached, and each change:  ./online URL SECONDS */
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>

static void changed(nh_event *event, void *user) {
    if (event->kind == NH_EVENT_REACHABILITY) printf("%s is %s\n", (const char *)user, event->is_reachable ? "here" : "away");
    fflush(stdout);
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: online URL SECONDS\n"), 2;

    nh_cache *cache;
    nh_site *site;
    nh_choice is_here;
    if (nh_open(NULL, NULL, &cache) != NH_OK || nh_site_open(cache, arguments[1], NULL, &site) != NH_OK) return puts(nh_error_message()), 1;
    nh_site_watch(site, changed, arguments[1]);
    /* Every connection to the server, of any request, shows whether it can be reached. This is the first one. */
    nh_submit(cache, "", NH_OPTIONS(.site = site, .quiet = NH_YES, .retries = NH_NONE), NULL);
    while (nh_dispatch(cache, atoi(arguments[2]) * 1000) > 0) continue;
    nh_site_reachable(site, &is_here);
    puts(is_here == NH_YES ? "yes" : is_here == NH_NO ? "no" : "not known yet");
    nh_site_close(site);
    nh_close(cache, 0);
    return is_here != NH_YES;
}
