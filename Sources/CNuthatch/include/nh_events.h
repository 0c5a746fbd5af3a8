#ifndef NH_EVENTS_H
#define NH_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_status.h"
#include "nh_values.h"

/** Where a ticket stands. */
typedef enum nh_ticket_status {
    NH_TICKET_QUEUED = 1,
    NH_TICKET_RUNNING = 2,
    NH_TICKET_DONE = 3,
    NH_TICKET_CANCELLED = 4
} nh_ticket_status;

/** What an event tells. Every ticket has exactly one final event, also after nh_cancel, nh_shutdown and nh_close. */
typedef enum nh_event_kind {
    NH_EVENT_NONE = 0,
    /** More bytes have come, or been sent. Only with nh_options.progress_events; of several that nobody took the newest is kept. */
    NH_EVENT_PROGRESS = 1,
    /** An answer from the cache. Final unless it is stale and more follows. */
    NH_EVENT_CACHED = 2,
    /** The server says that the stored answer still holds; this is it. Final. */
    NH_EVENT_UNCHANGED = 3,
    /** A new answer from the network. Final. */
    NH_EVENT_FRESH = 4,
    /** No answer: see code and message. Final. */
    NH_EVENT_FAILED = 5,
    /** The request was cancelled. Final. */
    NH_EVENT_CANCELLED = 6,
    /** The request is in the outbox, as outbox_id (NH_FROZEN). Only with nh_options.freezable. Final. */
    NH_EVENT_FROZEN = 7,
    /** The program is asked something: see nh_options.asks and nh_answer. Never final. */
    NH_EVENT_QUESTION = 8,
    /** A piece of the answer's body: data. Only with NH_SINK_EVENTS. Never final. */
    NH_EVENT_DATA = 9,
    /** A request in the outbox has ended: frozen says which, and how. Of no ticket; only after nh_outbox_attach. */
    NH_EVENT_OUTCOME = 10,
    /** A site can be reached now, or can't any more: is_reachable; the message is its URL. Of no ticket; only after nh_site_watch. */
    NH_EVENT_REACHABILITY = 11,
    /** A request is under way, where there was none. Of no ticket; only after nh_activity_watch. */
    NH_EVENT_BUSY = 12,
    /** None is under way any more. Of no ticket; only after nh_activity_watch. Of turns that nobody took the last two are kept. */
    NH_EVENT_IDLE = 13
} nh_event_kind;

/** What the program may be asked while its request is under way. The numbers are bits, for nh_options.asks. */
typedef enum nh_question {
    NH_ASK_NOTHING = 0,
    /** Which headers to add, a token or a signature: before anything is looked up or sent. Unanswered: none. */
    NH_ASK_HEADERS = 1,
    /** User and password, after an answer with status 401 of the URL's own origin to a request without. Unanswered: that
     *  answer is delivered. */
    NH_ASK_CREDENTIALS = 2,
    /** Whether an answer from the network is good; it isn't stored before. Unanswered: it is. */
    NH_ASK_VERDICT = 4,
    /** The secret of a provider, whose name is the message, for a request in the outbox: of no ticket, and answered with
     *  nh_outbox_provide. Only after nh_outbox_ask, and nothing for nh_options.asks. Unanswered: the request waits. */
    NH_ASK_SECRET = 8,
    /** Which headers to send with another attempt, after an answer with status 401 of the URL's own origin, whatever was sent:
     *  for schemes that the library doesn't know, and tokens that have expired. Asked again when that is refused, too, up to ten times.
     *  Unanswered: that answer is delivered. */
    NH_ASK_CHALLENGE = 16
} nh_question;

/** What a ticket delivers. It owns its message and its result until nh_event_clear. To keep a response or an image, copy
 *  the handle out and set its place to NULL before that. */
typedef struct nh_event {
    /** How many bytes of it tell something: what the library and the program both know. The library sets it; 0 in an event that is
     *  cleared. */
    uint32_t struct_size;
    nh_event_kind kind;
    /** The ticket, as nh_submit gave it; still to be released by whoever has it. NULL when nh_submit gave none. */
    nh_ticket *ticket;
    /** What nh_options.user_data said, or NULL. */
    void *user_data;
    /** 1 for the last event of its ticket, else 0. */
    int32_t is_final;
    /** 1 when the bytes were in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    /** 1 when the answer isn't fresh by its request's policy and expire_after_ms, else 0. */
    int32_t is_stale;
    /** 1 when the cache has the answer now: it was there, or has been kept (nh_response_info). Else 0. */
    int32_t is_stored;
    nh_source source;
    /** NH_OK with an answer, else why there is none. */
    nh_status code;
    /** The HTTP status of the response, of the answer that the images were made from, or of the one that was no success;
     *  else 0, also where no image could be made of a success. */
    int32_t http_status;
    /** After how many seconds it makes sense to ask again; -1 when nobody knows. */
    int32_t retry_after;
    /** Bytes of the body that are there, or have been sent (is_upload), and those that there will be; -1 when that isn't known.
     *  Of images: of the body that they were made from. */
    int64_t bytes_done;
    int64_t bytes_total;
    /** What happened; of a question, the URL that it is about; NULL with an answer. */
    char *message;
    /** The answer, or NULL. Of a question, the answer that it is about, or NULL. */
    nh_response *response;
    /** image_count images in the order of the sizes that were asked for, or NULL. */
    nh_image **images;
    size_t image_count;
    /** What is asked, or NH_ASK_NOTHING. */
    nh_question question;
    /** Of NH_EVENT_PROGRESS: 1 when it tells of the request's body, 0 when of the answer's. */
    int32_t is_upload;
    /** Of NH_EVENT_DATA: data_size bytes; bytes_done counts them and those before. Else NULL. */
    void *data;
    size_t data_size;
    /** Of NH_EVENT_FROZEN and NH_EVENT_OUTCOME: the number in the outbox. Else 0. */
    uint64_t outbox_id;
    /** Of NH_EVENT_OUTCOME: what is known of the request; nh_outbox_response has the answer. Else NULL. */
    nh_frozen *frozen;
    /** Of NH_EVENT_REACHABILITY: 1 when the site can be reached, else 0. */
    int32_t is_reachable;
    /** Always 0. */
    uint32_t reserved;
} nh_event;

/** Called by nh_dispatch, on the thread that called it, for one event. What the event still owns when it returns is given
 *  back. `user_data` is event->user_data. */
typedef void (*nh_callback)(nh_event *event, void *user_data);

#endif
