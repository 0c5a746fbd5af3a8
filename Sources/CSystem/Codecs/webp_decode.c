#include "nhs_webp_decode.h"

#include "nhs_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include <webp/decode.h>

struct nhs_webp {
    WebPDecoderConfig config;
    uint8_t *pixels; // the memory of `config.output`
    WebPIDecoder *decoder;
    int32_t is_lossless;
    nhs_fault fault;
};

// Gives the buffer memory for the pixels of a lossless frame.
static int hold_rgba(nhs_webp *w, int32_t width, int32_t height) {
    WebPRGBABuffer *pixels = &w->config.output.u.RGBA;
    w->config.output.colorspace = MODE_RGBA;
    pixels->stride = 4 * width;
    pixels->size = 4 * (size_t)width * (size_t)height;
    pixels->rgba = w->pixels = nhs_memory_new(pixels->size);
    return w->pixels != NULL;
}

// Gives the buffer memory for the planes of a lossy frame.
static int hold_planes(nhs_webp *w, int32_t width, int32_t height, int32_t has_alpha) {
    WebPYUVABuffer *planes = &w->config.output.u.YUVA;
    w->config.output.colorspace = has_alpha ? MODE_YUVA : MODE_YUV;
    planes->y_stride = width;
    planes->u_stride = planes->v_stride = (width + 1) / 2;
    planes->a_stride = has_alpha ? width : 0;
    planes->y_size = (size_t)width * (size_t)height;
    planes->u_size = planes->v_size = (size_t)planes->u_stride * (size_t)((height + 1) / 2);
    planes->a_size = has_alpha ? planes->y_size : 0;
    w->pixels = nhs_memory_new(planes->y_size + 2 * planes->u_size + planes->a_size);
    if (!w->pixels) {
        return 0;
    }
    planes->y = w->pixels;
    planes->u = planes->y + planes->y_size;
    planes->v = planes->u + planes->u_size;
    planes->a = has_alpha ? planes->v + planes->v_size : NULL;
    return 1;
}

nhs_webp *nhs_webp_new(const nhs_webp_options *options) {
    nhs_webp *w = calloc(1, sizeof *w);
    if (!w || !WebPInitDecoderConfig(&w->config)) {
        free(w);
        return NULL;
    }
    w->fault.offset = -1;
    w->is_lossless = options->is_lossless;
    w->config.output.is_external_memory = 1;
    w->config.options.bypass_filtering = options->without_filter;
    int32_t width = options->width, height = options->height;
    if (w->is_lossless ? hold_rgba(w, width, height) : hold_planes(w, width, height, options->has_alpha)) {
        w->decoder = WebPIDecode(NULL, 0, &w->config);
    }
    if (!w->decoder) {
        nhs_webp_free(w);
        return NULL;
    }
    return w;
}

void nhs_webp_free(nhs_webp *w) {
    if (!w) {
        return;
    }
    WebPIDelete(w->decoder);
    free(w->pixels);
    free(w);
}

static int fail(nhs_webp *w, int kind, const char *message) {
    w->fault.kind = kind;
    snprintf(w->fault.message, sizeof w->fault.message, "%s", message);
    return NHS_FAILED;
}

static void show(const nhs_webp *w, nhs_webp_picture *picture) {
    *picture = (nhs_webp_picture){0};
    int rows = 0, width = 0, height = 0, stride = 0, uv_stride = 0, a_stride = 0;
    if (w->is_lossless) {
        const uint8_t *rgba = WebPIDecGetRGB(w->decoder, &rows, &width, &height, &stride);
        if (!rgba) {
            return;
        }
        picture->rgba = rgba;
        picture->stride = (size_t)stride;
    } else {
        uint8_t *u = NULL, *v = NULL, *a = NULL;
        const uint8_t *y =
            WebPIDecGetYUVA(w->decoder, &rows, &u, &v, &a, &width, &height, &stride, &uv_stride, &a_stride);
        if (!y) {
            return;
        }
        picture->planes = (nhs_planes){
            .y = y,
            .u = u,
            .v = v,
            .a = w->config.output.colorspace == MODE_YUVA ? a : NULL,
            .y_stride = (size_t)stride,
            .uv_stride = (size_t)uv_stride,
            .a_stride = (size_t)a_stride,
            .width = width,
            .height = height,
        };
    }
    picture->width = width;
    picture->height = height;
    picture->rows = rows;
}

int nhs_webp_decode(nhs_webp *w, const void *bytes, size_t count, nhs_webp_picture *picture) {
    VP8StatusCode status = WebPIUpdate(w->decoder, bytes, count);
    show(w, picture);
    switch (status) {
    case VP8_STATUS_OK: return NHS_OK;
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return NHS_MORE;
    case VP8_STATUS_OUT_OF_MEMORY: return fail(w, NHS_FAULT_OUT_OF_MEMORY, "there is no memory to decode the WebP");
    default: return fail(w, NHS_FAULT_CORRUPT, "the WebP's pixels are damaged");
    }
}

const nhs_fault *nhs_webp_fault(const nhs_webp *w) {
    return &w->fault;
}
