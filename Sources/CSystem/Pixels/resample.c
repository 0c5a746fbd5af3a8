// The plain C kernels. The SIMD kernels must match them bit for bit; other machines use them.
#include "nhs_resample.h"
#include "resample_levels.h"

#include <math.h>
#include <string.h>

// A fused multiply-add would round differently from the SIMD kernels.
#ifdef __clang__  // gcc does not know the pragma, and in its strict mode does as it says
#pragma STDC FP_CONTRACT OFF
#endif

static void widen_opaque(int16_t *wide, const uint8_t *rgbx, size_t pixels) {
    for (size_t i = 0; i < pixels * 4; i++) wide[i] = (int16_t)(rgbx[i] << 7);
}

static void widen_alpha(int16_t *wide, const uint8_t *rgba, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        uint32_t alpha = rgba[i * 4 + 3] * 257u;
        for (size_t c = 0; c < 4; c++) {
            uint32_t factor = c == 3 ? 65535u : alpha;
            uint32_t high = (((uint32_t)rgba[i * 4 + c] << 8) * factor) >> 16;
            wide[i * 4 + c] = (int16_t)((high + 1) >> 1);
        }
    }
}

static void vertical(int16_t *upper, int16_t *lower, const int16_t *const *rows, const nhs_weights *weights,
                     size_t taps, size_t values) {
    for (size_t i = 0; i < values; i++) {
        int32_t upper_sum = 0, lower_sum = 0;
        for (size_t t = 0; t < taps; t++) {
            upper_sum += (rows[t][i] * weights[t].upper[0] + 0x4000) >> 15;
            lower_sum += (rows[t][i] * weights[t].lower[0] + 0x4000) >> 15;
        }
        upper[i] = (int16_t)upper_sum;
        lower[i] = (int16_t)lower_sum;
    }
}

static inline void weigh(int32_t sums[4], const int16_t *pixel, const int16_t *weights, size_t taps) {
    sums[0] = sums[1] = sums[2] = sums[3] = 0;
    for (size_t t = 0; t < taps; t++) {
        int32_t weight = weights[(t >> 2) * 16 + ((t >> 1) & 1) * 8 + (t & 1)];
        for (size_t c = 0; c < 4; c++) sums[c] += pixel[t * 4 + c] * weight;
    }
}

static inline uint8_t rounded_level(int32_t sum) {
    int32_t level = (sum + (1 << 19)) >> 20;
    return (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
}

void nhs_horizontal_opaque_scalar(uint8_t *rgbx, const int16_t *middle, const nhs_window *windows,
                                  const int16_t *table, size_t taps, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        int32_t sums[4];
        weigh(sums, middle + (size_t)windows[i].start * 4, table + windows[i].weights, taps);
        for (size_t c = 0; c < 3; c++) rgbx[i * 4 + c] = rounded_level(sums[c]);
        rgbx[i * 4 + 3] = 255;
    }
}

void nhs_horizontal_alpha_scalar(uint8_t *rgba, const int16_t *middle, const nhs_window *windows,
                                 const int16_t *table, size_t taps, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        int32_t sums[4];
        weigh(sums, middle + (size_t)windows[i].start * 4, table + windows[i].weights, taps);
        uint8_t alpha = rounded_level(sums[3]);
        if (alpha == 0) {
            memset(rgba + i * 4, 0, 4);
            continue;
        }
        float divided = 255.0f / (float)sums[3];
        for (size_t c = 0; c < 3; c++) {
            float level = (float)sums[c] * divided + 0.5f;
            level = level < 0.0f ? 0.0f : level > 255.0f ? 255.0f : level;
            rgba[i * 4 + c] = (uint8_t)level;
        }
        rgba[i * 4 + 3] = alpha;
    }
}

static void area_add_opaque(float *sums, const uint8_t *rgbx, size_t pixels, float weight, int fresh) {
    if (fresh) {
        for (size_t i = 0; i < pixels * 4; i++) sums[i] = weight * (float)rgbx[i];
    } else {
        for (size_t i = 0; i < pixels * 4; i++) sums[i] += weight * (float)rgbx[i];
    }
}

static void area_add_alpha(float *sums, const uint8_t *rgba, size_t pixels, float weight, int fresh) {
    for (size_t i = 0; i < pixels; i++) {
        for (size_t c = 0; c < 4; c++) {
            int factor = c == 3 ? 255 : rgba[i * 4 + 3];
            float value = weight * (float)(rgba[i * 4 + c] * factor);
            sums[i * 4 + c] = fresh ? value : sums[i * 4 + c] + value;
        }
    }
}

static void area_finish(int16_t *wide, const float *sums, const nhs_cell *cells, size_t count, float scale) {
    for (size_t i = 0; i < count; i++) {
        const nhs_cell cell = cells[i];
        for (size_t c = 0; c < 4; c++) {
            float sum = sums[(size_t)cell.first * 4 + c] * cell.first_weight;
            for (int32_t x = cell.first + 1; x < cell.last; x++) sum += sums[(size_t)x * 4 + c];
            if (cell.last > cell.first) sum += sums[(size_t)cell.last * 4 + c] * cell.last_weight;
            float value = sum * scale + 0.5f;
            wide[i * 4 + c] = (int16_t)(value > 32640.0f ? 32640.0f : value);
        }
    }
}

static void horizontal_opaque(const nhs_row_pair *rows, const nhs_window *windows, const int16_t *table,
                              size_t taps, size_t pixels) {
    nhs_horizontal_opaque_scalar(rows->upper, rows->upper_middle, windows, table, taps, pixels);
    nhs_horizontal_opaque_scalar(rows->lower, rows->lower_middle, windows, table, taps, pixels);
}

static void horizontal_alpha(const nhs_row_pair *rows, const nhs_window *windows, const int16_t *table,
                             size_t taps, size_t pixels) {
    nhs_horizontal_alpha_scalar(rows->upper, rows->upper_middle, windows, table, taps, pixels);
    nhs_horizontal_alpha_scalar(rows->lower, rows->lower_middle, windows, table, taps, pixels);
}

static const nhs_resample_kernels scalar_kernels = {
    .name = "scalar",
    .widen_opaque = widen_opaque,
    .widen_alpha = widen_alpha,
    .vertical = vertical,
    .horizontal_opaque = horizontal_opaque,
    .horizontal_alpha = horizontal_alpha,
    .area_add_opaque = area_add_opaque,
    .area_add_alpha = area_add_alpha,
    .area_finish = area_finish,
};

const nhs_resample_kernels *nhs_resample_kernels_at(int level) {
    switch (level) {
    case NHS_KERNELS_SCALAR: return &scalar_kernels;
    case NHS_KERNELS_SSE2: return nhs_resample_sse2();
    case NHS_KERNELS_AVX2: return nhs_resample_avx2();
    case NHS_KERNELS_BEST: break;
    default: return NULL;
    }
    const nhs_resample_kernels *best = nhs_resample_avx2();
    if (!best) best = nhs_resample_sse2();
    return best ? best : &scalar_kernels;
}
