// PNG decoding, guarded: no function here longjmps, prints or exits.
//
// libpng reads every header and all uncommon kinds of pixels. The common ones (8 bits, not interlaced, no gamma) are
// inflated by ISA-L, twice as fast, with the same pixels and the same errors.
//
// One object for each picture, used by one thread at a time: new -> open -> rows… -> finish -> free
#ifndef NHS_PNG_DECODE_H
#define NHS_PNG_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "nhs_fault.h"

typedef struct nhs_png nhs_png;

typedef struct {
    int64_t max_memory;        // bytes that the decoder may allocate
    int64_t max_profile_bytes; // a larger ICC profile is ignored
    int32_t force_libpng;      // never ISA-L: for tests, and after a fault
} nhs_png_limits;

typedef struct {
    int32_t width;
    int32_t height;
    int32_t is_opaque;
    int32_t is_gray;
    int32_t is_interlaced;
    int32_t uses_isal;
    int32_t has_srgb;       // an sRGB chunk, or a profile known to be sRGB
    const uint8_t *profile; // NULL, or an ICC profile, valid as long as the object
    size_t profile_bytes;
} nhs_png_info;

// Returns NULL if there is no memory. The bytes are the whole input and must stay valid as long as the object.
nhs_png *nhs_png_new(const void *bytes, size_t count, const nhs_png_limits *limits);
void nhs_png_free(nhs_png *decoder);

int nhs_png_open(nhs_png *decoder, nhs_png_info *info);
// Gives up to max_rows rows of RGBA (straight alpha), stride bytes apart; *got is 0 after the last row. With
// NHS_FAILED, *got rows are still valid.
int nhs_png_rows(nhs_png *decoder, uint8_t *rows, size_t stride, int32_t max_rows, int32_t *got);
// Checks the rest of the file after the pixels.
int nhs_png_finish(nhs_png *decoder);

// Returns the number of input bytes that were read.
int64_t nhs_png_position(const nhs_png *decoder);
const nhs_fault *nhs_png_fault(const nhs_png *decoder);
const nhs_warnings *nhs_png_warnings(const nhs_png *decoder);

#endif
