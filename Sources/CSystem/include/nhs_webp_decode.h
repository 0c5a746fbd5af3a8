// WebP decoding: libwebp decodes the bitstream of one frame, at once or as it arrives. The container is parsed by the caller.
//
// One object for each frame, used by one thread at a time: new -> decode… -> free
#ifndef NHS_WEBP_DECODE_H
#define NHS_WEBP_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "nhs_fault.h"
#include "nhs_yuv.h"

typedef struct nhs_webp nhs_webp;

// What is decoded so far: planes of a lossy frame, RGBA of a lossless one.
typedef struct {
    int32_t width;
    int32_t height;
    int32_t rows;         // the finished rows
    nhs_planes planes;    // of a lossy frame
    const uint8_t *rgba;  // of a lossless frame, straight alpha; else NULL
    size_t stride;        // of `rgba`
} nhs_webp_picture;

typedef struct {
    int32_t width; // as in the header of the pixels
    int32_t height;
    int32_t is_lossless;
    int32_t has_alpha;
    int32_t without_filter; // leave blocks as they are, for a picture that will be reduced
} nhs_webp_options;

// Returns NULL if there is no memory.
nhs_webp *nhs_webp_new(const nhs_webp_options *options);
void nhs_webp_free(nhs_webp *decoder);

// Decodes as far as the bytes allow. They begin with the header of a chunk: of ALPH if the frame has it, else of VP8 or VP8L.
// Each call passes all bytes so far, maybe at another address.
//
// NHS_OK if the frame is complete, NHS_MORE if it needs more bytes. `*picture` is valid until the next call, after NHS_FAILED,
// too; it has no rows if there are none yet.
int nhs_webp_decode(nhs_webp *decoder, const void *bytes, size_t count, nhs_webp_picture *picture);

const nhs_fault *nhs_webp_fault(const nhs_webp *decoder);

#endif
