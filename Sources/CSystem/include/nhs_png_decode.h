// PNG decoding, guarded: no function here longjmps, prints or exits.
//
// libpng reads every header and all uncommon kinds of pixels. The common ones (8 bits, not interlaced, no
// gamma) are inflated by ISA-L, twice as fast, with the same pixels and the same verdicts.
//
// One object a picture, used by one thread at a time: open -> rows… -> finish -> free
#ifndef NHS_PNG_DECODE_H
#define NHS_PNG_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "nhs_fault.h"

typedef struct nhs_png nhs_png;

typedef struct {
    int64_t max_memory;        // bytes that the decoder may hold
    int64_t max_profile_bytes; // an ICC profile beyond that is ignored
    int32_t force_libpng;      // for tests: never ISA-L
} nhs_png_limits;

typedef struct {
    int32_t width;
    int32_t height;
    int32_t is_opaque;
    int32_t is_gray;
    int32_t is_interlaced;
    int32_t uses_isal;
    int32_t has_srgb;       // an sRGB chunk, or a profile known to be sRGB
    const uint8_t *profile; // NULL, or an ICC profile as long as the object lives
    size_t profile_bytes;
} nhs_png_info;

// NULL when there is no memory. The bytes are the whole input and must outlive the object.
nhs_png *nhs_png_new(const void *bytes, size_t count, const nhs_png_limits *limits);
void nhs_png_free(nhs_png *decoder);

int nhs_png_open(nhs_png *decoder, nhs_png_info *info);
// Up to max_rows rows of RGBA (straight alpha) to rows, stride bytes apart; *got is 0 after the last. On
// NHS_FAILED *got rows are right nevertheless.
int nhs_png_rows(nhs_png *decoder, uint8_t *rows, size_t stride, int32_t max_rows, int32_t *got);
// Checks what follows the pixels.
int nhs_png_finish(nhs_png *decoder);

// Bytes of the input that were read.
int64_t nhs_png_position(const nhs_png *decoder);
const nhs_fault *nhs_png_fault(const nhs_png *decoder);
const nhs_warnings *nhs_png_warnings(const nhs_png *decoder);

#endif
