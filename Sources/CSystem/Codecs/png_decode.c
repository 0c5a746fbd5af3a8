#include "png_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nhs_png_fail(nhs_png *p, int kind, const char *message) {
    if (p->fault.kind == NHS_FAULT_NONE) {
        p->fault.kind = kind;
        p->fault.offset = (int64_t)p->position;
        snprintf(p->fault.message, sizeof p->fault.message, "%s", message);
    }
    return NHS_FAILED;
}

void nhs_png_warn(nhs_png *p, const char *message) {
    p->warnings.count++;
    if (p->warnings.kept < NHS_KEPT_WARNINGS) {
        snprintf(p->warnings.messages[p->warnings.kept++], NHS_MESSAGE_BYTES, "%s", message);
    }
}

// Every block is preceded by its size, so that the sum can be limited.
enum { PREFIX = 16 };

void *nhs_png_allocate(nhs_png *p, size_t count) {
    if (count > (size_t)INT64_MAX / 2 || p->held + (int64_t)count > p->limits.max_memory) {
        p->out_of_budget = true;
        return NULL;
    }
    uint8_t *memory = malloc(count + PREFIX);
    if (!memory) {
        p->out_of_memory = true;
        return NULL;
    }
    memcpy(memory, &count, sizeof count);
    p->held += (int64_t)count;
    return memory + PREFIX;
}

void nhs_png_release(nhs_png *p, void *memory) {
    if (!memory) {
        return;
    }
    uint8_t *block = (uint8_t *)memory - PREFIX;
    size_t count;
    memcpy(&count, block, sizeof count);
    p->held -= (int64_t)count;
    free(block);
}

// libpng's callbacks

static png_voidp on_malloc(png_structp png, png_alloc_size_t count) {
    return nhs_png_allocate(png_get_mem_ptr(png), count);
}

static void on_free(png_structp png, png_voidp memory) {
    nhs_png_release(png_get_mem_ptr(png), memory);
}

static void on_error(png_structp png, png_const_charp message) {
    nhs_png *p = png_get_error_ptr(png);
    int kind = p->out_of_memory  ? NHS_FAULT_OUT_OF_MEMORY
               : p->out_of_budget ? NHS_FAULT_TOO_MANY_PIXELS
               : p->is_short      ? NHS_FAULT_TRUNCATED
                                  : NHS_FAULT_CORRUPT;
    nhs_png_fail(p, kind, message);
    longjmp(p->escape, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    nhs_png *p = png_get_error_ptr(png);
    // An ancillary chunk that was too large was skipped; that doesn't affect later chunks.
    p->out_of_budget = false;
    nhs_png_warn(p, message);
}

static void on_read(png_structp png, png_bytep to, size_t count) {
    nhs_png *p = png_get_io_ptr(png);
    if (count > p->count - p->position) {
        p->position = p->count;
        p->is_short = true;
        png_error(png, "the PNG ends too early");
    }
    memcpy(to, p->bytes + p->position, count);
    p->position += count;
}

// Creating and freeing

nhs_png *nhs_png_new(const void *bytes, size_t count, const nhs_png_limits *limits) {
    nhs_png *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    p->bytes = bytes;
    p->count = count;
    p->limits = *limits;
    p->fault.offset = -1;
    if (setjmp(p->escape)) {
        nhs_png_free(p);
        return NULL;
    }
    p->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, p, on_error, on_warning, p, on_malloc, on_free);
    if (!p->png || !(p->info = png_create_info_struct(p->png))) {
        nhs_png_free(p);
        return NULL;
    }
    return p;
}

void nhs_png_free(nhs_png *p) {
    if (!p) {
        return;
    }
    if (p->png && !setjmp(p->escape)) {
        png_destroy_read_struct(&p->png, p->info ? &p->info : NULL, NULL);
    }
    if (p->stream) {
        nhs_png_release(p, p->stream->ring);
        nhs_png_release(p, p->stream);
    }
    nhs_png_release(p, p->whole);
    free(p);
}

// Chunks that don't affect pixels. They are skipped, so that their contents can do no harm.
static const png_byte ignored[] =
    "bKGD\0hIST\0eXIf\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0tEXt\0tIME\0zTXt";

// Returns the gamma to decode with, or 0 if the samples are already sRGB.
static png_fixed_point gamma_of(nhs_png *p) {
    int intent;
    png_fixed_point gamma;
    if (png_get_valid(p->png, p->info, PNG_INFO_sRGB | PNG_INFO_iCCP) ||
        png_get_sRGB(p->png, p->info, &intent) || !png_get_gAMA_fixed(p->png, p->info, &gamma)) {
        return 0;
    }
    // libpng's own threshold of visibility is 5 %; 45455 stands for sRGB.
    double product = gamma / 45455.0;
    bool is_visible = product < 0.95 || product > 1.05;
    return is_visible && gamma >= 1000 && gamma <= 1000000 ? gamma : 0;
}

static void set_transforms(nhs_png *p, png_fixed_point gamma) {
    if (gamma) {
        png_set_gamma_fixed(p->png, PNG_DEFAULT_sRGB, gamma);
    }
    png_set_expand(p->png);
    png_set_scale_16(p->png);
    if (!(p->color_type & PNG_COLOR_MASK_COLOR)) {
        png_set_gray_to_rgb(p->png);
    }
    png_set_add_alpha(p->png, 0xFF, PNG_FILLER_AFTER);
}

static int open_rows(nhs_png *p) {
    png_set_interlace_handling(p->png);
    png_read_update_info(p->png, p->info);
    if (png_get_rowbytes(p->png, p->info) != (size_t)p->width * 4) {
        return nhs_png_fail(p, NHS_FAULT_INTERNAL, "libpng's rows have another width");
    }
    return NHS_OK;
}

