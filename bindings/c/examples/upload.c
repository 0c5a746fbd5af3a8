/* Sends a file in a form, and shows the progress:  ./upload URL FILE [USER PASSWORD] */
#include <nuthatch.h>
#include <poll.h>
#include <stdio.h>

int main(int count, char **arguments) {
    if (count != 3 && count != 5) return fprintf(stderr, "usage: upload URL FILE [USER PASSWORD]\n"), 2;

    nh_cache *cache;
    nh_request *request;
    if (nh_open(NULL, NULL, &cache) != NH_OK || nh_request_create(arguments[1], &request) != NH_OK) return 1;
    nh_request_add_part(request, NH_PART(.name = "title", .data = "A nut", .size = 5));
    nh_request_add_part(request, NH_PART(.name = "picture", .path = arguments[2], .type = "image/jpeg")); /* read while it is sent */
    nh_options options = {.struct_size = sizeof options, .method = "POST", .progress_events = NH_YES};
    if (count == 5) {
        options.user = arguments[3], options.password = arguments[4];
        options.sign_in = NH_SIGN_IN_ANY; /* the strongest scheme that the server offers */
    }
    nh_request_set(request, &options);
    if (nh_submit_request(cache, request, NULL) != NH_OK) return fprintf(stderr, "%s\n", nh_error_message()), 1;

    struct pollfd ready = {.fd = nh_fd(cache), .events = POLLIN};
    nh_event event = {0};
    while (!event.is_final && poll(&ready, 1, -1) > 0) {
        nh_event_clear(&event);
        if (nh_poll(cache, &event, 1, sizeof event) != 1) continue;
        if (event.is_upload) fprintf(stderr, "%lld of %lld bytes\n", (long long)event.bytes_done, (long long)event.bytes_total);
    }
    const char *answer = event.message; /* the error if there is no answer */
    if (event.response != NULL) nh_response_text(event.response, &answer, NULL);
    printf("%d %s\n", event.http_status, answer);
    int failed = event.http_status < 200 || event.http_status > 299;
    nh_event_clear(&event);
    nh_request_free(request);
    nh_close(cache, 2000);
    return failed;
}
