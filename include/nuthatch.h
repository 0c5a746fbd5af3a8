/* Made by `make header`; edit the sources that it names instead. */

/*
 * Nuthatch: fetches URLs once, keeps them ready, and hands them back.
 *
 *     cc app.c $(pkg-config --cflags --libs nuthatch)
 *
 * Overview
 * ========
 *
 *     nh_cache *cache;
 *     nh_response *response;
 *     nh_response_info info = {.struct_size = sizeof info};
 *
 *     if (nh_open("assets.cache", NULL, &cache) != NH_OK) die(nh_error_message());
 *     if (nh_get(cache, "https://example.org/a.jpg", &response) == NH_OK) {
 *         nh_response_get_info(response, &info);
 *         printf("%d, %zu bytes\n", info.status, info.body_size);
 *         nh_response_release(response);
 *     }
 *     nh_close(cache);
 *
 * A cache belongs to a directory. A request says what to fetch; most need a URL and no more, which nh_get takes. There
 * are two ways to wait: nh_get and nh_perform block; nh_submit returns a ticket at once, and nh_wait takes its event
 * whenever it suits.
 *
 * What was fetched is kept in the directory, which any number of processes and handles may use at the same time: they
 * share what is in it, and fetch nothing twice. is_in_cache says whether an answer was there before it was asked for,
 * source where it came from. A blocking call gives the answer that holds now; a ticket may deliver a stale answer at
 * once (NH_EVENT_CACHED) and the one that holds now after it.
 *
 * Caveats
 * =======
 *
 * Errors.    Functions that can fail return an nh_status: NH_OK (0) or a stable number with a stable word
 *            (nh_status_name). nh_error_message says for this thread's last failure what happened, to which URL, and
 *            what to do. A result place gets NULL (or zeros) on failure. Passwords in URLs are shown as ***.
 * Ownership. What a function gives through a result place is yours until its release function. Strings and bytes
 *            inside an object live as long as the object. What you pass is copied before the call returns. Objects
 *            come from the library and go back to it; never free() one.
 * Handles.   A NULL, released, foreign or made-up handle, and one of another kind, is answered with NH_INVALID by
 *            every function; nothing is followed. Releasing a handle twice is therefore found out.
 * Threads.   Every function may be called from any thread, at any time. No callback ever runs on a thread of the
 *            library. Its threads have all signals blocked, so your handlers run on yours. Releasing an object while
 *            another thread reads bytes out of it is your race, as with free().
 * Fork.      After fork() the child's inherited caches and tickets answer NH_FORKED; responses stay readable; opening a
 *            cache anew works. Close or release inherited handles in the child as you like: the parent isn't touched.
 * Exec.      No connection of the library survives exec(). (A pair of sockets that libcurl talks to itself with does.)
 * Exit.      exit() with requests under way is fine: the library's thread ends first. Nobody hears of their end.
 * Sizes.     Structs begin with struct_size, or are passed with their size (nh_event); set it with sizeof. That is how
 *            programs and libraries of different versions understand each other. Zero what you don't set.
 * Text.      All strings are UTF-8, terminated by NUL. URLs come back byte for byte as they were passed.
 * Files.     The directory must be on a file system of this machine. Its files are mapped: a program that truncates
 *            them while they are in use ends whoever reads them.
 * Unload.    The library stays loaded once it was: dlclose() does nothing.
 */

#ifndef NUTHATCH_H
#define NUTHATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/*
 * Handles. Each is a number in the shape of a pointer, never an address: a released or foreign one is found out
 * without touching memory, and every function answers it with NH_INVALID.
 */

/** A cache: a directory, and the way to the network behind it. From nh_open, to nh_close. */
typedef struct nh_cache nh_cache;
/** What to fetch, under construction. From nh_request_new, to nh_request_release. */
typedef struct nh_request nh_request;
/** A request under way. From nh_submit, to nh_ticket_release. */
typedef struct nh_ticket nh_ticket;
/** An answer with its bytes. From nh_get or an event, to nh_response_release. */
typedef struct nh_response nh_response;
/** A decoded picture. From nh_thumbnail or nh_response_image, to nh_image_release. */
typedef struct nh_image nh_image;

