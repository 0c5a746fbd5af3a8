#ifndef NH_ANSWERS_H
#define NH_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_status.h"
#include "nh_values.h"

/** What a response holds. Set struct_size before the call. Everything pointed to lives as long as the response. */
typedef struct nh_response_info {
    uint32_t struct_size;
    /** The HTTP status, such as 200. */
    int32_t status;
    /** The body: body_size bytes, not terminated (nh_response_text is). Never NULL. */
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
    /** Microseconds from the start of the last exchange to its first byte and to its end; 0 from the cache. */
    int64_t first_byte_us;
    int64_t total_us;
    /** How old the answer is, in seconds, by the rules of HTTP. */
    int64_t age;
    /** 1 when it isn't fresh by its request's policy: given because the server can't be asked, or before it is. Else 0. */
    int32_t is_stale;
    /** 1 when the cache has the answer now: it was there, or has been kept. 0 for what must not be kept, and for what couldn't be,
     *  because another process held the lock of the cache or the disk was full. */
    int32_t is_stored;
    /** The words after the status; empty where the server sent none. */
    const char *reason;
    /** Microseconds from the start of the last exchange until the name was found, the connection stood, TLS was agreed. */
    int64_t dns_us;
    int64_t connect_us;
    int64_t tls_us;
    /** How many interim answers (1xx) came before this one, for nh_response_interim_at; 0 from the cache. */
    int32_t interim_count;
    /** 1 when the body was longer: of an answer to a request in the outbox the first MiB is kept (nh_outbox_response). Else 0. */
    int32_t is_cut;
    /** 1 when the request (POST, PUT, DELETE, PATCH) has made stored answers invalid that couldn't be removed yet, because another
     *  process held the lock of the cache or the disk was full. No process gives them any more, and the next one that keeps an
     *  answer removes them. Of what a bad disk refuses to remove only this process knows. Else 0. */
    int32_t is_removal_due;
    /** 1 when the body may end too early: nothing says how long it is, and its TLS connection ended without the farewell
     *  (close_notify) that only the server can send. Such an answer isn't stored. Else 0. */
    int32_t is_truncated;
} nh_response_info;

/** An answer that only said that another one follows, such as 103 (Early Hints). Set struct_size before the call.
 *  Everything pointed to lives as long as the response. */
typedef struct nh_interim {
    uint32_t struct_size;
    /** Such as 103. */
    int32_t status;
    /** header_count header lines, in the order of their arrival; NULL for none. */
    const nh_header *headers;
    size_t header_count;
} nh_interim;

/** What nh_get_now gives; it never grows, hence no struct_size. */
typedef struct nh_found {
    /** To be released with nh_response_release; NULL when nothing was found. */
    nh_response *response;
    /** The body, which lives as long as the response, and how many bytes it has. */
    const void *body;
    size_t body_size;
} nh_found;

#endif
