// JPEG decoding by libjpeg-turbo, guarded: no function here longjmps, prints or exits.
//
// One object for each picture, used by one thread at a time:
//   new -> header -> start -> absorb -> rows… -> free
// Pass the input with borrow (all of it) or feed (in pieces, at any time), then call end. header, absorb and rows
// return NHS_MORE if they need more input; call them again after feeding.
//
// For several scales at once, the decoder of the largest is the leader. The others get the same input until their
// header is read. Then call follow instead of start; they need no more input. Use all on the same thread. A follower
// must not be used after its leader is freed.
#ifndef NHS_JPEG_DECODE_H
#define NHS_JPEG_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "nhs_fault.h"

typedef struct nhs_jpeg nhs_jpeg;

typedef struct {
    int64_t max_memory;      // bytes that libjpeg may allocate
    int64_t max_scans;       // scans of one picture
    int64_t max_scan_blocks; // blocks of 8x8, added up over all scans: limits the CPU time
    int32_t allow_damaged;   // deliver the decoded part of a damaged or truncated picture
} nhs_jpeg_limits;

typedef struct {
    int32_t width;
    int32_t height;
    int32_t components;
    int32_t is_cmyk;     // rows are four bytes of CMYK a pixel
    int32_t is_inverted; // Adobe's CMYK: 255 is no ink
    int32_t is_progressive;
} nhs_jpeg_info;

typedef struct {
    int64_t bytes_used;  // input bytes that were read
    int32_t scans_used;
    int32_t stopped_early; // scans were skipped that the scale doesn't need
    int32_t is_damaged;
    int32_t is_truncated;
    int64_t damage_offset;
} nhs_jpeg_report;

// Returns NULL if there is no memory.
nhs_jpeg *nhs_jpeg_new(const nhs_jpeg_limits *limits);
void nhs_jpeg_free(nhs_jpeg *decoder);

// Passes the whole input, which must stay valid until the decoder's last call.
void nhs_jpeg_borrow(nhs_jpeg *decoder, const void *bytes, size_t count);
// Passes the next piece of the input. Copies the part that can't be consumed at once.
int nhs_jpeg_feed(nhs_jpeg *decoder, const void *bytes, size_t count);
// Marks the end of the input.
void nhs_jpeg_end(nhs_jpeg *decoder);

int nhs_jpeg_header(nhs_jpeg *decoder, nhs_jpeg_info *info);
// denominator: 1, 2, 4 or 8. may_stop: skip scans that this scale doesn't need. Returns the size of the rows.
int nhs_jpeg_start(nhs_jpeg *decoder, int denominator, int may_stop, int32_t *width, int32_t *height);
// Replaces start for a smaller scale than the leader's. Its rows are the same as if it read the input alone.
int nhs_jpeg_follow(nhs_jpeg *decoder, nhs_jpeg *leader, int denominator, int32_t *width, int32_t *height);
// Consumes the scans of a picture with several scans, until they are enough for this decoder or one of its followers. A
// decoder that has rows must give all of them before the next call, because later scans would change them.
int nhs_jpeg_absorb(nhs_jpeg *decoder);
// Returns whether a decoder can give rows now.
int nhs_jpeg_has_rows(const nhs_jpeg *decoder);
// Gives up to max_rows rows of width*4 bytes: RGB and 255, or CMYK. *got is 0 only with NHS_MORE or after the last row.
// Rows before a fault are valid, too. With a picture of one scan, followers must give all available rows after each
// call of the leader.
int nhs_jpeg_rows(nhs_jpeg *decoder, uint8_t *rows, size_t stride, int32_t max_rows, int32_t *got);

void nhs_jpeg_get_report(const nhs_jpeg *decoder, nhs_jpeg_report *report);
const nhs_fault *nhs_jpeg_fault(const nhs_jpeg *decoder);
const nhs_warnings *nhs_jpeg_warnings(const nhs_jpeg *decoder);

// CMYK to RGB and 255, without a profile. Both pointers may be the same.
void nhs_cmyk_to_rgbx(uint8_t *to, const uint8_t *from, size_t pixels, int is_inverted);

#endif
