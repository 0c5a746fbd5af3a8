/* nh_peek: what can be shown at once, and what can't. */
#include "checks.h"

int main(int count, char **arguments) {
    if (count < 2) return 2;
    const char *base = arguments[1];
    char url[512];
    nh_cache *cache = open_cache(NULL);
    nh_image *image = NULL, *again = NULL;
    nh_image_info info = {.struct_size = sizeof info}, other = info;
    nh_request *request = NULL;
    snprintf(url, sizeof url, "%s/png/300/300?peek", base);
    CHECK("nothing yet", nh_peek(cache, url, 100, 0, &image) == NH_OK && image == NULL);
    CHECK("fetched", nh_thumbnail(cache, url, 100, &image) == NH_OK && nh_image_release(image) == NH_OK);
    CHECK("shown", nh_peek(cache, url, 100, 0, &image) == NH_OK && image != NULL);
    nh_image_get_info(image, &info);
    CHECK("from memory", info.width == 100 && info.is_in_cache && info.source == NH_SOURCE_MEMORY && !strcmp(info.url, url));
    CHECK("its status", info.http_status == 200);
    CHECK("again", nh_peek(cache, url, 100, 0, &again) == NH_OK && again != NULL && again != image);
    nh_image_release(image);
    CHECK("each has its own handle", nh_image_get_info(again, &other) == NH_OK && !strcmp(other.final_url, url));
    CHECK("release", nh_image_release(again) == NH_OK && nh_image_release(again) == NH_INVALID);
    CHECK("another size", nh_peek(cache, url, 99, 0, &image) == NH_OK && image == NULL);

    nh_request_new(url, &request);
    CHECK("a request without a size", nh_peek_request(cache, request, 0, &image) == NH_INVALID);
    nh_request_add_size(request, 100, 100);
    CHECK("a request", nh_peek_request(cache, request, 0, &image) == NH_OK && image != NULL);
    nh_image_release(image);
    nh_request_set_partition(request, "somebody else");
    CHECK("not somebody else's", nh_peek_request(cache, request, 0, &image) == NH_OK && image == NULL);
    nh_request_release(request);

    nh_memory_pressure(NH_PRESSURE_CRITICAL);
    CHECK("packed on disk", nh_peek(cache, url, 100, 0, &image) == NH_OK && image == NULL);
    CHECK("unpacked on request", nh_peek(cache, url, 100, 1, &image) == NH_OK && image != NULL);
    nh_image_release(image);
    CHECK("remove", nh_remove(cache, url) == NH_OK && nh_peek(cache, url, 100, 1, &image) == NH_OK && image == NULL);
    CHECK("bad URL", nh_peek(cache, "nonsense", 100, 0, &image) == NH_BAD_URL);
    CHECK("not UTF-8", nh_peek(cache, "http://a/\xff", 100, 0, &image) == NH_BAD_URL);
    CHECK("no size", nh_peek(cache, url, 0, 0, &image) == NH_INVALID && nh_peek(cache, url, -1, 0, &image) == NH_INVALID);
    nh_shutdown(cache);
    CHECK("shut down", nh_peek(cache, url, 100, 0, &image) == NH_CLOSED || image == NULL);
    nh_close(cache);
    CHECK("closed", nh_peek(cache, url, 100, 0, &image) == NH_INVALID);
    return failures != 0;
}
