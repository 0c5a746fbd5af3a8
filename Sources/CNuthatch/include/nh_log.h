#ifndef NH_LOG_H
#define NH_LOG_H

#include <stddef.h>
#include <stdint.h>

/** How much a line of the log matters. */
typedef enum nh_log_level {
    NH_LOG_NONE = 0,
    /** Something is lost. */
    NH_LOG_ERROR = 1,
    /** Something isn't as it should be. */
    NH_LOG_WARNING = 2,
    /** Caches opened and closed, memory given up, requests that failed. */
    NH_LOG_INFO = 3,
    /** Every request's end. */
    NH_LOG_DEBUG = 4
} nh_log_level;

/** Gets a line of the log, without an end, valid during the call only. See nh_log_set. */
typedef void (*nh_log_callback)(nh_log_level level, const char *line, void *user_data);

#endif
