// PNG's five row filters undone, and rows of 1 to 4 bytes a pixel widened to RGBA.
#include "png_internal.h"

#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

static __m128i load3(const uint8_t *from) {
    uint32_t pixel = 0;
    memcpy(&pixel, from, 3);
    return _mm_cvtsi32_si128((int)pixel);
}

static __m128i load4(const uint8_t *from) {
    uint32_t pixel;
    memcpy(&pixel, from, 4);
    return _mm_cvtsi32_si128((int)pixel);
}

static void store3(uint8_t *to, __m128i pixel) {
    uint32_t bytes = (uint32_t)_mm_cvtsi128_si32(pixel);
    memcpy(to, &bytes, 3);
}

static void store4(uint8_t *to, __m128i pixel) {
    uint32_t bytes = (uint32_t)_mm_cvtsi128_si32(pixel);
    memcpy(to, &bytes, 4);
}

static __m128i average(__m128i left, __m128i up) {
    // pavgb rounds up, PNG down.
    __m128i odd = _mm_and_si128(_mm_xor_si128(left, up), _mm_set1_epi8(1));
    return _mm_sub_epi8(_mm_avg_epu8(left, up), odd);
}

// In 16 bits a sample: the one of left, up and corner that is nearest to left + up - corner.
static __m128i paeth(__m128i left, __m128i up, __m128i corner) {
    __m128i zero = _mm_setzero_si128();
    __m128i pa = _mm_sub_epi16(up, corner);
    __m128i pb = _mm_sub_epi16(left, corner);
    __m128i pc = _mm_add_epi16(pa, pb);
    pa = _mm_max_epi16(pa, _mm_sub_epi16(zero, pa));
    pb = _mm_max_epi16(pb, _mm_sub_epi16(zero, pb));
    pc = _mm_max_epi16(pc, _mm_sub_epi16(zero, pc));
    __m128i least = _mm_min_epi16(pc, _mm_min_epi16(pa, pb));
    __m128i take_left = _mm_cmpeq_epi16(least, pa);
    __m128i take_up = _mm_cmpeq_epi16(least, pb);
    __m128i other = _mm_or_si128(_mm_and_si128(take_up, up), _mm_andnot_si128(take_up, corner));
    return _mm_or_si128(_mm_and_si128(take_left, left), _mm_andnot_si128(take_left, other));
}

// The same loops for three and four bytes a pixel, whose samples go side by side.
#define PIXEL_FILTERS(N)                                                                            \
    static void sub##N(uint8_t *row, size_t count) {                                                \
        __m128i left = _mm_setzero_si128();                                                         \
        for (size_t i = 0; i + N <= count; i += N) {                                                \
            left = _mm_add_epi8(left, load##N(row + i));                                            \
            store##N(row + i, left);                                                                \
        }                                                                                           \
    }                                                                                               \
    static void average##N(uint8_t *row, const uint8_t *previous, size_t count) {                   \
        __m128i left = _mm_setzero_si128();                                                         \
        for (size_t i = 0; i + N <= count; i += N) {                                                \
            left = _mm_add_epi8(load##N(row + i), average(left, load##N(previous + i)));            \
            store##N(row + i, left);                                                                \
        }                                                                                           \
    }                                                                                               \
    static void paeth##N(uint8_t *row, const uint8_t *previous, size_t count) {                     \
        __m128i zero = _mm_setzero_si128(), mask = _mm_set1_epi16(255);                             \
        __m128i left = zero, corner = zero;                                                         \
        for (size_t i = 0; i + N <= count; i += N) {                                                \
            __m128i up = _mm_unpacklo_epi8(load##N(previous + i), zero);                            \
            __m128i raw = _mm_unpacklo_epi8(load##N(row + i), zero);                                \
            left = _mm_and_si128(_mm_add_epi16(raw, paeth(left, up, corner)), mask);                \
            corner = up;                                                                            \
            store##N(row + i, _mm_packus_epi16(left, left));                                        \
        }                                                                                           \
    }

PIXEL_FILTERS(3)
PIXEL_FILTERS(4)

static void up(uint8_t *row, const uint8_t *previous, size_t count) {
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m128i sum = _mm_add_epi8(_mm_loadu_si128((const __m128i *)(row + i)),
                                   _mm_loadu_si128((const __m128i *)(previous + i)));
        _mm_storeu_si128((__m128i *)(row + i), sum);
    }
    for (; i < count; i++) {
        row[i] = (uint8_t)(row[i] + previous[i]);
    }
}

