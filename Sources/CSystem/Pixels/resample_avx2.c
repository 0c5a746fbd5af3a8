// The AVX2 kernels, compiled on any x86-64 and chosen at run time.
#include "resample_levels.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#ifdef __clang__  // gcc does not know the pragma, and in its strict mode does as it says
#pragma STDC FP_CONTRACT OFF
#endif

#define NHS_AVX2 __attribute__((target("avx2")))

NHS_AVX2 static inline __m256i load(const void *at) { return _mm256_loadu_si256((const __m256i *)at); }
NHS_AVX2 static inline void store(void *at, __m256i value) { _mm256_storeu_si256((__m256i *)at, value); }

// Four pixels to 16-bit lanes, in order.
NHS_AVX2 static inline __m256i spread(const uint8_t *pixels) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)pixels));
}

NHS_AVX2 static void widen_opaque(int16_t *wide, const uint8_t *rgbx, size_t pixels) {
    size_t i = 0;
    for (; i + 16 <= pixels; i += 16) {
        for (size_t k = 0; k < 16; k += 4) {
            store(wide + (i + k) * 4, _mm256_slli_epi16(spread(rgbx + (i + k) * 4), 7));
        }
    }
    for (; i + 4 <= pixels; i += 4) store(wide + i * 4, _mm256_slli_epi16(spread(rgbx + i * 4), 7));
    if (i < pixels) nhs_resample_sse2()->widen_opaque(wide + i * 4, rgbx + i * 4, pixels - i);
}

NHS_AVX2 static void widen_alpha(int16_t *wide, const uint8_t *rgba, size_t pixels) {
    const __m256i keep_alpha = _mm256_set1_epi64x((long long)0xFFFF000000000000ull);
    const __m256i alpha_twice =
        _mm256_broadcastsi128_si256(_mm_set_epi8(14, 14, 14, 14, 14, 14, 14, 14, 6, 6, 6, 6, 6, 6, 6, 6));
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        __m256i values = spread(rgba + i * 4);
        __m256i factor = _mm256_or_si256(_mm256_shuffle_epi8(values, alpha_twice), keep_alpha);
        __m256i high = _mm256_mulhi_epu16(_mm256_slli_epi16(values, 8), factor);
        store(wide + i * 4, _mm256_avg_epu16(high, _mm256_setzero_si256()));
    }
    if (i < pixels) nhs_resample_sse2()->widen_alpha(wide + i * 4, rgba + i * 4, pixels - i);
}

NHS_AVX2 static inline __m256i spread_pair(const int16_t weight[2]) {
    int32_t both;
    memcpy(&both, weight, 4);
    return _mm256_set1_epi32(both);
}

NHS_AVX2 static inline void add_product(__m256i *sum, __m256i values, __m256i weight) {
    *sum = _mm256_add_epi16(*sum, _mm256_mulhrs_epi16(values, weight));
}

// Four vectors of a row's values, weighed for one result row.
typedef struct four {
    __m256i v[4];
} four;

NHS_AVX2 static inline four row_at(const int16_t *row) {
    return (four){{load(row), load(row + 16), load(row + 32), load(row + 48)}};
}

NHS_AVX2 static inline void add_row(four *sums, four row, const int16_t weight[2]) {
    __m256i spread = spread_pair(weight);
    for (int i = 0; i < 4; i++) add_product(&sums->v[i], row.v[i], spread);
}

NHS_AVX2 static inline void store_row(int16_t *to, four sums) {
    for (int i = 0; i < 4; i++) store(to + i * 16, sums.v[i]);
}

NHS_AVX2 static void vertical(int16_t *upper, int16_t *lower, const int16_t *const *rows,
                              const nhs_weights *weights, size_t taps, size_t values) {
    // The upper row's window begins and ends before the lower one's: skip taps with weight 0.
    size_t lower_begin = 0, upper_end = taps;
    while (lower_begin < taps && weights[lower_begin].lower[0] == 0) lower_begin++;
    while (upper_end > lower_begin && weights[upper_end - 1].upper[0] == 0) upper_end--;
    size_t i = 0;
    for (; i + 64 <= values; i += 64) {
        four above = {{_mm256_setzero_si256()}}, below = above;
        for (size_t t = 0; t < lower_begin; t++) add_row(&above, row_at(rows[t] + i), weights[t].upper);
        for (size_t t = lower_begin; t < upper_end; t++) {
            four row = row_at(rows[t] + i);
            add_row(&above, row, weights[t].upper);
            add_row(&below, row, weights[t].lower);
        }
        for (size_t t = upper_end; t < taps; t++) add_row(&below, row_at(rows[t] + i), weights[t].lower);
        store_row(upper + i, above);
        store_row(lower + i, below);
    }
    // A last block of eight pixels.
    if (i < values) {
        __m256i upper0 = _mm256_setzero_si256(), upper1 = upper0, lower0 = upper0, lower1 = upper0;
        for (size_t t = 0; t < taps; t++) {
            __m256i row0 = load(rows[t] + i), row1 = load(rows[t] + i + 16);
            __m256i upper_weight = spread_pair(weights[t].upper),
                    lower_weight = spread_pair(weights[t].lower);
            add_product(&upper0, row0, upper_weight);
            add_product(&upper1, row1, upper_weight);
            add_product(&lower0, row0, lower_weight);
            add_product(&lower1, row1, lower_weight);
        }
        store(upper + i, upper0);
        store(upper + i + 16, upper1);
        store(lower + i, lower0);
        store(lower + i + 16, lower1);
    }
}

