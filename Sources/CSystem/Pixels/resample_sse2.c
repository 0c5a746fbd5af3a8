// The SSE2 kernels, which every x86-64 machine can run.
#include "resample_levels.h"

#if defined(__SSE2__)

#include <emmintrin.h>
#include <string.h>

#ifdef __clang__  // gcc does not know the pragma, and in its strict mode does as it says
#pragma STDC FP_CONTRACT OFF
#endif

static inline __m128i load(const void *at) { return _mm_loadu_si128((const __m128i *)at); }
static inline void store(void *at, __m128i value) { _mm_storeu_si128((__m128i *)at, value); }

// The odd pixels at a row's end are processed again as part of a whole group of four.
#define NHS_TAIL(kernel, type, out, in, pixels) \
    do { \
        uint8_t group[16] = {0}; \
        type result[16]; \
        for (size_t k = 0; k < (pixels) * 4; k++) group[k] = (in)[k]; \
        kernel(result, group, 4); \
        for (size_t k = 0; k < (pixels) * 4; k++) (out)[k] = result[k]; \
    } while (0)

static void widen_opaque(int16_t *wide, const uint8_t *rgbx, size_t pixels) {
    const __m128i zero = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        __m128i x = load(rgbx + i * 4);
        store(wide + i * 4, _mm_srli_epi16(_mm_unpacklo_epi8(zero, x), 1));
        store(wide + i * 4 + 8, _mm_srli_epi16(_mm_unpackhi_epi8(zero, x), 1));
    }
    if (i < pixels) NHS_TAIL(widen_opaque, int16_t, wide + i * 4, rgbx + i * 4, pixels - i);
}

// Two pixels, each channel shifted up by 8.
static inline __m128i premultiplied(__m128i shifted) {
    const __m128i keep_alpha = _mm_set_epi16(-1, 0, 0, 0, -1, 0, 0, 0);
    __m128i alpha = _mm_shufflehi_epi16(_mm_shufflelo_epi16(shifted, 0xFF), 0xFF);
    __m128i factor = _mm_or_si128(_mm_or_si128(alpha, _mm_srli_epi16(alpha, 8)), keep_alpha);
    return _mm_avg_epu16(_mm_mulhi_epu16(shifted, factor), _mm_setzero_si128());
}

static void widen_alpha(int16_t *wide, const uint8_t *rgba, size_t pixels) {
    const __m128i zero = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        __m128i x = load(rgba + i * 4);
        store(wide + i * 4, premultiplied(_mm_unpacklo_epi8(zero, x)));
        store(wide + i * 4 + 8, premultiplied(_mm_unpackhi_epi8(zero, x)));
    }
    if (i < pixels) NHS_TAIL(widen_alpha, int16_t, wide + i * 4, rgba + i * 4, pixels - i);
}

// (a * b + 0x4000) >> 15. SSSE3 has one instruction for it, SSE2 doesn't.
static inline __m128i rounded_product(__m128i a, __m128i b) {
    __m128i carry = _mm_avg_epu16(_mm_srli_epi16(_mm_mullo_epi16(a, b), 14), _mm_setzero_si128());
    return _mm_add_epi16(_mm_slli_epi16(_mm_mulhi_epi16(a, b), 1), carry);
}

static inline __m128i spread_pair(const int16_t weight[2]) {
    int32_t both;
    memcpy(&both, weight, 4);
    return _mm_set1_epi32(both);
}

static void vertical(int16_t *upper, int16_t *lower, const int16_t *const *rows, const nhs_weights *weights,
                     size_t taps, size_t values) {
    for (size_t i = 0; i < values; i += 16) {
        __m128i upper0 = _mm_setzero_si128(), upper1 = upper0, lower0 = upper0, lower1 = upper0;
        for (size_t t = 0; t < taps; t++) {
            __m128i row0 = load(rows[t] + i), row1 = load(rows[t] + i + 8);
            __m128i weight = spread_pair(weights[t].upper);
            upper0 = _mm_add_epi16(upper0, rounded_product(row0, weight));
            upper1 = _mm_add_epi16(upper1, rounded_product(row1, weight));
            weight = spread_pair(weights[t].lower);
            lower0 = _mm_add_epi16(lower0, rounded_product(row0, weight));
            lower1 = _mm_add_epi16(lower1, rounded_product(row1, weight));
        }
        store(upper + i, upper0);
        store(upper + i + 8, upper1);
        store(lower + i, lower0);
        store(lower + i + 8, lower1);
    }
}

