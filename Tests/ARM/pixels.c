// Prints a hash of what each part in C does with the same made-up pixels. Tests/ARM/run.py runs it on two kinds of
// processors, and compares the lines.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nhs_encode.h"
#include "nhs_jpeg_decode.h"
#include "nhs_png_decode.h"
#include "nhs_resample.h"
#include "nhs_samples.h"
#include "nhs_store.h"
#include "nhs_yuv.h"

enum { WIDTH = 157, HEIGHT = 93, BLOCKS = (WIDTH + NHS_ROW_BLOCK - 1) / NHS_ROW_BLOCK * NHS_ROW_BLOCK, TAPS = 8 };

static uint32_t state = 1;

static uint32_t next(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static void *cleared(size_t count) {
    void *memory = calloc(1, count);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static void print(const char *what, const void *bytes, size_t count) {
    printf("%-40s %016llx\n", what, (unsigned long long)nhs_hash64(bytes, count, 0));
}

// Soft waves with some noise, so that filters and Huffman codes of every kind are used.
static uint8_t *picture(bool has_alpha, bool is_gray) {
    uint8_t *rgba = cleared((size_t)WIDTH * HEIGHT * 4);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            uint8_t *pixel = rgba + 4 * ((size_t)y * WIDTH + (size_t)x);
            pixel[0] = (uint8_t)(x * y / 64 + (int)(next() & 7));
            pixel[1] = is_gray ? pixel[0] : (uint8_t)(x + 2 * y + (int)(next() & 3));
            pixel[2] = is_gray ? pixel[0] : (uint8_t)(255 - x - y);
            pixel[3] = has_alpha ? (uint8_t)(x * 3 + y) : 255;
        }
    }
    return rgba;
}

static void resample(const uint8_t *rgba) {
    const nhs_resample_kernels *kernels = nhs_resample_kernels_at(NHS_KERNELS_BEST);
    const size_t row = (size_t)BLOCKS * 4;
    static int16_t wide[TAPS][BLOCKS * 4], opaque[BLOCKS * 4], middle[2][BLOCKS * 4];
    const int16_t *rows[TAPS];
    nhs_weights weights[TAPS];
    for (int t = 0; t < TAPS; t++) {
        kernels->widen_alpha(wide[t], rgba + (size_t)t * WIDTH * 4, WIDTH);
        rows[t] = wide[t];
        int16_t upper = (int16_t)(t == 3 ? 16384 - 7 * 900 : 900), lower = (int16_t)(t == 4 ? 16384 + 7 * 300 : -300);
        weights[t] = (nhs_weights){{upper, upper}, {lower, lower}};
    }
    print("widen_alpha", wide, sizeof wide);
    kernels->widen_opaque(opaque, rgba, WIDTH);
    print("widen_opaque", opaque, sizeof opaque);
    kernels->vertical(middle[0], middle[1], rows, weights, TAPS, row);
    print("vertical", middle, sizeof middle);
    // The table of each window, in groups of four weights.
    static int16_t table[40][TAPS * 4];
    static nhs_window windows[40];
    for (int i = 0; i < 40; i++) {
        windows[i] = (nhs_window){i * (WIDTH - TAPS) / 39, i * TAPS * 4};
        int16_t sum = 0, own[TAPS];
        for (int t = 0; t < TAPS; t++) {
            own[t] = (int16_t)((int)(next() % 2000) - 300);
            sum = (int16_t)(sum + own[t]);
        }
        own[TAPS / 2] = (int16_t)(own[TAPS / 2] + 16384 - sum);
        for (int group = 0; group < TAPS / 4; group++) {
            for (int k = 0; k < 8; k++) {
                table[i][group * 16 + k] = own[group * 4 + k % 2];
                table[i][group * 16 + 8 + k] = own[group * 4 + 2 + k % 2];
            }
        }
    }
    static uint8_t result[2][40 * 4];
    nhs_row_pair pair = {middle[0], middle[1], result[0], result[1]};
    kernels->horizontal_alpha(&pair, windows, table[0], TAPS, 40);
    print("horizontal_alpha", result, sizeof result);
    kernels->horizontal_opaque(&pair, windows, table[0], TAPS, 40);
    print("horizontal_opaque", result, sizeof result);
    static float sums[BLOCKS * 4];
    kernels->area_add_opaque(sums, rgba, WIDTH, 0.25f, 1);
    kernels->area_add_alpha(sums, rgba + WIDTH * 4, WIDTH, 0.75f, 0);
    print("area_add", sums, sizeof(float) * WIDTH * 4);
    static nhs_cell cells[16];
    for (int i = 0; i < 16; i++) {
        cells[i] = (nhs_cell){i * 9, i * 9 + 9, 0.5f, 0.25f};
    }
    static int16_t finished[16 * 4];
    kernels->area_finish(finished, sums, cells, 16, 0.0005f);
    print("area_finish", finished, sizeof finished);
}

