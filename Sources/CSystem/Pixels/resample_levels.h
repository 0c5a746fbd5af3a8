// Shared by the files of the resampling kernels, not by their callers.
#ifndef NUTHATCH_RESAMPLE_LEVELS_H
#define NUTHATCH_RESAMPLE_LEVELS_H

#include "nhs_resample.h"

// NULL if the machine doesn't have the instructions.
const nhs_resample_kernels *nhs_resample_sse2(void);
const nhs_resample_kernels *nhs_resample_avx2(void);

// Shared by both SIMD levels.
void nhs_area_finish_sse2(int16_t *wide, const float *sums, const nhs_cell *cells, size_t count, float scale);

// For the odd pixels at a row's end.
void nhs_horizontal_opaque_scalar(uint8_t *rgbx, const int16_t *middle, const nhs_window *windows,
                                  const int16_t *table, size_t taps, size_t pixels);
void nhs_horizontal_alpha_scalar(uint8_t *rgba, const int16_t *middle, const nhs_window *windows,
                                 const int16_t *table, size_t taps, size_t pixels);

#endif