static inline __m128i weighed_pair(const int16_t *pixels, const int16_t *weights) {
    __m128i two = load(pixels);
    return _mm_madd_epi16(_mm_unpacklo_epi16(two, _mm_srli_si128(two, 8)), load(weights));
}

static inline __m128i weighed(const int16_t *pixels, const int16_t *weights, size_t taps) {
    __m128i sum0 = _mm_setzero_si128(), sum1 = sum0;
    for (size_t t = 0; t < taps; t += 4) {
        sum0 = _mm_add_epi32(sum0, weighed_pair(pixels + t * 4, weights + t * 4));
        sum1 = _mm_add_epi32(sum1, weighed_pair(pixels + t * 4 + 8, weights + t * 4 + 8));
    }
    return _mm_add_epi32(sum0, sum1);
}

static inline __m128i rounded_levels(__m128i sums) {
    return _mm_srai_epi32(_mm_add_epi32(sums, _mm_set1_epi32(1 << 19)), 20);
}

static inline __m128i divided_levels(__m128i sums) {
    const __m128i alpha_lane = _mm_set_epi32(-1, 0, 0, 0);
    const __m128 full = _mm_set1_ps(255.0f);
    __m128 floats = _mm_cvtepi32_ps(sums);
    __m128 factor = _mm_div_ps(full, _mm_shuffle_ps(floats, floats, 0xFF));
    __m128 levels = _mm_add_ps(_mm_mul_ps(floats, factor), _mm_set1_ps(0.5f));
    levels = _mm_min_ps(_mm_max_ps(levels, _mm_setzero_ps()), full);
    __m128i rounded = rounded_levels(sums);
    __m128i alpha = _mm_shuffle_epi32(rounded, 0xFF);
    __m128i both = _mm_or_si128(_mm_andnot_si128(alpha_lane, _mm_cvttps_epi32(levels)),
                                _mm_and_si128(alpha_lane, rounded));
    return _mm_and_si128(both, _mm_cmpgt_epi32(alpha, _mm_setzero_si128()));
}

static void opaque_row(uint8_t *rgbx, const int16_t *middle, const nhs_window *windows, const int16_t *table,
                       size_t taps, size_t pixels) {
    const __m128i alpha = _mm_set1_epi32((int)0xFF000000u);
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        __m128i four[4];
        for (size_t k = 0; k < 4; k++) {
            const nhs_window window = windows[i + k];
            four[k] =
                rounded_levels(weighed(middle + (size_t)window.start * 4, table + window.weights, taps));
        }
        __m128i bytes =
            _mm_packus_epi16(_mm_packs_epi32(four[0], four[1]), _mm_packs_epi32(four[2], four[3]));
        store(rgbx + i * 4, _mm_or_si128(bytes, alpha));
    }
    nhs_horizontal_opaque_scalar(rgbx + i * 4, middle, windows + i, table, taps, pixels - i);
}

static void alpha_row(uint8_t *rgba, const int16_t *middle, const nhs_window *windows, const int16_t *table,
                      size_t taps, size_t pixels) {
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        __m128i four[4];
        for (size_t k = 0; k < 4; k++) {
            const nhs_window window = windows[i + k];
            four[k] =
                divided_levels(weighed(middle + (size_t)window.start * 4, table + window.weights, taps));
        }
        store(rgba + i * 4,
              _mm_packus_epi16(_mm_packs_epi32(four[0], four[1]), _mm_packs_epi32(four[2], four[3])));
    }
    nhs_horizontal_alpha_scalar(rgba + i * 4, middle, windows + i, table, taps, pixels - i);
}

static void horizontal_opaque(const nhs_row_pair *rows, const nhs_window *windows, const int16_t *table,
                              size_t taps, size_t pixels) {
    opaque_row(rows->upper, rows->upper_middle, windows, table, taps, pixels);
    opaque_row(rows->lower, rows->lower_middle, windows, table, taps, pixels);
}

static void horizontal_alpha(const nhs_row_pair *rows, const nhs_window *windows, const int16_t *table,
                             size_t taps, size_t pixels) {
    alpha_row(rows->upper, rows->upper_middle, windows, table, taps, pixels);
    alpha_row(rows->lower, rows->lower_middle, windows, table, taps, pixels);
}

