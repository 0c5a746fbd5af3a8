#include "nhs_average.h"

// The same loops for samples of one and of two bytes. The largest sum is 64 * 255, or 64 * 65535.
#define AVERAGE(NAME, SAMPLE, SUM)                                                                                     \
    static void NAME##_rows(const SAMPLE *restrict from, size_t stride, int32_t rows, SUM *restrict sums, size_t count) { \
        for (size_t x = 0; x < count; x++) {                                                                           \
            sums[x] = from[x];                                                                                         \
        }                                                                                                              \
        for (int32_t row = 1; row < rows; row++) {                                                                     \
            const SAMPLE *line = (const SAMPLE *)((const uint8_t *)from + (size_t)row * stride);                       \
            for (size_t x = 0; x < count; x++) {                                                                       \
                sums[x] = (SUM)(sums[x] + line[x]);                                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void NAME(const nhs_plane *plane, int32_t across, int32_t down, int32_t row, SAMPLE *out, SUM *sums) {             \
        int32_t first = row * down;                                                                                    \
        int32_t rows = plane->height - first < down ? plane->height - first : down;                                    \
        const uint8_t *start = (const uint8_t *)plane->samples + (size_t)first * plane->stride;                        \
        NAME##_rows((const SAMPLE *)start, plane->stride, rows, sums, (size_t)plane->width);                           \
        size_t whole = (size_t)(plane->width / across);                                                                \
        int32_t rest = plane->width % across;                                                                          \
        uint32_t last = 0;                                                                                             \
        for (int32_t x = plane->width - rest; x < plane->width; x++) {                                                 \
            last += sums[x];                                                                                           \
        }                                                                                                              \
        for (int32_t step = across; step > 1; step /= 2) {                                                             \
            size_t count = whole * (size_t)(step / 2);                                                                 \
            for (size_t x = 0; x < count; x++) {                                                                       \
                sums[x] = (SUM)(sums[2 * x] + sums[2 * x + 1]);                                                        \
            }                                                                                                          \
        }                                                                                                              \
        uint32_t area = (uint32_t)(rows * across);                                                                     \
        if (rows == down) {                                                                                            \
            int shift = __builtin_ctz(area);                                                                           \
            for (size_t x = 0; x < whole; x++) {                                                                       \
                out[x] = (SAMPLE)((sums[x] + area / 2) >> shift);                                                      \
            }                                                                                                          \
        } else {                                                                                                       \
            for (size_t x = 0; x < whole; x++) {                                                                       \
                out[x] = (SAMPLE)((sums[x] + area / 2) / area);                                                        \
            }                                                                                                          \
        }                                                                                                              \
        if (rest > 0) {                                                                                                \
            area = (uint32_t)(rows * rest);                                                                            \
            out[whole] = (SAMPLE)((last + area / 2) / area);                                                           \
        }                                                                                                              \
    }

AVERAGE(nhs_average_bytes, uint8_t, uint16_t)
AVERAGE(nhs_average_words, uint16_t, uint32_t)
