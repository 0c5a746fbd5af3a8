#ifndef NH_ERRORS_H
#define NH_ERRORS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_status.h"

/** Details of a failed call. Set struct_size before the call. */
typedef struct nh_error_info {
    uint32_t struct_size;
    nh_status code;
    /** The same as nh_error_message. */
    const char *message;
    /** The HTTP status of the answer, if the answer is the cause of the failure; else 0. */
    int32_t http_status;
    /** The number of seconds after which a retry makes sense; -1 if unknown. */
    int32_t retry_after;
    /** For NH_FROZEN: the number in the outbox. Else 0. */
    uint64_t outbox_id;
} nh_error_info;

#endif
