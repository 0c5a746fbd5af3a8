// Averages of cells of samples, which count a part of their neighbours, too: the reduction of one plane of a picture.
#ifndef NHS_AVERAGE_H
#define NHS_AVERAGE_H

#include <stddef.h>
#include <stdint.h>

// A plane of samples, one or two bytes each.
typedef struct {
    const void *samples;
    size_t stride; // in bytes
    int32_t width;
    int32_t height;
} nhs_plane;

// Writes row `row` of the plane that is reduced by `across` columns and `down` rows, each 1, 2, 4 or 8; with 1 across,
// at most 2 down. A plane isn't left as it is at 1, because chroma of half the resolution must be as smooth as its luma is. Beyond
// an edge, the last sample counts again. `sums` has room for the plane's width and 16 more.
//
// Averages of cells alone would show details that are too fine for the result as other details, with a third of their contrast;
// these weights leave 7 % of it.
void nhs_average_bytes(const nhs_plane *plane, int32_t across, int32_t down, int32_t row, uint8_t *out, uint16_t *sums);
void nhs_average_words(const nhs_plane *plane, int32_t across, int32_t down, int32_t row, uint16_t *out, uint32_t *sums);

#endif