/** What a call came to. The words are those of nh_status_name: the name in small letters, without NH_. */
typedef enum nh_status {
    /** Success. */
    NH_OK = 0,
    /** No byte came for timeout, or the request's deadline passed. */
    NH_TIMEOUT = 1,
    /** The host name has no address, or its name server doesn't answer. */
    NH_DNS = 2,
    /** No connection could be made: nothing listens there, or the network has no way to it. */
    NH_REFUSED = 3,
    /** The connection broke before the answer was complete. */
    NH_RESET = 4,
    /** The TLS handshake or the check of the certificate failed. */
    NH_TLS = 5,
    /** The answer isn't a success, or the server broke the HTTP protocol. */
    NH_HTTP = 6,
    /** The answer or the picture has more bytes than max_bytes. */
    NH_TOO_LARGE = 7,
    /** The picture has more pixels than max_pixels, or needs more memory than all decodes may hold. */
    NH_TOO_MANY_PIXELS = 8,
    /** The bytes are no picture. */
    NH_NOT_AN_IMAGE = 9,
    /** A picture, but of a format that isn't decoded. */
    NH_UNSUPPORTED_FORMAT = 10,
    /** The picture is damaged. */
    NH_CORRUPT = 11,
    /** The answer or the picture ends too early. */
    NH_TRUNCATED = 12,
    /** The address guard refused the address. */
    NH_DENIED = 13,
    /** The URL can't be used; the message says at which byte. */
    NH_BAD_URL = 14,
    /** A method, or the name or value of a header, can't be sent. */
    NH_BAD_HEADER = 15,
    /** More than 10 redirects in a row. */
    NH_TOO_MANY_REDIRECTS = 16,
    /** The network isn't to be used, and the cache has no answer. */
    NH_OFFLINE = 17,
    /** The host failed too often in a row and is left alone for a while. */
    NH_CIRCUIT_OPEN = 18,
    /** The request was cancelled. */
    NH_CANCELLED = 19,
    /** The cache was closed. */
    NH_CLOSED = 20,
    /** The handle belongs to the process that this one was forked from. */
    NH_FORKED = 21,
    /** The request was put into the outbox, to be sent when the network is back. */
    NH_FROZEN = 22,
    /** A secret can't be stored with a frozen request; it needs a named provider. */
    NH_SECRET_NEEDS_PROVIDER = 23,
    /** An argument is not valid: null, out of range, or a handle that is closed or of another kind. */
    NH_INVALID = 24,
    /** Other options are in force for the same directory. */
    NH_CONFLICT = 25,
    /** The disk is full. */
    NH_NO_SPACE = 26,
    /** A file or directory can't be read or written. */
    NH_IO = 27,
    /** There is not enough memory. */
    NH_OUT_OF_MEMORY = 28,
    /** A defect of Nuthatch itself; please report it with the message. */
    NH_INTERNAL = 29
} nh_status;

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

/* ---- The library ------------------------------------------------------------------------------------------------- */

/**
 * The version of the library, such as "0.1.0".
 */
const char *nh_version(void);

/**
 * The number of the ABI: programs that were linked with one work with every later library of the same number.
 */
uint32_t nh_abi_version(void);

/**
 * The stable word of a status, such as "too_large"; "ok" for NH_OK, "unknown" for a number that is none.
 */
const char *nh_status_name(nh_status status);

/**
 * What went wrong in the last call on this thread that failed: what happened, to which URL, and what to do. In UTF-8;
 * valid until the next failing call on this thread. Empty when none has failed. Never NULL.
 */
const char *nh_error_message(void);

/* ---- Caches ------------------------------------------------------------------------------------------------------ */

/**
 * Opens a cache.
 *
 * @param path     The directory, made when it is missing, for its owner only. NULL: $NUTHATCH_CACHE, else
 *                 $XDG_CACHE_HOME/nuthatch, else ~/.cache/nuthatch.
 * @param options  NULL for the defaults.
 * @param cache    Gets the handle; NULL on failure. Close it with nh_close.
 * @return NH_OK; NH_IO when the directory can't be made or used; NH_NO_SPACE; NH_INVALID; NH_BAD_HEADER for a
 *         user_agent that can't be sent.
 */
