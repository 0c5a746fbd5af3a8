/* 100,000 thumbnails with all calls around them. The process holds as much memory at the end as after a fifth of them.
 * */
#include "checks.h"

static const char *base;
static nh_cache *cache;

static long resident_bytes(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2) exit(2);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static int calls_back;

static void called(nh_event *event, void *user) {
    (void)user;
    calls_back += event->is_final;
}

/* All calls of a program for one picture. */
static int look_at(nh_image *image) {
    nh_image_info info = {.struct_size = sizeof info};
    const void *bytes;
    size_t size;
    return nh_image_get_info(image, &info) == NH_OK && info.width == 20 &&
           nh_image_pixels(image, NH_PIXELS_BGRA_PREMULTIPLIED, &bytes, &size) == NH_OK &&
           nh_image_encode(image, NH_FORMAT_JPEG, 80, &bytes, &size) == NH_OK;
}

static void submit(const char *url, int number) {
    nh_request *request = NULL;
    nh_ticket *ticket = NULL;
    nh_event events[8];
    int got;
    nh_request_create(url, &request);
    SET(request, .sizes = (nh_size[]){{20, 0}, {10, 0}}, .size_count = 2);
    nh_request_add_header(request, "X-Seed", "hazel");
    if (number % 2) SET(request, .callback = called);
    if (nh_submit_request(cache, request, &ticket) != NH_OK) failures++;
    if (number % 3 == 0) nh_cancel(ticket);
    nh_ticket_release(ticket);
    nh_request_free(request);
    nh_dispatch(cache, 0);
    while ((got = nh_poll(cache, events, 8, sizeof *events)) > 0) {
        for (int i = 0; i < got; i++) nh_event_clear(&events[i]);
    }
}

static void get(void) {
    nh_response *response = NULL;
    nh_interim interim = {.struct_size = sizeof interim};
    if (nh_get(cache, url_of(base, "/hints"), NULL, &response) != NH_OK) failures++;
    if (nh_response_interim_at(response, 0, &interim) != NH_OK || interim.header_count != 1) failures++;
    if (nh_response_interim_at(response, 1, &interim) != NH_INVALID) failures++;
    nh_response_release(response);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    const char *wish = getenv("NUTHATCH_SOAK_THUMBNAILS");
    int all = wish ? atoi(wish) : 100000, wrong = 0;
    long after_a_fifth = 0;
    nh_options options = {.struct_size = sizeof options, .disk_bytes = 8 << 20, .memory_bytes = 256 << 10};
    char url[512];
    cache = open_cache(&options);
    tell(cache, base, "on",
         "{\"path\": \"/hints\", \"script\": {\"steps\": [{\"interim\": {\"status\": 103, \"headers\": [[\"Link\", "
         "\"</a>\"]]}}, {\"bytes\": \"nut\"}]}}");
    for (int i = 0; i < all; i++) {
        nh_image *image = NULL;
        snprintf(url, sizeof url, "%s/png/40/40?soak=%d", base, i % 400);
        if (i % 50 == 0) nh_remove(cache, url, NULL);
        wrong += nh_thumbnail(cache, url, NH_OPTIONS(.size = 20), &image) != NH_OK || (i % 10 == 0 && !look_at(image));
        nh_image_release(image);
        if (i % 25 == 0) submit(url, i / 25);
        if (i % 200 == 0) get();
        if (i == all / 5) after_a_fifth = resident_bytes();
    }
    nh_wait_idle(cache, -1);
    nh_dispatch(cache, 0);
    long grown = resident_bytes() - after_a_fifth;
    printf("# %ld KiB after a fifth, %ld KiB more at the end\n", after_a_fifth >> 10, grown >> 10);
    CHECK("every one is right", wrong == 0 && calls_back > 0);
    CHECK("within 2 MiB", grown <= 2 << 20);
    CHECK("close", nh_close(cache, 2000) == NH_OK);
    return failures != 0;
}
