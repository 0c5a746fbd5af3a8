/* A picture from a file or a URL, as pixels for cairo or for a texture, written as a PPM:  ./pixels FILE|URL OUT.ppm */
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decodes on this thread, without a request: the program has the bytes. */
static nh_status decode_file(const char *path, nh_image **image) {
    static unsigned char bytes[16 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL) return perror(path), NH_IO;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return nh_image_decode(bytes, size, NH_OPTIONS(.size = 512), image);
}

static nh_status decode_url(const char *url, nh_image **image) {
    nh_cache *cache;
    nh_response *response;
    nh_status status = nh_open(NULL, NULL, &cache);
    if (status != NH_OK) return status;
    status = nh_get(cache, url, NULL, &response);
    if (status == NH_OK) status = nh_response_image(response, NH_OPTIONS(.size = 512), image);
    /* Check whether the disk failed while the body was read. */
    if (status == NH_OK && (status = nh_response_check(response)) != NH_OK) nh_image_release(*image);
    nh_response_release(response);
    nh_close(cache, 2000);
    return status;
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: pixels FILE|URL OUT.ppm\n"), 2;

    nh_image *image;
    nh_status status = strstr(arguments[1], "://") ? decode_url(arguments[1], &image) : decode_file(arguments[1], &image);
    if (status != NH_OK) return fprintf(stderr, "%s: %s\n", nh_status_name(status), nh_error_message()), 1;
    nh_image_info info = {.struct_size = sizeof info};
    nh_image_get_info(image, &info);

    /* Copy into memory of the program with padding between rows, such as a cairo surface or a locked texture. */
    size_t stride = ((size_t)info.width * 4 + 63) / 64 * 64, capacity = stride * (size_t)info.height;
    void *texture = malloc(capacity);
    status = nh_image_convert(image, NH_PIXELS_BGRA_PREMULTIPLIED, texture, capacity, stride);
    free(texture);

    const void *pixels; /* belong to the image, valid until its release */
    size_t size;
    if (status == NH_OK) status = nh_image_pixels(image, NH_PIXELS_RGB, &pixels, &size);
    FILE *file = status == NH_OK ? fopen(arguments[2], "wb") : NULL;
    if (file == NULL) return fprintf(stderr, "%s can't be written\n", arguments[2]), 1;
    fprintf(file, "P6 %d %d 255\n", info.width, info.height);
    int written = fwrite(pixels, 1, size, file) == size;
    nh_image_release(image);
    return fclose(file) != 0 || !written;
}
