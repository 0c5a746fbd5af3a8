/* Posts a body now, or later when its server can be reached, also in another run:  ./outbox CACHE SECONDS [URL BODY] */
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void hear(nh_event *event, void *user) {
    nh_frozen_info info = {.struct_size = sizeof info};
    if (nh_frozen_get_info(event->frozen, &info) != NH_OK) return;
    printf("%s %s: %s\n", info.method, info.url, event->code == NH_OK ? "done" : event->message);
    /* Drop it only now: if the process is killed before, the event comes again. A dead request stays. */
    if (event->code == NH_OK) nh_outbox_drop(user, event->outbox_id);
}

int main(int count, char **arguments) {
    nh_cache *cache;
    nh_request *request;
    nh_response *response;
    nh_response_info info = {.struct_size = sizeof info};

    if (count < 3 || nh_open(arguments[1], NULL, &cache) != NH_OK) return puts(nh_error_message()), 1;
    if (count > 4 && nh_request_create(arguments[3], &request) == NH_OK) {
        nh_request_set_body(request, arguments[4], strlen(arguments[4]));
        nh_options options = {.struct_size = sizeof options, .method = "POST", .freezable = NH_YES, .outbox_handler = "posts"};
        /* The secret is the environment variable TOKEN. It is never written to disk. */
        const nh_secret token = {"Authorization", "Bearer ", "env:TOKEN"};
        if (getenv("TOKEN")) options.secrets = &token, options.secret_count = 1;
        nh_request_set(request, &options);
        if (nh_perform(cache, request, &response) != NH_OK) puts(nh_error_message());
        else if (nh_response_get_info(response, &info) == NH_OK) printf("%d\n", info.status);
        nh_response_release(response);
        nh_request_free(request);
    }
    nh_outbox_attach(cache, "posts", hear, cache);
    while (nh_dispatch(cache, atoi(arguments[2]) * 1000) > 0) continue;
    return nh_close(cache, 2000) != NH_OK;
}
