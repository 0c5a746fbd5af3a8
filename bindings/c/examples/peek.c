/* A scrolling list of thumbnails that is drawn sixty times a second and never waits:  ./peek URL... */
#include <nuthatch.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum { IN_VIEW = 3 };

typedef struct row {
    const char *url;
    nh_ticket *ticket;
} row;

/* Draws a row if its thumbnail is there, else requests it. Returns whether the row is done. */
static int draw(nh_cache *cache, row *one) {
    nh_image *image = nh_peek(cache, one->url, NH_OPTIONS(.size = 128));
    if (image != NULL) {
        nh_image_info info = {.struct_size = sizeof info};
        nh_image_get_info(image, &info); /* draw info.pixels here */
        printf("%s: %d x %d\n", one->url, info.width, info.height);
        nh_image_release(image);
        return 1;
    }
    nh_ticket_status state = NH_TICKET_QUEUED;
    if (one->ticket != NULL) {
        nh_ticket_set_priority(one->ticket, 5); /* requested earlier, now in view */
        nh_ticket_state(one->ticket, &state);
    } else if (nh_submit(cache, one->url, NH_OPTIONS(.size = 128, .priority = 5, .quiet = NH_YES), &one->ticket) != NH_OK) {
        state = NH_TICKET_DONE;
    }
    if (state == NH_TICKET_DONE) printf("%s: no picture\n", one->url);
    return state == NH_TICKET_DONE;
}

static void leave(row *one) {
    if (one->ticket == NULL) return;
    nh_cancel(one->ticket); /* does nothing if it is done */
    nh_ticket_release(one->ticket);
    one->ticket = NULL;
}

int main(int count, char **arguments) {
    nh_cache *cache;
    row *rows = calloc((size_t)count, sizeof *rows);
    if (rows == NULL || nh_open(NULL, NULL, &cache) != NH_OK) return puts(nh_error_message()), 1;
    for (int i = 0; i < count - 1; i++) rows[i].url = arguments[i + 1];
    for (int top = 0; top < count - 1;) {
        int next = top + IN_VIEW; /* the row below the view is needed soon */
        if (next < count - 1 && rows[next].ticket == NULL) {
            nh_submit(cache, rows[next].url, NH_OPTIONS(.size = 128, .quiet = NH_YES), &rows[next].ticket);
        }
        if (draw(cache, &rows[top])) leave(&rows[top++]); /* scrolls by one */
        else poll(NULL, 0, 16);
    }
    free(rows);
    return nh_close(cache, 2000) != NH_OK;
}