nh_status nh_open(const char *path, const nh_options *options, nh_cache **cache);

/**
 * Closes a cache. Requests that are under way end with NH_CLOSED, at once and on every thread that waits for one;
 * responses stay valid. Waits for the network only where a stale answer was given that is being revalidated behind: two
 * seconds at most.
 *
 * @return NH_OK; NH_INVALID when `cache` is not an open cache.
 */
nh_status nh_close(nh_cache *cache);

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/**
 * Begins the description of a request: a GET of `url`, until the functions below say otherwise. What they are given
 * is copied. A request may be used any number of times, from any thread; URL and headers are checked when it is used.
 *
 * @param request  Gets the handle; NULL on failure. Release it with nh_request_release.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_new(const char *url, nh_request **request);

/**
 * Sets the method, such as "POST"; it is sent as it is spelled.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_method(nh_request *request, const char *method);

/**
 * Adds a header. User-Agent and Accept replace what would be sent otherwise.
 *
 * @return NH_OK; NH_INVALID. A name or value that can't be sent is NH_BAD_HEADER when the request is used.
 */
nh_status nh_request_add_header(nh_request *request, const char *name, const char *value);

/**
 * Sets the body: `size` bytes, copied. NULL and 0 for none.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_body(nh_request *request, const void *body, size_t size);

/**
 * Sets user and password, sent as Basic credentials to the origin of the URL and to no other.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_user(nh_request *request, const char *user, const char *password);

/**
 * Sets the longest silence in milliseconds. 0: the cache's; negative: none.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_timeout(nh_request *request, int64_t milliseconds);

/**
 * Sets the longest time for all of it, redirects included, in milliseconds. 0: the cache's; negative: none.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_deadline(nh_request *request, int64_t milliseconds);

/**
 * Sets the largest body, in bytes. 0: the cache's.
 *
 * @return NH_OK; NH_INVALID when `bytes` is negative.
 */
nh_status nh_request_set_max_bytes(nh_request *request, int64_t bytes);

/**
 * Sets a pointer that the events of the request's tickets carry. The library never follows it.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_user_data(nh_request *request, void *user_data);

/**
 * Releases a request. Tickets that were made from it go on.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_release(nh_request *request);

/* ---- Fetch and wait ---------------------------------------------------------------------------------------------- */

/**
 * Gets a URL, from the cache while that is fresh, and waits for the answer. An answer of any status is a success: look at the status in
 * nh_response_info. At most 10 redirects are followed.
 *
 * @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
 * @return NH_OK, or why there is no answer: NH_BAD_URL, NH_TIMEOUT, NH_DNS, NH_REFUSED, NH_RESET, NH_TLS, NH_HTTP,
 *         NH_TRUNCATED, NH_TOO_LARGE, NH_TOO_MANY_REDIRECTS, NH_CLOSED, NH_FORKED, NH_INVALID, NH_OUT_OF_MEMORY, NH_IO
 *         where no descriptor is left.
 */
nh_status nh_get(nh_cache *cache, const char *url, nh_response **response);

/**
 * Carries out a request and waits for the answer.
 *
 * @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
 * @return As nh_get, and NH_BAD_HEADER.
 */
nh_status nh_perform(nh_cache *cache, nh_request *request, nh_response **response);

/* ---- Submit and wait later --------------------------------------------------------------------------------------- */

/**
 * Starts a request and returns at once. What is in the cache, and fresh, is there when this returns. Requests for one
 * URL share one fetch. Six at a time go to one host, as many together as the way to the network carries; the others
 * wait their turn, and only their deadline runs meanwhile.
 *
 * @param ticket  Gets the handle; NULL on failure. Release it with nh_ticket_release.
 * @return NH_OK; NH_BAD_URL or NH_BAD_HEADER, before any network is touched; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_submit(nh_cache *cache, nh_request *request, nh_ticket **ticket);

/**
 * Waits for a ticket's next event. Several threads may wait; each event goes to one of them.
 *
 * @param timeout_ms  The longest wait in milliseconds; 0 looks without waiting; negative waits for ever.
 * @param event       Gets the event; clear it with nh_event_clear. Zeroed when none came.
 * @param event_size  sizeof *event.
 * @return NH_OK with an event, also with one that tells of a failure: see its code. NH_TIMEOUT when none came in
 *         time; the request goes on. NH_FORKED. NH_INVALID, also when the final event was taken before.
 */
