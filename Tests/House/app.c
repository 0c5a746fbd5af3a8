/* app CACHE URL: a typical program of a user, in plain C11 and C++17. */
#include <nuthatch.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
    nh_cache *cache;
    nh_response *response;
    nh_response_info info;

    if (count != 3) return 2;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    if (nh_open(arguments[1], NULL, &cache) != NH_OK || nh_get(cache, arguments[2], NULL, &response) != NH_OK) {
        fprintf(stderr, "%s\n", nh_error_message());
        return 1;
    }
    nh_response_get_info(response, &info);
    printf("%d %zu\n", (int)info.status, info.body_size);
    nh_response_release(response);
    nh_close(cache, 2000);
    return 0;
}
