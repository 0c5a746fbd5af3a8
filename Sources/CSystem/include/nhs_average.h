// Averages of cells of samples: the reduction of one plane of a picture.
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

// Writes row `row` of the plane that is reduced by `across` columns and `down` rows, each 1, 2, 4 or 8. The last column and the
// last row are averages of the samples that there are. `sums` has room for the plane's width.
void nhs_average_bytes(const nhs_plane *plane, int32_t across, int32_t down, int32_t row, uint8_t *out, uint16_t *sums);
void nhs_average_words(const nhs_plane *plane, int32_t across, int32_t down, int32_t row, uint16_t *out, uint32_t *sums);

#endif
