/* One picture in several sizes, fetched and decoded once:  ./sizes URL */
#include <nuthatch.h>
#include <stdio.h>

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: sizes URL\n"), 2;

    const nh_size sizes[] = {{64, 0}, {256, 0}, {320, 180}};
    nh_image *images[3];
    nh_cache *cache;
    nh_request *request;
    if (nh_open(NULL, NULL, &cache) != NH_OK) return fprintf(stderr, "%s\n", nh_error_message()), 1;
    nh_request_create(arguments[1], &request);
    nh_request_set(request, NH_OPTIONS(.sizes = sizes, .size_count = 3, .fit = NH_FIT_COVER));
    nh_status status = nh_perform_images(cache, request, images, 3);
    if (status != NH_OK) fprintf(stderr, "%s\n", nh_error_message());
    for (int i = 0; status == NH_OK && i < 3; i++) {
        nh_image_info info = {.struct_size = sizeof info};
        nh_image_get_info(images[i], &info);
        printf("%d x %d\n", info.width, info.height);
        nh_image_release(images[i]);
    }
    nh_request_free(request);
    nh_close(cache, 2000);
    return status != NH_OK;
}
