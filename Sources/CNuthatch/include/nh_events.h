#ifndef NH_EVENTS_H
#define NH_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_status.h"
#include "nh_values.h"

/** The state of a ticket. */
typedef enum nh_ticket_status {
    NH_TICKET_QUEUED = 1,
    NH_TICKET_RUNNING = 2,
    NH_TICKET_DONE = 3,
    NH_TICKET_CANCELLED = 4
} nh_ticket_status;

/** The kind of an event. Every ticket has exactly one final event, also after nh_cancel, nh_shutdown and nh_close. */
typedef enum nh_event_kind {
    NH_EVENT_NONE = 0,
    /** More bytes were received or sent. Only with nh_options.progress_events; of several events that weren't taken only the newest is
     *  kept. */
    NH_EVENT_PROGRESS = 1,
    /** An answer from the cache. Final unless it is stale and more follows. */
    NH_EVENT_CACHED = 2,
    /** The server has confirmed the stored answer (304), which is the response. Final. */
    NH_EVENT_UNCHANGED = 3,
    /** A new answer from the network. Final. */
    NH_EVENT_FRESH = 4,
    /** No answer: see code and message. Final. */
    NH_EVENT_FAILED = 5,
    /** The request was cancelled. Final. */
    NH_EVENT_CANCELLED = 6,
    /** The request is in the outbox, as outbox_id (NH_FROZEN). Only with nh_options.freezable. Final. */
    NH_EVENT_FROZEN = 7,
    /** The program gets a question: see nh_options.asks and nh_answer. Never final. */
    NH_EVENT_QUESTION = 8,
    /** A piece of the answer's body: data. Only with NH_SINK_EVENTS. Never final. */
    NH_EVENT_DATA = 9,
    /** A request in the outbox has ended: frozen has the request and its outcome. Without a ticket; only after nh_outbox_attach. */
    NH_EVENT_OUTCOME = 10,
    /** A site has become reachable or unreachable: is_reachable; the message is its URL. Without a ticket; only after nh_site_watch. */
    NH_EVENT_REACHABILITY = 11,
    /** The number of requests under way has risen from 0. Without a ticket; only after nh_activity_watch. */
    NH_EVENT_BUSY = 12,
    /** The number of requests under way has fallen to 0. Without a ticket; only after nh_activity_watch. Of the
     *  BUSY and IDLE events that weren't taken, only the last one or two are kept. */
    NH_EVENT_IDLE = 13
} nh_event_kind;

/** Questions to the program while its request is under way. The numbers are bits, for nh_options.asks. */
typedef enum nh_question {
    NH_ASK_NOTHING = 0,
    /** Which headers to add, such as a token or a signature: before anything is looked up or sent. Unanswered: none. */
    NH_ASK_HEADERS = 1,
    /** User and password, after an answer with status 401 from the URL's own origin to a request without credentials. Unanswered: that
     *  answer is delivered. */
    NH_ASK_CREDENTIALS = 2,
    /** Whether an answer from the network is good; it is stored only after the reply. Unanswered: it is good. */
    NH_ASK_VERDICT = 4,
    /** The secret of a provider, for a request in the outbox. The message is the provider's name. The event has no ticket; answer it
     *  with nh_outbox_provide. Only after nh_outbox_ask; not for nh_options.asks. Unanswered: the request waits. */
    NH_ASK_SECRET = 8,
    /** Which headers to send with another attempt, after an answer with status 401 from the URL's own origin, with or without
     *  credentials in the request: for schemes that the library doesn't know, and tokens that have expired. If the server refuses
     *  these headers, too, the question comes again, up to ten times. Unanswered: that answer is delivered. */
    NH_ASK_CHALLENGE = 16
} nh_question;

/** An event of a ticket. It owns its message and its result until nh_event_clear. To keep a response or an image, copy the handle and
 *  set its member in the event to NULL before that. */
typedef struct nh_event {
    /** The number of bytes that are valid: the members that both the library and the program know. The library sets it; 0 in an event
     *  that is cleared. */
    uint32_t struct_size;
    nh_event_kind kind;
    /** The ticket, as nh_submit returned it; the event doesn't release it. NULL if nh_submit was called without a place for a ticket. */
    nh_ticket *ticket;
    /** The pointer of nh_options.user_data, or NULL. */
    void *user_data;
    /** 1 for the last event of its ticket, else 0. */
    int32_t is_final;
    /** 1 if the bytes were in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    /** 1 if the answer isn't fresh by its request's policy and expire_after_ms, else 0. */
    int32_t is_stale;
    /** 1 if the answer is in the cache now: it was there, or was stored (nh_response_info). Else 0. */
    int32_t is_stored;
    nh_source source;
    /** NH_OK with an answer, else the reason of the failure. */
    nh_status code;
    /** The HTTP status of the response, of the answer that the images were made from, or of the answer that wasn't a success; else 0,
     *  also if a successful answer couldn't be decoded as an image. */
    int32_t http_status;
    /** The number of seconds after which a retry makes sense; -1 if unknown. */
    int32_t retry_after;
    /** Bytes of the body that were received, or sent (is_upload), and the total; -1 if the total is unknown. With images: bytes of the
     *  body that they were made from. */
    int64_t bytes_done;
    int64_t bytes_total;
    /** The description of a failure; for a question, the URL that it is about; NULL with an answer. */
    char *message;
    /** The answer, or NULL. For a question, the answer that it is about, or NULL. */
    nh_response *response;
    /** image_count images in the order of the requested sizes, or NULL. */
    nh_image **images;
    size_t image_count;
    /** The question, or NH_ASK_NOTHING. */
    nh_question question;
    /** For NH_EVENT_PROGRESS: 1 if it counts the request's body, 0 if it counts the answer's. */
    int32_t is_upload;
    /** For NH_EVENT_DATA: data_size bytes; bytes_done counts these and all earlier ones. Else NULL. */
    void *data;
    size_t data_size;
    /** For NH_EVENT_FROZEN and NH_EVENT_OUTCOME: the number in the outbox. Else 0. */
    uint64_t outbox_id;
    /** For NH_EVENT_OUTCOME: the request; nh_outbox_response returns its answer. Else NULL. */
    nh_frozen *frozen;
    /** For NH_EVENT_REACHABILITY: 1 if the site can be reached, else 0. */
    int32_t is_reachable;
    /** Always 0. */
    uint32_t reserved;
} nh_event;

/** Called by nh_dispatch for one event, on the thread that called nh_dispatch. When it returns, the library frees everything that the
 *  event still owns. `user_data` is event->user_data. */
typedef void (*nh_callback)(nh_event *event, void *user_data);

#endif
