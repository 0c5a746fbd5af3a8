/* nh_thumbnail, nh_response_image, and the contents of images. */
#include "checks.h"

static nh_cache *cache;
static const char *base;

static nh_response *get(const char *path) {
    nh_response *response = NULL;
    nh_get(cache, url_of(base, path), NULL, &response);
    return response;
}

static void thumbnail(void) {
    nh_image *image = NULL;
    nh_image_info info = {.struct_size = sizeof info};
    CHECK("thumbnail", nh_thumbnail(cache, url_of(base, "/png/640/480"), NH_OPTIONS(.size = 64), &image) == NH_OK);
    CHECK("info", nh_image_get_info(image, &info) == NH_OK);
    CHECK("size", info.width == 64 && info.height == 48 && info.stride == 256);
    CHECK("original size", info.original_width == 640 && info.original_height == 480);
    CHECK("pixels are opaque", ((const unsigned char *)info.pixels)[3] == 255);
    CHECK("source", info.source == NH_SOURCE_NETWORK && !info.is_in_cache && !info.is_partial);
    CHECK("stored", info.is_stored == 1);
    CHECK("url", strcmp(info.url, url_of(base, "/png/640/480")) == 0);
    CHECK("status", info.http_status == 200);
    CHECK("the source", !strcmp(info.format, "png") && !info.is_animated && info.frame_count == 1 && info.depth == 8);
    /* A program of an earlier version has a smaller struct, with a reserved member in place of depth. */
    nh_image_info earlier = {.struct_size = offsetof(nh_image_info, format)};
    CHECK("an earlier struct", nh_image_get_info(image, &earlier) == NH_OK && earlier.is_stored == 1 && !earlier.format && !earlier.frame_count);

    const void *png, *again, *jpeg;
    size_t png_size, again_size, jpeg_size;
    CHECK("png", nh_image_encode(image, NH_FORMAT_PNG, 0, &png, &png_size) == NH_OK && !memcmp(png, "\x89PNG", 4));
    CHECK("jpeg", nh_image_encode(image, NH_FORMAT_JPEG, 80, &jpeg, &jpeg_size) == NH_OK && !memcmp(jpeg, "\xff\xd8", 2));
    CHECK("same again", nh_image_encode(image, NH_FORMAT_PNG, 0, &again, &again_size) == NH_OK && again == png);
    CHECK("bad quality", nh_image_encode(image, NH_FORMAT_JPEG, 101, &again, &again_size) == NH_INVALID && !again);
    const void *webp;
    size_t webp_size, small_size;
    CHECK("webp", nh_image_encode(image, NH_FORMAT_WEBP, 0, &webp, &webp_size) == NH_OK && !memcmp((const char *)webp + 8, "WEBPVP8 ", 8));
    CHECK("a smaller webp", nh_image_encode(image, NH_FORMAT_WEBP, 10, &again, &small_size) == NH_OK && small_size < webp_size);
    CHECK("lossless webp", nh_image_encode(image, NH_FORMAT_WEBP_LOSSLESS, 0, &webp, &webp_size) == NH_OK &&
                               !memcmp((const char *)webp + 8, "WEBPVP8L", 8));
    CHECK("the smallest", nh_image_encode(image, NH_FORMAT_WEBP_LOSSLESS, 100, &again, &small_size) == NH_OK && small_size <= webp_size);
    CHECK("no quality", nh_image_encode(image, NH_FORMAT_WEBP_LOSSLESS, 50, &again, &again_size) == NH_INVALID && !again);
    CHECK("too much quality", nh_image_encode(image, NH_FORMAT_WEBP, 101, &again, &again_size) == NH_INVALID && !again);
    CHECK("bad format", nh_image_encode(image, (nh_format)9, 0, &again, &again_size) == NH_INVALID);
    CHECK("release", nh_image_release(image) == NH_OK && nh_image_release(image) == NH_INVALID);
}

