/* Prints the headers of an answer, as `curl -i` does, but no secrets:  ./headers URL */
#include <nuthatch.h>
#include <stdio.h>

static void line(const char *name, const char *value) {
    printf("%s: %s\n", name, nh_header_is_secret(name) ? "***" : value);
}

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: headers URL\n"), 2;

    nh_cache *cache;
    nh_response *response;
    char url[4096];
    nh_url_put(arguments[1], NH_URL_REDACTED, url, sizeof url);
    if (nh_open(NULL, NULL, &cache) != NH_OK) return fprintf(stderr, "%s\n", nh_error_message()), 1;
    if (nh_get(cache, arguments[1], NULL, &response) != NH_OK) return fprintf(stderr, "%s: %s\n", url, nh_error_message()), 1;
    nh_response_info info = {.struct_size = sizeof info};
    nh_response_get_info(response, &info);
    printf("%s\n", url);
    for (int32_t i = 0; i < info.interim_count; i++) {
        nh_interim interim = {.struct_size = sizeof interim}; /* such as 103, Early Hints */
        nh_response_interim_at(response, i, &interim);
        printf("%d\n", interim.status);
        for (size_t n = 0; n < interim.header_count; n++) line(interim.headers[n].name, interim.headers[n].value);
    }
    printf("%d %s\n", info.status, info.reason);
    for (int32_t i = 0; i < info.header_count; i++) {
        const char *name, *value;
        nh_response_header_at(response, i, &name, &value);
        line(name, value);
    }
    const char *server;
    nh_response_header(response, "server", &server);
    fprintf(stderr, "%s, in %.1f ms\n", server ? server : "a server without a name", (double)info.total_us / 1000);
    nh_response_release(response);
    return nh_close(cache, 2000) != NH_OK;
}
