#ifndef NH_TYPES_H
#define NH_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "nh_handles.h"
#include "nh_status.h"

/** Yes, no, or nothing said. */
typedef enum nh_choice { NH_UNSAID = 0, NH_YES = 1, NH_NO = 2 } nh_choice;

/** What is taken for fresh, and for how long. */
typedef enum nh_policy {
    NH_POLICY_UNSAID = 0,
    /** Pictures stay fresh for days unless the server says otherwise. The default. */
    NH_POLICY_KIT = 1,
    /** RFC 9111, to the letter. */
    NH_POLICY_RFC9111 = 2,
    /** Whatever is stored answers; the network is never asked. */
    NH_POLICY_OFFLINE = 3,
    /** Nothing that is stored answers; what comes is stored. */
    NH_POLICY_RELOAD = 4
} nh_policy;

/** Which addresses may be connected to. Judged on the address really connected to, for every hop. */
typedef enum nh_guard {
    NH_GUARD_UNSAID = 0,
    /** No link-local ones (cloud metadata), and no private ones by redirect from a public one. The default. */
    NH_GUARD_GUARDED = 1,
    /** Public ones only. */
    NH_GUARD_PUBLIC = 2,
    /** All. */
    NH_GUARD_ANY = 3
} nh_guard;

/** When what comes is written to disk. */
typedef enum nh_spill {
    NH_SPILL_UNSAID = 0,
    /** At once: it survives this process however it ends, and other processes find it. The default. */
    NH_SPILL_EAGER = 1,
    /** When memory is short, or when the cache is closed. */
    NH_SPILL_PRESSURE = 2
} nh_spill;

/** How thumbnails are kept on disk. Those of at most 16 KiB are kept raw in any case. */
typedef enum nh_store {
    NH_STORE_UNSAID = 0,
    /** As JPEG of quality 92 where they are opaque, else as PNG. The default. */
    NH_STORE_PACKED = 1,
    /** As PNG: the same pixels every time. */
    NH_STORE_LOSSLESS = 2,
    /** As pixels, used where they lie. */
    NH_STORE_RAW = 3
} nh_store;

/** Whether a process sends what is in the outbox of a directory that it has open. */
typedef enum nh_outbox {
    NH_OUTBOX_UNSAID = 0,
    /** In its turn, when no other process does. The default. */
    NH_OUTBOX_AUTO = 1,
    /** Requests may be frozen, and looked at, but are sent by others. */
    NH_OUTBOX_OFF = 2
} nh_outbox;

/** When answers from the cache are delivered. */
typedef enum nh_delivery {
    /** A stale one at once, and the one that holds now after it. */
    NH_DELIVERY_TWICE = 0,
    /** One answer, a stale one too; it is revalidated behind. */
    NH_DELIVERY_FIRST = 1,
    /** One answer, which holds now. */
    NH_DELIVERY_FRESH = 2
} nh_delivery;

/** How badly memory is wanted. */
typedef enum nh_pressure {
    /** Half of what is kept in memory is given up. */
    NH_PRESSURE_WARNING = 1,
    /** All of it, and the allocator gives back what it holds. */
    NH_PRESSURE_CRITICAL = 2
} nh_pressure;

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
    /** More bytes have come, or been sent. Only after nh_request_set_progress; of several that nobody took the newest is kept. */
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
    /** The server can't be reached: the request is in the outbox, as outbox_id. Only after nh_request_set_freezable. Final. */
    NH_EVENT_FROZEN = 7,
    /** The program is asked something: see nh_request_set_asks and nh_answer. Never final. */
    NH_EVENT_QUESTION = 8,
    /** A piece of the answer's body: data. Only after nh_request_save_to_events. Never final. */
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

/** What the program may be asked while its request is under way. The numbers are bits, for nh_request_set_asks. */
typedef enum nh_question {
    NH_ASK_NOTHING = 0,
    /** Which headers to add, a token or a signature: before anything is looked up or sent. Unanswered: none. */
    NH_ASK_HEADERS = 1,
    /** User and password, after an answer with status 401 to a request without. Unanswered: that answer is delivered. */
    NH_ASK_CREDENTIALS = 2,
    /** Whether an answer from the network is good; it isn't stored before. Unanswered: it is. */
    NH_ASK_VERDICT = 4,
    /** The secret of a provider, whose name is the message, for a request in the outbox: of no ticket, and answered with
     *  nh_outbox_provide. Only after nh_outbox_ask, and nothing for nh_request_set_asks. Unanswered: the request waits. */
    NH_ASK_SECRET = 8,
    /** Which headers to send with another attempt, after an answer with status 401, whatever was sent: for schemes that the
     *  library doesn't know, and tokens that have expired. Asked again when that is refused, too, up to ten times.
     *  Unanswered: that answer is delivered. */
    NH_ASK_CHALLENGE = 16
} nh_question;

