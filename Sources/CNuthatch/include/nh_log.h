#ifndef NH_LOG_H
#define NH_LOG_H

#include <stddef.h>
#include <stdint.h>

/** The importance of a line of the log. */
typedef enum nh_log_level {
    NH_LOG_NONE = 0,
    /** Data is lost. */
    NH_LOG_ERROR = 1,
    /** Something is wrong. */
    NH_LOG_WARNING = 2,
    /** Caches opened and closed, memory freed, requests that failed. */
    NH_LOG_INFO = 3,
    /** The end of every request. */
    NH_LOG_DEBUG = 4
} nh_log_level;

/** Gets a line of the log, without a line end. The line is valid during the call only. See nh_log_set. */
typedef void (*nh_log_callback)(nh_log_level level, const char *line, void *user_data);

#endif
