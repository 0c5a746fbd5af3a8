/* Sends the requests of an outbox, and asks the user for the tokens that they need:  ./sender CACHE SECONDS */
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask(nh_event *event, void *user) {
    char secret[1024];
    printf("%s: ", event->message); /* the provider's name */
    fflush(stdout);
    if (fgets(secret, sizeof secret, stdin) == NULL) return; /* the request goes on waiting */
    secret[strcspn(secret, "\n")] = 0;
    nh_outbox_provide(user, event->message, secret); /* kept in memory only */
}

static void hear(nh_event *event, void *user) {
    printf("%llu: %s\n", (unsigned long long)event->outbox_id, event->code == NH_OK ? "done" : event->message);
    if (event->code == NH_OK) nh_outbox_drop(user, event->outbox_id);
}

int main(int count, char **arguments) {
    nh_cache *cache;
    if (count != 3 || nh_open(arguments[1], NULL, &cache) != NH_OK) return puts(nh_error_message()), 1;
    nh_outbox_ask(cache, NULL, ask, cache); /* for any provider */
    nh_outbox_attach(cache, "posts", hear, cache);
    while (nh_dispatch(cache, atoi(arguments[2]) * 1000) > 0) continue;
    nh_outbox_detach(cache, "posts");
    return nh_close(cache, 2000) != NH_OK;
}