/** How user and password are shown. */
typedef enum nh_sign_in {
    NH_SIGN_IN_UNSAID = 0,
    /** Basic, with the first request, unasked. */
    NH_SIGN_IN_BASIC = 1,
    /** The others only after the server has asked. */
    NH_SIGN_IN_DIGEST = 2,
    NH_SIGN_IN_NTLM = 3,
    /** Kerberos, where libcurl has it; without user and password, as whom the system knows. */
    NH_SIGN_IN_NEGOTIATE = 4,
    /** The strongest that the server asks for. */
    NH_SIGN_IN_ANY = 5
} nh_sign_in;

/** Whether a site's cookies are sent back to its servers, and where they are kept meanwhile. */
typedef enum nh_cookies {
    /** They are ignored. */
    NH_COOKIES_UNSAID = 0,
    /** In memory, as long as the directory is open in this process. */
    NH_COOKIES_MEMORY = 1,
    /** In the cache's directory, too, for other processes and later ones: readable for its owner only, and in clear. */
    NH_COOKIES_DISK = 2
} nh_cookies;

/** What the program thinks of an answer. */
typedef enum nh_verdict {
    NH_VERDICT_UNSAID = 0,
    /** It is good. */
    NH_VERDICT_ACCEPT = 1,
    /** It is none: the request fails with NH_HTTP, and nothing is stored. */
    NH_VERDICT_REJECT = 2,
    /** It is none, but another attempt may bring one; as many as the request's retries. */
    NH_VERDICT_RETRY = 3
} nh_verdict;

/** A header to be sent. */
typedef struct nh_header {
    const char *name;
    const char *value;
} nh_header;

/** An answer to a question. Set struct_size, and what the question is about; zero the rest. */
typedef struct nh_reply {
    uint32_t struct_size;
    /** For NH_ASK_VERDICT. */
    nh_verdict verdict;
    /** With NH_VERDICT_REJECT: why, for the error's message. */
    const char *reason;
    /** For NH_ASK_HEADERS: header_count headers to add. For NH_ASK_CHALLENGE: to send in the place of those of the same
     *  name. */
    const nh_header *headers;
    size_t header_count;
    /** For NH_ASK_CREDENTIALS. */
    const char *user;
    const char *password;
} nh_reply;

/** Where an answer came from. NH_SOURCE_REVALIDATED: from the cache, and the server says that it still holds. */
typedef enum nh_source {
    NH_SOURCE_NONE = 0,
    NH_SOURCE_MEMORY = 1,
    NH_SOURCE_DISK = 2,
    NH_SOURCE_REVALIDATED = 3,
    NH_SOURCE_NETWORK = 4
} nh_source;

/** What holds for every request of a cache, or of a site, that doesn't say otherwise. Set struct_size and zero the rest: 0
 *  and NULL everywhere mean "not given". For a cache that is the default that each member names; for a site it is what the
 *  cache was given. A negative number means "none": no limit, no retry, no lifetime. */
