#include "nhs_webp_decode.h"

#include <stdio.h>
#include <stdlib.h>

#include <webp/decode.h>

struct nhs_webp {
    WebPDecBuffer buffer;
    WebPIDecoder *decoder;
    int32_t is_lossless;
    nhs_fault fault;
};

nhs_webp *nhs_webp_new(int32_t is_lossless, int32_t has_alpha) {
    nhs_webp *w = calloc(1, sizeof *w);
    if (!w || !WebPInitDecBuffer(&w->buffer)) {
        free(w);
        return NULL;
    }
    w->fault.offset = -1;
    w->is_lossless = is_lossless;
    w->buffer.colorspace = is_lossless ? MODE_RGBA : has_alpha ? MODE_YUVA : MODE_YUV;
    // The frame's size, and with it the buffer's, is known after the first call.
    w->decoder = WebPINewDecoder(&w->buffer);
    if (!w->decoder) {
        free(w);
        return NULL;
    }
    return w;
}

void nhs_webp_free(nhs_webp *w) {
    if (!w) {
        return;
    }
    WebPIDelete(w->decoder);
    WebPFreeDecBuffer(&w->buffer);
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
            .a = w->buffer.colorspace == MODE_YUVA ? a : NULL,
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
