#ifndef NH_FROZEN_H
#define NH_FROZEN_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_status.h"

/** Where a request in the outbox stands. */
typedef enum nh_frozen_state {
    /** It waits: for the network, for its time, or for those before it. */
    NH_FROZEN_WAITING = 1,
    NH_FROZEN_SENDING = 2,
    /** It waits for somebody: the server wants other credentials (401, 403). Nothing of its queue is sent meanwhile. */
    NH_FROZEN_PAUSED = 3,
    /** The server has done it (2xx). nh_outbox_response has the answer, until nh_outbox_drop. */
    NH_FROZEN_DONE = 4,
    /** It was put aside, with a reason: nh_outbox_replay sends it, nh_outbox_drop forgets it. */
    NH_FROZEN_DEAD = 5
} nh_frozen_state;

/** What is known of a request in the outbox. Set struct_size before the call. Everything pointed to lives as long as the
 *  handle. */
typedef struct nh_frozen_info {
    uint32_t struct_size;
    nh_frozen_state state;
    /** Its number, which no other request of the directory ever has. */
    uint64_t id;
    const char *method;
    /** The URL as it was passed, without password; that of a site's request from its beginning on. */
    const char *url;
    /** The queue's name, or the URL's origin. */
    const char *queue;
    /** Who gets the outcome; NULL for nobody. */
    const char *handler;
    /** What nh_options.tag said, or NULL. */
    const char *tag;
    /** The Idempotency-Key that every attempt is sent with. */
    const char *key;
    /** Why it isn't done, or NULL. */
    const char *reason;
    int64_t body_size;
    /** When it was frozen, in seconds since 1970. */
    int64_t frozen_at;
    /** Seconds until it is tried again; -1 when that doesn't depend on time. */
    int64_t wait;
    /** How often it was tried since. */
    int32_t attempts;
    /** The status of the last answer; 0 for none. */
    int32_t http_status;
    /** The reason as a status: NH_HTTP for an answer's status, NH_TIMEOUT for what was tried too often or too long. */
    nh_status code;
    /** How many attempts there are for nh_frozen_attempt_at: the last ones, up to 32. */
    int32_t history_count;
} nh_frozen_info;

/** An attempt that didn't end a request in the outbox. Set struct_size before the call. */
typedef struct nh_frozen_attempt {
    uint32_t struct_size;
    /** Why there was no answer; NH_OK where there was one. */
    nh_status code;
    /** Seconds since 1970. */
    int64_t time;
    /** The answer's; 0 for none. */
    int32_t http_status;
    /** Always 0. */
    uint32_t reserved;
    /** What happened, in words; lives as long as the handle. */
    const char *reason;
} nh_frozen_attempt;

#endif
