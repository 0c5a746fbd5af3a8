// The codecs alone, with nothing after: what no program that uses them can beat.
#ifndef NUTHATCH_CODEC_LIMIT_H
#define NUTHATCH_CODEC_LIMIT_H

#include <stddef.h>
#include <stdint.h>

// Decodes all rows at 1/denominator to RGBX, each over the last; false when it can't.
int limit_decode_jpeg(const uint8_t *bytes, size_t count, int denominator);
// Decodes all rows to RGBA, each over the last; false when it can't.
int limit_decode_png(const uint8_t *bytes, size_t count);
// Encodes RGBX; the size, or 0.
size_t limit_encode_jpeg(const uint8_t *rgbx, int width, int height, int quality);

#endif
