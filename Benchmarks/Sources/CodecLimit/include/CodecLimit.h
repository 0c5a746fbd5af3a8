// The codecs alone, without further work: no program that uses them can be faster.
#ifndef NUTHATCH_CODEC_LIMIT_H
#define NUTHATCH_CODEC_LIMIT_H

#include <stddef.h>
#include <stdint.h>

// Decodes all rows at 1/denominator to RGBX, each into the same memory. Returns true. An error ends the program.
int limit_decode_jpeg(const uint8_t *bytes, size_t count, int denominator);
// Decodes all rows to RGBA, each into the same memory. Returns false if that fails.
int limit_decode_png(const uint8_t *bytes, size_t count);
// Decodes to planes if the WebP is lossy and has no alpha, else to RGBA. Returns false if that fails.
int limit_decode_webp(const uint8_t *bytes, size_t count);

// Decodes the first picture in `mdat` to planes, by dav1d with all filters, on this thread. Returns false if that fails.
int limit_decode_avif(const uint8_t *bytes, size_t count);
// Encodes RGBX. Returns the size. An error ends the program.
size_t limit_encode_jpeg(const uint8_t *rgbx, int width, int height, int quality);

#endif
