// Encodes pixels as JPEG, PNG or WebP. The longjmp of libjpeg and libpng stays within these functions.
#ifndef NUTHATCH_ENCODE_H
#define NUTHATCH_ENCODE_H

#include <stddef.h>
#include <stdint.h>

enum {
    NHS_ENCODE_OK = 0,
    NHS_ENCODE_NO_MEMORY = 1,
    NHS_ENCODE_OVER_LIMIT = 2,  // more bytes than the caller allows
    NHS_ENCODE_REFUSED = 3,     // the library failed; see the message
};

// A growing buffer. The caller zeroes it, sets the limit, and frees the bytes, also after a failure.
typedef struct nhs_encoded {
    uint8_t *bytes;  // from malloc
    size_t size, capacity, limit;
    int status;
    char message[200];
} nhs_encoded;

// Straight RGBA, rows without padding.
typedef struct nhs_pixels {
    const uint8_t *rgba;
    size_t width, height;
} nhs_pixels;

// Returns whether every alpha is 255.
int nhs_all_opaque(nhs_pixels pixels);
// Returns whether red, green and blue are equal in every pixel.
int nhs_all_gray(nhs_pixels pixels);
// Returns whether half the resolution of colours would look the same. It compares red minus green and blue minus green
// of neighbouring pixels: few differences are visible edges, and all are small on average.
int nhs_colours_are_soft(nhs_pixels pixels);

// Baseline JPEG with the standard tables. half_chroma is 4:2:0, otherwise 4:4:4. Alpha is ignored, or blended over
// white with on_white.
int nhs_encode_jpeg(nhs_encoded *out, nhs_pixels pixels, int quality, int half_chroma, int on_white);

// A fast PNG: RGB or RGBA, a quickly estimated filter for each row, ISA-L's deflate.
int nhs_encode_png_fast(nhs_encoded *out, nhs_pixels pixels, int opaque);

// A small PNG: libpng, zlib's best level, 1 to 4 channels (grey, grey and alpha, RGB, RGBA).
int nhs_encode_png_small(nhs_encoded *out, nhs_pixels pixels, int channels);

// A WebP: lossy, of quality 1 to 100, if lossless_level is negative; else lossless, level 0 (fast) to 9 (small), with exactly
// these pixels. Alpha is ignored if opaque.
int nhs_encode_webp(nhs_encoded *out, nhs_pixels pixels, int quality, int lossless_level, int opaque);

#endif
