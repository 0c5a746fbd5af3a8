#ifndef NH_SENDING_H
#define NH_SENDING_H

#include <stddef.h>
#include <stdint.h>

#include "nh_values.h"

/** A part of a form: bytes or a file. Set struct_size, name, and data or path; zero what you don't say. */
typedef struct nh_part {
    uint32_t struct_size;
    /** Must be 0. */
    uint32_t reserved;
    /** The field's name. Quotes and line breaks are escaped as browsers do. */
    const char *name;
    /** `size` bytes, copied. */
    const void *data;
    size_t size;
    /** Or a file, read while it is sent, as with nh_request_set_body_file. */
    const char *path;
    /** What it is called there. NULL: data is a plain field, and a file has its own name. */
    const char *file_name;
    /** Its Content-Type. NULL: none for a plain field, else application/octet-stream. */
    const char *type;
} nh_part;

/** Where an answer goes. */
typedef enum nh_sink_kind {
    /** A file, which has its name only once it is complete; one that was there is replaced then. When a transfer breaks off and can
     *  be gone on with, what is there stays in a hidden file beside it, and the next request for it goes on there, in any process
     *  (nh_options.resume). */
    NH_SINK_FILE = 1,
    /** A file that the answer is added to the end of: all of it or nothing. */
    NH_SINK_APPEND = 2,
    /** A descriptor. What it doesn't take holds the transfer up, and nothing else. It is copied when the request is used: it may
     *  be closed after that. */
    NH_SINK_DESCRIPTOR = 3,
    /** The program, in pieces, as NH_EVENT_DATA. While more than a mebibyte waits to be taken, nothing more comes. */
    NH_SINK_EVENTS = 4
} nh_sink_kind;

/** Where an answer goes while it comes. Set struct_size, kind, and what belongs to it. */
typedef struct nh_sink {
    uint32_t struct_size;
    nh_sink_kind kind;
    /** Of NH_SINK_FILE and NH_SINK_APPEND. */
    const char *path;
    /** Of NH_SINK_DESCRIPTOR. */
    int32_t descriptor;
    /** Must be 0. */
    uint32_t reserved;
} nh_sink;

#ifndef __cplusplus
/** The same as NH_OPTIONS for these two: NH_PART(.name = "picture", .path = "nut.jpg"). */
#define NH_PART(...) (&(nh_part){.struct_size = sizeof(nh_part), __VA_ARGS__})
#define NH_SINK(...) (&(nh_sink){.struct_size = sizeof(nh_sink), __VA_ARGS__})
#endif

/** What nh_url_put writes of a URL. */
typedef enum nh_url_form {
    /** The URL with its password hidden, as messages and the log show it: "http://ann:***@example.org/". Any text will do. */
    NH_URL_REDACTED = 1,
    /** Its origin, where its user and password go: "https://example.org", without the scheme's own port. */
    NH_URL_ORIGIN = 2
} nh_url_form;

#endif
