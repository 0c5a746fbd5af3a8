#ifndef NH_ANSWERS_H
#define NH_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_status.h"
#include "nh_values.h"

/** Facts about a response. Set struct_size before the call. All pointers are valid as long as the response. */
typedef struct nh_response_info {
    uint32_t struct_size;
    /** The HTTP status, such as 200. */
    int32_t status;
    /** The body: body_size bytes, not terminated (nh_response_text is). Never NULL. */
    const void *body;
    size_t body_size;
    /** The URL as it was passed. */
    const char *url;
    /** The URL of the answer, after redirects, without user and password. */
    const char *final_url;
    /** The Content-Type header, or NULL. */
    const char *content_type;
    /** 1 if the bytes were in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    nh_source source;
    /** The number of redirects that were followed. */
    int32_t redirects;
    /** The number of header lines, for nh_response_header_at. */
    int32_t header_count;
    /** Microseconds from the start of the last exchange to its first byte and to its end; 0 from the cache. */
    int64_t first_byte_us;
    int64_t total_us;
    /** The age of the answer in seconds, by the rules of HTTP. */
    int64_t age;
    /** 1 if the answer isn't fresh by its request's policy: the server can't be asked, or hasn't answered yet. Else 0. */
    int32_t is_stale;
    /** 1 if the cache has the answer now, as it was delivered. 0 if it must not be stored, or couldn't be stored, because another
     *  process held the lock of the cache or the disk was full. */
    int32_t is_stored;
    /** The reason phrase after the status; empty if the server sent none. */
    const char *reason;
    /** Microseconds from the start of the last exchange until the name was resolved, the connection was made, TLS was agreed. */
    int64_t dns_us;
    int64_t connect_us;
    int64_t tls_us;
    /** The number of interim answers (1xx) before this one, for nh_response_interim_at; 0 from the cache. */
    int32_t interim_count;
    /** 1 if the end of the body is missing, because the outbox stores only the first MiB of an answer (nh_outbox_response). Else 0. */
    int32_t is_cut;
    /** 1 if the request (POST, PUT, DELETE, PATCH) has made stored answers invalid that couldn't be removed yet, because another
     *  process held the lock of the cache or the disk was full. No process returns them any more, and the next process that stores an
     *  answer removes them. Exception: if the disk fails, only this process knows that they are invalid. Else 0. */
    int32_t is_removal_due;
    /** 1 if the body may be incomplete: the answer has no length, and its TLS connection ended without close_notify, which only the
     *  server can send. Such an answer isn't stored. Else 0. */
    int32_t is_truncated;
} nh_response_info;

/** An interim answer, such as 103 (Early Hints), which comes before the final one. Set struct_size before the call. All pointers are
 *  valid as long as the response. */
typedef struct nh_interim {
    uint32_t struct_size;
    /** The status, such as 103. */
    int32_t status;
    /** header_count header lines, in the order of their arrival; NULL for none. */
    const nh_header *headers;
    size_t header_count;
} nh_interim;

/** The result of nh_get_now. This struct never grows and has no struct_size. */
typedef struct nh_found {
    /** Release it with nh_response_release; NULL if nothing was found. */
    nh_response *response;
    /** The body, valid as long as the response, and its number of bytes. */
    const void *body;
    size_t body_size;
} nh_found;

#endif