typedef struct nh_options {
    uint32_t struct_size;
    /** NH_POLICY_KIT. */
    nh_policy policy;
    /** Longest silence in milliseconds: connecting, waiting, between two bytes. 30000. */
    int64_t timeout_ms;
    /** All attempts of a request together, in milliseconds. 120000 for pictures, no limit otherwise. */
    int64_t deadline_ms;
    /** The largest body, in bytes. 67108864 (64 MiB). */
    int64_t max_bytes;
    /** The most pixels that a picture may have. 100 million. */
    int64_t max_pixels;
    /** How often a failed attempt is followed by another. 3. */
    int32_t retries;
    /** NH_GUARD_GUARDED. */
    nh_guard guard;
    /** NH_POLICY_KIT: seconds for which a picture with a validator and no lifetime is fresh. A day. */
    int64_t validator_ttl;
    /** NH_POLICY_KIT: seconds for which a picture without any word on caching is fresh. Seven days. */
    int64_t image_ttl;
    /** NH_POLICY_KIT: seconds for which an answer marked no-cache is fresh. 60. */
    int64_t no_cache_ttl;
    /** NH_POLICY_RFC9111: share of the time since Last-Modified for which an answer without a lifetime is fresh. 0.1. */
    double heuristic;
    /** The User-Agent header. nuthatch/VERSION. */
    const char *user_agent;
    /** The Accept header. Anything; for pictures, first of all what is decoded. */
    const char *accept;
    /** A name for whose answers are kept, in place of the credentials that are sent: for tokens that change. None. */
    const char *partition;
    /** The proxy for all requests: http://, https://, socks4://, socks5:// or socks5h://; "" for none. What the environment
     *  says. */
    const char *proxy;
    /** header_count headers, sent with every request that has none of the same name. None. */
    const nh_header *headers;
    size_t header_count;
    /** Sites only: Basic credentials, for the base URL's origin and no other. None. */
    const char *user;
    const char *password;

    /* The directory's own, for nh_open only. A second open in the same process that gives others is NH_CONFLICT. */

    /** What this process may keep in memory, in bytes. The smaller of 64 MiB and an eighth of the memory. */
    int64_t memory_bytes;
    /** How many things. No limit. */
    int64_t memory_items;
    /** What all records may take on disk, in bytes; at least 4 MiB. What the directory was given before, else 4 GiB. */
    int64_t disk_bytes;
    /** NH_SPILL_EAGER. */
    nh_spill spill;
    /** NH_STORE_PACKED. */
    nh_store store;
    /** Whether bodies of pictures are kept, so that other sizes can be made of them. NH_YES. */
    nh_choice keep_source;

    /* The handle's own, for nh_open only. */

    /** Whether file: URLs are read: any file that this process may read. NH_NO: they are NH_DENIED. */
    nh_choice allow_files;
    /** NH_OUTBOX_AUTO. */
    nh_outbox outbox;

    /* Limits of the directory's outbox, for nh_open only: those of its first open in this process hold. */

    /** What it may take on disk, in bytes; more is refused with NH_NO_SPACE, and nothing evicted. 268435456 (256 MiB). */
    int64_t outbox_bytes;
    /** How many requests it may hold, those among them whose outcome waits. 10000. */
    int64_t outbox_items;

    /* For caches and sites. */

    /** Sites only: NH_COOKIES_UNSAID. Sites with the same base URL, user and partition share their cookies. What waits in the
     *  outbox is sent without. */
    nh_cookies cookies;
    /** Must be 0. */
    uint32_t reserved;
    /** A file with users and passwords by host (.netrc), which requests sign in by when nothing else says who asks; "" for
     *  $NETRC, else ~/.netrc. None. */
    const char *netrc;
} nh_options;

/** The process's one queue. Set struct_size; 0 means "not given". */
typedef struct nh_queue_options {
    uint32_t struct_size;
    /** How many requests run at once, 1 to 512. As many as the way to the network carries. */
    int32_t concurrency;
    /** How many of them at one host, 1 to 512. 6, or 32 where it speaks HTTP/2. */
    int32_t per_host;
    /** Must be 0. */
    uint32_t reserved;
    /** Starts a second for each host. No limit. */
    double rate;
    /** What all bodies that are being received may hold in memory, in bytes; what comes beyond it goes on in files without a
     *  name. Negative: nothing. 67108864 (64 MiB). */
    int64_t inflight_bytes;
} nh_queue_options;

