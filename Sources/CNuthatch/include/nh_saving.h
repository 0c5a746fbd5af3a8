#ifndef NH_SAVING_H
#define NH_SAVING_H

#include <stddef.h>
#include <stdint.h>

/** The kind of place where an answer is saved. */
typedef enum nh_sink_kind {
    /** A file. It appears under its name only when it is complete, and then replaces an older file. A broken transfer that can be
     *  continued leaves a hidden file beside it. The next request for it continues that file, in any process (nh_options.resume). */
    NH_SINK_FILE = 1,
    /** A file; the answer is added to its end, completely or not at all. */
    NH_SINK_APPEND = 2,
    /** A descriptor. If it accepts no bytes, only this transfer waits. It is copied when the request is used, and may
     *  be closed after that. */
    NH_SINK_DESCRIPTOR = 3,
    /** The program gets the answer in pieces, as NH_EVENT_DATA. While more than a mebibyte waits to be taken, no more bytes are
     *  received. */
    NH_SINK_EVENTS = 4
} nh_sink_kind;

/** A place where an answer is saved while it arrives. Set struct_size, kind, and the members of that kind. */
typedef struct nh_sink {
    uint32_t struct_size;
    nh_sink_kind kind;
    /** For NH_SINK_FILE and NH_SINK_APPEND. */
    const char *path;
    /** For NH_SINK_DESCRIPTOR. */
    int32_t descriptor;
    /** Must be 0. */
    uint32_t reserved;
} nh_sink;

#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
/** Like NH_OPTIONS: NH_SINK(.kind = NH_SINK_FILE, .path = "nut.jpg"). C only. */
#define NH_SINK(...) (&(nh_sink){.struct_size = sizeof(nh_sink), __VA_ARGS__})
#endif

#endif
