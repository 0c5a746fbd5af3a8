// Colours described by an ICC profile, converted to sRGB by Little CMS.
#ifndef NHS_ICC_H
#define NHS_ICC_H

#include <stddef.h>
#include <stdint.h>

typedef struct nhs_icc nhs_icc;

// What the pixels hold. Each pixel has four bytes; gray ones are RGBA whose first byte counts.
enum { NHS_ICC_GRAY, NHS_ICC_RGB, NHS_ICC_CMYK, NHS_ICC_CMYK_INVERTED };

enum {
    NHS_ICC_READY,    // convert
    NHS_ICC_IS_SRGB,  // nothing to convert
    NHS_ICC_UNUSABLE, // damaged, or for another kind of picture
    NHS_ICC_NO_MEMORY
};

// A profile that wants more memory than that is unusable.
enum { NHS_ICC_MOST_HELD = 16 << 20 };

// The object is NULL unless *status is NHS_ICC_READY. The profile isn't needed any more afterwards. One that wants more
// than `most` bytes, and no more than NHS_ICC_MOST_HELD, gives NHS_ICC_NO_MEMORY.
nhs_icc *nhs_icc_open(const void *profile, size_t count, int pixels, size_t most, int *status);
void nhs_icc_free(nhs_icc *icc);

// In place, to RGBA; alpha stays, CMYK gets 255. Any number of threads at a time.
void nhs_icc_convert(const nhs_icc *icc, uint8_t *pixels, size_t count);

#endif
