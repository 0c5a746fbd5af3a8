/* A server with one thread that sends what is cached at once, and asks its clients to try again for the rest:
 * ./instant [SIZE] < urls.txt */
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of bytes that can be sent now; -1: try again later; -2: not a URL. Never waits. */
static long long now(nh_cache *cache, const char *url, int64_t size) {
    const nh_options *wanted = size > 0 ? NH_OPTIONS(.size = size) : NULL;
    long long bytes = -1;
    if (size > 0) {
        nh_image *image = nh_thumbnail_now(cache, url, wanted);
        nh_image_info info = {.struct_size = sizeof info};
        if (image != NULL && nh_image_get_info(image, &info) == NH_OK) bytes = (long long)info.stride * info.height;
        nh_image_release(image);
    } else {
        nh_found found;
        if (nh_get_now(cache, url, NULL, &found) != NH_OK) return -2;
        if (found.response != NULL) bytes = (long long)found.body_size;
        nh_response_release(found.response);
    }
    /* Fetch it for the next time, without an event. */
    nh_options fetching = {.struct_size = sizeof fetching, .quiet = NH_YES, .size = size};
    if (bytes < 0 && nh_submit(cache, url, &fetching, NULL) != NH_OK) bytes = -2;
    return bytes;
}

int main(int count, char **arguments) {
    nh_cache *cache;
    nh_response *response;
    char url[4096];
    if (nh_open(NULL, NULL, &cache) != NH_OK) return puts(nh_error_message()), 1;
    while (fgets(url, sizeof url, stdin)) {
        url[strcspn(url, "\n")] = 0;
        long long bytes = now(cache, url, count > 1 ? atoll(arguments[1]) : 0);
        printf("%s: ", url);
        if (bytes >= 0) printf("%lld bytes\n", bytes);
        else puts(bytes == -1 ? "ask again" : nh_error_message());
    }
    nh_drain(cache, 10000); /* wait for the requests, ten seconds at most */
    /* As nh_get_now, but not counted as a request. */
    if (nh_peek_response(cache, url, NULL, &response) == NH_OK && response != NULL) puts("the last one is there now");
    nh_response_release(response);
    return nh_close(cache, 0) != NH_OK;
}
