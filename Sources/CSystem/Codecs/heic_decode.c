#include "nhs_heic.h"

#include "find_function.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The few functions that are needed, as libheif.so.1 has them since 1.13. */
typedef struct heif_error {
    int code, subcode;
    const char *message;
} heif_error;
enum { colorspace_rgb = 1, chroma_rgba = 11, channel_interleaved = 10, error_memory = 6 };
enum { error_unsupported_file = 3, error_unsupported = 4 };
enum { type_of_profile_restricted = 0x72494343, type_of_profile = 0x70726f66 };

static struct {
    void *(*context_alloc)(void);
    void (*context_free)(void *);
    void (*set_threads)(void *, int);
    void (*set_limit)(void *, int);
    heif_error (*read)(void *, const void *, size_t, const void *);
    heif_error (*primary)(void *, void **);
    void (*handle_release)(const void *);
    int (*has_alpha)(const void *);
    int (*profile_type)(const void *);
    size_t (*profile_size)(const void *);
    heif_error (*profile)(const void *, void *);
    heif_error (*decode)(const void *, void **, int, int, const void *);
    int (*is_premultiplied)(const void *);
    int (*width)(const void *, int);
    int (*height)(const void *, int);
    uint8_t *(*plane)(void *, int, int *);
    void (*image_release)(const void *);
} calls;
static bool is_loaded;

struct nhs_heic {
    void *image;
    uint8_t *rows;
    int stride, width, height, has_alpha;
    void *profile;
    size_t profile_size;
};

int nhs_heic_is_loaded(void) { return is_loaded; }

int nhs_heic_load(void) {
    void *heif = dlopen("libheif.so.1", RTLD_NOW | RTLD_LOCAL);
    is_loaded = heif && find(&calls.context_alloc, heif, "heif_context_alloc") &&
        find(&calls.context_free, heif, "heif_context_free") &&
        find(&calls.set_threads, heif, "heif_context_set_max_decoding_threads") &&
        find(&calls.set_limit, heif, "heif_context_set_maximum_image_size_limit") &&
        find(&calls.read, heif, "heif_context_read_from_memory_without_copy") &&
        find(&calls.primary, heif, "heif_context_get_primary_image_handle") &&
        find(&calls.handle_release, heif, "heif_image_handle_release") &&
        find(&calls.has_alpha, heif, "heif_image_handle_has_alpha_channel") &&
        find(&calls.profile_type, heif, "heif_image_handle_get_color_profile_type") &&
        find(&calls.profile_size, heif, "heif_image_handle_get_raw_color_profile_size") &&
        find(&calls.profile, heif, "heif_image_handle_get_raw_color_profile") &&
        find(&calls.is_premultiplied, heif, "heif_image_handle_is_premultiplied_alpha") &&
        find(&calls.decode, heif, "heif_decode_image") && find(&calls.width, heif, "heif_image_get_width") &&
        find(&calls.height, heif, "heif_image_get_height") && find(&calls.plane, heif, "heif_image_get_plane") &&
        find(&calls.image_release, heif, "heif_image_release");
    return is_loaded;
}

static void fail(nhs_fault *fault, heif_error error) {
    fault->kind = error.code == error_memory ? NHS_FAULT_TOO_MANY_PIXELS
        : error.code == error_unsupported || error.code == error_unsupported_file ? NHS_FAULT_UNSUPPORTED
                                                                                  : NHS_FAULT_CORRUPT;
    fault->offset = -1;
    snprintf(fault->message, sizeof fault->message, "the HEIC can't be decoded: %s", error.message ? error.message : "");
}

static void straighten(nhs_heic *picture) {
    for (int y = 0; y < picture->height; y++) {
        uint8_t *pixel = picture->rows + (size_t)y * (size_t)picture->stride;
        for (int x = 0; x < picture->width; x++, pixel += 4) {
            unsigned alpha = pixel[3];
            for (int i = 0; i < 3; i++) {
                unsigned straight = alpha == 0 ? 0 : (pixel[i] * 255u + alpha / 2) / alpha;
                pixel[i] = (uint8_t)(straight > 255 ? 255 : straight);
            }
        }
    }
}

static void read_profile(nhs_heic *picture, const void *handle) {
    int type = calls.profile_type(handle);
    if (type != type_of_profile && type != type_of_profile_restricted) return;
    picture->profile_size = calls.profile_size(handle);
    if (picture->profile_size == 0 || picture->profile_size > 16 << 20) return;
    picture->profile = malloc(picture->profile_size);
    if (picture->profile && calls.profile(handle, picture->profile).code != 0) {
        free(picture->profile);
        picture->profile = NULL;
    }
}

static heif_error decode(nhs_heic *picture, const void *handle) {
    /* libheif turns and crops by itself. */
    heif_error error = calls.decode(handle, &picture->image, colorspace_rgb, chroma_rgba, NULL);
    if (error.code != 0) return error;
    picture->width = calls.width(picture->image, channel_interleaved);
    picture->height = calls.height(picture->image, channel_interleaved);
    picture->rows = calls.plane(picture->image, channel_interleaved, &picture->stride);
    picture->has_alpha = calls.has_alpha(handle);
    if (!picture->rows) return (heif_error){error_memory, 0, "there is no memory"};
    if (picture->has_alpha && calls.is_premultiplied(handle)) straighten(picture);
    read_profile(picture, handle);
    return error;
}

nhs_heic *nhs_heic_decode(const void *bytes, size_t count, int32_t side, nhs_fault *fault) {
    nhs_heic *picture = is_loaded ? calloc(1, sizeof *picture) : NULL;
    void *context = picture ? calls.context_alloc() : NULL, *handle = NULL;
    if (!context) {
        fail(fault, (heif_error){error_memory, 0, "there is no memory"});
        free(picture);
        return NULL;
    }
    calls.set_threads(context, 0);
    calls.set_limit(context, side);
    heif_error error = calls.read(context, bytes, count, NULL);
    if (error.code == 0) error = calls.primary(context, &handle);
    if (error.code == 0) error = decode(picture, handle);
    if (error.code != 0) fail(fault, error);
    if (handle) calls.handle_release(handle);
    calls.context_free(context);
    if (error.code == 0) return picture;
    nhs_heic_free(picture);
    return NULL;
}

void nhs_heic_free(nhs_heic *picture) {
    if (picture->image) calls.image_release(picture->image);
    free(picture->profile);
    free(picture);
}

void nhs_heic_size(const nhs_heic *picture, int32_t *width, int32_t *height) {
    *width = picture->width;
    *height = picture->height;
}

const uint8_t *nhs_heic_rows(const nhs_heic *picture, int32_t *stride) {
    *stride = picture->stride;
    return picture->rows;
}

int nhs_heic_has_alpha(const nhs_heic *picture) { return picture->has_alpha; }

const void *nhs_heic_profile(const nhs_heic *picture, size_t *count) {
    *count = picture->profile_size;
    return picture->profile;
}
