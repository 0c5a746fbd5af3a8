/* A thumbnail as a PNG:  cc thumbnail.c $(pkg-config --cflags --libs nuthatch) -o thumbnail && ./thumbnail URL FILE */
#include <nuthatch.h>
#include <stdio.h>

static int fail(nh_status status) {
    fprintf(stderr, "%s: %s\n", nh_status_name(status), nh_error_message());
    return 1;
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: thumbnail URL FILE\n"), 2;

    nh_cache *cache;
    nh_image *image;
    nh_status status = nh_open(NULL, NULL, &cache);
    if (status != NH_OK) return fail(status);
    status = nh_thumbnail(cache, arguments[1], NH_OPTIONS(.size = 256), &image);
    nh_close(cache, 2000); /* the image stays valid */
    if (status != NH_OK) return fail(status);

    nh_image_info info = {.struct_size = sizeof info};
    nh_image_get_info(image, &info);
    printf("%d x %d of %d x %d\n", info.width, info.height, info.original_width, info.original_height);

    const void *bytes;
    size_t size;
    status = nh_image_encode(image, NH_FORMAT_PNG, 0, &bytes, &size);
    if (status != NH_OK) return fail(status);
    FILE *file = fopen(arguments[2], "wb");
    if (file == NULL) return perror(arguments[2]), 1;
    size_t written = fwrite(bytes, 1, size, file);
    int closed = fclose(file);
    nh_image_release(image);
    return closed != 0 || written != size;
}