// Adds eight values to their sums.
static inline void add_values(float *sums, __m128i values, __m128 weight, int fresh) {
    const __m128i zero = _mm_setzero_si128();
    __m128 low = _mm_mul_ps(weight, _mm_cvtepi32_ps(_mm_unpacklo_epi16(values, zero)));
    __m128 high = _mm_mul_ps(weight, _mm_cvtepi32_ps(_mm_unpackhi_epi16(values, zero)));
    _mm_storeu_ps(sums, fresh ? low : _mm_add_ps(_mm_loadu_ps(sums), low));
    _mm_storeu_ps(sums + 4, fresh ? high : _mm_add_ps(_mm_loadu_ps(sums + 4), high));
}

// Sums have room for whole blocks; rows don't.
static inline __m128i load_part(const uint8_t *row, size_t pixels) {
    if (pixels >= 4) return load(row);
    uint8_t group[16] = {0};
    for (size_t k = 0; k < pixels * 4; k++) group[k] = row[k];
    return load(group);
}

static void area_add_opaque(float *sums, const uint8_t *rgbx, size_t pixels, float weight, int fresh) {
    const __m128i zero = _mm_setzero_si128();
    const __m128 weights = _mm_set1_ps(weight);
    for (size_t i = 0; i < pixels; i += 4) {
        __m128i x = load_part(rgbx + i * 4, pixels - i);
        add_values(sums + i * 4, _mm_unpacklo_epi8(x, zero), weights, fresh);
        add_values(sums + i * 4 + 8, _mm_unpackhi_epi8(x, zero), weights, fresh);
    }
}

static inline __m128i product_with_alpha(__m128i values) {
    const __m128i colours = _mm_set_epi16(0, -1, -1, -1, 0, -1, -1, -1);
    const __m128i alpha_factor = _mm_set_epi16(255, 0, 0, 0, 255, 0, 0, 0);
    __m128i alpha = _mm_shufflehi_epi16(_mm_shufflelo_epi16(values, 0xFF), 0xFF);
    return _mm_mullo_epi16(values, _mm_or_si128(_mm_and_si128(alpha, colours), alpha_factor));
}

static void area_add_alpha(float *sums, const uint8_t *rgba, size_t pixels, float weight, int fresh) {
    const __m128i zero = _mm_setzero_si128();
    const __m128 weights = _mm_set1_ps(weight);
    for (size_t i = 0; i < pixels; i += 4) {
        __m128i x = load_part(rgba + i * 4, pixels - i);
        add_values(sums + i * 4, product_with_alpha(_mm_unpacklo_epi8(x, zero)), weights, fresh);
        add_values(sums + i * 4 + 8, product_with_alpha(_mm_unpackhi_epi8(x, zero)), weights, fresh);
    }
}

void nhs_area_finish_sse2(int16_t *wide, const float *sums, const nhs_cell *cells, size_t count,
                          float scale) {
    for (size_t i = 0; i < count; i++) {
        const nhs_cell cell = cells[i];
        __m128 sum = _mm_mul_ps(_mm_loadu_ps(sums + (size_t)cell.first * 4), _mm_set1_ps(cell.first_weight));
        for (int32_t x = cell.first + 1; x < cell.last; x++) {
            sum = _mm_add_ps(sum, _mm_loadu_ps(sums + (size_t)x * 4));
        }
        if (cell.last > cell.first) {
            __m128 last = _mm_loadu_ps(sums + (size_t)cell.last * 4);
            sum = _mm_add_ps(sum, _mm_mul_ps(last, _mm_set1_ps(cell.last_weight)));
        }
        __m128 value = _mm_add_ps(_mm_mul_ps(sum, _mm_set1_ps(scale)), _mm_set1_ps(0.5f));
        __m128i whole = _mm_cvttps_epi32(_mm_min_ps(value, _mm_set1_ps(32640.0f)));
        _mm_storel_epi64((__m128i *)(wide + i * 4), _mm_packs_epi32(whole, whole));
    }
}

static const nhs_resample_kernels sse2_kernels = {
    .name = "sse2",
    .widen_opaque = widen_opaque,
    .widen_alpha = widen_alpha,
    .vertical = vertical,
    .horizontal_opaque = horizontal_opaque,
    .horizontal_alpha = horizontal_alpha,
    .area_add_opaque = area_add_opaque,
    .area_add_alpha = area_add_alpha,
    .area_finish = nhs_area_finish_sse2,
};

const nhs_resample_kernels *nhs_resample_sse2(void) { return &sse2_kernels; }

#else

const nhs_resample_kernels *nhs_resample_sse2(void) { return NULL; }

#endif
