/* privileged CACHE URL [CONFIG]: fetches a URL with a user and password from a netrc file, or with what the config file CONFIG
   says. CACHE is "" for the default cache. */
#include <nuthatch.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
    nh_cache *cache;
    nh_response *response;
    nh_options options;

    if (count < 3) return 2;
    memset(&options, 0, sizeof options);
    options.struct_size = (uint32_t)sizeof options;
    if (count > 3) options.config = arguments[3];
    else options.netrc = "";
    if (nh_open(*arguments[1] ? arguments[1] : NULL, &options, &cache) != NH_OK ||
        nh_get(cache, arguments[2], NULL, &response) != NH_OK) {
        printf("%s\n", nh_error_message());
        return 1;
    }
    nh_response_release(response);
    nh_close(cache, 2000);
    return 0;
}