int nhs_png_open(nhs_png *p, nhs_png_info *out) {
    if (setjmp(p->escape)) {
        return NHS_FAILED;
    }
    png_set_read_fn(p->png, p, on_read);
    png_set_user_limits(p->png, 0x7FFFFFFF, 0x7FFFFFFF);
    png_set_chunk_malloc_max(p->png, (png_alloc_size_t)p->limits.max_profile_bytes);
    png_set_keep_unknown_chunks(p->png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_set_keep_unknown_chunks(p->png, PNG_HANDLE_CHUNK_NEVER, ignored, sizeof ignored / 5);
    png_read_info(p->png, p->info);
    // libpng only warns if there is no memory for a profile. Without the profile the colours would differ.
    if (p->out_of_memory) {
        return nhs_png_fail(p, NHS_FAULT_OUT_OF_MEMORY, "no memory for the PNG's header");
    }

    p->width = (int32_t)png_get_image_width(p->png, p->info);
    p->height = (int32_t)png_get_image_height(p->png, p->info);
    p->color_type = png_get_color_type(p->png, p->info);
    p->is_interlaced = png_get_interlace_type(p->png, p->info) != PNG_INTERLACE_NONE;
    bool has_transparency = png_get_valid(p->png, p->info, PNG_INFO_tRNS);
    png_fixed_point gamma = gamma_of(p);
    int intent;
    *out = (nhs_png_info){
        .width = p->width,
        .height = p->height,
        .is_opaque = !(p->color_type & PNG_COLOR_MASK_ALPHA) && !has_transparency,
        .is_gray = !(p->color_type & PNG_COLOR_MASK_COLOR),
        .is_interlaced = p->is_interlaced,
        .has_srgb = png_get_sRGB(p->png, p->info, &intent) != 0,
    };
    png_charp name;
    png_bytep profile;
    png_uint_32 profile_bytes;
    int method;
    if (png_get_iCCP(p->png, p->info, &name, &method, &profile, &profile_bytes)) {
        out->profile = profile;
        out->profile_bytes = profile_bytes;
    }
    bool is_common = png_get_bit_depth(p->png, p->info) == 8 && !p->is_interlaced && !gamma &&
                     (!has_transparency || p->color_type == PNG_COLOR_TYPE_PALETTE);
    if (is_common && !p->limits.force_libpng) {
        int status = png_stream_open(p);
        if (status != NHS_MORE) {
            out->uses_isal = 1;
            return status;
        }
    }
    set_transforms(p, gamma);
    return open_rows(p);
}

// Rows from libpng

static int read_whole(nhs_png *p) {
    size_t stride = (size_t)p->width * 4;
    size_t count;
    if (__builtin_mul_overflow(stride, (size_t)p->height, &count)) {
        return nhs_png_fail(p, NHS_FAULT_TOO_MANY_PIXELS, "an interlaced PNG of too many pixels");
    }
    p->whole = nhs_png_allocate(p, count);
    if (!p->whole) {
        return nhs_png_fail(p, p->out_of_memory ? NHS_FAULT_OUT_OF_MEMORY : NHS_FAULT_TOO_MANY_PIXELS,
                            "no memory for an interlaced PNG");
    }
    // A damaged picture is delivered with its missing part, so no byte may stay uninitialised.
    memset(p->whole, 0, count);
    if (setjmp(p->escape)) {
        return NHS_FAILED;
    }
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
        for (int32_t y = 0; y < p->height; y++) {
            // "Sparkle" rows: each pass writes only its own pixels.
            png_read_row(p->png, p->whole + (size_t)y * stride, NULL);
        }
    }
    return NHS_OK;
}

int nhs_png_rows(nhs_png *p, uint8_t *rows, size_t stride, int32_t max_rows, int32_t *got) {
    *got = 0;
    if (p->stream) {
        return png_stream_rows(p, rows, stride, max_rows, got);
    }
    if (p->is_interlaced) {
        if (!p->whole) {
            read_whole(p);
        }
        if (!p->whole) {
            return NHS_FAILED;
        }
        size_t row_bytes = (size_t)p->width * 4;
        for (; *got < max_rows && p->next_row < p->height; ++*got, ++p->next_row) {
            memcpy(rows + (size_t)*got * stride, p->whole + (size_t)p->next_row * row_bytes, row_bytes);
        }
        return p->fault.kind == NHS_FAULT_NONE ? NHS_OK : NHS_FAILED;
    }
    if (p->fault.kind != NHS_FAULT_NONE || setjmp(p->escape)) {
        return NHS_FAILED;
    }
    for (; *got < max_rows && p->next_row < p->height; ++*got, ++p->next_row) {
        png_read_row(p->png, rows + (size_t)*got * stride, NULL);
    }
    return NHS_OK;
}

int nhs_png_finish(nhs_png *p) {
    if (p->fault.kind != NHS_FAULT_NONE) {
        return NHS_FAILED;
    }
    if (p->stream) {
        return png_stream_finish(p);
    }
    if (setjmp(p->escape)) {
        return NHS_FAILED;
    }
    png_read_end(p->png, NULL);
    return NHS_OK;
}

int64_t nhs_png_position(const nhs_png *p) {
    return (int64_t)p->position;
}

const nhs_fault *nhs_png_fault(const nhs_png *p) {
    return &p->fault;
}

const nhs_warnings *nhs_png_warnings(const nhs_png *p) {
    return &p->warnings;
}
