#ifndef NH_ERRORS_H
#define NH_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_status.h"

/** More about a failed call than its status. Set struct_size before the call. */
typedef struct nh_error_info {
    uint32_t struct_size;
    nh_status code;
    /** As nh_error_message. */
    const char *message;
    /** The HTTP status of the answer that was no success; 0 when that isn't why. */
    int32_t http_status;
    /** After how many seconds it makes sense to ask again; -1 when nobody knows. */
    int32_t retry_after;
    /** Of NH_FROZEN: the number in the outbox. Else 0. */
    uint64_t outbox_id;
} nh_error_info;

#endif
