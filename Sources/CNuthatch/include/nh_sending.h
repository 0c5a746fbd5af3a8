#ifndef NH_SENDING_H
#define NH_SENDING_H

#include <stddef.h>
#include <stdint.h>

/** A part of a form: bytes or a file. Set struct_size, name, and data or path; set all other members to zero. */
typedef struct nh_part {
    uint32_t struct_size;
    /** Must be 0. */
    uint32_t reserved;
    /** The field's name. Quotes and line breaks are escaped as browsers do. */
    const char *name;
    /** `size` bytes, copied. */
    const void *data;
    size_t size;
    /** Instead of data: a file, read while it is sent, as with nh_request_set_body_file. */
    const char *path;
    /** The file name in the form. NULL: data is a plain field, and a file keeps its own name. */
    const char *file_name;
    /** Its Content-Type. NULL: none for a plain field, else application/octet-stream. */
    const char *type;
} nh_part;

#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
/** Like NH_OPTIONS: NH_PART(.name = "picture", .path = "nut.jpg"). C only. */
#define NH_PART(...) (&(nh_part){.struct_size = sizeof(nh_part), __VA_ARGS__})
#endif

#endif
