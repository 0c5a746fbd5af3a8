#ifndef NH_TYPES_H
#define NH_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_status.h"

/** Where a ticket stands. */
typedef enum nh_ticket_status {
    NH_TICKET_QUEUED = 1,
    NH_TICKET_RUNNING = 2,
    NH_TICKET_DONE = 3,
    NH_TICKET_CANCELLED = 4
} nh_ticket_status;

/** What an event tells. A stale answer comes first as NH_EVENT_CACHED, then NH_EVENT_UNCHANGED or NH_EVENT_FRESH, which
 *  is final. This version doesn't deliver NH_EVENT_PROGRESS, NH_EVENT_FROZEN and NH_EVENT_QUESTION yet. */
typedef enum nh_event_kind {
    NH_EVENT_NONE = 0,
    NH_EVENT_PROGRESS = 1,
    NH_EVENT_CACHED = 2,
    NH_EVENT_UNCHANGED = 3,
    NH_EVENT_FRESH = 4,
    NH_EVENT_FAILED = 5,
    NH_EVENT_CANCELLED = 6,
    NH_EVENT_FROZEN = 7,
    NH_EVENT_QUESTION = 8
} nh_event_kind;

/** Where an answer came from. NH_SOURCE_REVALIDATED: from the cache, and the server says that it still holds. */
typedef enum nh_source {
    NH_SOURCE_NONE = 0,
    NH_SOURCE_MEMORY = 1,
    NH_SOURCE_DISK = 2,
    NH_SOURCE_REVALIDATED = 3,
    NH_SOURCE_NETWORK = 4
} nh_source;

/** What holds for every request of a cache that doesn't say otherwise. Set struct_size, leave the rest 0 for the
 *  defaults. A shorter struct of an older program is understood. */
typedef struct nh_options {
    uint32_t struct_size;
    /** Must be 0. */
    uint32_t reserved;
    /** Longest silence in milliseconds: connecting, waiting, between two bytes. 0: 30000; negative: no limit. */
    int64_t timeout_ms;
    /** All attempts of a request together, in milliseconds. 0: 120000 for thumbnails, no limit otherwise; negative: no
     *  limit. */
    int64_t deadline_ms;
    /** The largest body, in bytes. 0: 67108864 (64 MiB). */
    int64_t max_bytes;
    /** The User-Agent header. NULL: nuthatch/VERSION. */
    const char *user_agent;
} nh_options;

/** What a response holds. Set struct_size before the call. Everything pointed to lives as long as the response. */
typedef struct nh_response_info {
    uint32_t struct_size;
    /** The HTTP status, such as 200. */
    int32_t status;
    /** The body: body_size bytes, not terminated. Never NULL. */
    const void *body;
    size_t body_size;
    /** The URL as it was passed. */
    const char *url;
    /** The URL that answered, after redirects, without user and password. */
    const char *final_url;
    /** The Content-Type header, or NULL. */
    const char *content_type;
    /** 1 when the bytes were in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    nh_source source;
    /** How many redirects were followed. */
    int32_t redirects;
    /** How many header lines there are, for nh_response_header_at. */
    int32_t header_count;
    /** Microseconds from the start of the last exchange to its first byte and to its end. */
    int64_t first_byte_us;
    int64_t total_us;
} nh_response_info;

/** How a picture is made to fit its box. */
typedef enum nh_mode {
    /** Inside the box, proportions kept. */
    NH_MODE_FIT = 0,
    /** Covers the box; what sticks out is cut off equally on both sides. */
    NH_MODE_FILL = 1,
    /** Exactly the box's sides, proportions given up. */
    NH_MODE_EXACT = 2
} nh_mode;

/** How much of a picture is decoded before it is scaled down. */
typedef enum nh_quality {
    /** About twice the size that is wanted. */
    NH_QUALITY_BEST = 0,
    /** At least the size that is wanted. */
    NH_QUALITY_FAST = 1
} nh_quality;

/** Formats that images are written in. */
typedef enum nh_format { NH_FORMAT_PNG = 1, NH_FORMAT_JPEG = 2 } nh_format;

/** How an image is made from a body. Set struct_size and width, leave the rest 0 for the defaults. */
typedef struct nh_image_options {
    uint32_t struct_size;
    /** The box's sides, 1 to 65535. A height of 0 means a square. */
    int32_t width;
    int32_t height;
    nh_mode mode;
    nh_quality quality;
    /** 1 to make a smaller picture larger. 0: never. */
    int32_t enlarge;
    /** 1 to take what decodes of a damaged or truncated picture, marked is_partial. 0: that is an error. */
    int32_t allow_truncated;
    /** Must be 0. */
    uint32_t reserved;
    /** The most pixels that the source may have. 0: 100 million. */
    int64_t max_pixels;
} nh_image_options;

/** What an image holds. Set struct_size before the call. Everything pointed to lives as long as the image. */
typedef struct nh_image_info {
    uint32_t struct_size;
    int32_t width;
    int32_t height;
    /** 1 when the source was in the cache before the request was submitted, else 0. */
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
} nh_image_info;

/** What nh_wait delivers. It owns its response and its message until nh_event_clear. */
typedef struct nh_event {
    /** The ticket that it belongs to; still to be released by whoever has it. */
    nh_ticket *ticket;
    /** What nh_request_set_user_data was given, or NULL. */
    void *user_data;
    nh_event_kind kind;
    /** 1 for the last event of its ticket, else 0. */
    int32_t is_final;
    /** 1 when the bytes were in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    nh_source source;
    /** NH_OK with an answer, else why there is none. */
    nh_status code;
    /** The HTTP status, or 0. */
    int32_t http_status;
    /** Bytes of the body that are there, and those that there will be; -1 when that isn't known. */
    int64_t bytes_done;
    int64_t bytes_total;
    /** What happened, or NULL with an answer. */
    char *message;
    /** The answer, or NULL. Take it by copying it out and setting this to NULL before nh_event_clear. */
    nh_response *response;
} nh_event;

#endif