static void options(void) {
    nh_response *response = get("/png/640/480");
    nh_image *image = NULL;
    nh_image_info info = {.struct_size = sizeof info};
    nh_options options = {.struct_size = sizeof options, .sizes = &(nh_size){100, 100}, .size_count = 1, .fit = NH_FIT_COVER};
    CHECK("fill", nh_response_image(response, &options, &image) == NH_OK && nh_image_get_info(image, &info) == NH_OK);
    CHECK("filled", info.width == 100 && info.height == 100 && info.http_status == 200);
    nh_image_release(image);
    options = (nh_options){.struct_size = sizeof options, .size = 1000, .enlarge = NH_YES, .scaling = NH_SCALING_FAST};
    CHECK("enlarge", nh_response_image(response, &options, &image) == NH_OK && nh_image_get_info(image, &info) == NH_OK);
    CHECK("enlarged", info.width == 1000 && info.height == 750);
    nh_image_release(image);
    options.max_pixels = 1000;
    CHECK("too many pixels", nh_response_image(response, &options, &image) == NH_TOO_MANY_PIXELS && image == NULL);
    options = (nh_options){.struct_size = sizeof options, .enlarge = NH_YES};
    CHECK("no size", nh_response_image(response, &options, &image) == NH_INVALID);
    options = (nh_options){.struct_size = sizeof options, .size = 70000};
    CHECK("too wide", nh_response_image(response, &options, &image) == NH_INVALID);
    options = (nh_options){.struct_size = sizeof options, .size = 10, .fit = (nh_fit)7};
    CHECK("no such mode", nh_response_image(response, &options, &image) == NH_INVALID);
    options = (nh_options){.struct_size = sizeof options, .size = 10, .timeout_ms = 7};
    CHECK("no option of an image", nh_response_image(response, &options, &image) == NH_INVALID);
    nh_response_release(response);
}

/* Limits of a cache or a request also apply to the bodies of their answers. */
static void limits(void) {
    nh_cache *strict = NULL;
    nh_request *request = NULL;
    nh_response *response = NULL;
    nh_image *image = NULL;
    char path[4200];
    nh_options options = {.struct_size = sizeof options, .max_pixels = 1000};
    nh_options made = {.struct_size = sizeof made, .size = 10};
    snprintf(path, sizeof path, "%s/strict", folder);
    CHECK("open strictly", nh_open(path, &options, &strict) == NH_OK);
    /* The second time, the answer comes from memory. */
    for (int round = 0; round < 2; round++) {
        CHECK("get", nh_get(strict, url_of(base, "/png/640/480"), NULL, &response) == NH_OK);
        CHECK("the cache's limit", nh_response_image(response, &made, &image) == NH_TOO_MANY_PIXELS && image == NULL);
        made.max_pixels = 640 * 480;
        CHECK("one's own", nh_response_image(response, &made, &image) == NH_OK && nh_image_release(image) == NH_OK);
        made.max_pixels = NH_NONE;
        CHECK("none", nh_response_image(response, &made, &image) == NH_OK && nh_image_release(image) == NH_OK);
        made.max_pixels = 0;
        nh_response_release(response);
    }
    CHECK("close", nh_close(strict, 2000) == NH_OK);
    nh_request_create(url_of(base, "/png/640/480"), &request);
    SET(request, .max_pixels = 1000);
    CHECK("perform", nh_perform(cache, request, &response) == NH_OK);
    CHECK("the request's limit", nh_response_image(response, &made, &image) == NH_TOO_MANY_PIXELS && image == NULL);
    nh_response_release(response);
    nh_request_free(request);
    CHECK("only its own", nh_get(cache, url_of(base, "/png/640/480"), NULL, &response) == NH_OK &&
                              nh_response_image(response, &made, &image) == NH_OK && nh_image_release(image) == NH_OK);
    nh_response_release(response);
}

