// Pixels to the bytes of a JPEG or PNG file. libjpeg's and libpng's longjmp never leaves these functions.
#ifndef NUTHATCH_ENCODE_H
#define NUTHATCH_ENCODE_H

#include <stddef.h>
#include <stdint.h>

enum {
    NHS_ENCODE_OK = 0,
    NHS_ENCODE_NO_MEMORY = 1,
    NHS_ENCODE_OVER_LIMIT = 2,  // more bytes than the caller allows
    NHS_ENCODE_REFUSED = 3,     // the library says no; the message says why
};

// Bytes as they grow. The caller zeroes it, sets the limit, and frees the bytes, also after a failure.
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

// Whether every alpha is 255.
int nhs_all_opaque(nhs_pixels pixels);
// Whether red, green and blue are equal everywhere.
int nhs_all_gray(nhs_pixels pixels);
// Whether nobody sees it when colours are kept half as finely each way: of the steps that red and blue take
// against green, from a pixel to its neighbours, hardly one is a visible edge, and all together are small.
int nhs_colours_are_soft(nhs_pixels pixels);

// Baseline JPEG with the standard tables. half_chroma is 4:2:0, otherwise 4:4:4. Alpha is ignored, or with
// on_white laid over white.
int nhs_encode_jpeg(nhs_encoded *out, nhs_pixels pixels, int quality, int half_chroma, int on_white);

// PNG in a hurry: RGB or RGBA, one filter a row by a quick estimate, ISA-L's deflate.
int nhs_encode_png_fast(nhs_encoded *out, nhs_pixels pixels, int opaque);

// PNG for keeping: libpng, zlib's best, 1 to 4 channels (grey, grey and alpha, RGB, RGBA).
int nhs_encode_png_small(nhs_encoded *out, nhs_pixels pixels, int channels);

#endif
