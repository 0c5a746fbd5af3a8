#ifndef NH_SAVING_H
#define NH_SAVING_H

#include <stddef.h>
#include <stdint.h>

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

#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
/** As NH_OPTIONS: NH_SINK(.kind = NH_SINK_FILE, .path = "nut.jpg"). C only. */
#define NH_SINK(...) (&(nh_sink){.struct_size = sizeof(nh_sink), __VA_ARGS__})
#endif

#endif
