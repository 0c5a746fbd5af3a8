#include "nhs_av1_decode.h"

#include "nhs_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dav1d/dav1d.h>

struct nhs_av1 {
    nhs_av1_options options;
    Dav1dContext *context;
    Dav1dPicture picture; // the result of the last call
    size_t held;          // bytes of the frames that exist
    int32_t frames;       // frames that this call has begun
    nhs_fault fault;
};

static int fail(nhs_av1 *d, int kind, const char *message) {
    if (d->fault.kind == NHS_FAULT_NONE) {
        d->fault.kind = kind;
        d->fault.offset = -1;
        snprintf(d->fault.message, sizeof d->fault.message, "%s", message);
    }
    return NHS_FAILED;
}

// dav1d writes whole blocks of 128 x 128.
static size_t rounded(int32_t side) {
    return ((size_t)side + 127) & ~(size_t)127;
}

typedef struct {
    size_t strides[2];
    size_t planes[2]; // bytes of luma, and of each plane of chroma
    size_t all;
} frame_room;

static frame_room room_for(int32_t width, int32_t height, int32_t depth, int32_t chroma) {
    frame_room room = {{0}, {0}, 0};
    size_t columns = rounded(width), rows = rounded(height), bytes = depth > 8 ? 2 : 1;
    for (int plane = 0; plane < (chroma ? 2 : 1); plane++) {
        size_t stride = (plane && chroma != 3 ? columns / 2 : columns) * bytes;
        // Lines at a distance of a multiple of a page would share their places in the processor's cache.
        room.strides[plane] = stride % 1024 ? stride : stride + DAV1D_PICTURE_ALIGNMENT;
        room.planes[plane] = room.strides[plane] * (plane && chroma == 1 ? rows / 2 : rows);
    }
    room.all = room.planes[0] + 2 * room.planes[1] + 2 * DAV1D_PICTURE_ALIGNMENT;
    return room;
}

size_t nhs_av1_frame_bytes(int32_t width, int32_t height, int32_t depth, int32_t chroma) {
    return room_for(width, height, depth, chroma).all;
}

// The size of the frame's memory is kept in front of it.
static int allocate(Dav1dPicture *picture, void *cookie) {
    nhs_av1 *d = cookie;
    const Dav1dPictureParameters *p = &picture->p;
    if (p->w > d->options.width || p->h > d->options.height) {
        snprintf(d->fault.message, sizeof d->fault.message, "the AVIF's pixels are %dx%d, but %dx%d is announced", p->w,
                 p->h, d->options.width, d->options.height);
        d->fault.kind = NHS_FAULT_CORRUPT;
        return DAV1D_ERR(EINVAL);
    }
    if (++d->frames > d->options.frames) {
        fail(d, NHS_FAULT_TOO_LARGE, "a picture of the AVIF has too many frames");
        return DAV1D_ERR(EINVAL);
    }
    int32_t chroma = p->layout == DAV1D_PIXEL_LAYOUT_I400   ? 0
                     : p->layout == DAV1D_PIXEL_LAYOUT_I420 ? 1
                     : p->layout == DAV1D_PIXEL_LAYOUT_I422 ? 2
                                                            : 3;
    frame_room room = room_for(p->w, p->h, p->bpc, chroma);
    if (room.all > d->options.memory - d->held) {
        fail(d, NHS_FAULT_TOO_MANY_PIXELS, "the AVIF's frames need more memory than they may take");
        return DAV1D_ERR(ENOMEM);
    }
    void *memory = nhs_memory_new(room.all);
    if (!memory) {
        fail(d, NHS_FAULT_OUT_OF_MEMORY, "there is no memory for a frame of the AVIF");
        return DAV1D_ERR(ENOMEM);
    }
    memcpy(memory, &room.all, sizeof room.all);
    d->held += room.all;
    picture->allocator_data = memory;
    uint8_t *start = (uint8_t *)memory + DAV1D_PICTURE_ALIGNMENT;
    picture->data[0] = start;
    picture->data[1] = chroma ? start + room.planes[0] : NULL;
    picture->data[2] = chroma ? start + room.planes[0] + room.planes[1] : NULL;
    picture->stride[0] = (ptrdiff_t)room.strides[0];
    picture->stride[1] = (ptrdiff_t)room.strides[1];
    return 0;
}

static void release(Dav1dPicture *picture, void *cookie) {
    nhs_av1 *d = cookie;
    size_t size;
    memcpy(&size, picture->allocator_data, sizeof size);
    d->held -= size;
    free(picture->allocator_data);
}

nhs_av1 *nhs_av1_new(const nhs_av1_options *options) {
    nhs_av1 *d = calloc(1, sizeof *d);
    if (!d) {
        return NULL;
    }
    d->options = *options;
    Dav1dSettings settings;
    dav1d_default_settings(&settings);
    settings.n_threads = 1;
    settings.max_frame_delay = 1;
    settings.apply_grain = 0;
    settings.operating_point = options->operating_point;
    settings.all_layers = options->layer >= 0;
    int64_t pixels = (int64_t)options->width * options->height;
    settings.frame_size_limit = pixels < UINT_MAX ? (unsigned)pixels : UINT_MAX;
    settings.allocator = (Dav1dPicAllocator){d, allocate, release};
    settings.logger.callback = NULL;
    if (options->without_filters) {
        settings.inloop_filters = DAV1D_INLOOPFILTER_NONE;
    }
    if (dav1d_open(&d->context, &settings) < 0) {
        free(d);
        return NULL;
    }
    return d;
}

