// Undoes PNG's five row filters, and widens rows of 1 to 4 bytes a pixel to RGBA.
#include "png_internal.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)

#include <immintrin.h>

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

static void store1(uint8_t *to, __m128i pixel) {
    *to = (uint8_t)_mm_cvtsi128_si32(pixel);
}

static void store2(uint8_t *to, __m128i pixel) {
    uint16_t bytes = (uint16_t)_mm_cvtsi128_si32(pixel);
    memcpy(to, &bytes, 2);
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
    // pavgb rounds up, PNG rounds down.
    __m128i odd = _mm_and_si128(_mm_xor_si128(left, up), _mm_set1_epi8(1));
    return _mm_sub_epi8(_mm_avg_epu8(left, up), odd);
}

// Returns left, up or corner, the one that is nearest to left + up - corner. 16 bits a sample.
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

// The same loops for three and four bytes a pixel, whose samples are processed together.
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
        __m128i zero = _mm_setzero_si128();                                                         \
        __m128i left = zero, corner = zero;                                                         \
        for (size_t i = 0; i + N <= count; i += N) {                                                \
            __m128i up = _mm_unpacklo_epi8(load##N(previous + i), zero);                            \
            __m128i raw = _mm_unpacklo_epi8(load##N(row + i), zero);                                \
            left = _mm_add_epi8(raw, paeth(left, up, corner)); /* of bytes, so that it wraps */      \
            corner = up;                                                                            \
            store##N(row + i, _mm_packus_epi16(left, left));                                        \
        }                                                                                           \
    }

PIXEL_FILTERS(3)
PIXEL_FILTERS(4)

// Four Paeth rows at once. Each pixel waits for the one on its left, some ten cycles. So each row is processed one
// pixel behind the row above, and the four rows share that wait. Two rows are in a register: `high` holds pixel x of
// the first row and x - 1 of the second, `low` x - 2 of the third and x - 3 of the fourth. The pixel above is the
// result of the previous step in the row above. Loads take four bytes for any pixel size: the surplus is in separate
// lanes and is never stored, but three bytes behind the last row must be readable.
#define FOUR_PAETH_ROWS(N)                                                                          \
    static inline __attribute__((always_inline)) void paeth_step##N(                                \
        uint8_t *const rows[4], const uint8_t *previous, size_t t, size_t pixels, bool is_inner,    \
        __m128i left[2], __m128i corner[2]) {                                                       \
        const __m128i zero = _mm_setzero_si128();                                                   \
        __m128i raw[4], above = zero;                                                               \
        for (size_t k = 0; k < 4; k++) {                                                            \
            bool is_there = is_inner || (t >= k && t - k < pixels);                                 \
            raw[k] = is_there ? load4(rows[k] + (t - k) * N) : zero;                                \
        }                                                                                           \
        if (is_inner || t < pixels) {                                                               \
            above = _mm_unpacklo_epi8(load4(previous + t * N), zero);                               \
        }                                                                                           \
        __m128i up[2], next[2];                                                                     \
        up[0] = _mm_unpacklo_epi64(above, left[0]);                                                 \
        up[1] = _mm_castpd_si128(_mm_shuffle_pd(_mm_castsi128_pd(left[0]), _mm_castsi128_pd(left[1]), 1)); \
        for (int h = 0; h < 2; h++) {                                                               \
            __m128i bytes = _mm_unpacklo_epi32(raw[2 * h], raw[2 * h + 1]);                         \
            __m128i guess = paeth(left[h], up[h], corner[h]);                                       \
            next[h] = _mm_add_epi8(_mm_unpacklo_epi8(bytes, zero), guess); /* bytes, so it wraps */   \
            corner[h] = up[h];                                                                      \
            left[h] = next[h];                                                                      \
        }                                                                                           \
        __m128i packed = _mm_packus_epi16(next[0], next[1]);                                        \
        for (size_t k = 0; k < 4; k++) {                                                            \
            if (is_inner || (t >= k && t - k < pixels)) {                                           \
                store##N(rows[k] + (t - k) * N, packed);                                            \
            }                                                                                       \
            packed = _mm_srli_si128(packed, 4);                                                     \
        }                                                                                           \
    }                                                                                               \
    static void four_paeth##N(uint8_t *const rows[4], const uint8_t *previous, size_t pixels) {     \
        __m128i left[2] = {_mm_setzero_si128(), _mm_setzero_si128()};                               \
        __m128i corner[2] = {_mm_setzero_si128(), _mm_setzero_si128()};                             \
        size_t t = 0;                                                                               \
        for (; t < 3; t++) {                                                                        \
            paeth_step##N(rows, previous, t, pixels, false, left, corner);                          \
        }                                                                                           \
        for (; t < pixels; t++) {                                                                   \
            paeth_step##N(rows, previous, t, pixels, true, left, corner);                           \
        }                                                                                           \
        for (; t < pixels + 3; t++) {                                                               \
            paeth_step##N(rows, previous, t, pixels, false, left, corner);                          \
        }                                                                                           \
    }

FOUR_PAETH_ROWS(1)
FOUR_PAETH_ROWS(2)
FOUR_PAETH_ROWS(3)
FOUR_PAETH_ROWS(4)

#endif