/* Two pixels: (200, 100, 50) half transparent, and (10, 20, 30) fully transparent. */
static void conversions(void) {
    const unsigned char rgba[] = {200, 100, 50, 128, 10, 20, 30, 0}, bgra[] = {50, 100, 200, 128, 30, 20, 10, 0};
    const unsigned char premultiplied[] = {100, 50, 25, 128, 0, 0, 0, 0}, bgra_too[] = {25, 50, 100, 128, 0, 0, 0, 0};
    const unsigned char rgb[] = {227, 177, 152, 255, 255, 255}, bgr[] = {152, 177, 227, 255, 255, 255};
    const unsigned char grey[] = {189, 255};
    const struct {
        nh_pixels format;
        const unsigned char *bytes;
        size_t size;
    } wanted[] = {{NH_PIXELS_RGBA, rgba, 8}, {NH_PIXELS_BGRA, bgra, 8}, {NH_PIXELS_RGBA_PREMULTIPLIED, premultiplied, 8},
                  {NH_PIXELS_BGRA_PREMULTIPLIED, bgra_too, 8}, {NH_PIXELS_RGB, rgb, 6}, {NH_PIXELS_BGR, bgr, 6},
                  {NH_PIXELS_GREY, grey, 2}};
    nh_image *image = NULL;
    nh_image_info info = {.struct_size = sizeof info};
    const void *pixels, *again;
    size_t size;
    unsigned char buffer[64];
    tell(cache, base, "on",
         "{\"path\": \"/alpha.png\", \"script\": {\"steps\": [{\"bytes\": {\"base64\": "
         "\"iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAEU"
         "lEQVR4nGM4kWLUwCUixwAADVECG7JHIzUAAAAASUVORK5CYII=\"}}]}}");
    CHECK("with alpha", nh_thumbnail(cache, url_of(base, "/alpha.png"), NH_OPTIONS(.size = 10), &image) == NH_OK);
    nh_image_get_info(image, &info);
    CHECK("as they are", info.width == 2 && info.height == 1 && !memcmp(info.pixels, rgba, 8));
    CHECK("the image has the URL and the age of its answer", strcmp(info.final_url, url_of(base, "/alpha.png")) == 0 && !info.is_stale && info.age >= 0);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        CHECK("converted", nh_image_pixels(image, wanted[i].format, &pixels, &size) == NH_OK && size == wanted[i].size &&
                               !memcmp(pixels, wanted[i].bytes, size));
        CHECK("made once", nh_image_pixels(image, wanted[i].format, &again, &size) == NH_OK && again == pixels);
        memset(buffer, 7, sizeof buffer);
        CHECK("into a buffer", nh_image_convert(image, wanted[i].format, buffer, wanted[i].size, 0) == NH_OK &&
                                   !memcmp(buffer, wanted[i].bytes, wanted[i].size) && buffer[wanted[i].size] == 7);
        CHECK("too small", nh_image_convert(image, wanted[i].format, buffer, wanted[i].size - 1, 0) == NH_INVALID);
    }
    CHECK("no such format", nh_image_pixels(image, (nh_pixels)0, &pixels, &size) == NH_INVALID && pixels == NULL);
    nh_image_release(image);

    nh_thumbnail(cache, url_of(base, "/png/4/3"), NH_OPTIONS(.size = 10), &image);
    memset(buffer, 7, sizeof buffer);
    CHECK("with room between rows", nh_image_convert(image, NH_PIXELS_RGB, buffer, 2 * 20 + 12, 20) == NH_OK);
    CHECK("padding between rows is not overwritten", buffer[12] == 7 && buffer[19] == 7 && buffer[32] == 7 && buffer[52] == 7);
    CHECK("a stride that is too short", nh_image_convert(image, NH_PIXELS_RGB, buffer, sizeof buffer, 11) == NH_INVALID);
    CHECK("an absurd stride", nh_image_convert(image, NH_PIXELS_RGB, buffer, sizeof buffer, SIZE_MAX) == NH_INVALID);
    CHECK("an absurd size", nh_image_convert(image, NH_PIXELS_RGB, buffer, 0, 0) == NH_INVALID);
    nh_image_release(image);
}

