#ifndef NH_PICTURES_H
#define NH_PICTURES_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_values.h"
#include "nh_options.h"

/** Formats that images are written in. */
typedef enum nh_format { NH_FORMAT_PNG = 1, NH_FORMAT_JPEG = 2 } nh_format;

/** Pixels, as bytes in the order of the name. Where there is no alpha, what shows through is laid on white. */
typedef enum nh_pixels {
    /** Straight alpha: what nh_image_info's pixels are. */
    NH_PIXELS_RGBA = 1,
    NH_PIXELS_BGRA = 2,
    /** Colours multiplied by alpha. */
    NH_PIXELS_RGBA_PREMULTIPLIED = 3,
    /** What cairo calls ARGB32 on little-endian machines. */
    NH_PIXELS_BGRA_PREMULTIPLIED = 4,
    NH_PIXELS_RGB = 5,
    NH_PIXELS_BGR = 6,
    /** One byte a pixel: 0.299 R + 0.587 G + 0.114 B. */
    NH_PIXELS_GREY = 7
} nh_pixels;

/** What an image holds. Set struct_size before the call. Everything pointed to lives as long as the image. */
typedef struct nh_image_info {
    uint32_t struct_size;
    int32_t width;
    int32_t height;
    /** 1 when it, or what it was made from, was in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    /** Rows of RGBA, 8 bits each: sRGB, straight alpha, upright. Never write to them. */
    const void *pixels;
    /** Bytes from one row to the next; 4 * width. */
    size_t stride;
    /** The upright source's sides. */
    int32_t original_width;
    int32_t original_height;
    nh_source source;
    /** 1 when pixels are missing or wrong because the source is damaged, else 0. */
    int32_t is_partial;
    /** The URL as it was passed. */
    const char *url;
    /** The URL that answered, after redirects, without user and password. */
    const char *final_url;
    /** How old the source is, in seconds, by the rules of HTTP. */
    int64_t age;
    /** 1 when it isn't fresh by its request's policy: given because the server can't be asked, or before it is. Else 0. */
    int32_t is_stale;
    /** The HTTP status of the answer that it was made from. */
    int32_t http_status;
    /** 1 when the cache has now what it was made from: it was there, or has been kept (nh_response_info). Else 0. */
    int32_t is_stored;
    /** Always 0. */
    uint32_t reserved;
} nh_image_info;

#endif
