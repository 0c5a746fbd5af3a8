// JPEG decoding by libjpeg-turbo, guarded: no function here longjmps, prints or exits.
//
// One object a picture, used by one thread at a time:
//   new -> feed (once borrowed, or many times copied) -> end -> header -> start -> absorb -> rows… -> free
// header, absorb and rows answer NHS_MORE when they need input that wasn't fed yet; call them again then.
//
// Several scales at once: the decoder of the largest is the leader. The others get the same input until their header
// is read, then follow the leader instead of being started, and need no more of it. All are used by the same thread;
// a follower must not be used once its leader is gone.
#ifndef NHS_JPEG_DECODE_H
#define NHS_JPEG_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "nhs_fault.h"

typedef struct nhs_jpeg nhs_jpeg;

typedef struct {
    int64_t max_memory;      // bytes that libjpeg may hold
    int64_t max_scans;       // scans of one picture
    int64_t max_scan_blocks; // blocks of 8x8 summed over all scans: the bound on CPU
    int32_t allow_damaged;   // deliver what decoded of a damaged or truncated picture
} nhs_jpeg_limits;

typedef struct {
    int32_t width;
    int32_t height;
    int32_t components;
    int32_t is_cmyk;     // rows come out as four bytes of CMYK
    int32_t is_inverted; // Adobe's CMYK: 255 is no ink
    int32_t is_progressive;
} nhs_jpeg_info;

typedef struct {
    int64_t bytes_used;  // input that had to be read
    int32_t scans_used;
    int32_t stopped_early; // scans remained that the scale doesn't need
    int32_t is_damaged;
    int32_t is_truncated;
    int64_t damage_offset;
} nhs_jpeg_report;

// NULL when there is no memory.
nhs_jpeg *nhs_jpeg_new(const nhs_jpeg_limits *limits);
void nhs_jpeg_free(nhs_jpeg *decoder);

// The whole input, which must outlive the decoder's last call.
void nhs_jpeg_borrow(nhs_jpeg *decoder, const void *bytes, size_t count);
// The next piece of the input, copied as far as it can't be used up at once.
int nhs_jpeg_feed(nhs_jpeg *decoder, const void *bytes, size_t count);
// No more input will come.
void nhs_jpeg_end(nhs_jpeg *decoder);

int nhs_jpeg_header(nhs_jpeg *decoder, nhs_jpeg_info *info);
// denominator: 1, 2, 4 or 8. may_stop: leave out scans that this scale doesn't need. Answers the size of the
// rows that will come.
int nhs_jpeg_start(nhs_jpeg *decoder, int denominator, int may_stop, int32_t *width, int32_t *height);
// Instead of start, for a smaller scale than the leader's: the same rows as alone, from what the leader reads.
int nhs_jpeg_follow(nhs_jpeg *decoder, nhs_jpeg *leader, int denominator, int32_t *width, int32_t *height);
// Consumes the scans of a picture that has several, until the rule says enough for this decoder or one that follows
// it. Whoever has rows then must give all of them before the next call, since more scans would change them.
int nhs_jpeg_absorb(nhs_jpeg *decoder);
// Whether a decoder can give rows by now.
int nhs_jpeg_has_rows(const nhs_jpeg *decoder);
// Up to max_rows rows of width*4 bytes: RGB and 255, or CMYK. *got is 0 only with NHS_MORE or after the last;
// rows that came before a fault count too. After each call of a leader of a picture of one scan, its followers must
// give all the rows that they can.
int nhs_jpeg_rows(nhs_jpeg *decoder, uint8_t *rows, size_t stride, int32_t max_rows, int32_t *got);

void nhs_jpeg_get_report(const nhs_jpeg *decoder, nhs_jpeg_report *report);
const nhs_fault *nhs_jpeg_fault(const nhs_jpeg *decoder);
const nhs_warnings *nhs_jpeg_warnings(const nhs_jpeg *decoder);

// CMYK to RGB and 255 without a profile. Both may be the same memory.
void nhs_cmyk_to_rgbx(uint8_t *to, const uint8_t *from, size_t pixels, int is_inverted);

#endif
