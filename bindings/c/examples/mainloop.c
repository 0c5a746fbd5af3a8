/* Thumbnails for a window whose thread must never block, for example of SDL or GLib:  ./mainloop URL... */
#include <nuthatch.h>
#include <stdio.h>

static int shown, failed;

/* Called by nh_dispatch, on the thread of the main loop. */
static void show(nh_event *event, void *user) {
    nh_image_info info = {.struct_size = sizeof info};
    if (event->image_count == 1 && nh_image_get_info(event->images[0], &info) == NH_OK) {
        /* Call SDL_CreateRGBSurfaceFrom(info.pixels, ...) here. To keep the image, take the handle out of the event. */
        printf("%s: %d x %d%s\n", (const char *)user, info.width, info.height, event->is_stale ? ", a newer one comes" : "");
    } else {
        printf("%s: %s\n", (const char *)user, event->message);
    }
    shown += event->is_final;
    failed += event->code != NH_OK;
}

int main(int count, char **arguments) {
    nh_cache *cache;
    if (nh_open(NULL, NULL, &cache) != NH_OK) return puts(nh_error_message()), 1;
    for (int i = 1; i < count; i++) {
        const nh_options *wanted = NH_OPTIONS(.size = 256, .callback = show, .user_data = arguments[i]);
        if (nh_submit(cache, arguments[i], wanted, NULL) != NH_OK) failed++, shown++, puts(nh_error_message());
    }
    while (shown < count - 1) {
        /* Draw a frame and handle input. Then take events for at most the rest of the 16 ms of a frame. With GLib, call
           g_unix_fd_add(nh_fd(cache), G_IO_IN, ...), and nh_dispatch(cache, 0) in its function. */
        nh_dispatch(cache, 16);
    }
    nh_close(cache, 2000);
    return failed != 0;
}
