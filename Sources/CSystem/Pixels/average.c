#include "nhs_average.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// A cell of n samples is two halves. They count three times, and the next half on each side once, so the weights add up to 4 n. A
// cell of one sample counts ten times, and its neighbours three times. The largest sum of bytes is 255 * 32 down, and four times
// that in the halves of a cell of eight columns: it fits into 15 bits.
static int shift_of(int32_t across, int32_t down) {
    return __builtin_ctz((uint32_t)((down > 1 ? 4 * down : 16) * (across > 1 ? 4 * across : 16)));
}

// The first part of the loops below, in vectors. They return how far they came.
#ifdef __SSE2__
static size_t bytes_join_eights(uint16_t *sums, size_t count) {
    __m128i ones = _mm_set1_epi16(1);
    size_t x = 0;
    for (; x + 8 <= count; x += 8) {
        __m128i low = _mm_madd_epi16(_mm_loadu_si128((const __m128i *)(sums + 2 * x)), ones);
        __m128i high = _mm_madd_epi16(_mm_loadu_si128((const __m128i *)(sums + 2 * x + 8)), ones);
        _mm_storeu_si128((__m128i *)(sums + x), _mm_packs_epi32(low, high));
    }
    return x;
}

static inline __m128i four_cells(const uint16_t *at, __m128i rounding, __m128i shift) {
    __m128i inside = _mm_madd_epi16(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi16(3));
    __m128i before = _mm_madd_epi16(_mm_loadu_si128((const __m128i *)(at - 1)), _mm_set1_epi32(1));
    __m128i after = _mm_madd_epi16(_mm_loadu_si128((const __m128i *)(at + 1)), _mm_set1_epi32(1 << 16));
    return _mm_srl_epi32(_mm_add_epi32(_mm_add_epi32(inside, before), _mm_add_epi32(after, rounding)), shift);
}

static size_t bytes_weigh_eights(const uint16_t *sums, uint8_t *out, size_t x, size_t count, int shift) {
    __m128i rounding = _mm_set1_epi32(1 << shift >> 1), bits = _mm_cvtsi32_si128(shift);
    for (; x + 8 <= count; x += 8) {
        __m128i low = four_cells(sums + 2 * x, rounding, bits), high = four_cells(sums + 2 * x + 8, rounding, bits);
        __m128i words = _mm_packs_epi32(low, high);
        _mm_storel_epi64((__m128i *)(out + x), _mm_packus_epi16(words, words));
    }
    return x;
}

static size_t bytes_smooth_eights(const uint16_t *sums, uint8_t *out, size_t x, size_t count, int shift) {
    __m128i rounding = _mm_set1_epi16((short)(1 << shift >> 1)), bits = _mm_cvtsi32_si128(shift);
    for (; x + 8 <= count; x += 8) {
        __m128i before = _mm_loadu_si128((const __m128i *)(sums + x - 1));
        __m128i after = _mm_loadu_si128((const __m128i *)(sums + x + 1));
        __m128i inside = _mm_mullo_epi16(_mm_loadu_si128((const __m128i *)(sums + x)), _mm_set1_epi16(10));
        __m128i sides = _mm_mullo_epi16(_mm_add_epi16(before, after), _mm_set1_epi16(3));
        __m128i words = _mm_srl_epi16(_mm_add_epi16(_mm_add_epi16(inside, sides), rounding), bits);
        _mm_storel_epi64((__m128i *)(out + x), _mm_packus_epi16(words, words));
    }
    return x;
}
#else
#define bytes_smooth_eights(sums, out, x, count, shift) (x)
#define bytes_join_eights(sums, count) 0
#define bytes_weigh_eights(sums, out, x, count, shift) (x)
#endif
#define words_smooth_eights(sums, out, x, count, shift) (x)
#define words_join_eights(sums, count) 0
#define words_weigh_eights(sums, out, x, count, shift) (x)

