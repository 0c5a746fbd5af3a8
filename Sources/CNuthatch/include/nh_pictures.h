#ifndef NH_PICTURES_H
#define NH_PICTURES_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_values.h"
#include "nh_options.h"

/** File formats for encoded images. */
typedef enum nh_format {
    NH_FORMAT_PNG = 1,
    NH_FORMAT_JPEG = 2,
    /** Lossy; transparency is exact. */
    NH_FORMAT_WEBP = 3,
    NH_FORMAT_WEBP_LOSSLESS = 4
} nh_format;

/** Pixel formats: bytes in the order of the name. For a format without alpha, transparent pixels are drawn on white. */
typedef enum nh_pixels {
    /** Straight alpha, like nh_image_info.pixels. */
    NH_PIXELS_RGBA = 1,
    NH_PIXELS_BGRA = 2,
    /** Colours multiplied by alpha. */
    NH_PIXELS_RGBA_PREMULTIPLIED = 3,
    /** cairo's ARGB32 on little-endian machines. */
    NH_PIXELS_BGRA_PREMULTIPLIED = 4,
    NH_PIXELS_RGB = 5,
    NH_PIXELS_BGR = 6,
    /** One byte a pixel: 0.299 R + 0.587 G + 0.114 B. */
    NH_PIXELS_GREY = 7
} nh_pixels;

/** Facts about an image. Set struct_size before the call. All pointers are valid as long as the image. */
typedef struct nh_image_info {
    uint32_t struct_size;
    int32_t width;
    int32_t height;
    /** 1 if the image, or its source, was in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    /** Rows of RGBA, 8 bits each: sRGB, straight alpha, upright. Never write to them. */
    const void *pixels;
    /** Bytes from one row to the next; 4 * width. */
    size_t stride;
    /** Width and height of the source, after its orientation was applied. */
    int32_t original_width;
    int32_t original_height;
    nh_source source;
    /** 1 if pixels are missing or wrong because the source is damaged, else 0. */
    int32_t is_partial;
    /** The URL as it was passed. */
    const char *url;
    /** The URL of the answer, after redirects, without user and password. */
    const char *final_url;
    /** The age of the source in seconds, by the rules of HTTP. */
    int64_t age;
    /** 1 if the image isn't fresh by its request's policy: the server can't be asked, or hasn't answered yet. Else 0. */
    int32_t is_stale;
    /** The HTTP status of the answer that the image was made from. */
    int32_t http_status;
    /** 1 if the image's source is in the cache now: it was there, or was stored (nh_response_info). Else 0. */
    int32_t is_stored;
    /** The bits of each channel of the source, of a palette those of its colours; 0 if unknown, as for `format`. */
    int32_t depth;
    /** The format of the source: "jpeg", "png", "gif", "webp", "bmp", "ico" and so on. NULL if unknown, because an earlier version of
     *  Nuthatch has stored the thumbnail. */
    const char *format;
    /** 1 if the source has several frames; if they couldn't be counted, if two were seen, or its header announces an animation. Else 0. */
    int32_t is_animated;
    /** The number of frames of the source: 1 for a still picture and an icon; 0 if unknown, because not all of its bytes were received
     *  (with early_stop), or because an earlier version has stored the thumbnail. */
    int32_t frame_count;
} nh_image_info;

#endif