static void decode_png(const char *what, const nhs_encoded *made, int32_t force_libpng) {
    nhs_png_limits limits = {1 << 28, 1 << 20, force_libpng};
    nhs_png *decoder = nhs_png_new(made->bytes, made->size, &limits);
    nhs_png_info info;
    int32_t got = 0;
    uint8_t *rows = cleared((size_t)WIDTH * HEIGHT * 4);
    if (nhs_png_open(decoder, &info) != NHS_OK) {
        printf("%s: %s\n", what, nhs_png_fault(decoder)->message);
        exit(1);
    }
    for (int32_t y = 0; y < HEIGHT; y += got) {
        if (nhs_png_rows(decoder, rows + (size_t)y * WIDTH * 4, WIDTH * 4, HEIGHT - y, &got) == NHS_FAILED || got == 0) {
            printf("%s: %s\n", what, nhs_png_fault(decoder)->message);
            exit(1);
        }
    }
    print(what, rows, (size_t)WIDTH * HEIGHT * 4);
    free(rows);
    nhs_png_free(decoder);
}

static void png(const uint8_t *rgba, bool has_alpha, bool is_gray) {
    nhs_pixels pixels = {rgba, WIDTH, HEIGHT};
    printf("opaque %d, gray %d, soft %d\n", nhs_all_opaque(pixels), nhs_all_gray(pixels), nhs_colours_are_soft(pixels));
    for (int libpng = 0; libpng < 2; libpng++) {
        nhs_encoded fast = {.limit = 1 << 24}, small = {.limit = 1 << 24};
        nhs_encode_png_fast(&fast, pixels, !has_alpha);
        decode_png(libpng ? "pixels of a fast PNG, libpng" : "pixels of a fast PNG, ISA-L", &fast, libpng);
        nhs_encode_png_small(&small, pixels, is_gray ? (has_alpha ? 2 : 1) : (has_alpha ? 4 : 3));
        decode_png(libpng ? "pixels of a small PNG, libpng" : "pixels of a small PNG, ISA-L", &small, libpng);
        free(fast.bytes);
        free(small.bytes);
    }
}

static void jpeg(const uint8_t *rgba, int half_chroma) {
    nhs_encoded made = {.limit = 1 << 24};
    nhs_encode_jpeg(&made, (nhs_pixels){rgba, WIDTH, HEIGHT}, 85, half_chroma, 1);
    print("bytes of a JPEG", made.bytes, made.size);
    for (int denominator = 1; denominator <= 8; denominator *= 2) {
        nhs_jpeg_limits limits = {1 << 28, 500, 1 << 28, 0};
        nhs_jpeg *decoder = nhs_jpeg_new(&limits);
        nhs_jpeg_info info;
        int32_t width, height, got = 0;
        nhs_jpeg_borrow(decoder, made.bytes, made.size);
        nhs_jpeg_end(decoder);
        if (nhs_jpeg_header(decoder, &info) != NHS_OK ||
            nhs_jpeg_start(decoder, denominator, 1, &width, &height) != NHS_OK) {
            printf("JPEG: %s\n", nhs_jpeg_fault(decoder)->message);
            exit(1);
        }
        uint8_t *rows = cleared((size_t)width * (size_t)height * 4);
        for (int32_t y = 0; y < height; y += got) {
            if (nhs_jpeg_rows(decoder, rows + (size_t)(y * width) * 4, (size_t)width * 4, height - y, &got) == NHS_FAILED ||
                got == 0) {
                printf("JPEG: %s\n", nhs_jpeg_fault(decoder)->message);
                exit(1);
            }
        }
        char what[40];
        snprintf(what, sizeof what, "pixels of a JPEG at 1/%d", denominator);
        print(what, rows, (size_t)width * (size_t)height * 4);
        free(rows);
        nhs_jpeg_free(decoder);
    }
    free(made.bytes);
}

