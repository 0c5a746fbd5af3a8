// The inner loops of resampling, in three builds (scalar, SSE2, AVX2) with identical results.
//
// Two passes, the vertical one first. Pixels always have four interleaved channels.
//
//   source rows   8 bit      straight RGBA, or RGBX whose fourth byte means nothing
//   wide rows     int16, Q7  255 is 32640; colours already multiplied by alpha when there is alpha
//   middle rows   int16, Q6  255 is 16320: the upper half of the range is room for overshoot
//   result        8 bit      straight RGBA, or RGBX with 255 written as X
//
// Weights are Q14. The weights of a window add up to exactly 16384, so that a constant value stays unchanged.
#ifndef NUTHATCH_RESAMPLE_H
#define NUTHATCH_RESAMPLE_H

#include <stddef.h>
#include <stdint.h>

// Wide and middle rows are allocated in whole blocks of this many pixels. Kernels may read and write to the end of a
// block.
#define NHS_ROW_BLOCK 8

// One result pixel's window on a middle row.
typedef struct nhs_window {
    int32_t start;    // first pixel
    int32_t weights;  // the index of its weights in the table (in int16 units)
} nhs_window;

// One source row's weights in two result rows. Each is stored twice, so that kernels can broadcast 32 bits.
typedef struct nhs_weights {
    int16_t upper[2], lower[2];
} nhs_weights;

// Two middle rows and their result rows. Upper and lower result may be the same.
typedef struct nhs_row_pair {
    const int16_t *upper_middle, *lower_middle;
    uint8_t *upper, *lower;
} nhs_row_pair;

// One cell of the area stage: source pixels first ... last. The outer two count in part.
typedef struct nhs_cell {
    int32_t first, last;
    float first_weight, last_weight;  // last_weight is unused when first == last
} nhs_cell;

typedef struct nhs_resample_kernels {
    const char *name;

    // 8-bit rows to wide rows. Doesn't write the spare pixels of the last block.
    void (*widen_opaque)(int16_t *wide, const uint8_t *rgbx, size_t pixels);
    void (*widen_alpha)(int16_t *wide, const uint8_t *rgba, size_t pixels);

    // Two middle rows at once, since their windows share most source rows: upper[i] is the sum of
    // rows[t][i] * weights[t].upper, lower[i] likewise, for values rounded up to whole blocks.
    void (*vertical)(int16_t *upper, int16_t *lower, const int16_t *const *rows, const nhs_weights *weights,
                     size_t taps, size_t values);

    // Two middle rows to two result rows. taps is a multiple of 4. The table holds each window's weights in groups of
    // four, each group as w0 w1 w0 w1 w0 w1 w0 w1  w2 w3 w2 w3 w2 w3 w2 w3 (the layout for pmaddwd with interleaved
    // channels). All pixels start ... start + taps - 1 of a window must be readable.
    void (*horizontal_opaque)(const nhs_row_pair *rows, const nhs_window *windows, const int16_t *table,
                              size_t taps, size_t pixels);
    void (*horizontal_alpha)(const nhs_row_pair *rows, const nhs_window *windows, const int16_t *table,
                             size_t taps, size_t pixels);

    // The area stage, for large ratios: sums[i] = (fresh ? 0 : sums[i]) + weight * row[i]. With alpha,
    // colours are multiplied by alpha and alpha by 255, both exact integers.
    void (*area_add_opaque)(float *sums, const uint8_t *rgbx, size_t pixels, float weight, int fresh);
    void (*area_add_alpha)(float *sums, const uint8_t *rgba, size_t pixels, float weight, int fresh);

    // Sums of a finished row of cells to a wide row: each cell's sum times scale.
    void (*area_finish)(int16_t *wide, const float *sums, const nhs_cell *cells, size_t count, float scale);
} nhs_resample_kernels;

enum { NHS_KERNELS_BEST = 0, NHS_KERNELS_SCALAR = 1, NHS_KERNELS_SSE2 = 2, NHS_KERNELS_AVX2 = 3 };

// Returns the kernels of a level, or the best ones for this machine; NULL if the machine doesn't have the level.
const nhs_resample_kernels *nhs_resample_kernels_at(int level);

#endif