/** What a response holds. Set struct_size before the call. Everything pointed to lives as long as the response. */
typedef struct nh_response_info {
    uint32_t struct_size;
    /** The HTTP status, such as 200. */
    int32_t status;
    /** The body: body_size bytes, not terminated. Never NULL. */
    const void *body;
    size_t body_size;
    /** The URL as it was passed. */
    const char *url;
    /** The URL that answered, after redirects, without user and password. */
    const char *final_url;
    /** The Content-Type header, or NULL. */
    const char *content_type;
    /** 1 when the bytes were in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    nh_source source;
    /** How many redirects were followed. */
    int32_t redirects;
    /** How many header lines there are, for nh_response_header_at. */
    int32_t header_count;
    /** Microseconds from the start of the last exchange to its first byte and to its end; 0 from the cache. */
    int64_t first_byte_us;
    int64_t total_us;
    /** How old the answer is, in seconds, by the rules of HTTP. */
    int64_t age;
    /** 1 when it is older than it should be: given because the server can't be asked, or before it is. Else 0. */
    int32_t is_stale;
    /** Always 0. */
    uint32_t reserved;
    /** The words after the status; empty where the server sent none. */
    const char *reason;
    /** Microseconds from the start of the last exchange until the name was found, the connection stood, TLS was agreed. */
    int64_t dns_us;
    int64_t connect_us;
    int64_t tls_us;
    /** How many interim answers (1xx) came before this one, for nh_response_interim_at; 0 from the cache. */
    int32_t interim_count;
    /** Always 0. */
    uint32_t reserved2;
} nh_response_info;

/** An answer that only said that another one follows, such as 103 (Early Hints). Set struct_size before the call.
 *  Everything pointed to lives as long as the response. */
typedef struct nh_interim {
    uint32_t struct_size;
    /** Such as 103. */
    int32_t status;
    /** header_count header lines, in the order of their arrival; NULL for none. */
    const nh_header *headers;
    size_t header_count;
} nh_interim;

/** How a picture is made to fit its box. */
typedef enum nh_mode {
    /** Inside the box, proportions kept. */
    NH_MODE_FIT = 0,
    /** Covers the box; what sticks out is cut off equally on both sides. */
    NH_MODE_FILL = 1,
    /** Exactly the box's sides, proportions given up. */
    NH_MODE_EXACT = 2
} nh_mode;

/** How much of a picture is decoded before it is scaled down. */
typedef enum nh_quality {
    /** About twice the size that is wanted. */
    NH_QUALITY_BEST = 0,
    /** At least the size that is wanted. */
    NH_QUALITY_FAST = 1
} nh_quality;

/** Formats that images are written in. */
typedef enum nh_format { NH_FORMAT_PNG = 1, NH_FORMAT_JPEG = 2 } nh_format;

/** Pixels, as bytes in the order of the name. Where there is no alpha, what shows through is laid on white. */
typedef enum nh_pixels {
    /** Straight alpha: what nh_image_info's pixels are. */
    NH_PIXELS_RGBA = 1,
    NH_PIXELS_BGRA = 2,
    /** Colours multiplied by alpha. */
    NH_PIXELS_RGBA_PREMULTIPLIED = 3,
    /** What cairo calls ARGB32 on little-endian machines. */
    NH_PIXELS_BGRA_PREMULTIPLIED = 4,
    NH_PIXELS_RGB = 5,
    NH_PIXELS_BGR = 6,
    /** One byte a pixel: 0.299 R + 0.587 G + 0.114 B. */
    NH_PIXELS_GREY = 7
} nh_pixels;

/** How an image is made from a body. Set struct_size and width, leave the rest 0 for the defaults. */
typedef struct nh_image_options {
    uint32_t struct_size;
    /** The box's sides, 1 to 65535. A height of 0 means a square. */
    int32_t width;
    int32_t height;
    nh_mode mode;
    nh_quality quality;
    /** 1 to make a smaller picture larger. 0: never. */
    int32_t enlarge;
    /** 1 to take what decodes of a damaged or truncated picture, marked is_partial. 0: that is an error. */
    int32_t allow_truncated;
    /** Must be 0. */
    uint32_t reserved;
    /** The most pixels that the source may have. 0: 100 million. */
    int64_t max_pixels;
} nh_image_options;

/** What an image holds. Set struct_size before the call. Everything pointed to lives as long as the image. */
typedef struct nh_image_info {
    uint32_t struct_size;
    int32_t width;
    int32_t height;
    /** 1 when it, or what it was made from, was in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    /** Rows of RGBA, 8 bits each: sRGB, straight alpha, upright. Never write to them. */
    const void *pixels;
    /** Bytes from one row to the next; 4 * width. */
    size_t stride;
    /** The upright source's sides. */
    int32_t original_width;
    int32_t original_height;
    nh_source source;
    /** 1 when pixels are missing or wrong because the source is damaged, else 0. */
    int32_t is_partial;
    /** The URL as it was passed. */
    const char *url;
    /** The URL that answered, after redirects, without user and password. */
    const char *final_url;
    /** How old the source is, in seconds, by the rules of HTTP. */
    int64_t age;
    /** 1 when it is older than it should be: given because the server can't be asked, or before it is. Else 0. */
    int32_t is_stale;
    /** The HTTP status of the answer that it was made from. */
    int32_t http_status;
} nh_image_info;