// Two windows' sums side by side, on both rows.
typedef struct sums_of_two {
    __m256i upper, lower;
} sums_of_two;

NHS_AVX2 static inline __m256i folded(__m256i first, __m256i second) {
    return _mm256_add_epi32(_mm256_permute2x128_si256(first, second, 0x20),
                            _mm256_permute2x128_si256(first, second, 0x31));
}

NHS_AVX2 static inline __m256i weighed(const int16_t *pixels, __m256i weights) {
    const __m256i pair_up =
        _mm256_broadcastsi128_si256(_mm_set_epi8(15, 14, 7, 6, 13, 12, 5, 4, 11, 10, 3, 2, 9, 8, 1, 0));
    return _mm256_madd_epi16(_mm256_shuffle_epi8(load(pixels), pair_up), weights);
}

NHS_AVX2 static inline sums_of_two weighed_two(const nhs_row_pair *rows, const nhs_window *windows,
                                               const int16_t *table, size_t taps) {
    size_t start0 = (size_t)windows[0].start * 4, start1 = (size_t)windows[1].start * 4;
    const int16_t *upper0 = rows->upper_middle + start0, *lower0 = rows->lower_middle + start0;
    const int16_t *upper1 = rows->upper_middle + start1, *lower1 = rows->lower_middle + start1;
    const int16_t *table0 = table + windows[0].weights, *table1 = table + windows[1].weights;
    __m256i upper_sum0 = _mm256_setzero_si256(), upper_sum1 = upper_sum0;
    __m256i lower_sum0 = upper_sum0, lower_sum1 = upper_sum0;
    for (size_t t = 0; t < taps * 4; t += 16) {
        __m256i weights0 = load(table0 + t), weights1 = load(table1 + t);
        upper_sum0 = _mm256_add_epi32(upper_sum0, weighed(upper0 + t, weights0));
        lower_sum0 = _mm256_add_epi32(lower_sum0, weighed(lower0 + t, weights0));
        upper_sum1 = _mm256_add_epi32(upper_sum1, weighed(upper1 + t, weights1));
        lower_sum1 = _mm256_add_epi32(lower_sum1, weighed(lower1 + t, weights1));
    }
    return (sums_of_two){folded(upper_sum0, upper_sum1), folded(lower_sum0, lower_sum1)};
}

NHS_AVX2 static inline __m256i rounded_levels(__m256i sums) {
    return _mm256_srai_epi32(_mm256_add_epi32(sums, _mm256_set1_epi32(1 << 19)), 20);
}

NHS_AVX2 static inline __m256i divided_levels(__m256i sums) {
    const __m256 full = _mm256_set1_ps(255.0f);
    __m256 floats = _mm256_cvtepi32_ps(sums);
    __m256 factor = _mm256_div_ps(full, _mm256_permute_ps(floats, 0xFF));
    __m256 levels = _mm256_add_ps(_mm256_mul_ps(floats, factor), _mm256_set1_ps(0.5f));
    levels = _mm256_min_ps(_mm256_max_ps(levels, _mm256_setzero_ps()), full);
    __m256i rounded = rounded_levels(sums);
    __m256i alpha = _mm256_shuffle_epi32(rounded, 0xFF);
    __m256i both = _mm256_blend_epi32(_mm256_cvttps_epi32(levels), rounded, 0x88);
    return _mm256_and_si256(both, _mm256_cmpgt_epi32(alpha, _mm256_setzero_si256()));
}

// Levels of pixels 0 1 and 2 3 to four pixels in order.
NHS_AVX2 static inline __m128i packed(__m256i first, __m256i second) {
    __m256i words = _mm256_packs_epi32(first, second);
    __m256i bytes = _mm256_packus_epi16(words, words);
    return _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
}

