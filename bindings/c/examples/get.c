/* Fetches a URL into a file:  cc get.c $(pkg-config --cflags --libs nuthatch) -o get && ./get URL FILE */
#include <nuthatch.h>
#include <stdio.h>

static int save(const nh_response_info *info, const char *path) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) return perror(path), 1;
    size_t written = fwrite(info->body, 1, info->body_size, file);
    return fclose(file) != 0 || written != info->body_size;
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: get URL FILE\n"), 2;

    nh_cache *cache;
    if (nh_open(NULL, NULL, &cache) != NH_OK) return fprintf(stderr, "%s\n", nh_error_message()), 1;

    nh_response *response;
    nh_status status = nh_get(cache, arguments[1], NULL, &response);
    int result = 1;
    if (status == NH_OK) {
        nh_response_info info = {.struct_size = sizeof info};
        nh_response_get_info(response, &info);
        printf("%d %s, %zu bytes\n", info.status, info.content_type ? info.content_type : "?", info.body_size);
        result = info.status == 200 ? save(&info, arguments[2]) : 1;
        nh_response_release(response);
    } else {
        fprintf(stderr, "%s: %s\n", nh_status_name(status), nh_error_message());
    }
    nh_close(cache, 2000);
    return result;
}
