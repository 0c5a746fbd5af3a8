// Converts colours from an ICC profile to sRGB with Little CMS.
#ifndef NHS_ICC_H
#define NHS_ICC_H

#include <stddef.h>
#include <stdint.h>

typedef struct nhs_icc nhs_icc;

// The contents of a pixel. Each pixel has four bytes. In gray pixels only the first byte counts.
enum { NHS_ICC_GRAY, NHS_ICC_RGB, NHS_ICC_CMYK, NHS_ICC_CMYK_INVERTED };

enum {
    NHS_ICC_READY,    // convert
    NHS_ICC_IS_SRGB,  // nothing to convert
    NHS_ICC_UNUSABLE, // damaged, or for another kind of picture
    NHS_ICC_NO_MEMORY
};

// A profile that needs more memory is unusable.
enum { NHS_ICC_MOST_HELD = 16 << 20 };

// Returns NULL unless *status is NHS_ICC_READY. The profile isn't needed afterwards. A profile that needs more than
// `most` bytes, but at most NHS_ICC_MOST_HELD, gives NHS_ICC_NO_MEMORY.
nhs_icc *nhs_icc_open(const void *profile, size_t count, int pixels, size_t most, int *status);
void nhs_icc_free(nhs_icc *icc);

// Converts in place to RGBA. Alpha stays; for CMYK it is 255. Any number of threads may call it at once.
void nhs_icc_convert(const nhs_icc *icc, uint8_t *pixels, size_t count);

#endif
