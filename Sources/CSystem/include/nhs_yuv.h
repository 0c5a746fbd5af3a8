// From planes of luma and half as many rows and columns of chroma (4:2:0) to rows of RGBA.
#ifndef NHS_YUV_H
#define NHS_YUV_H

#include <stddef.h>
#include <stdint.h>

// BT.601 in limited range, as WebP has it. Chroma has (width + 1) / 2 columns and (height + 1) / 2 rows.
typedef struct {
    const uint8_t *y;
    const uint8_t *u;
    const uint8_t *v;
    const uint8_t *a; // NULL if opaque
    size_t y_stride;
    size_t uv_stride;
    size_t a_stride;
    int32_t width;
    int32_t height;
} nhs_planes;

// Returns the bytes of `spare` that the functions below need for planes of this width.
size_t nhs_yuv_spare(int32_t width);

// Writes row `row` in full size. Chroma is enlarged with the weights 9, 3, 3 and 1, as libwebp does it.
void nhs_yuv_row(const nhs_planes *planes, int32_t row, uint8_t *rgba, void *spare);

// Writes row `row` of the picture that is reduced by `factor` (2, 4 or 8): averages of luma and of chroma (nhs_average.h), then
// colours. Alpha is ignored.
void nhs_yuv_reduced_row(const nhs_planes *planes, int32_t factor, int32_t row, uint8_t *rgbx, void *spare);

#endif
