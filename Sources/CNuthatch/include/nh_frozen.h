#ifndef NH_FROZEN_H
#define NH_FROZEN_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_status.h"

/** State of a request in the outbox. */
typedef enum nh_frozen_state {
    /** The request waits for the network, for the time of its next attempt, or for earlier requests of its queue. */
    NH_FROZEN_WAITING = 1,
    NH_FROZEN_SENDING = 2,
    /** The request waits for other credentials: the server has refused them (401, 403). Meanwhile nothing of its queue is sent. */
    NH_FROZEN_PAUSED = 3,
    /** The server has accepted it (2xx). nh_outbox_response returns the answer, until nh_outbox_drop. */
    NH_FROZEN_DONE = 4,
    /** The request is no longer tried; reason says why. nh_outbox_replay sends it again, nh_outbox_drop removes it. */
    NH_FROZEN_DEAD = 5
} nh_frozen_state;

/** Facts about a request in the outbox. Set struct_size before the call. All pointers are valid as long as the handle. */
typedef struct nh_frozen_info {
    uint32_t struct_size;
    nh_frozen_state state;
    /** Its number. No other request of the directory ever gets it. */
    uint64_t id;
    const char *method;
    /** The URL as it was passed, without the password. For a site's request: the resolved, absolute URL. */
    const char *url;
    /** The queue's name, or the URL's origin. */
    const char *queue;
    /** The handler that gets the outcome; NULL for none. */
    const char *handler;
    /** The text of nh_options.tag, or NULL. */
    const char *tag;
    /** The Idempotency-Key that is sent with every attempt. */
    const char *key;
    /** Why it isn't done, or NULL. */
    const char *reason;
    int64_t body_size;
    /** When it was frozen, in seconds since 1970. */
    int64_t frozen_at;
    /** Seconds until the next attempt; -1 if it doesn't depend on time. */
    int64_t wait;
    /** The number of attempts since it was frozen. */
    int32_t attempts;
    /** The status of the last answer; 0 for none. */
    int32_t http_status;
    /** The reason as a status: NH_HTTP for an answer's status, NH_TIMEOUT after too many attempts or too long a time. */
    nh_status code;
    /** The number of attempts that nh_frozen_attempt_at can return: the last ones, at most 32. */
    int32_t history_count;
} nh_frozen_info;

/** An attempt that didn't end a request in the outbox. Set struct_size before the call. */
typedef struct nh_frozen_attempt {
    uint32_t struct_size;
    /** Why there was no answer; NH_OK if there was one. */
    nh_status code;
    /** Seconds since 1970. */
    int64_t time;
    /** The answer's HTTP status; 0 without an answer. */
    int32_t http_status;
    /** Always 0. */
    uint32_t reserved;
    /** A description of the failure; valid as long as the handle. */
    const char *reason;
} nh_frozen_attempt;

#endif