// The same loops for samples of one and of two bytes.
#define AVERAGE(NAME, SAMPLE, SUM)                                                                                     \
    static const SAMPLE *NAME##_row(const nhs_plane *plane, int32_t row) {                                             \
        int32_t nearest = row < 0 ? 0 : row < plane->height ? row : plane->height - 1;                                 \
        return (const SAMPLE *)(const void *)((const uint8_t *)plane->samples + (size_t)nearest * plane->stride);      \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME##_down(const nhs_plane *plane, int32_t down, int32_t row, SUM *restrict sums) {                   \
        size_t count = (size_t)plane->width;                                                                           \
        int32_t first = row * down, last = first + down - 1, half = down / 2;                                          \
        const SAMPLE *restrict before = NAME##_row(plane, first - 1), *restrict after = NAME##_row(plane, last + 1);   \
        const SAMPLE *restrict one = NAME##_row(plane, first), *restrict other = NAME##_row(plane, last);              \
        if (down == 1) {                                                                                               \
            for (size_t x = 0; x < count; x++) {                                                                       \
                sums[x] = (SUM)(10 * one[x] + 3 * (before[x] + after[x]));                                             \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t x = 0; x < count; x++) {                                                                           \
            sums[x] = (SUM)(3 * (one[x] + other[x]) + before[x] + after[x]);                                           \
        }                                                                                                              \
        for (int32_t n = 1; n < half; n++) {                                                                           \
            before = NAME##_row(plane, first - 1 - n);                                                                 \
            after = NAME##_row(plane, last + 1 + n);                                                                   \
            one = NAME##_row(plane, first + n);                                                                        \
            other = NAME##_row(plane, last - n);                                                                       \
            for (size_t x = 0; x < count; x++) {                                                                       \
                sums[x] = (SUM)(sums[x] + 3 * (one[x] + other[x]) + before[x] + after[x]);                             \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* The largest sum is 255 * 16 * 16; it fits into 16 bits. */                                                      \
    static void NAME##_smooth(const SUM *restrict sums, SAMPLE *restrict out, size_t count, int shift) {               \
        SUM rounding = (SUM)(1 << shift >> 1);                                                                         \
        out[0] = (SAMPLE)((SUM)(13 * sums[0] + 3 * sums[1] + rounding) >> shift);                                      \
        for (size_t x = NAME##_smooth_eights(sums, out, 1, count, shift); x < count; x++) {                            \
            out[x] = (SAMPLE)((SUM)(10 * sums[x] + 3 * (sums[x - 1] + sums[x + 1]) + rounding) >> shift);              \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void nhs_average_##NAME(const nhs_plane *plane, int32_t across, int32_t down, int32_t row, SAMPLE *out,            \
                            SUM *sums) {                                                                               \
        NAME##_down(plane, down, row, sums);                                                                           \
        size_t cells = (size_t)(plane->width / across + (plane->width % across != 0));                                 \
        size_t step = across > 1 ? (size_t)across / 2 : 1, halves = across > 1 ? 2 * cells + 1 : cells + 1;            \
        uint32_t before = (uint32_t)(step * sums[0]);                                                                  \
        for (size_t x = (size_t)plane->width; x < halves * step; x++) {                                                \
            sums[x] = sums[plane->width - 1];                                                                          \
        }                                                                                                              \
        for (; step > 1; step /= 2) {                                                                                  \
            size_t count = halves * step / 2;                                                                          \
            for (size_t x = NAME##_join_eights(sums, count); x < count; x++) {                                         \
                sums[x] = (SUM)(sums[2 * x] + sums[2 * x + 1]);                                                        \
            }                                                                                                          \
        }                                                                                                              \
        int shift = shift_of(across, down);                                                                            \
        uint32_t rounding = 1u << shift >> 1;                                                                          \
        if (across == 1) {                                                                                             \
            NAME##_smooth(sums, out, cells, shift);                                                                    \
            return;                                                                                                    \
        }                                                                                                              \
        out[0] = (SAMPLE)((3 * ((uint32_t)sums[0] + sums[1]) + before + sums[2] + rounding) >> shift);                 \
        for (size_t x = NAME##_weigh_eights(sums, out, 1, cells, shift); x < cells; x++) {                             \
            const SUM *at = sums + 2 * x;                                                                              \
            out[x] = (SAMPLE)((3 * ((uint32_t)at[0] + at[1]) + at[-1] + at[2] + rounding) >> shift);                   \
        }                                                                                                              \
    }

AVERAGE(bytes, uint8_t, uint16_t)
AVERAGE(words, uint16_t, uint32_t)
