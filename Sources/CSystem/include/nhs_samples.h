// From planes of luma and chroma in any sampling and depth to rows of RGBA.
#ifndef NHS_SAMPLES_H
#define NHS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

// Samples of more than 8 bits take two bytes.
typedef struct {
    const void *y;
    const void *u; // NULL if the picture is grey
    const void *v;
    const void *a; // NULL if opaque
    size_t y_stride; // in bytes
    size_t uv_stride;
    size_t a_stride;
    int32_t width;
    int32_t height;
    int32_t depth;
    int32_t a_depth;
    int32_t halves_columns; // of chroma: (width + 1) / 2
    int32_t halves_rows;
} nhs_samples;

// What HDR becomes in sRGB: see nhs_tone.h.
typedef struct nhs_tone nhs_tone;

// How a picture's samples become colours.
typedef struct {
    // For each of red, green and blue: the factors of Y, U and V, and what is added. A sum is shifted right by `shift`.
    int16_t factors[3][3];
    int32_t offsets[3];
    int32_t shift;
    int32_t dropped;         // the lowest bits of each sample that don't count
    int32_t chroma_cut;      // the lowest bits of chroma that are zeroed when luma is whole
    int32_t most;            // the greatest result: 255, or for `tone` 4095
    int32_t zeros[2];        // what black has in luma and in chroma, if no bits are dropped
    int32_t is_premultiplied;
    int32_t is_alpha_limited; // alpha from 16 to 235
    const nhs_tone *tone;    // NULL if the results are sRGB
} nhs_colors;

// Returns the bytes of `spare` that the functions below need for planes of this width.
size_t nhs_samples_spare(int32_t width);

// Writes row `row` in full size. Chroma is enlarged with the weights 9, 3, 3 and 1 (or 3 and 1), as libyuv does it.
void nhs_samples_row(const nhs_samples *samples, const nhs_colors *colors, int32_t row, uint8_t *rgba, void *spare);

// Writes row `row` of the picture that is reduced by `factor` (2, 4 or 8): averages of luma and of chroma, then colours. Without
// alpha it writes RGBX. With alpha the planes must be multiplied by it. `dropped` and `chroma_cut` are ignored.
void nhs_samples_reduced_row(const nhs_samples *samples, const nhs_colors *colors, int32_t factor, int32_t row,
                             uint8_t *rgba, void *spare);

// Multiplies the planes in place by alpha, as if the picture lay on black. Averages of them then hold nothing of the colours of
// invisible pixels.
void nhs_samples_multiply(const nhs_samples *samples, const nhs_colors *colors, void *spare);

// Returns the alpha of a row in bytes from 0 to 255: `line` itself, or `spare`, which may be the same memory.
const uint8_t *nhs_samples_alpha(const nhs_samples *samples, const nhs_colors *colors, const void *line, size_t count,
                                 uint8_t *spare);

// Divides a row of averages of multiplied planes by the averages of alpha, which are written to `alpha_row`. Returns them in bytes.
// `spare`: room for two rows of words.
const uint8_t *nhs_samples_divide(const nhs_samples *samples, const nhs_colors *colors, int32_t factor, int32_t row,
                                  uint16_t *const averages[3], void *alpha_row, void *spare);

#endif