// The planes of a lossy WebP: the bytes of the picture, taken for luma, chroma and alpha.
static void webp(const uint8_t *bytes) {
    const size_t half = (WIDTH + 1) / 2;
    nhs_planes planes = {bytes, bytes + 20000, bytes + 25000, bytes + 30000, WIDTH, half, WIDTH, WIDTH, HEIGHT};
    uint8_t *rows = cleared((size_t)WIDTH * HEIGHT * 4), *spare = cleared(nhs_yuv_spare(WIDTH));
    for (int32_t factor = 1; factor <= 8; factor *= 2) {
        int32_t height = (HEIGHT + factor - 1) / factor;
        size_t stride = (size_t)((WIDTH + factor - 1) / factor) * 4;
        for (int32_t y = 0; y < height; y++) {
            if (factor == 1) {
                nhs_yuv_row(&planes, y, rows + (size_t)y * stride, spare);
            } else {
                nhs_yuv_reduced_row(&planes, factor, y, rows + (size_t)y * stride, spare);
            }
        }
        char what[40];
        snprintf(what, sizeof what, "planes of a WebP at 1/%d", factor);
        print(what, rows, (size_t)height * stride);
    }
    free(rows);
    free(spare);
}

// The planes of an AVIF of 4:2:0, 4:2:2 or 4:4:4.
static void avif(const uint8_t *bytes, int32_t depth, int32_t halves_columns, int32_t halves_rows) {
    enum { COUNT = WIDTH * HEIGHT };
    static uint16_t words[3 * COUNT];
    for (int i = 0; i < 3 * COUNT; i++) {
        uint32_t two = (uint32_t)bytes[i] << 8 | bytes[i + COUNT];
        if (depth > 8) {
            words[i] = (uint16_t)(two >> (16 - depth));
        } else {
            ((uint8_t *)words)[i] = bytes[i];
        }
    }
    size_t each = depth > 8 ? 2 : 1;
    const uint8_t *first = (const uint8_t *)words;
    nhs_samples samples = {
        .y = first, .u = first + each * COUNT, .v = first + 2 * each * COUNT, .a = bytes, .y_stride = each * WIDTH,
        .uv_stride = each * WIDTH, .a_stride = WIDTH, .width = WIDTH, .height = HEIGHT, .depth = depth, .a_depth = 8,
        .halves_columns = halves_columns, .halves_rows = halves_rows,
    };
    int32_t unit = 1 << (depth - 8);
    nhs_colors colors = {
        .factors = {{75, 0, 102}, {75, -25, -52}, {75, 129, 0}}, .shift = depth - 2,
        .offsets = {-14000 * unit, 8700 * unit, -17700 * unit}, .most = 255,
    };
    uint8_t *rows = cleared((size_t)COUNT * 4), *spare = cleared(nhs_samples_spare(WIDTH));
    for (int32_t factor = 1; factor <= 8; factor *= 2) {
        int32_t height = (HEIGHT + factor - 1) / factor;
        size_t stride = (size_t)((WIDTH + factor - 1) / factor) * 4;
        for (int32_t y = 0; y < height; y++) {
            if (factor == 1) {
                nhs_samples_row(&samples, &colors, y, rows + (size_t)y * stride, spare);
            } else {
                nhs_samples_reduced_row(&samples, &colors, factor, y, rows + (size_t)y * stride, spare);
            }
        }
        char what[100];
        snprintf(what, sizeof what, "planes of %d bits, %d and %d, at 1/%d", depth, halves_columns, halves_rows, factor);
        print(what, rows, (size_t)height * stride);
    }
    free(rows);
    free(spare);
}

int main(void) {
    for (int kind = 0; kind < 4; kind++) {
        bool has_alpha = kind & 1, is_gray = kind & 2;
        uint8_t *rgba = picture(has_alpha, is_gray);
        print("the pixels", rgba, (size_t)WIDTH * HEIGHT * 4);
        png(rgba, has_alpha, is_gray);
        jpeg(rgba, kind & 1);
        resample(rgba);
        webp(rgba);
        for (int32_t depth = 8; depth <= 12; depth += 2) {
            avif(rgba, depth, 1, 1);
            avif(rgba, depth, 1, 0);
            avif(rgba, depth, 0, 0);
        }
        uint64_t low, high;
        nhs_hash128(rgba, 1000, 7, &low, &high);
        printf("%-40s %016llx%016llx\n", "hash128", (unsigned long long)high, (unsigned long long)low);
        free(rgba);
    }
    return 0;
}
