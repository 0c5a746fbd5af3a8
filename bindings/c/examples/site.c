/* Requests to an API that needs a token:  ./site https://api.example.org/v1/ TOKEN PATH... */
#include <nuthatch.h>
#include <stdio.h>

int main(int count, char **arguments) {
    if (count < 4) return fprintf(stderr, "usage: site BASE TOKEN PATH...\n"), 2;

    char token[1024];
    snprintf(token, sizeof token, "Bearer %s", arguments[2]);
    const nh_header headers[] = {{"Authorization", token}, {"Accept-Language", "en"}};
    const nh_options options = {
        .struct_size = sizeof options,
        .headers = headers,
        .header_count = 2,
        .accept = "application/json",
        .policy = NH_POLICY_RFC9111,
        .partition = "me", /* stored answers stay usable when the token changes */
    };

    nh_cache *cache;
    nh_site *site;
    int failed = 0;
    if (nh_open(NULL, NULL, &cache) != NH_OK || nh_site_open(cache, arguments[1], &options, &site) != NH_OK) {
        return fprintf(stderr, "%s\n", nh_error_message()), 1;
    }
    for (int i = 3; i < count; i++) {
        nh_response *response;
        if (nh_get(cache, arguments[i], NH_OPTIONS(.site = site), &response) != NH_OK) {
            failed = 1;
            fprintf(stderr, "%s\n", nh_error_message());
            continue;
        }
        nh_response_info info = {.struct_size = sizeof info};
        nh_response_get_info(response, &info);
        printf("%d %s%s\n%.*s\n", info.status, info.final_url, info.is_in_cache ? " (cached)" : "", (int)info.body_size,
               (const char *)info.body);
        nh_response_release(response);
    }
    nh_site_close(site);
    nh_close(cache, 2000);
    return failed;
}
