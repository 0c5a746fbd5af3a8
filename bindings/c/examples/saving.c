/* Saves a large file while it arrives, and resumes a broken transfer:  ./saving URL FILE */
#include <nuthatch.h>
#include <stdio.h>

/* Shows the progress until the ticket has ended. Returns its status. */
static nh_status follow(nh_ticket *ticket) {
    nh_event event;
    nh_status code = NH_CLOSED;
    int is_final = 0;
    while (!is_final && nh_wait(ticket, -1, &event, sizeof event) == NH_OK) {
        is_final = event.is_final;
        code = event.code;
        if (event.kind == NH_EVENT_PROGRESS) fprintf(stderr, "%lld bytes\n", (long long)event.bytes_done);
        if (event.message != NULL) fprintf(stderr, "%s\n", event.message);
        nh_event_clear(&event);
    }
    return code;
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: saving URL FILE\n"), 2;

    nh_cache *cache;
    nh_request *request;
    nh_ticket *ticket, *again;
    if (nh_open(NULL, NULL, &cache) != NH_OK || nh_request_create(arguments[1], &request) != NH_OK) return puts(nh_error_message()), 1;
    nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = arguments[2]));
    nh_request_set(request, NH_OPTIONS(.progress_events = NH_YES, .retries = NH_NONE, .max_bytes = NH_FOREVER));
    nh_status status = nh_submit_request(cache, request, &ticket);
    nh_request_free(request);
    if (status != NH_OK) {
        nh_error_info info = {.struct_size = sizeof info};
        nh_error_get_info(&info);
        return fprintf(stderr, "%s (%d): %s\n", nh_status_name(info.code), info.code, info.message), 1;
    }
    status = follow(ticket);
    /* The received part is in a hidden file beside FILE. The next attempt resumes there. */
    for (int i = 0; i < 3 && (status == NH_RESET || status == NH_TRUNCATED || status == NH_TIMEOUT); i++) {
        if (nh_resubmit(cache, ticket, &again) != NH_OK) break;
        nh_ticket_release(ticket);
        status = follow(ticket = again);
    }
    nh_ticket_release(ticket);
    nh_close(cache, 2000);
    return status != NH_OK;
}