static void up(uint8_t *restrict row, const uint8_t *restrict previous, size_t count) {
    for (size_t i = 0; i < count; i++) {
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

static bool unfilter(uint8_t *row, const uint8_t *previous, size_t row_bytes, int pixel_bytes, uint8_t filter) {
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
#if defined(__SSE2__)
    if (pixel_bytes == 4) {
        filter == 1   ? sub4(row, row_bytes)
        : filter == 3 ? average4(row, previous, row_bytes)
                      : paeth4(row, previous, row_bytes);
        return true;
    }
    if (pixel_bytes == 3) {
        filter == 1   ? sub3(row, row_bytes)
        : filter == 3 ? average3(row, previous, row_bytes)
                      : paeth3(row, previous, row_bytes);
        return true;
    }
#endif
    small(row, previous, row_bytes, (size_t)pixel_bytes, filter);
    return true;
}

// Undoes filter 4 of four rows. Returns false without a change if that isn't possible.
static bool unfilter_four(uint8_t *row, const uint8_t *previous, size_t row_bytes, int pixel_bytes) {
#if defined(__SSE2__)
    size_t slot = row_bytes + 1, pixels = row_bytes / (size_t)pixel_bytes;
    for (size_t k = 0; k < 4; k++) {
        if (row[k * slot] != 4) {
            return false;
        }
    }
    uint8_t *const rows[4] = {row + 1, row + 1 + slot, row + 1 + 2 * slot, row + 1 + 3 * slot};
    switch (pixel_bytes) {
    case 1: four_paeth1(rows, previous, pixels); break;
    case 2: four_paeth2(rows, previous, pixels); break;
    case 3: four_paeth3(rows, previous, pixels); break;
    default: four_paeth4(rows, previous, pixels); break;
    }
    return true;
#else
    (void)row, (void)previous, (void)row_bytes, (void)pixel_bytes;
    return false;
#endif
}

int32_t png_unfilter(uint8_t *first, size_t row_bytes, int32_t count, int pixel_bytes) {
    size_t slot = row_bytes + 1;
    for (int32_t i = 0; i < count;) {
        uint8_t *row = first + (size_t)i * slot;
        const uint8_t *previous = row + 1 - slot;
        if (count - i >= 4 && unfilter_four(row, previous, row_bytes, pixel_bytes)) {
            i += 4;
        } else if (count - i >= 2 && row[0] == 4 && row[slot] == 4 &&
                   png_unfilter_two(row + 1, row + 1 + slot, previous, row_bytes, pixel_bytes)) {
            i += 2;
        } else if (unfilter(row + 1, previous, row_bytes, pixel_bytes, row[0])) {
            i++;
        } else {
            return i;
        }
    }
    return count;
}

#if defined(__SSE2__)
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

static size_t widen_gray(uint8_t *to, const uint8_t *row, size_t pixels) {
    const __m128i opaque = _mm_set1_epi8(-1);
    size_t i = 0;
    for (; i + 16 <= pixels; i += 16) {
        __m128i gray = _mm_loadu_si128((const __m128i *)(row + i));
        __m128i *out = (__m128i *)(to + 4 * i);
        __m128i low = _mm_unpacklo_epi8(gray, gray), high = _mm_unpackhi_epi8(gray, gray);
        __m128i low_alpha = _mm_unpacklo_epi8(gray, opaque), high_alpha = _mm_unpackhi_epi8(gray, opaque);
        _mm_storeu_si128(out, _mm_unpacklo_epi16(low, low_alpha));
        _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(low, low_alpha));
        _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(high, high_alpha));
        _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(high, high_alpha));
    }
    return i;
}

static size_t widen_gray_alpha(uint8_t *to, const uint8_t *row, size_t pixels) {
    size_t i = 0;
    for (; i + 8 <= pixels; i += 8) {
        __m128i both = _mm_loadu_si128((const __m128i *)(row + 2 * i));
        __m128i gray = _mm_and_si128(both, _mm_set1_epi16(255));
        gray = _mm_or_si128(gray, _mm_slli_epi16(gray, 8));
        _mm_storeu_si128((__m128i *)(to + 4 * i), _mm_unpacklo_epi16(gray, both));
        _mm_storeu_si128((__m128i *)(to + 4 * i + 16), _mm_unpackhi_epi16(gray, both));
    }
    return i;
}
#else
static size_t widen_gray(uint8_t *to, const uint8_t *row, size_t pixels) {
    (void)to, (void)row, (void)pixels;
    return 0;
}

static size_t widen_gray_alpha(uint8_t *to, const uint8_t *row, size_t pixels) {
    (void)to, (void)row, (void)pixels;
    return 0;
}
#endif

void png_expand(uint8_t *to, const uint8_t *row, size_t pixels, const nhs_png *p) {
    size_t i = 0;
    switch (p->color_type) {
    case PNG_COLOR_TYPE_RGB:
#if defined(__SSE2__)
        if (__builtin_cpu_supports("ssse3")) {
            i = widen3_ssse3(to, row, pixels);
        }
#endif
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
        i = has_alpha ? widen_gray_alpha(to, row, pixels) : widen_gray(to, row, pixels);
        for (; i < pixels; i++) {
            uint8_t gray = has_alpha ? row[2 * i] : row[i];
            uint32_t pixel = gray * 0x010101u | (uint32_t)(has_alpha ? row[2 * i + 1] : 255) << 24;
            memcpy(to + 4 * i, &pixel, 4);
        }
    }
    }
}