static void forget(nhs_av1 *d) {
    dav1d_picture_unref(&d->picture);
    memset(&d->picture, 0, sizeof d->picture);
}

void nhs_av1_free(nhs_av1 *d) {
    if (!d) {
        return;
    }
    forget(d);
    dav1d_close(&d->context);
    free(d);
}

static void keep_bytes(const uint8_t *bytes, void *cookie) {
    (void)bytes;
    (void)cookie;
}

static int fail_by(nhs_av1 *d, int error) {
    if (error == DAV1D_ERR(ENOMEM)) {
        return fail(d, NHS_FAULT_OUT_OF_MEMORY, "there is no memory to decode the AVIF");
    }
    if (error == DAV1D_ERR(ERANGE)) {
        return fail(d, NHS_FAULT_CORRUPT, "the AVIF's pixels are more than the announced size has");
    }
    return fail(d, NHS_FAULT_CORRUPT, "the AVIF's pixels are damaged");
}

// Decodes until a frame of the wanted layer is there.
static int decode(nhs_av1 *d, Dav1dData *data) {
    // Without data, dav1d delivers what it kept back; the second such call has nothing left.
    for (int waits = 0; waits < 2;) {
        if (data->sz > 0) {
            int sent = dav1d_send_data(d->context, data);
            if (sent < 0 && sent != DAV1D_ERR(EAGAIN)) {
                return fail_by(d, sent);
            }
        } else {
            waits++;
        }
        Dav1dPicture found = {0};
        int got = dav1d_get_picture(d->context, &found);
        if (got == DAV1D_ERR(EAGAIN)) {
            continue;
        }
        if (got < 0) {
            return fail_by(d, got);
        }
        waits = 0;
        if (d->options.layer >= 0 && found.frame_hdr->spatial_id != d->options.layer) {
            dav1d_picture_unref(&found);
            continue;
        }
        d->picture = found;
        return NHS_OK;
    }
    return fail(d, NHS_FAULT_CORRUPT, "the AVIF's bitstream shows no frame");
}

static void show(const Dav1dPicture *p, nhs_av1_picture *picture) {
    nhs_samples *s = &picture->samples;
    int is_grey = p->p.layout == DAV1D_PIXEL_LAYOUT_I400;
    *s = (nhs_samples){
        .y = p->data[0],
        .u = is_grey ? NULL : p->data[1],
        .v = is_grey ? NULL : p->data[2],
        .y_stride = (size_t)p->stride[0],
        .uv_stride = is_grey ? 0 : (size_t)p->stride[1],
        .width = p->p.w,
        .height = p->p.h,
        .depth = p->p.bpc,
        .halves_columns = p->p.layout == DAV1D_PIXEL_LAYOUT_I420 || p->p.layout == DAV1D_PIXEL_LAYOUT_I422,
        .halves_rows = p->p.layout == DAV1D_PIXEL_LAYOUT_I420,
    };
    picture->primaries = (int32_t)p->seq_hdr->pri;
    picture->transfer = (int32_t)p->seq_hdr->trc;
    picture->matrix = (int32_t)p->seq_hdr->mtrx;
    picture->is_full_range = p->seq_hdr->color_range;
}

int nhs_av1_decode(nhs_av1 *d, const void *bytes, size_t count, nhs_av1_picture *picture) {
    forget(d);
    d->frames = 0;
    d->fault.kind = NHS_FAULT_NONE;
    d->fault.offset = -1;
    Dav1dData data = {0};
    if (count == 0) {
        return fail(d, NHS_FAULT_CORRUPT, "a picture of the AVIF has no bytes");
    }
    if (dav1d_data_wrap(&data, bytes, count, keep_bytes, NULL) < 0) {
        return fail(d, NHS_FAULT_OUT_OF_MEMORY, "there is no memory to decode the AVIF");
    }
    int status = decode(d, &data);
    dav1d_data_unref(&data);
    // The bytes are the caller's, so nothing may point to them after this call.
    dav1d_flush(d->context);
    if (status != NHS_OK) {
        return status;
    }
    const Dav1dPictureParameters *p = &d->picture.p;
    if (p->w != d->options.width || p->h != d->options.height) {
        int width = p->w, height = p->h;
        forget(d);
        fail(d, NHS_FAULT_CORRUPT, "");
        snprintf(d->fault.message, sizeof d->fault.message, "the AVIF's pixels are %dx%d, but %dx%d is announced", width,
                 height, d->options.width, d->options.height);
        return NHS_FAILED;
    }
    show(&d->picture, picture);
    return NHS_OK;
}

const nhs_fault *nhs_av1_fault(const nhs_av1 *d) {
    return &d->fault;
}
