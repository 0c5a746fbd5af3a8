// AV1 decoding: dav1d decodes one frame of an AVIF's item, on the calling thread. The container is parsed by the caller.
//
// One object for the items of a picture with the same properties, used by one thread at a time: new -> decode… -> free
#ifndef NHS_AV1_DECODE_H
#define NHS_AV1_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "nhs_fault.h"
#include "nhs_samples.h"

typedef struct nhs_av1 nhs_av1;

typedef struct {
    int32_t width; // of the frame, as the container announces it
    int32_t height;
    int32_t operating_point;
    int32_t layer;           // the wanted spatial layer; negative for the highest
    int32_t without_filters; // leave out what smooths the edges of blocks; a reduced picture doesn't need it
    int32_t frames;          // the most frames that may be decoded
    size_t memory;           // the most bytes that frames may take together
} nhs_av1_options;

typedef struct {
    nhs_samples samples; // without alpha
    // What the bitstream says of its colours, as numbers of ISO/IEC 23091-2.
    int32_t primaries;
    int32_t transfer;
    int32_t matrix;
    int32_t is_full_range;
} nhs_av1_picture;

// Returns the bytes that a frame takes. `chroma` is 0 for grey, or 1, 2 and 3 for 4:2:0, 4:2:2 and 4:4:4.
size_t nhs_av1_frame_bytes(int32_t width, int32_t height, int32_t depth, int32_t chroma);

// Returns NULL if there is no memory.
nhs_av1 *nhs_av1_new(const nhs_av1_options *options);
void nhs_av1_free(nhs_av1 *decoder);

// Decodes the first frame that is shown, and nothing behind it. NHS_OK or NHS_FAILED. `*picture` is valid until the next call.
int nhs_av1_decode(nhs_av1 *decoder, const void *bytes, size_t count, nhs_av1_picture *picture);

const nhs_fault *nhs_av1_fault(const nhs_av1 *decoder);

#endif
