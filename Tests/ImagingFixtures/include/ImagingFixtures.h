// Pictures of every kind, made by the tests themselves. For tests only: errors abort.
#ifndef IMAGING_FIXTURES_H
#define IMAGING_FIXTURES_H

#include <stddef.h>
#include <stdint.h>

enum { NHT_GRAY, NHT_YCC, NHT_RGB, NHT_CMYK, NHT_YCCK };

typedef struct {
    int32_t width, height;
    int32_t color;         // NHT_…: what is stored; samples are given as gray, RGB or CMYK
    int32_t horizontal, vertical; // luma's sampling factors
    int32_t quality;
    int32_t is_progressive;
    int32_t is_arithmetic;
    int32_t restart_rows;
    int32_t write_adobe;
    int32_t separate_scans; // sequential, a scan a component
} nht_jpeg_options;

// Memory to free().
uint8_t *nht_jpeg(const nht_jpeg_options *options, const uint8_t *samples, size_t *size);

typedef struct {
    int32_t width, height, depth, color_type;
    int32_t is_interlaced;
    int32_t filters;     // PNG_FILTER_… mask, 0 for libpng's choice
    int32_t level;       // zlib's
    int32_t idat_bytes;  // of one IDAT, 0 for libpng's choice
    int32_t gamma;       // times 100000, 0 for none
    int32_t has_trns;    // gray: 1, RGB: (1, 2, 3), palette: alphas 0, 50, 100, …
    const uint8_t *profile;
    size_t profile_bytes;
} nht_png_options;

// samples: rows as PNG packs them.
uint8_t *nht_png(const nht_png_options *options, const uint8_t *samples, size_t *size);

typedef struct {
    int32_t width, height;
    int32_t is_lossless;
    int32_t has_alpha;
    int32_t quality;
    int32_t method;           // effort, 0 to 6
    int32_t partitions;       // of tokens: 1 << this
    int32_t keeps_alpha_raw;  // no compression of the alpha plane
} nht_webp_options;

// A WebP without metadata; samples: RGBA.
uint8_t *nht_webp(const nht_webp_options *options, const uint8_t *samples, size_t *size);

// What libwebp alone makes of a WebP: RGBA. NULL if it refuses it.
uint8_t *nht_webp_pixels(const uint8_t *bytes, size_t size, int32_t *width, int32_t *height);

enum { NHT_SRGB, NHT_ADOBE_RGB, NHT_DISPLAY_P3, NHT_GRAY_18, NHT_INK };

uint8_t *nht_profile(int kind, size_t *size);

// The sRGB colours of pixels in a profile's space, in floating point: gray, RGB or CMYK to RGB.
void nht_convert(const uint8_t *profile, size_t size, const uint8_t *from, int channels, uint8_t *rgb, size_t count);

// zlib's deflate.
uint8_t *nht_zlib(const uint8_t *bytes, size_t count, size_t *size);

#endif