/** What a ticket delivers. It owns its message and its result until nh_event_clear. To keep a response or an image, copy
 *  the handle out and set its place to NULL before that. */
typedef struct nh_event {
    /** The ticket, as nh_submit gave it; still to be released by whoever has it. NULL when nh_submit gave none. */
    nh_ticket *ticket;
    /** What nh_request_set_user_data was given, or NULL. */
    void *user;
    nh_event_kind kind;
    /** 1 for the last event of its ticket, else 0. */
    int32_t is_final;
    /** 1 when the bytes were in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    /** 1 when the answer is older than it should be, else 0. */
    int32_t is_stale;
    nh_source source;
    /** NH_OK with an answer, else why there is none. */
    nh_status code;
    /** The HTTP status of the response, of the answer that the images were made from, or of the one that was no success;
     *  0 where there is none. */
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
 *  back. `user` is event->user. */
typedef void (*nh_callback)(nh_event *event, void *user);

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
typedef void (*nh_log_callback)(nh_log_level level, const char *line, void *user);

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

/** What a cache holds, and what has happened. Set struct_size before the call. */
typedef struct nh_statistics {
    uint32_t struct_size;
    /** Always 0. */
    uint32_t reserved;

    /* In this process, since the directory was opened; all handles on it count together. */

    /** Requests submitted. */
    int64_t requests;
    /** Requests that were answered from what was stored, without the network. */
    int64_t hits;
    /** Requests that waited for another's fetch. */
    int64_t joined;
    /** Exchanges with servers, redirects and further attempts among them. */
    int64_t transfers;
    /** Fetches that ended with "it still holds", with a new answer, with none. */
    int64_t revalidated;
    int64_t fetched;
    int64_t failed;
    /** Decodes of a picture, each for any number of sizes. */
    int64_t decodes;
    /** Transfers of pictures that ended early, because the thumbnails were done (nh_request_set_early_stop). */
    int64_t stopped;
    /** Bodies that went on in a file, because those under way held too much memory. */
    int64_t filed;
    /** Bytes of bodies received. */
    int64_t bytes_received;
    /** Requests of this handle that are under way. */
    int64_t activity;

    /* On disk, of all processes. */

    /** Records: what is known of URLs, bodies, thumbnails. */
    int64_t metas;
    int64_t bodies;
    int64_t thumbs;
    /** What they take, and may take. */
    int64_t disk_bytes;
    int64_t disk_limit;
    /** Bytes that were dropped while results of this process hold them. */
    int64_t pinned_bytes;
    /** Records that this process dropped to keep to the limit. */
    int64_t dropped;

    /* In memory, of this process. */

    int64_t memory_items;
    int64_t memory_bytes;
    int64_t memory_limit;
    int64_t memory_hits;
    int64_t memory_misses;
    int64_t memory_evictions;
    /** Records that are in no pack yet (spill), and those that were lost because they couldn't be written. */
    int64_t unwritten;
    int64_t lost;
    /** How often memory was wanted back: half of it, all of it. */
    int64_t pressure_warnings;
    int64_t pressure_criticals;
    /** Records that were written to disk when they had to leave memory (spill), or by nh_flush, and their bytes. */
    int64_t spilled;
    int64_t spilled_bytes;
} nh_statistics;

/** Where a request in the outbox stands. */
typedef enum nh_frozen_state {
    /** For the network, for its time, or for those before it. */
    NH_FROZEN_WAITING = 1,
    NH_FROZEN_SENDING = 2,
    /** For somebody: the server wants other credentials (401, 403). Nothing of its queue is sent meanwhile. nh_outbox_provide
     *  or nh_outbox_replay goes on. */
    NH_FROZEN_PAUSED = 3,
    /** The server has done it (2xx). The outcome waits to be collected. */
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
    /** The URL as it was passed, without password. */
    const char *url;
    /** The queue's name, or the URL's origin. */
    const char *queue;
    /** Who gets the outcome; NULL for nobody. */
    const char *handler;
    /** What nh_request_set_tag was given, or NULL. */
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