NHS_AVX2 static void horizontal_opaque(const nhs_row_pair *rows, const nhs_window *windows,
                                       const int16_t *table, size_t taps, size_t pixels) {
    const __m128i alpha = _mm_set1_epi32((int)0xFF000000u);
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        sums_of_two first = weighed_two(rows, windows + i, table, taps);
        sums_of_two second = weighed_two(rows, windows + i + 2, table, taps);
        __m128i upper = packed(rounded_levels(first.upper), rounded_levels(second.upper));
        __m128i lower = packed(rounded_levels(first.lower), rounded_levels(second.lower));
        _mm_storeu_si128((__m128i *)(rows->upper + i * 4), _mm_or_si128(upper, alpha));
        _mm_storeu_si128((__m128i *)(rows->lower + i * 4), _mm_or_si128(lower, alpha));
    }
    nhs_horizontal_opaque_scalar(rows->upper + i * 4, rows->upper_middle, windows + i, table, taps,
                                 pixels - i);
    nhs_horizontal_opaque_scalar(rows->lower + i * 4, rows->lower_middle, windows + i, table, taps,
                                 pixels - i);
}

NHS_AVX2 static void horizontal_alpha(const nhs_row_pair *rows, const nhs_window *windows,
                                      const int16_t *table, size_t taps, size_t pixels) {
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        sums_of_two first = weighed_two(rows, windows + i, table, taps);
        sums_of_two second = weighed_two(rows, windows + i + 2, table, taps);
        __m128i upper = packed(divided_levels(first.upper), divided_levels(second.upper));
        __m128i lower = packed(divided_levels(first.lower), divided_levels(second.lower));
        _mm_storeu_si128((__m128i *)(rows->upper + i * 4), upper);
        _mm_storeu_si128((__m128i *)(rows->lower + i * 4), lower);
    }
    nhs_horizontal_alpha_scalar(rows->upper + i * 4, rows->upper_middle, windows + i, table, taps,
                                pixels - i);
    nhs_horizontal_alpha_scalar(rows->lower + i * 4, rows->lower_middle, windows + i, table, taps,
                                pixels - i);
}

// Adds eight 32-bit values to their sums.
NHS_AVX2 static inline void add_values(float *sums, __m256i values, __m256 weight, int fresh) {
    __m256 added = _mm256_mul_ps(weight, _mm256_cvtepi32_ps(values));
    _mm256_storeu_ps(sums, fresh ? added : _mm256_add_ps(_mm256_loadu_ps(sums), added));
}

NHS_AVX2 static void area_add_opaque(float *sums, const uint8_t *rgbx, size_t pixels, float weight,
                                     int fresh) {
    const __m256 weights = _mm256_set1_ps(weight);
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        __m128i x = _mm_loadu_si128((const __m128i *)(rgbx + i * 4));
        add_values(sums + i * 4, _mm256_cvtepu8_epi32(x), weights, fresh);
        add_values(sums + i * 4 + 8, _mm256_cvtepu8_epi32(_mm_srli_si128(x, 8)), weights, fresh);
    }
    if (i < pixels)
        nhs_resample_sse2()->area_add_opaque(sums + i * 4, rgbx + i * 4, pixels - i, weight, fresh);
}

NHS_AVX2 static void area_add_alpha(float *sums, const uint8_t *rgba, size_t pixels, float weight,
                                    int fresh) {
    const __m256 weights = _mm256_set1_ps(weight);
    const __m256i alpha_factor = _mm256_set1_epi64x(255ll << 48);
    const __m256i own_alpha = _mm256_broadcastsi128_si256(
        _mm_set_epi8(-1, -1, -1, 14, -1, 14, -1, 14, -1, -1, -1, 6, -1, 6, -1, 6));
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        __m256i values = spread(rgba + i * 4);
        __m256i factor = _mm256_or_si256(_mm256_shuffle_epi8(values, own_alpha), alpha_factor);
        __m256i products = _mm256_mullo_epi16(values, factor);
        add_values(sums + i * 4, _mm256_cvtepu16_epi32(_mm256_castsi256_si128(products)), weights, fresh);
        add_values(sums + i * 4 + 8, _mm256_cvtepu16_epi32(_mm256_extracti128_si256(products, 1)), weights,
                   fresh);
    }
    if (i < pixels)
        nhs_resample_sse2()->area_add_alpha(sums + i * 4, rgba + i * 4, pixels - i, weight, fresh);
}

static const nhs_resample_kernels avx2_kernels = {
    .name = "avx2",
    .widen_opaque = widen_opaque,
    .widen_alpha = widen_alpha,
    .vertical = vertical,
    .horizontal_opaque = horizontal_opaque,
    .horizontal_alpha = horizontal_alpha,
    .area_add_opaque = area_add_opaque,
    .area_add_alpha = area_add_alpha,
    .area_finish = nhs_area_finish_sse2,  // one pixel is 128 bits wide already
};

const nhs_resample_kernels *nhs_resample_avx2(void) {
    return __builtin_cpu_supports("avx2") ? &avx2_kernels : NULL;
}

#else

const nhs_resample_kernels *nhs_resample_avx2(void) { return NULL; }

#endif