static int paeth_byte(int left, int up, int corner) {
    int pa = abs(up - corner), pb = abs(left - corner), pc = abs(left + up - 2 * corner);
    return pa <= pb && pa <= pc ? left : pb <= pc ? up : corner;
}

static void small(uint8_t *row, const uint8_t *previous, size_t count, size_t n, uint8_t filter) {
    for (size_t i = 0; i < count; i++) {
        int left = i >= n ? row[i - n] : 0;
        int corner = i >= n ? previous[i - n] : 0;
        int guess = filter == 1 ? left
                    : filter == 3 ? (left + previous[i]) / 2
                                  : paeth_byte(left, previous[i], corner);
        row[i] = (uint8_t)(row[i] + guess);
    }
}

bool png_unfilter(uint8_t *row, const uint8_t *previous, size_t row_bytes, int pixel_bytes, uint8_t filter) {
    if (filter == 0) {
        return true;
    }
    if (filter == 2) {
        up(row, previous, row_bytes);
        return true;
    }
    if (filter > 4) {
        return false;
    }
    if (pixel_bytes == 4) {
        filter == 1   ? sub4(row, row_bytes)
        : filter == 3 ? average4(row, previous, row_bytes)
                      : paeth4(row, previous, row_bytes);
    } else if (pixel_bytes == 3) {
        filter == 1   ? sub3(row, row_bytes)
        : filter == 3 ? average3(row, previous, row_bytes)
                      : paeth3(row, previous, row_bytes);
    } else {
        small(row, previous, row_bytes, (size_t)pixel_bytes, filter);
    }
    return true;
}

__attribute__((target("ssse3"))) static size_t widen3_ssse3(uint8_t *to, const uint8_t *row, size_t pixels) {
    const __m128i spread = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    const __m128i alpha = _mm_set1_epi32((int)0xFF000000);
    size_t i = 0;
    // Each step reads 16 bytes and uses 12 of them.
    for (; i + 6 <= pixels; i += 4) {
        __m128i four = _mm_loadu_si128((const __m128i *)(row + 3 * i));
        four = _mm_or_si128(_mm_shuffle_epi8(four, spread), alpha);
        _mm_storeu_si128((__m128i *)(to + 4 * i), four);
    }
    return i;
}

void png_expand(uint8_t *to, const uint8_t *row, size_t pixels, const nhs_png *p) {
    size_t i = 0;
    switch (p->color_type) {
    case PNG_COLOR_TYPE_RGB:
        if (__builtin_cpu_supports("ssse3")) {
            i = widen3_ssse3(to, row, pixels);
        }
        for (; i < pixels; i++) {
            memcpy(to + 4 * i, row + 3 * i, 3);
            to[4 * i + 3] = 255;
        }
        break;
    case PNG_COLOR_TYPE_RGB_ALPHA:
        memcpy(to, row, pixels * 4);
        break;
    case PNG_COLOR_TYPE_PALETTE:
        for (; i < pixels; i++) {
            memcpy(to + 4 * i, p->stream->palette[row[i]], 4);
        }
        break;
    default: {
        bool has_alpha = p->color_type == PNG_COLOR_TYPE_GRAY_ALPHA;
        for (; i < pixels; i++) {
            uint8_t gray = has_alpha ? row[2 * i] : row[i];
            uint32_t pixel = gray * 0x010101u | (uint32_t)(has_alpha ? row[2 * i + 1] : 255) << 24;
            memcpy(to + 4 * i, &pixel, 4);
        }
    }
    }
}