nh_status nh_wait(nh_ticket *ticket, int64_t timeout_ms, nh_event *event, size_t event_size);

/**
 * Gives back what an event owns, and zeroes it. Clearing a zeroed event does nothing.
 *
 * @return NH_OK; NH_INVALID when `event` is NULL or its response is no open response.
 */
nh_status nh_event_clear(nh_event *event);

/**
 * Cancels a request. Its final event is NH_EVENT_CANCELLED, there at once, unless it had one before.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_cancel(nh_ticket *ticket);

/**
 * Tells where a request stands.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_ticket_state(nh_ticket *ticket, nh_ticket_status *state);

/**
 * Releases a ticket. Never cancels: the request goes on, and nobody hears of its end.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_ticket_release(nh_ticket *ticket);

/* ---- Responses --------------------------------------------------------------------------------------------------- */

/**
 * Tells what a response holds. Set info->struct_size to sizeof *info before the call.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_response_get_info(nh_response *response, nh_response_info *info);

/**
 * Gives the first value of a header, its name compared without regard to case; NULL when there is none. It lives as
 * long as the response.
 *
 * @return NH_OK, also when there is none; NH_INVALID.
 */
nh_status nh_response_header(nh_response *response, const char *name, const char **value);

/**
 * Gives the header line number `index`, from 0 in the order of arrival; repeated headers are lines of their own.
 *
 * @return NH_OK; NH_INVALID, also when `index` is not below header_count.
 */
nh_status nh_response_header_at(nh_response *response, int32_t index, const char **name, const char **value);

/**
 * Releases a response and its bytes.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_response_release(nh_response *response);

/* ---- Images ------------------------------------------------------------------------------------------------------ */

/**
 * Gives a thumbnail that fits a square box of `size` pixels a side: upright, never enlarged. It comes from the cache
 * while that is fresh, else the picture is fetched, and both are kept. JPEG and PNG are decoded, on a thread of the
 * library's.
 *
 * @param image  Gets the handle; NULL on failure. Release it with nh_image_release.
 * @return As nh_get; NH_HTTP when the answer isn't a success; as nh_response_image.
 */
nh_status nh_thumbnail(nh_cache *cache, const char *url, int32_t size, nh_image **image);

/**
 * Decodes the body of a response, on the calling thread, whatever its status and Content-Type say.
 *
 * @param options  What the image must fit, and how. Never NULL.
 * @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
 * @return NH_OK; NH_NOT_AN_IMAGE; NH_UNSUPPORTED_FORMAT (the message names the format); NH_CORRUPT and NH_TRUNCATED
 *         (with the place); NH_TOO_LARGE; NH_TOO_MANY_PIXELS; NH_OUT_OF_MEMORY; NH_INVALID, also for a box whose sides
 *         aren't 1 to 65535.
 */
nh_status nh_response_image(nh_response *response, const nh_image_options *options, nh_image **image);

/**
 * Tells what an image holds. Set info->struct_size to sizeof *info before the call.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_image_get_info(nh_image *image, nh_image_info *info);

/**
 * Gives an image as a file. The bytes live as long as the image; asking again for the same costs nothing.
 *
 * @param quality  For JPEG 1 to 100, 0 for 92. For PNG 0, or 100 for the smallest file, which takes much longer.
 * @param bytes    Gets the first byte.
 * @param size     Gets their number.
 * @return NH_OK; NH_INVALID; NH_OUT_OF_MEMORY.
 */
nh_status nh_image_encode(nh_image *image, nh_format format, int32_t quality, const void **bytes, size_t *size);

/**
 * Releases an image, its pixels, and what was encoded from it.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_image_release(nh_image *image);

#ifdef __cplusplus
}
#endif

#endif
