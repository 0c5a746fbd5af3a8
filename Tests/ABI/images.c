/* nh_thumbnail, nh_response_image, and what images hold. */
#include "checks.h"

static nh_cache *cache;
static const char *base;

static nh_response *get(const char *path) {
    nh_response *response = NULL;
    nh_get(cache, url_of(base, path), &response);
    return response;
}

static void thumbnail(void) {
    nh_image *image = NULL;
    nh_image_info info = {.struct_size = sizeof info};
    CHECK("thumbnail", nh_thumbnail(cache, url_of(base, "/png/640/480"), 64, &image) == NH_OK);
    CHECK("info", nh_image_get_info(image, &info) == NH_OK);
    CHECK("size", info.width == 64 && info.height == 48 && info.stride == 256);
    CHECK("original size", info.original_width == 640 && info.original_height == 480);
    CHECK("pixels are opaque", ((const unsigned char *)info.pixels)[3] == 255);
    CHECK("source", info.source == NH_SOURCE_NETWORK && !info.is_in_cache && !info.is_partial);
    CHECK("url", strcmp(info.url, url_of(base, "/png/640/480")) == 0);

    const void *png, *again, *jpeg;
    size_t png_size, again_size, jpeg_size;
    CHECK("png", nh_image_encode(image, NH_FORMAT_PNG, 0, &png, &png_size) == NH_OK && !memcmp(png, "\x89PNG", 4));
    CHECK("jpeg", nh_image_encode(image, NH_FORMAT_JPEG, 80, &jpeg, &jpeg_size) == NH_OK && !memcmp(jpeg, "\xff\xd8", 2));
    CHECK("same again", nh_image_encode(image, NH_FORMAT_PNG, 0, &again, &again_size) == NH_OK && again == png);
    CHECK("bad quality", nh_image_encode(image, NH_FORMAT_JPEG, 101, &again, &again_size) == NH_INVALID && !again);
    CHECK("bad format", nh_image_encode(image, (nh_format)9, 0, &again, &again_size) == NH_INVALID);
    CHECK("release", nh_image_release(image) == NH_OK && nh_image_release(image) == NH_INVALID);
}

static void options(void) {
    nh_response *response = get("/png/640/480");
    nh_image *image = NULL;
    nh_image_info info = {.struct_size = sizeof info};
    nh_image_options options = {.struct_size = sizeof options, .width = 100, .height = 100, .mode = NH_MODE_FILL};
    CHECK("fill", nh_response_image(response, &options, &image) == NH_OK && nh_image_get_info(image, &info) == NH_OK);
    CHECK("filled", info.width == 100 && info.height == 100);
    nh_image_release(image);
    options = (nh_image_options){.struct_size = sizeof options, .width = 1000, .enlarge = 1, .quality = NH_QUALITY_FAST};
    CHECK("enlarge", nh_response_image(response, &options, &image) == NH_OK && nh_image_get_info(image, &info) == NH_OK);
    CHECK("enlarged", info.width == 1000 && info.height == 750);
    nh_image_release(image);
    options.max_pixels = 1000;
    CHECK("too many pixels", nh_response_image(response, &options, &image) == NH_TOO_MANY_PIXELS && image == NULL);
    options = (nh_image_options){.struct_size = sizeof options, .width = 0};
    CHECK("no width", nh_response_image(response, &options, &image) == NH_INVALID);
    options = (nh_image_options){.struct_size = sizeof options, .width = 70000};
    CHECK("too wide", nh_response_image(response, &options, &image) == NH_INVALID);
    options = (nh_image_options){.struct_size = sizeof options, .width = 10, .mode = (nh_mode)7};
    CHECK("no such mode", nh_response_image(response, &options, &image) == NH_INVALID);
    options = (nh_image_options){.struct_size = sizeof options, .width = 10, .reserved = 7};
    CHECK("reserved", nh_response_image(response, &options, &image) == NH_INVALID);
    nh_response_release(response);
}

static void failures_to_decode(void) {
    nh_image *image = NULL;
    CHECK("not a picture", nh_thumbnail(cache, url_of(base, "/bytes/100"), 64, &image) == NH_NOT_AN_IMAGE && !image);
    CHECK("empty", nh_thumbnail(cache, url_of(base, "/bytes/0"), 64, &image) == NH_NOT_AN_IMAGE);
    CHECK("not found", nh_thumbnail(cache, url_of(base, "/status/404"), 64, &image) == NH_HTTP);
    CHECK("size 0", nh_thumbnail(cache, url_of(base, "/png/9/9"), 0, &image) == NH_INVALID);
    CHECK("negative size", nh_thumbnail(cache, url_of(base, "/png/9/9"), -5, &image) == NH_INVALID);
    CHECK("tiny", nh_thumbnail(cache, url_of(base, "/png/1/1"), 64, &image) == NH_OK);
    nh_image_release(image);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(NULL);
    thumbnail();
    options();
    failures_to_decode();
    nh_image *image = NULL;
    nh_image_info info = {.struct_size = sizeof info};
    CHECK("one more", nh_thumbnail(cache, url_of(base, "/png/64/64"), 64, &image) == NH_OK);
    CHECK("close", nh_close(cache) == NH_OK);
    CHECK("image outlives cache", nh_image_get_info(image, &info) == NH_OK && info.width == 64);
    nh_image_release(image);
    return failures != 0;
}