/* Events of thumbnails describe the answer that they were made from, from the network or the cache. */
static void events(void) {
    nh_request *request = NULL;
    nh_response *response = NULL;
    nh_response_info body = {.struct_size = sizeof body};
    nh_image_info info = {.struct_size = sizeof info};
    nh_ticket *ticket = NULL;
    nh_event event;
    const nh_source sources[] = {NH_SOURCE_NETWORK, NH_SOURCE_MEMORY, NH_SOURCE_MEMORY, NH_SOURCE_DISK};
    nh_request_create(url_of(base, "/png/30/20?events"), &request);
    SET(request, .sizes = (nh_size[]){{10, 10}, {5, 0}}, .size_count = 2);
    nh_get(cache, url_of(base, "/png/30/20"), NULL, &response);
    nh_response_get_info(response, &body);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (sources[i] == NH_SOURCE_DISK) nh_memory_pressure(NH_PRESSURE_CRITICAL);
        CHECK("submit", nh_submit_request(cache, request, &ticket) == NH_OK);
        CHECK("wait", nh_wait(ticket, -1, &event, sizeof event) == NH_OK && event.is_final && event.code == NH_OK);
        CHECK("stored", event.is_stored == 1);
        CHECK("images", event.image_count == 2 && event.source == sources[i] && event.is_in_cache == (i > 0));
        CHECK("status", event.http_status == 200);
        CHECK("bytes", event.bytes_done == (int64_t)body.body_size && event.bytes_total == event.bytes_done);
        CHECK("each image has the status of its answer", nh_image_get_info(event.images[1], &info) == NH_OK && info.http_status == 200 && info.width == 5);
        nh_event_clear(&event);
        nh_ticket_release(ticket);
    }
    nh_response_release(response);
    nh_request_free(request);
    request = NULL;
    nh_request_create(url_of(base, "/status/410"), &request);
    SET(request, .size = 10);
    nh_submit_request(cache, request, &ticket);
    CHECK("a failure", nh_wait(ticket, -1, &event, sizeof event) == NH_OK && event.code == NH_HTTP);
    CHECK("its status", event.http_status == 410 && event.image_count == 0);
    nh_event_clear(&event);
    nh_ticket_release(ticket);
    nh_request_free(request);
}

static void failures_to_decode(void) {
    nh_image *image = NULL;
    CHECK("not a picture", nh_thumbnail(cache, url_of(base, "/bytes/100"), NH_OPTIONS(.size = 64), &image) == NH_NOT_AN_IMAGE && !image);
    CHECK("empty", nh_thumbnail(cache, url_of(base, "/bytes/0"), NH_OPTIONS(.size = 64), &image) == NH_NOT_AN_IMAGE);
    CHECK("not found", nh_thumbnail(cache, url_of(base, "/status/404"), NH_OPTIONS(.size = 64), &image) == NH_HTTP);
    CHECK("size 0", nh_thumbnail(cache, url_of(base, "/png/9/9"), NH_OPTIONS(.size = 0), &image) == NH_INVALID);
    CHECK("negative size", nh_thumbnail(cache, url_of(base, "/png/9/9"), NH_OPTIONS(.size = -5), &image) == NH_INVALID);
    CHECK("tiny", nh_thumbnail(cache, url_of(base, "/png/1/1"), NH_OPTIONS(.size = 64), &image) == NH_OK);
    nh_image_release(image);
    /* Bytes without a URL: the message has none. */
    const char *why;
    CHECK("no picture", nh_image_decode("no picture", 10, NH_OPTIONS(.size = 8), &image) == NH_NOT_AN_IMAGE);
    why = nh_error_message();
    CHECK("what is wrong ends the message", strlen(why) > 10 && why[strlen(why) - 1] != ' ' && why[strlen(why) - 1] != ':');
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(NULL);
    thumbnail();
    options();
    limits();
    conversions();
    events();
    failures_to_decode();
    nh_image *image = NULL;
    nh_image_info info = {.struct_size = sizeof info};
    CHECK("one more", nh_thumbnail(cache, url_of(base, "/png/64/64"), NH_OPTIONS(.size = 64), &image) == NH_OK);
    CHECK("close", nh_close(cache, 2000) == NH_OK);
    CHECK("image outlives cache", nh_image_get_info(image, &info) == NH_OK && info.width == 64);
    nh_image_release(image);
    return failures != 0;
}
