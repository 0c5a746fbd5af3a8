// Averages over squares of pixels: what libjpeg's scaled inverse transforms do, for rows already decoded.
#ifndef NHS_REDUCE_H
#define NHS_REDUCE_H

#include <stddef.h>
#include <stdint.h>

// Adds a row of RGBX pixels to sums of squares, factor (2, 4 or 8) pixels a square; four sums each.
void nhs_reduce_add(uint16_t *sums, const uint8_t *row, size_t pixels, int factor);
// The averages of squares that got `rows` rows, rounded; the last square may have had fewer columns.
void nhs_reduce_finish(uint8_t *to, uint16_t *sums, size_t pixels, int factor, int rows);

#endif
