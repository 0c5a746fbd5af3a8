/* Made by `make header`; edit the sources that it names instead. */

/*
 * Nuthatch: fetches URLs once, stores the answers, and returns them as they came or as thumbnails.
 *
 *     cc app.c $(pkg-config --cflags --libs nuthatch)
 *
 * Overview
 * ========
 *
 *     nh_cache *cache;
 *     nh_image *image;
 *     nh_image_info info = {.struct_size = sizeof info};
 *
 *     if (nh_open("thumbs.cache", NULL, &cache) != NH_OK) die(nh_error_message());
 *     if (nh_thumbnail(cache, "https://example.org/a.jpg", NH_OPTIONS(.size = 256), &image) == NH_OK) {
 *         nh_image_get_info(image, &info);
 *         show(info.pixels, info.width, info.height, info.stride);
 *         nh_image_release(image);
 *     }
 *     nh_close(cache, 2000);
 *
 * A cache belongs to a directory. A request is a URL, and options if there is more to set: sizes of thumbnails, headers, limits. The
 * struct nh_options holds the options of a request, of a site (a base URL and options that its requests share) and of a cache. Set
 * only the members that you need; 0 leaves an option to the level above. In C, NH_OPTIONS is short for the struct with its size:
 *
 *     nh_get(cache, url, NULL, &response);
 *     nh_get(cache, url, &(nh_options){.struct_size = sizeof(nh_options), .deadline_ms = 5000, .retries = NH_NONE}, &response);
 *     nh_thumbnail(cache, url, NH_OPTIONS(.size = 256, .site = site), &image);
 *
 * An nh_request describes a request with more parts: a body, a form, places where the answer is saved. Fetched answers are stored in
 * the directory, which any number of processes and handles share. is_in_cache tells whether an answer was there before the request.
 *
 * There are four ways to get an answer:
 *
 *   - nh_get and nh_thumbnail wait for it; nh_perform and nh_perform_images wait for the answer to an nh_request.
 *   - nh_submit returns at once. nh_poll takes the events of all requests of the handle, and nh_fd is readable while there are some;
 *     nh_wait takes the events of one ticket. Every ticket has exactly one final event.
 *   - For requests with a callback (nh_options), nh_dispatch calls it, always on the thread that called nh_dispatch.
 *   - nh_peek returns a thumbnail that is fresh and can be shown within the next microsecond, or nothing; nh_peek_response returns a
 *     body within a few microseconds.
 *
 * A loop over events, together with other descriptors of the program:
 *
 *     struct pollfd ready = {.fd = nh_fd(cache), .events = POLLIN};
 *     nh_event event;
 *     while (poll(&ready, 1, -1) > 0) {
 *         while (nh_poll(cache, &event, 1, sizeof event) == 1) {
 *             if (event.is_final) end(event.user_data, event.code, event.images, event.image_count);
 *             nh_event_clear(&event);
 *         }
 *     }
 *
 * A request can ask its program a question while it runs (nh_answer). A request that can't reach its server can wait in the outbox
 * (nh_options.freezable). Each section of nuthatch.h begins with an example; bindings/c/examples in the sources has whole
 * programs. C++ has nuthatch.hpp.
 *
 * Caveats
 * =======
 *
 * Errors.    Functions that can fail return an nh_status: NH_OK (0) or a stable number with a stable word (nh_status_name).
 *            Functions that return a number return the negated status on failure: -NH_CLOSED. nh_error_message describes the last
 *            failure of this thread: what happened, to which URL, and what to do; nh_error_get_info has more. A result parameter
 *            gets NULL (or zeros) on failure. Passwords in URLs are shown as ***.
 * Ownership. A handle that you get through a result parameter is yours until you call its release function. The contents of an event
 *            belong to the event until nh_event_clear; to keep a handle, set its member to NULL. Strings and bytes of an object are
 *            valid as long as the object, also after the cache was closed. Arguments are copied before the call returns. Release
 *            objects with functions of the library; never call free() on one.
 * Handles.   Every function returns NH_INVALID for a handle that is NULL, released, never issued or of another kind. The library never
 *            dereferences it. So releasing a handle twice does no harm.
 * Threads.   Every function may be called from any thread, at any time. Callbacks never run on a thread of the library. Its threads
 *            block all signals but SIGBUS, so your signal handlers run on your threads. Don't release an object while another thread
 *            reads its bytes; the library can't prevent this race, as with free().
 * Events.    Events belong to the handle that the request was submitted with: two handles on one directory don't take each other's.
 *            Events of requests with a callback go to nh_dispatch only, of other requests to nh_poll only; nh_wait takes its
 *            ticket's events before either. Events that aren't taken hold their answers until nh_close: a program that never polls
 *            sets nh_options.quiet.
 * Closing.   nh_shutdown ends all requests, and their last events can still be taken; nh_close discards them. With both, blocked
 *            calls of other threads return NH_CLOSED. Stop polling nh_fd before nh_close, which closes it.
 * Outbox.    A request is reported as frozen (NH_EVENT_FROZEN, NH_FROZEN) only when it would survive a loss of power. It is sent at
 *            least once: if the process is killed between the answer and its record, it is sent again, with the same Idempotency-Key
 *            and the same bytes. Outcomes come at least once: call nh_outbox_drop after you have processed one, not before. nh_clear
 *            and nh_trim never change the outbox. Damaged parts of the outbox are moved to a file, outbox/damaged-..., and reported
 *            in the log (nh_log_set); the rest is sent.
 * Limits.    A URL may have 65,536 bytes (a data: URL up to max_bytes), a method 64. The headers of a request, and the head of an
 *            answer, may have 1,000 lines with 262,144 bytes. A path may have 4,095 bytes, other names, users and passwords 65,536.
 *            Beyond the limit the error is NH_BAD_URL, NH_BAD_HEADER, NH_HTTP for answers, and NH_INVALID for the rest.
 * Refusals.  If the system refuses a thread, the error is NH_OUT_OF_MEMORY. If it refuses to wait for events (a filter of system
 *            calls can do that), every request, also those under way, ends with NH_INTERNAL and the cause, and so does nh_open.
 * Options.   0, NULL and NH_UNSAID mean "use the value of the level above". NH_NONE is a number that means none: no limit, no retry.
 *            NH_FOREVER is the greatest number, NH_OFF a text that is off. A number out of its option's range is NH_INVALID.
 *            nh_option_next lists all options.
 * Blocking.  Only nh_get, nh_thumbnail, nh_perform and nh_perform_images wait for the network, and, up to their timeout_ms, nh_wait,
 *            nh_dispatch, nh_wait_idle, nh_drain and nh_close. A function that may wait for the disk says so. Functions that decode
 *            or encode work on the calling thread. All others wait for neither.
 * Waits.     timeout_ms of a call that waits (nh_wait, nh_dispatch, nh_close) is not an option: 0 checks without waiting, a negative
 *            value has no limit. A signal doesn't end a wait: its handler runs, and the wait goes on. To end waits on Ctrl-C, block
 *            SIGINT in all threads and let one of your threads call sigwait() and then nh_shutdown.
 * Fork.      After fork() the caches and tickets that the child inherits return NH_FORKED; responses and images stay readable; the
 *            child can open the cache again. Close or release inherited handles in the child as you like: that doesn't affect the
 *            parent.
 * Exec.      No connection of the library survives exec(). (A pair of sockets that libcurl uses internally does.)
 * Exit.      exit() with requests under way is safe: the library's thread ends first. No final events are delivered.
 * Sizes.     Structs begin with struct_size; set it with sizeof, and set unused members to zero. This way programs and libraries of
 *            different versions work together. The library sets the struct_size of nh_event; nh_poll and nh_wait take the size as an
 *            argument. An option that is newer than the library is NH_INVALID; check with nh_option_next first.
 * Text.      All strings are UTF-8, terminated by NUL. URLs are returned byte for byte as they were passed.
 * Files.     The directory must be on a local file system, because its files are mapped. If the disk can't read or write (it is
 *            full, it fails, a file was cut), the result is a cache miss, NH_NO_SPACE or NH_IO, never wrong bytes. But a body or
 *            pixels that you already hold, and that are in such a file, read as zeros where they are missing (nh_response_check).
 *            Each record is checked at its first use since a process has opened the directory. Bits that flip later, in memory or on
 *            the disk, aren't noticed (750 of 99,024 in a test that flips them on purpose); nuthatch verify checks everything again.
 *            Some files aren't used, with NH_UNSAFE_FILE: files of the library that another user could have made or changed, and a
 *            netrc, certificate or key that doesn't belong to you or to root, or that other users may write to.
 * Pictures.  They are decoded in your process, by libjpeg-turbo, libpng, libwebp, dav1d, ISA-L and Little CMS, after checks of size,
 *            pixels, scans and memory. SECURITY.md of the sources says what was fuzzed and what isn't promised.
 * Setuid.    A program with more rights than the user that started it ignores all environment variables, such as NUTHATCH_CACHE,
 *            NETRC, http_proxy and SSLKEYLOGFILE. Then ~ is the home directory, from the system's user database, of the user whose
 *            rights the program has.
 * Log.       The environment variable NUTHATCH_LOG=debug writes the log to standard error (nh_log_set).
 * Unload.    The library stays loaded: dlclose() does nothing.
 *
 * What can still end a process
 * ============================
 *
 * The first nh_open that maps a file installs a handler of SIGBUS. It handles pages of the cache's files that can't be read, and
 * passes every other SIGBUS on to the handler that was there before, or to the default action. It stays installed. The library never
 * ends a process on purpose. These can:
 *
 *   - A handler of SIGBUS that is installed later and doesn't call the one before it: it then gets the SIGBUS of a full or failing
 *     disk. Python's faulthandler is one if it is enabled after the first cache was opened; before is fine. Install your handler
 *     before nh_open, or pass on other SIGBUS signals with their siginfo_t and context.
 *   - A call from a thread that blocks SIGBUS: the kernel ends the process for a page that can't be read. Don't block SIGBUS in
 *     threads that use the library, or that read bodies and pixels.
 *   - No memory for small objects. Bodies, pictures, and everything else whose size a server, a file or the program chooses is
 *     checked and fails with NH_OUT_OF_MEMORY. But if the Swift runtime can't allocate a few bytes, it ends the process. The
 *     kernel's out-of-memory killer ends processes without a warning. If the kernel doesn't overcommit memory (vm.overcommit_memory
 *     is 2), an index that can't be read needs memory for its zeros.
 *   - A stack that is too small for a call. The default size of a thread's stack is enough.
 *   - Errors that C can't prevent: reading bytes of an object after its release, writing into foreign memory, calls in a signal
 *     handler, or in a child of vfork().
 *   - A defect of the library, or of libcurl, libcrypto, libjpeg, libpng, libwebp, dav1d, lcms2 or ISA-L.
 */

#ifndef NUTHATCH_H
#define NUTHATCH_H

#include <stddef.h>
#include <stdint.h>

/** The version of this header, and the same as a number: major * 1000000 + minor * 1000 + patch.
 *  nh_version and nh_version_num return those of the library. */
#define NH_VERSION "0.2.0"
#define NH_VERSION_NUM 2000

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* Handles. Each is a number in the form of a pointer, never an address. The library can check a released or invalid handle without
 * touching memory; every function then returns NH_INVALID. */

/** A cache: a directory of stored answers, and the network client that fills it. Created by nh_open, ended by nh_close. */
typedef struct nh_cache nh_cache;
/** A description of a request. Created by nh_request_create, freed by nh_request_free. */
typedef struct nh_request nh_request;
/** A submitted request. From nh_submit, until nh_ticket_release. */
typedef struct nh_ticket nh_ticket;
/** An answer with its bytes. From nh_get or an event, until nh_response_release. */
typedef struct nh_response nh_response;
/** A base URL and options that its requests share. From nh_site_open, until nh_site_close. */
typedef struct nh_site nh_site;
/** A decoded picture. From nh_thumbnail, nh_response_image or an event, until nh_image_release. */
typedef struct nh_image nh_image;
/** Facts about a request in the outbox. From nh_outbox_next or an event, until nh_frozen_release. */
typedef struct nh_frozen nh_frozen;

/** The result of a call. The words are those of nh_status_name: the name in small letters, without NH_. */
typedef enum nh_status {
    /** Success. */
    NH_OK = 0,
    /** No byte came for timeout, or the request's deadline passed. */
    NH_TIMEOUT = 1,
    /** The host name has no address, or its name server doesn't answer. */
    NH_DNS = 2,
    /** No connection could be made: no server listens there, or the network has no route to it. */
    NH_REFUSED = 3,
    /** The connection broke before the answer was complete. */
    NH_RESET = 4,
    /** The TLS handshake or the check of the certificate failed. */
    NH_TLS = 5,
    /** The answer isn't a success, or the server broke the HTTP protocol. */
    NH_HTTP = 6,
    /** The answer or the picture has more bytes than max_bytes, or a compressed answer that is saved decodes to far too many bytes. */
    NH_TOO_LARGE = 7,
    /** The picture has more pixels than max_pixels, or decoding it needs more memory than there is: the message has the numbers. */
    NH_TOO_MANY_PIXELS = 8,
    /** The bytes are not a picture. The first bytes decide, also for an answer that is incomplete. */
    NH_NOT_AN_IMAGE = 9,
    /** A picture of a format that can't be decoded. */
    NH_UNSUPPORTED_FORMAT = 10,
    /** The picture is damaged. */
    NH_CORRUPT = 11,
    /** The answer or the picture ends too early. */
    NH_TRUNCATED = 12,
    /** The address guard refused the address; a file: URL isn't allowed; other users own or may write to a cache's directory. */
    NH_DENIED = 13,
    /** The URL can't be used; the message says at which byte. */
    NH_BAD_URL = 14,
    /** A method, or the name or value of a header, can't be sent. */
    NH_BAD_HEADER = 15,
    /** More redirects in a row than redirects allows. */
    NH_TOO_MANY_REDIRECTS = 16,
    /** The network must not be used, and the cache has no answer. */
    NH_OFFLINE = 17,
    /** The host failed too often in a row, and requests to it fail at once for a while. */
    NH_CIRCUIT_OPEN = 18,
    /** The request was cancelled. */
    NH_CANCELLED = 19,
    /** The cache was closed. */
    NH_CLOSED = 20,
    /** The handle belongs to the process that this one was forked from. */
    NH_FORKED = 21,
    /** The request is in the outbox and is sent later: its server can't be reached, others of its queue wait, or a secret is missing. */
    NH_FROZEN = 22,
    /** A secret can't be stored with a frozen request; it needs a named provider. */
    NH_SECRET_NEEDS_PROVIDER = 23,
    /** An argument is not valid: null, out of range, or a handle that is closed or of another kind. */
    NH_INVALID = 24,
    /** Other options are in force for the same directory. */
    NH_CONFLICT = 25,
    /** The disk is full. */
    NH_NO_SPACE = 26,
    /** A file or directory can't be read or written. */
    NH_IO = 27,
    /** There is not enough memory. */
    NH_OUT_OF_MEMORY = 28,
    /** A defect of Nuthatch itself; please report it with the message. */
    NH_INTERNAL = 29,
    /** The answer isn't in the format that the program asked for. */
    NH_WRONG_FORMAT = 30,
    /** Another process has held a lock of the directory for too long; it may be stopped. The message names it. */
    NH_BUSY = 31,
    /** A file isn't used because another user may have made or changed it. The message says which file, and why. */
    NH_UNSAFE_FILE = 32,
    /** The process that decodes the picture was killed, took too long, or can't be started. Another try may succeed. */
    NH_DECODER_FAILED = 33
} nh_status;

/** For a number in nh_options: none, off or zero, as the option's comment says. Other negative numbers are ordinary values. */
#define NH_NONE (-9223372036854775807 - 1)
/** For a number in nh_options: the greatest value of the option, or no limit. */
#define NH_FOREVER 9223372036854775807
/** Turns off a text in nh_options, if it can be off: an address that no text has. */
#ifdef __cplusplus
#define NH_OFF (reinterpret_cast<const char *>(static_cast<intptr_t>(-1)))
#else
#define NH_OFF ((const char *)(intptr_t)-1)
#endif

/** Yes, no, or not set. */
typedef enum nh_choice { NH_UNSAID = 0, NH_YES = 1, NH_NO = 2 } nh_choice;

/** A header to send. */
typedef struct nh_header {
    const char *name;
    const char *value;
} nh_header;

/** The box of a thumbnail: its sides, 1 to 65535. A height of 0 means a square. */
typedef struct nh_size {
    int64_t width;
    int64_t height;
} nh_size;

/** A header whose value isn't written to disk: its name, the text before the secret, such as "Bearer " (NULL for none), and the name
 *  of the provider of the secret. "env:NAME" is an environment variable; nh_outbox_provide gives the secrets of other providers. */
typedef struct nh_secret {
    const char *header;
    const char *prefix;
    const char *provider;
} nh_secret;

/** Where an answer came from. NH_SOURCE_REVALIDATED: from the cache, and the server has confirmed it (304). */
typedef enum nh_source {
    NH_SOURCE_NONE = 0,
    NH_SOURCE_MEMORY = 1,
    NH_SOURCE_DISK = 2,
    NH_SOURCE_REVALIDATED = 3,
    NH_SOURCE_NETWORK = 4
} nh_source;

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

/** Which stored answers count as fresh. */
typedef enum nh_policy {
    NH_POLICY_UNSAID = 0,
    /** Pictures stay fresh for days unless the server says otherwise. Any other answer without a lifetime is
     *  revalidated each time. */
    NH_POLICY_KIT = 1,
    /** RFC 9111, to the letter. */
    NH_POLICY_RFC9111 = 2,
    /** Every stored answer is fresh, however old; the network is never used. */
    NH_POLICY_OFFLINE = 3,
    /** No stored answer is used; new answers are stored. */
    NH_POLICY_RELOAD = 4
} nh_policy;

/** Which addresses may be connected to. The address of the actual connection is checked, for every redirect. */
typedef enum nh_addresses {
    NH_ADDRESSES_UNSAID = 0,
    /** No link-local addresses (cloud metadata), and no private ones after a redirect from a public one. */
    NH_ADDRESSES_GUARDED = 1,
    /** Only public addresses. */
    NH_ADDRESSES_PUBLIC = 2,
    /** All addresses. */
    NH_ADDRESSES_ANY = 3
} nh_addresses;

/** How user and password are sent. */
typedef enum nh_sign_in {
    NH_SIGN_IN_UNSAID = 0,
    /** Basic, with the first request. */
    NH_SIGN_IN_BASIC = 1,
    /** Digest, after the server has asked for it. If the server demands that the body is protected, too (auth-int
     *  and not auth), a request with a body fails with the error http (status 401). */
    NH_SIGN_IN_DIGEST = 2,
    /** NTLM, after the server has asked for it. */
    NH_SIGN_IN_NTLM = 3,
    /** Negotiate (Kerberos), if libcurl supports it; without user and password, with the system's Kerberos
     *  credentials. */
    NH_SIGN_IN_NEGOTIATE = 4,
    /** The strongest scheme that the server offers, Basic is the weakest. Without a password: Negotiate, which
     *  needs none. */
    NH_SIGN_IN_ANY = 5
} nh_sign_in;

/** Whether a site's cookies are sent back to its servers, and where they are stored. */
typedef enum nh_cookie_jar {
    NH_COOKIE_JAR_UNSAID = 0,
    /** Cookies are ignored. */
    NH_COOKIE_JAR_OFF = 1,
    /** In memory, while the directory is open in this process. */
    NH_COOKIE_JAR_MEMORY = 2,
    /** Also in the cache's directory, for other and later processes: readable for its owner only, and not
     *  encrypted. */
    NH_COOKIE_JAR_DISK = 3
} nh_cookie_jar;

/** When answers from the cache are delivered (docs/HTTP.md of the sources has a table). */
typedef enum nh_delivery {
    NH_DELIVERY_UNSAID = 0,
    /** A stale answer at once, and then the fresh one, or the error. */
    NH_DELIVERY_TWICE = 1,
    /** One answer, also a stale one, which is then revalidated in the background. If the program judges answers (a
     *  verdict), the same as fresh. */
    NH_DELIVERY_FIRST = 2,
    /** One answer, which is fresh, or which its server allows to use during the revalidation (stale-while-
     *  revalidate). If the server can't be asked, fails (429, 5xx), or takes longer than the deadline, a stale
     *  answer is delivered instead. */
    NH_DELIVERY_FRESH = 3
} nh_delivery;

/** When new answers are written to disk. */
typedef enum nh_spill {
    NH_SPILL_UNSAID = 0,
    /** At once: they survive the end of this process, and other processes find them. */
    NH_SPILL_EAGER = 1,
    /** When memory is short, or when the cache is closed. Until then only this process finds them, and they are
     *  lost if it is killed. Removals in other processes apply to them, too. */
    NH_SPILL_PRESSURE = 2
} nh_spill;

/** When bytes read from the disk are compared with their checksum. */
typedef enum nh_check_bytes {
    NH_CHECK_BYTES_UNSAID = 0,
    /** At the first read by any process; this counts anew after all processes have closed the directory. Disks
     *  report their own failures. */
    NH_CHECK_BYTES_FIRST = 1,
    /** At each read: for disks, and file systems, that change bytes without an error. */
    NH_CHECK_BYTES_ALWAYS = 2
} nh_check_bytes;

/** How thumbnails are stored on disk. Those of at most 16 KiB are always stored raw. */
typedef enum nh_thumb_store {
    NH_THUMB_STORE_UNSAID = 0,
    /** As JPEG of quality 92 if they are opaque, else as PNG: a tenth of the space. */
    NH_THUMB_STORE_PACKED = 1,
    /** As PNG: the same pixels every time. */
    NH_THUMB_STORE_LOSSLESS = 2,
    /** As pixels, which are used without a copy. */
    NH_THUMB_STORE_RAW = 3,
    /** Like packed, but those that aren't opaque as lossy WebP of quality 90: a third of a PNG, with exact
     *  transparency. */
    NH_THUMB_STORE_SMALL = 4
} nh_thumb_store;

/** Whether a process sends the requests of an outbox. */
typedef enum nh_outbox {
    NH_OUTBOX_UNSAID = 0,
    /** The process sends them if no other process does. */
    NH_OUTBOX_AUTO = 1,
    /** Requests can be stored and listed, but other processes send them. */
    NH_OUTBOX_OFF = 2
} nh_outbox;

/** How a picture is made to fit its box. */
typedef enum nh_fit {
    NH_FIT_UNSAID = 0,
    /** The whole picture fits into the box. */
    NH_FIT_INSIDE = 1,
    /** The picture covers the box; the rest is cut off. */
    NH_FIT_COVER = 2,
    /** The picture gets exactly the sides of the box, even if that distorts it. */
    NH_FIT_STRETCH = 3
} nh_fit;

/** How much of a picture is decoded before it is scaled down. */
typedef enum nh_scaling {
    NH_SCALING_UNSAID = 0,
    /** As much as can improve the result. */
    NH_SCALING_BEST = 1,
    /** As little as possible. */
    NH_SCALING_FAST = 2
} nh_scaling;

/** Where pictures are decoded. */
typedef enum nh_decoding {
    NH_DECODING_UNSAID = 0,
    /** In this process. */
    NH_DECODING_HERE = 1,
    /** In a process of their own, which has no network and no files: for pictures of strangers. The pixels are the
     *  same. If the decoder is taken over or crashes there, this process goes on. */
    NH_DECODING_ISOLATED = 2
} nh_decoding;

/** Options of a cache, a site, a request, or the process's queue (nh_queue_set). Set struct_size to sizeof(nh_options),
 *  set the options that you need, and leave the others 0. A member of 0, NULL or NH_UNSAID is not set: then the option
 *  of a request is that of its site, then that of the cache, then the default. NH_NONE and NH_FOREVER are for numbers,
 *  NH_OFF for texts. A number out of range, and an option that a level doesn't have, is NH_INVALID. Texts and lists are
 *  copied.
 *
 *      nh_options options = {.struct_size = sizeof options, .deadline_ms = 5000, .retries = NH_NONE};
 *
 *  The members by topic; newer ones are at the end of the struct:
 *
 *  Freshness: policy, validator_ttl_ms, image_ttl_ms, no_cache_ttl_ms, heuristic, expire_after_ms.
 *  Limits: timeout_ms, deadline_ms, retries, give_up_after_ms, max_bytes, max_pixels, batched, decoding.
 *  Site, addresses, proxy: site, addresses, proxy, redirects.
 *  What is sent: method, headers, keep_headers_across_origins, user_agent, accept.
 *  Credentials and cookies: user, password, user_place, bearer, sign_in, cert, cert_key, cert_password, netrc,
 *    partition, cookie_jar, asks, asks_not.
 *  Cache key: cache_key, ignore_query.
 *  Thumbnails: size, sizes, fit, enlarge, scaling, allow_damaged, early_stop, decode.
 *  Delivery: delivery, priority, tag, progress_events, resume.
 *  Outbox: freezable, outbox_durable, outbox_queue, outbox_handler, secrets, password_provider, outbox_attempts,
 *    outbox_max_age_ms, outbox_key_lifetime_ms.
 *  Events in C: user_data, callback, quiet.
 *  Cache: memory_bytes, memory_items, disk_bytes, spill, thumb_store, keep_source, allow_files, outbox,
 *    outbox_bytes, outbox_items, check_bytes, config.
 *  Queue of the process: concurrency, per_host, per_host_grows, rate, inflight_bytes.
 *  TLS certificates: ca_file, ca_dir, insecure.
 */
typedef struct nh_options {
    uint32_t struct_size;

    /* Freshness */

    /** Which stored answers count as fresh. Default: kit. Of a cache or a site or a request. */
    nh_policy policy;
    /** kit: how long pictures with a validator and no lifetime are fresh. 0 or more, or none. Default: 1d.
     *  NH_NONE: zero. Of a cache or a site or a request. */
    int64_t validator_ttl_ms;
    /** kit: how long pictures without any caching header are fresh. 0 or more, or none. Default: 7d. NH_NONE:
     *  zero. Of a cache or a site or a request. */
    int64_t image_ttl_ms;
    /** kit: how long answers marked no-cache are fresh. 0 or more, or none. Default: 60s. NH_NONE: zero. Of a
     *  cache or a site or a request. */
    int64_t no_cache_ttl_ms;
    /** rfc9111: share of the time since Last-Modified for which an answer without a lifetime is fresh. 0 to 1, or
     *  none. Default: 0.1. NH_NONE: zero. Of a cache or a site or a request. */
    double heuristic;

    /* Limits */

    /** Longest time without a byte: connecting, waiting, between two bytes. A slow answer may take any time as
     *  long as bytes come: deadline limits the whole request. 1 ms or more, or none. Default: 30s. NH_NONE:
     *  unlimited. Of a cache or a site or a request. */
    int64_t timeout_ms;
    /** Longest time for the whole request. A deadline that is set counts from the call, and includes the wait in
     *  the queue. For requests of a batch (batched) it counts from the first attempt. It also runs while the
     *  request waits because the server asked for a pause (Retry-After). The default deadline of pictures excludes
     *  both waits. 1 ms or more, or none. Default: two minutes for pictures, else none. NH_NONE: unlimited. Of a
     *  cache or a site or a request. */
    int64_t deadline_ms;
    /** Further attempts after a failed one. Only requests that may be sent twice are retried: GET, HEAD, OPTIONS,
     *  TRACE, PUT and DELETE, not POST and PATCH. A retry follows a connection fault (timeout, dns, refused,
     *  reset, truncated), something else than an answer on a kept connection (http), and the statuses 408, 425,
     *  429, 500, 502, 503 and 504. Each retry waits for a random time: up to 250 ms, 500 ms and so on, up to 20 s.
     *  If the server sends Retry-After, the retry waits for that time; if it is longer than five minutes, there is
     *  no retry. The last retry of a batch request (batched) waits 5 s if the host refused or broke the
     *  connection. 0 to 1000, or none. Default: 3. NH_NONE: zero. Of a cache or a site or a request. */
    int64_t retries;
    /** How long a host may be unreachable before its requests fail. The limit counts from the host's last good
     *  answer. A host is unavailable if it can't be reached, or answers 429 or 503. The request waits for the host
     *  up to the limit, even beyond retries, and that wait isn't part of its deadline. After the limit it fails
     *  with the fault or the status. A millisecond means almost no wait. A request that must not be sent twice, or
     *  that is freezable, doesn't wait. A host that has never answered counts as unreachable after five failed
     *  requests in a row. Until then retries decides. 0 or more, or none. Default: five minutes for requests of a
     *  batch, else none. NH_NONE: unlimited. Of a request. */
    int64_t give_up_after_ms;
    /** Largest body. An answer that is saved while it arrives has no limit unless its request sets one. 1 or more,
     *  or none. Default: 64MiB. NH_NONE: unlimited. Of a cache or a site or a request. */
    int64_t max_bytes;
    /** Most pixels that a picture may have. 1 or more, or none. Default: 100,000,000. NH_NONE: unlimited. Of a
     *  cache or a site or a request or an image. */
    int64_t max_pixels;
    /** The request is one of many that are submitted at once. Its deadline counts from its first attempt: the wait
     *  in the queue is left out, unless the request is freezable. It waits for a host that is unreachable or
     *  overloaded for as long as give_up_after allows. Default: no. Of a request. */
    nh_choice batched;
    /** Must be 0. */
    uint32_t reserved_1;

    /* Site, addresses, proxy */

    /** The site of the request: its options apply, and its URL is the base of a relative URL. Default: none. Of a
     *  request. */
    nh_site *site;
    /** Which addresses may be connected to. Default: guarded. Of a cache or a site or a request. */
    nh_addresses addresses;
    /** Must be 0. */
    uint32_t reserved_2;
    /** Proxy for all requests; empty for none. http://, https://, socks4://, socks5:// or socks5h://. Answers that
     *  came through a proxy are stored separately, for that proxy only. The address guard (addresses) checks
     *  addresses in URLs, and names that this machine can look up within a second. A name that only the proxy can
     *  look up passes the guard. The guard can't check which address the proxy connects to: give the proxy its own
     *  rules. With socks5h:// this machine looks up no name. Default: from the environment. "": none. Of a cache
     *  or a site. */
    const char *proxy;

    /* What is sent */

    /** The method, such as POST. A method that HTTP defines is put into capitals; any other is sent as it is
     *  spelled. Default: GET. Of a request. */
    const char *method;
    /** Headers to send, in this order. A header replaces the headers of the same name that the library or a level
     *  above would send. A later value for the same request replaces all earlier values of that name. Default:
     *  none. Of a cache or a site or a request. */
    const nh_header *headers;
    size_t header_count;
    /** Names of headers that are also sent to other origins. A redirect, or the URL of a site's request, can go to
     *  another origin. Only harmless headers (Accept, Content-Type and others: docs/HTTP.md of the sources) and
     *  the ones named here are sent there, even if their values are secret. Host is never sent there. The names of
     *  all levels are added together. Default: none. With commas between them. Of a cache or a site or a request. */
    const char *keep_headers_across_origins;
    /** Value of the User-Agent header. Default: nuthatch/VERSION. "": an empty header. Of a cache or a site. */
    const char *user_agent;
    /** Value of the Accept header, or the word modern. modern asks for pictures in AVIF and WebP, too: fewer
     *  bytes, for links that cost money, and several times the time to decode. Requests for anything else are sent
     *  as usual. Default: anything; for pictures, JPEG, PNG and GIF first. "": an empty header. Of a cache or a
     *  site. */
    const char *accept;

    /* Credentials and cookies */

    /** User and password, for one origin. They are sent to the site's origin, or to the origin of the request's
     *  URL, and to no other, also after redirects. Default: none. NH_OFF: off. "": an empty name. Of a site or a
     *  request. */
    const char *user;
    /** Password of user. Default: empty. "": an empty password. Of a site or a request. */
    const char *password;
    /** Where user and password may be sent, for programs that set them for many URLs. https://example.org: one
     *  origin. example.org or example.org:8080: both over HTTP and over HTTPS. They aren't sent to other URLs.
     *  Default: the URL's origin. Of a request. */
    const char *user_place;
    /** Token to sign in with, sent to the origin of the URL and to no other. Default: none. Of a request. */
    const char *bearer;
    /** How user and password are sent. Default: basic. Of a site or a request. */
    nh_sign_in sign_in;
    /** Must be 0. */
    uint32_t reserved_3;
    /** Client certificate, a file in PEM. Default: none. Of a site or a request. */
    const char *cert;
    /** Private key of cert, a file in PEM. Default: in the same file. Of a site or a request. */
    const char *cert_key;
    /** Password of the key of cert. Default: none. "": an empty password. Of a site or a request. */
    const char *cert_password;
    /** A file with users and passwords by host. It is used if nothing else gives credentials. The file must belong
     *  to you or to root, and no other user may write to it. Default: none. NH_OFF: off. "": $NETRC, else
     *  ~/.netrc. Of a cache or a site or a request. */
    const char *netrc;
    /** Name that separates these answers from others, instead of the credentials. Useful for tokens that change.
     *  Default: the credentials. Of a cache or a site or a request. */
    const char *partition;
    /** Whether cookies that the servers set are sent back, and where they are stored. Sites with the same base
     *  URL, user and partition share their cookies. A request that is sent from the outbox has no cookies of its
     *  site. Default: off. Of a site. */
    nh_cookie_jar cookie_jar;
    /** Must be 0. */
    uint32_t reserved_4;
    /** Questions that the program answers while the request runs. Questions come as events and are answered with
     *  answer. In a blocking call the callback gets them, on the caller's thread; without a callback they count as
     *  unanswered. A question without an answer within 30 seconds, or before the deadline, counts as unanswered,
     *  too. Default: nothing. Of a site or a request. */
    uint64_t asks;
    /** Questions of the site that this request doesn't ask. Default: nothing. Of a request. */
    uint64_t asks_not;

    /* Cache key */

    /** Cache key of the answer, instead of the URL. For URLs that contain a signature or a date. Default: the URL.
     *  Of a request. */
    const char *cache_key;
    /** Store and find the answer by the URL without its query. Default: no. Of a request. */
    nh_choice ignore_query;
    /** Must be 0. */
    uint32_t reserved_5;

    /* Thumbnails */

    /** Boxes of the wanted thumbnails, at most 64. Default: none: the answer itself. size: one square. Of a
     *  request or an image. */
    int64_t size;
    const nh_size *sizes;
    size_t size_count;
    /** How pictures are made to fit their boxes. Default: inside. Of a request or an image. */
    nh_fit fit;
    /** Enlarge pictures that are smaller than the box. Default: no. Of a request or an image. */
    nh_choice enlarge;
    /** How much of a picture is decoded before it is scaled down. Default: best. Of a request or an image. */
    nh_scaling scaling;
    /** Take what can be decoded of a damaged picture. Such an image is marked as partial. Default: no. Of a
     *  request or an image. */
    nh_choice allow_damaged;
    /** End the transfer of a progressive JPEG, a GIF, or an animated WebP or AVIF when the thumbnails are done.
     *  Only if much of the body is still missing. Other sizes then need another fetch, because the original isn't
     *  stored. If the cache stores no originals (keep_source), transfers always may end early. Default: no. Of a
     *  request. */
    nh_choice early_stop;
    /** Let nh_peek decode a thumbnail that is stored as a file; this takes some tenths of a millisecond. Default:
     *  no. Of a request. */
    nh_choice decode;

    /* Delivery */

    /** When answers from the cache are delivered. A call that waits for one answer treats twice as fresh. Default:
     *  twice. Of a request. */
    nh_delivery delivery;
    /** Must be 0. */
    uint32_t reserved_6;
    /** Place in the queue, higher ones first. -10 to 10, or none. Default: 0. NH_NONE: zero. Of a request. */
    int64_t priority;
    /** Word by which requests can be cancelled. Default: none. Of a request. */
    const char *tag;
    /** Send events about the progress of the upload and the download. Default: no. Of a request. */
    nh_choice progress_events;
    /** After a broken transfer keep the hidden partial file, so that a later request can continue it. Default:
     *  yes. Of a request. */
    nh_choice resume;

    /* Outbox */

    /** Put the request into the outbox if its server can't be reached, and send it later. POST, PUT, PATCH and
     *  DELETE only. The request is sent at once. If no answer comes, it is stored with its body: after the first
     *  timeout, dns, refused, reset, tls or circuit_open, without a retry, and at its deadline. It is stored
     *  without an attempt if other requests of its queue wait (outbox_queue) or if its secret isn't known. An
     *  answer to this first attempt is delivered, with any status. Later the outbox sends the request in its turn,
     *  from any process that has the directory open. The request gets an Idempotency-Key unless it has one; every
     *  attempt sends the same key. No secret is written to disk. User and password, and headers whose names
     *  contain auth, token, key, secret, session, cookie, passw, passphrase, credential, bearer or jwt, need a
     *  provider (secrets, password_provider); without one the request fails with secret_needs_provider.
     *  Credentials of a .netrc need a provider, too, and so does a token that the answer to a question for headers
     *  adds; other headers that it adds are stored. Only the first attempt sends a site's cookies. The site's
     *  proxy is stored, and must have no password. URL and body are written in clear, readable for the directory's
     *  owner only. Default: no. Of a request. */
    nh_choice freezable;
    /** Store the request before the first attempt, so that it survives a kill during it. Default: no. Of a
     *  request. */
    nh_choice outbox_durable;
    /** Queue in the outbox; its requests are sent one after the other. While one of them waits, later ones are
     *  stored without an attempt, also if their server can be reached. Default: the URL's origin. Of a request. */
    const char *outbox_queue;
    /** Name of the handler that gets the outcome. An outcome stays in the outbox, and counts to its outbox_items,
     *  until it is dropped. Default: none: the outcome waits to be collected. Of a request. */
    const char *outbox_handler;
    /** Providers of the values of secret headers, for later attempts. The values are never written. The provider
     *  env:NAME reads an environment variable; the program gives the values of other providers. Default: none. Of
     *  a request. */
    const nh_secret *secrets;
    size_t secret_count;
    /** Provider of the password of user. A request without a user that asks its program for credentials needs a
     *  provider, which then gives both, as name:password. Only the first attempt asks the program. The outbox asks
     *  the provider, and sends nothing before it has both. Default: none. Of a request. */
    const char *password_provider;
    /** After how many answers that report a temporary failure (408, 425, 429, 5xx) the request is put aside. An
     *  attempt that the server can't have received doesn't count. One that it may have received counts, also
     *  without an answer. 1 or more, or none. Default: 25. NH_NONE: unlimited. Of a request. */
    int64_t outbox_attempts;
    /** Longest time for all attempts. 1 ms or more, or none. Default: 7d. NH_NONE: unlimited. Of a request. */
    int64_t outbox_max_age_ms;
    /** How long the server remembers the Idempotency-Key. A POST or PATCH that may have arrived isn't sent again
     *  after this time; with none it is sent again without a limit. 1 ms or more, or none. Default: 24h. NH_NONE:
     *  unlimited. Of a request. */
    int64_t outbox_key_lifetime_ms;

    /* Events in C */

    /** A pointer that the events carry; the library never follows it. Default: NULL. Of a site or a request. */
    void *user_data;
    /** A function for nh_dispatch to call with each event. Events of tickets with a callback come only by
     *  nh_dispatch, those of other tickets only by nh_poll. Blocking calls call it for progress and questions.
     *  Default: none: events come by nh_poll. Of a site or a request. */
    nh_callback callback;
    /** Keep the events out of the completion queue. nh_poll never returns them and no callback is called; nh_wait
     *  still returns them. Use it for requests that you wait for with nh_wait, and for requests whose end you
     *  don't need to know: the answer is in the cache then, and holds no memory. Default: no. Of a request. */
    nh_choice quiet;
    /** Must be 0. */
    uint32_t reserved_7;

    /* Cache */

    /** Memory that this process may use for stored things, mostly decoded thumbnails. 0 or more, or none. Default:
     *  the smaller of 64 MiB and an eighth of the memory. NH_NONE: zero. Of a cache. */
    int64_t memory_bytes;
    /** How many things this process may keep in memory. 1 or more, or none. Default: as many as fit. NH_NONE:
     *  unlimited. Of a cache. */
    int64_t memory_items;
    /** Disk space of the directory, without the outbox. Each process that writes may take two 64ths more (at least
     *  64 KiB each), because it reserves space ahead. 4 MiB to 64 TiB. Default: the limit that was set before,
     *  else 4 GiB. Of a cache. */
    int64_t disk_bytes;
    /** When new answers are written to disk. Default: like the directory's first open in this process, else eager.
     *  Of a cache. */
    nh_spill spill;
    /** How thumbnails are stored on disk. Thumbnails of at most 16 KiB are always stored raw. Default: like the
     *  directory's first open in this process, else packed. Of a cache. */
    nh_thumb_store thumb_store;
    /** Store the bodies of pictures, so that other sizes can be made of them. Default: like the directory's first
     *  open in this process, else yes. Of a cache. */
    nh_choice keep_source;
    /** Allow file: URLs; they can read any file that this process may read. Default: no. Of a cache. */
    nh_choice allow_files;
    /** Whether this process sends the requests of the directory's outbox. Default: auto. Of a cache. */
    nh_outbox outbox;
    /** Must be 0. */
    uint32_t reserved_8;
    /** Disk space of the outbox; requests beyond it are refused. 1 or more, or none. Default: like the directory's
     *  first open in this process, else 256 MiB. NH_NONE: unlimited. Of a cache. */
    int64_t outbox_bytes;
    /** How many requests the outbox may hold, including those whose outcome waits. 1 or more, or none. Default:
     *  like the directory's first open in this process, else 10,000. NH_NONE: unlimited. Of a cache. */
    int64_t outbox_items;

    /* Queue of the process */

    /** How many requests run at once, in all caches together. 1 to 512. Default: automatic, measured for the
     *  network link. Of the process. */
    int64_t concurrency;
    /** How many requests run at once at one host. 1 to 512. Default: 6, or 32 where the host speaks HTTP/2. Of the
     *  process. */
    int64_t per_host;
    /** Raise per_host for hosts that can take it, for requests of a batch. From per_host, else from 6, up to 32.
     *  The host's first 429, 503 or reset halves the number. After that it grows by one a minute. Default: no. Of
     *  the process. */
    nh_choice per_host_grows;
    /** Must be 0. */
    uint32_t reserved_9;
    /** How many requests may start in a second at one host. 0.000001 to 1000000, or none. Default: no limit.
     *  NH_NONE: unlimited. Of the process. */
    double rate;
    /** Memory for bodies that are being received; bytes beyond it go to files. The limit counts all bodies
     *  together. The files have no name, and are in the cache's directory. "The memory" in the default is the
     *  machine's, or that of its control group. 0 or more, or none. Default: the smaller of 64 MiB and an eighth
     *  of the memory. NH_NONE: zero. Of the process. */
    int64_t inflight_bytes;

    /* Site, addresses, proxy */

    /** How many redirects are followed. After a 303, and after a 301 or 302 to a POST, a GET without the body
     *  follows; else the method and the body stay. With none a redirect is the answer, with its status and its
     *  Location, and is stored separately from the answer at its target. One redirect too many is the error
     *  too_many_redirects. A stored answer that needed more redirects than are allowed is fetched again. 0 to 100,
     *  or none. Default: 10. NH_NONE: zero. Of a cache or a site or a request. */
    int64_t redirects;

    /* TLS certificates */

    /** Certificates that servers are checked with, in a file in PEM. They replace all others: if ca_file or ca_dir
     *  is set, the certificates of the system and of the environment don't count. Else the file is CURL_CA_BUNDLE,
     *  else SSL_CERT_FILE, else the system's; the folder is SSL_CERT_DIR, else the system's. A privileged program
     *  doesn't read these environment variables. An answer that was fetched with your own certificates, or
     *  unchecked, is stored separately from all others. A site's value counts at the site's origin; the value of a
     *  cache or a request counts for all servers, also after redirects. It applies to servers, not to a proxy over
     *  https. Default: from the environment, else the system's. "": as if not set. Of a cache or a site or a
     *  request. */
    const char *ca_file;
    /** Folder of certificates that servers are checked with, named by their hashes (openssl rehash). Like ca_file.
     *  Both can be set together. A request or a site that sets one of them takes neither from its cache. Default:
     *  from the environment, else the system's. "": as if not set. Of a cache or a site or a request. */
    const char *ca_dir;
    /** Don't check certificates: anyone on the path can read and change the traffic. For your own servers that
     *  have no certificate that ca_file could name. The log gets a warning, once in each process. A site's value
     *  counts at the site's origin, as for ca_file. Default: no. Of a cache or a site or a request. */
    nh_choice insecure;

    /* Cache */

    /** When bytes read from the disk are compared with their checksum. If they don't match, the answer counts as
     *  missing and is fetched again. always costs a copy of the answer, and the time to read all of it; memory
     *  then holds that copy, and no mapping of the file. Default: like the directory's first open in this process,
     *  else first. Of a cache. */
    nh_check_bytes check_bytes;

    /* Freshness */

    /** How long answers are fresh after they came; replaces their headers. It counts when this request looks into
     *  the cache; it changes nothing that is stored. Zero: answers expire at once, so the server is asked whether
     *  a stored answer is still valid. The headers (must-revalidate, stale-while-revalidate) and delivery still
     *  decide whether a stale answer may be delivered. Fractions of a second are rounded up. 0 or more, or none.
     *  Default: by headers and policy. NH_NONE: zero. Of a cache or a site or a request. */
    int64_t expire_after_ms;

    /* Cache */

    /** A config file with options, and with sections for hosts. docs/CONFIG.md of the sources has its form.
     *  Without this option no file is read. The program's own options override those of the file, and so do the
     *  variables of the environment that name a proxy or certificates. Options of the process (rate and others)
     *  count unless the program has set them. Empty: $XDG_CONFIG_HOME/nuthatch/config.toml, else
     *  ~/.config/nuthatch/config.toml, and /etc/nuthatch/config.toml; the first counts before the second, and
     *  either may be missing. A program with more rights than its user reads only the last one. A mistake is the
     *  error invalid, with file, line and column. Default: none. "": the files of the user and of the system. Of a
     *  cache. */
    const char *config;

    /* Limits */

    /** Where pictures are decoded. SVG and HEIC are always decoded in the process of their own. docs/ISOLATION.md
     *  of the sources says what it may do and what it costs. A thumbnail that is stored is used whatever this
     *  option says. Default: here. Of a cache or a site or a request or an image. */
    nh_decoding decoding;
    /** Must be 0. */
    uint32_t reserved_10;
} nh_options;

#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
/** Options for one call: nh_thumbnail(cache, url, NH_OPTIONS(.size = 256, .priority = 5), &image). They are valid until
 *  the end of the enclosing block. */
#define NH_OPTIONS(...) (&(nh_options){.struct_size = sizeof(nh_options), __VA_ARGS__})
#endif

/* ---- The library and its errors ---------------------------------------------------------------------------------- */

/*
 * Every function may be called from any thread. Unless its comment says otherwise, it waits neither for the network nor for the disk, and
 * returns NH_INVALID for a wrong handle or NULL.
 *
 *     if (nh_get(cache, url, NULL, &response) != NH_OK) {
 *         nh_error_info info = {.struct_size = sizeof info};
 *         nh_error_get_info(&info);
 *         fprintf(stderr, "%s: %s\n", nh_status_name(info.code), info.message);
 *     }
 */

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

/**
 * The version of the library, such as "0.2.0".
 */
const char *nh_version(void);

/**
 * The version of the library as a number, to compare with NH_VERSION_NUM, the version of the header.
 */
uint32_t nh_version_num(void);

/**
 * What is in use in this process, as a JSON object: `version`, that of the library; `simd`, the instructions that pictures are
 * resampled with (avx2, sse2 or scalar); and `libraries`, a list of objects with `name`, `version`, `linked` ("static" if it is a part of
 * the library's file, "dynamic" if not) and `version_from` ("library" if the loaded library said its version; "build" if it can't, and
 * this is the version that the build was made with). libcurl has `uses`, its TLS and other libraries, and `features` besides. Later
 * versions may add members. Never NULL; valid as long as the process.
 */
const char *nh_build_info(void);

/**
 * The stable word of a status, such as "too_large"; "ok" for NH_OK, "unknown" for any other number.
 */
const char *nh_status_name(nh_status status);

/**
 * The message of the last call on this thread that failed: what happened, to which URL, and what to do. In UTF-8; valid until the next
 * failing call on this thread. Empty if no call has failed. Never NULL.
 */
const char *nh_error_message(void);

/**
 * Returns details of the last call on this thread that failed. Set info->struct_size to sizeof *info before. All pointers are valid
 * until the next failing call on this thread.
 *
 * @return NH_OK; if no call has failed, info->code is NH_OK. NH_INVALID.
 */
nh_status nh_error_get_info(nh_error_info *info);

/* ---- Open and close ---------------------------------------------------------------------------------------------- */

/*
 *     nh_options options = {.struct_size = sizeof options, .disk_bytes = 1 << 30, .policy = NH_POLICY_RFC9111};
 *     if (nh_open("thumbs.cache", &options, &cache) != NH_OK) die(nh_error_message());
 *     nh_drain(cache, 5000);  // waits up to 5 s for requests under way
 *     nh_close(cache, 2000);
 */

/**
 * Opens a cache; may wait for the disk. The same directory may be open any number of times, in this process and in others. Each handle
 * has its own requests, events and options; all handles share the stored answers.
 *
 * A directory that can't be written (a read-only file system, or no permission for this user) is opened for reading. Stored answers are
 * found, answers from the network are delivered but not stored, and functions that would change the directory fail with NH_IO.
 *
 * @param path     The directory; if it is missing, it is created for its owner only. NULL: $NUTHATCH_CACHE, else
 *                 $XDG_CACHE_HOME/nuthatch, else ~/.cache/nuthatch.
 * @param options  NULL for the defaults.
 * @param cache    Gets the handle; NULL on failure. Close it with nh_close.
 * @return NH_OK; NH_IO if the directory can't be created or used; NH_DENIED if it belongs to another user or other users may write to
 *         it; NH_CONFLICT if it is open in this process with other options of the directory; NH_NO_SPACE; NH_INVALID; NH_BAD_HEADER for
 *         a header that can't be sent.
 */
nh_status nh_open(const char *path, const nh_options *options, nh_cache **cache);

/**
 * Cancels all requests under way and accepts no new ones: later calls, and calls that are blocked, return NH_CLOSED. When this function
 * returns, every ticket has its final event, which nh_poll, nh_dispatch or nh_wait can still take. For programs that need every final
 * event before they close. May be called again.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_shutdown(nh_cache *cache);

/**
 * Closes a cache. Requests under way end with NH_CLOSED, at once and on every thread that waits for one. Events that weren't taken are
 * freed, and the descriptor of nh_fd is closed. Responses and images stay valid, and tickets must still be released. Other handles on
 * the directory aren't affected. The last handle writes what is in memory only (NH_SPILL_PRESSURE).
 *
 * It waits for the network in one case: a stale answer was delivered and is being revalidated in the background.
 *
 * @param timeout_ms  The longest wait for that, in milliseconds, such as 2000; 0 ends the revalidations, too, and never waits; negative:
 *                    no limit.
 * @return NH_OK. NH_TIMEOUT if revalidations are still under way: all else is closed and written, and nh_close can be called again, to
 *         wait longer or to end them. NH_BUSY if data that was in memory only couldn't be written, because another process has held the
 *         directory's lock for five seconds: the data is lost, and the cache is closed nevertheless. NH_INVALID if `cache` is not an
 *         open cache.
 */
nh_status nh_close(nh_cache *cache, int64_t timeout_ms);

/**
 * Returns the options in force for the requests of a cache: the options that it was opened with, else those of the directory's first
 * open in this process, else the defaults. If no netrc is set, its member is NULL. Options whose default is determined later
 * (deadline_ms, user_agent, accept, proxy) are 0 or NULL if they aren't set. No limit is NH_FOREVER, even if it was set as NH_NONE; zero
 * is NH_NONE.
 *
 * Don't pass these options to other calls: values of secret headers, and the password of a proxy, are ***.
 *
 * @param options  Gets the options. Set options->struct_size to sizeof *options before the call. Texts are valid as long as the handle.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_cache_get_options(nh_cache *cache, nh_options *options);

/**
 * Waits before a close until the requests of this handle have ended, and until this process has nothing from the directory's outbox
 * under way. No other request of the outbox is started. Call nh_close afterwards.
 *
 * @param timeout_ms  The longest wait in milliseconds; 0 checks without waiting; negative: no limit.
 * @return NH_OK; NH_TIMEOUT if something is still under way; NH_FORKED; NH_INVALID.
 */
nh_status nh_drain(nh_cache *cache, int64_t timeout_ms);

/* ---- Fetch and wait ---------------------------------------------------------------------------------------------- */

/*
 * These functions wait for the answer, as long as the request's timeout, deadline and turn in the queue allow. Other threads can go on;
 * nh_cancel_all and nh_close end the wait.
 *
 *     nh_response_info info = {.struct_size = sizeof info};
 *     if (nh_get(cache, url, NH_OPTIONS(.deadline_ms = 5000, .retries = NH_NONE), &response) == NH_OK) {
 *         nh_response_get_info(response, &info);
 *         printf("%d, %zu bytes\n", info.status, info.body_size);
 *         nh_response_release(response);
 *     }
 */

/**
 * Gets a URL and waits for the answer. A fresh answer comes from the cache. An answer with any status is a success: check the status in
 * nh_response_info.
 *
 * @param options   NULL for none. For sizes use nh_thumbnail.
 * @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
 * @return NH_OK, or the reason of the failure: NH_BAD_URL, NH_BAD_HEADER, NH_TIMEOUT, NH_DNS, NH_REFUSED, NH_RESET, NH_TLS, NH_HTTP,
 *         NH_TRUNCATED, NH_TOO_LARGE, NH_TOO_MANY_REDIRECTS, NH_DENIED, NH_OFFLINE, NH_CIRCUIT_OPEN, NH_CANCELLED (by nh_cancel_all),
 *         NH_CLOSED, NH_FORKED, NH_INVALID, NH_OUT_OF_MEMORY, NH_IO if no descriptor is left.
 */
nh_status nh_get(nh_cache *cache, const char *url, const nh_options *options, nh_response **response);

/**
 * Returns a thumbnail that fits the box of options->size, or of the one in options->sizes: upright, and enlarged only with
 * options->enlarge. A fresh thumbnail comes from the cache. Else the picture is fetched, and picture and thumbnail are stored. JPEG,
 * PNG, GIF, BMP and ICO are decoded, on a thread of the library.
 *
 * @param options  The size, and any other options.
 * @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
 * @return Like nh_get; NH_HTTP if the answer isn't a success; like nh_response_image.
 */
nh_status nh_thumbnail(nh_cache *cache, const char *url, const nh_options *options, nh_image **image);

/**
 * Carries out a request without sizes and waits for the answer.
 *
 * @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
 * @return Like nh_get, and NH_BAD_HEADER; NH_INVALID for a request with sizes.
 */
nh_status nh_perform(nh_cache *cache, nh_request *request, nh_response **response);

/**
 * Carries out a request with sizes and waits for the images.
 *
 * @param images  Gets the handles, in the order of the sizes; all are NULL on failure. Release each with nh_image_release.
 * @param count   The number of places in `images`: the number of the request's sizes.
 * @return Like nh_thumbnail, and NH_BAD_HEADER; NH_INVALID if `count` is not the number of sizes.
 */
nh_status nh_perform_images(nh_cache *cache, nh_request *request, nh_image **images, size_t count);

/* ---- Responses --------------------------------------------------------------------------------------------------- */

/*
 *     const char *type, *json;
 *     size_t size;
 *     nh_response_header(response, "content-type", &type);
 *     if (nh_response_json(response, &json, &size) == NH_OK) parse(json, size);  // both live as long as the response
 *     nh_response_release(response);
 */

/** Facts about a response. Set struct_size before the call. All pointers are valid as long as the response. */
typedef struct nh_response_info {
    uint32_t struct_size;
    /** The HTTP status, such as 200. */
    int32_t status;
    /** The body: body_size bytes, not terminated (nh_response_text is). Never NULL. */
    const void *body;
    size_t body_size;
    /** The URL as it was passed. */
    const char *url;
    /** The URL of the answer, after redirects, without user and password. */
    const char *final_url;
    /** The Content-Type header, or NULL. */
    const char *content_type;
    /** 1 if the bytes were in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    nh_source source;
    /** The number of redirects that were followed. */
    int32_t redirects;
    /** The number of header lines, for nh_response_header_at. */
    int32_t header_count;
    /** Microseconds from the start of the last exchange to its first byte and to its end; 0 from the cache. */
    int64_t first_byte_us;
    int64_t total_us;
    /** The age of the answer in seconds, by the rules of HTTP. */
    int64_t age;
    /** 1 if the answer isn't fresh by its request's policy: the server can't be asked, or hasn't answered yet. Else 0. */
    int32_t is_stale;
    /** 1 if the cache has the answer now, as it was delivered. 0 if it must not be stored, or couldn't be stored, because another
     *  process held the lock of the cache or the disk was full. */
    int32_t is_stored;
    /** The reason phrase after the status; empty if the server sent none. */
    const char *reason;
    /** Microseconds from the start of the last exchange until the name was resolved, the connection was made, TLS was agreed. */
    int64_t dns_us;
    int64_t connect_us;
    int64_t tls_us;
    /** The number of interim answers (1xx) before this one, for nh_response_interim_at; 0 from the cache. */
    int32_t interim_count;
    /** 1 if the end of the body is missing, because the outbox stores only the first MiB of an answer (nh_outbox_response). Else 0. */
    int32_t is_cut;
    /** 1 if the request (POST, PUT, DELETE, PATCH) has made stored answers invalid that couldn't be removed yet, because another
     *  process held the lock of the cache or the disk was full. No process returns them any more, and the next process that stores an
     *  answer removes them. Exception: if the disk fails, only this process knows that they are invalid. Else 0. */
    int32_t is_removal_due;
    /** 1 if the body may be incomplete: the answer has no length, and its TLS connection ended without close_notify, which only the
     *  server can send. Such an answer isn't stored. Else 0. */
    int32_t is_truncated;
} nh_response_info;

/** An interim answer, such as 103 (Early Hints), which comes before the final one. Set struct_size before the call. All pointers are
 *  valid as long as the response. */
typedef struct nh_interim {
    uint32_t struct_size;
    /** The status, such as 103. */
    int32_t status;
    /** header_count header lines, in the order of their arrival; NULL for none. */
    const nh_header *headers;
    size_t header_count;
} nh_interim;

/** The result of nh_get_now. This struct never grows and has no struct_size. */
typedef struct nh_found {
    /** Release it with nh_response_release; NULL if nothing was found. */
    nh_response *response;
    /** The body, valid as long as the response, and its number of bytes. */
    const void *body;
    size_t body_size;
} nh_found;

/**
 * Returns the facts about a response. Set info->struct_size to sizeof *info before the call.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_response_get_info(nh_response *response, nh_response_info *info);

/**
 * Returns whether the body could be read. Call it after you have copied or processed the body: a body of the cache is in a mapped file,
 * and parts that the disk can't read are zeros.
 *
 * @return NH_OK; NH_IO if some bytes may have been zeros; NH_INVALID.
 */
nh_status nh_response_check(nh_response *response);

/**
 * Returns the first value of a header; NULL if there is none. Upper and lower case of the name don't matter. The value is valid as long
 * as the response.
 *
 * @return NH_OK, also if there is none; NH_INVALID.
 */
nh_status nh_response_header(nh_response *response, const char *name, const char **value);

/**
 * Returns the header line number `index`, from 0 in the order of arrival; each repeated header is a line of its own.
 *
 * @return NH_OK; NH_INVALID, also if `index` is not below header_count.
 */
nh_status nh_response_header_at(nh_response *response, int32_t index, const char **name, const char **value);

/**
 * Returns the interim answer (1xx) number `index`, from 0 in the order of arrival. Set interim->struct_size to sizeof *interim before
 * the call.
 *
 * @return NH_OK; NH_INVALID, also if `index` is not below interim_count.
 */
nh_status nh_response_interim_at(nh_response *response, int32_t index, nh_interim *interim);

/**
 * Returns the body as text in UTF-8, terminated by NUL, converted on the calling thread. The charset is that of the Content-Type, else
 * UTF-8; bytes that can't be decoded become U+FFFD. The text is valid as long as the response.
 *
 * @param text  Gets the address of the first byte.
 * @param size  Gets the number of bytes, without the final NUL; the text may contain others. May be NULL.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_response_text(nh_response *response, const char **text, size_t *size);

/**
 * Returns the body like nh_response_text, if it is JSON (RFC 8259); fails for any other body.
 *
 * @param text  Gets the address of the first byte; NULL on failure.
 * @param size  Gets the number of bytes, without the NUL; 0 on failure. May be NULL.
 * @return NH_OK; NH_WRONG_FORMAT, with the position in the message; NH_INVALID.
 */
nh_status nh_response_json(nh_response *response, const char **text, size_t *size);

/**
 * Releases a response and its bytes.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_response_release(nh_response *response);

/* ---- Images ------------------------------------------------------------------------------------------------------ */

/*
 *     nh_image_info info = {.struct_size = sizeof info};
 *     if (nh_thumbnail(cache, url, NH_OPTIONS(.sizes = &(nh_size){320, 180}, .size_count = 1, .fit = NH_FIT_COVER), &image) == NH_OK) {
 *         nh_image_get_info(image, &info);
 *         show(info.pixels, info.width, info.height, info.stride);
 *         nh_image_release(image);
 *     }
 */

/** File formats for encoded images. */
typedef enum nh_format {
    NH_FORMAT_PNG = 1,
    NH_FORMAT_JPEG = 2,
    /** Lossy; transparency is exact. */
    NH_FORMAT_WEBP = 3,
    NH_FORMAT_WEBP_LOSSLESS = 4
} nh_format;

/** Pixel formats: bytes in the order of the name. For a format without alpha, transparent pixels are drawn on white. */
typedef enum nh_pixels {
    /** Straight alpha, like nh_image_info.pixels. */
    NH_PIXELS_RGBA = 1,
    NH_PIXELS_BGRA = 2,
    /** Colours multiplied by alpha. */
    NH_PIXELS_RGBA_PREMULTIPLIED = 3,
    /** cairo's ARGB32 on little-endian machines. */
    NH_PIXELS_BGRA_PREMULTIPLIED = 4,
    NH_PIXELS_RGB = 5,
    NH_PIXELS_BGR = 6,
    /** One byte a pixel: 0.299 R + 0.587 G + 0.114 B. */
    NH_PIXELS_GREY = 7
} nh_pixels;

/** Facts about an image. Set struct_size before the call. All pointers are valid as long as the image. */
typedef struct nh_image_info {
    uint32_t struct_size;
    int32_t width;
    int32_t height;
    /** 1 if the image, or its source, was in the cache before the request was submitted, else 0. */
    int32_t is_in_cache;
    /** Rows of RGBA, 8 bits each: sRGB, straight alpha, upright. Never write to them. */
    const void *pixels;
    /** Bytes from one row to the next; 4 * width. */
    size_t stride;
    /** Width and height of the source, after its orientation was applied. */
    int32_t original_width;
    int32_t original_height;
    nh_source source;
    /** 1 if pixels are missing or wrong because the source is damaged, else 0. */
    int32_t is_partial;
    /** The URL as it was passed. */
    const char *url;
    /** The URL of the answer, after redirects, without user and password. */
    const char *final_url;
    /** The age of the source in seconds, by the rules of HTTP. */
    int64_t age;
    /** 1 if the image isn't fresh by its request's policy: the server can't be asked, or hasn't answered yet. Else 0. */
    int32_t is_stale;
    /** The HTTP status of the answer that the image was made from. */
    int32_t http_status;
    /** 1 if the image's source is in the cache now: it was there, or was stored (nh_response_info). Else 0. */
    int32_t is_stored;
    /** The bits of each channel of the source, of a palette those of its colours; 0 if unknown, as for `format`. */
    int32_t depth;
    /** The format of the source: "jpeg", "png", "gif", "webp", "bmp", "ico" and so on. NULL if unknown, because an earlier version of
     *  Nuthatch has stored the thumbnail. */
    const char *format;
    /** 1 if the source has several frames; if they couldn't be counted, if two were seen, or its header announces an animation. Else 0. */
    int32_t is_animated;
    /** The number of frames of the source: 1 for a still picture and an icon; 0 if unknown, because not all of its bytes were received
     *  (with early_stop), or because an earlier version has stored the thumbnail. */
    int32_t frame_count;
} nh_image_info;

/**
 * Decodes the body of a response, on the calling thread. The status and the Content-Type don't matter.
 *
 * @param options  The box (size, or one of sizes), and the options of an image. Never NULL.
 * @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
 * @return NH_OK; NH_NOT_AN_IMAGE; NH_UNSUPPORTED_FORMAT (the message names the format); NH_CORRUPT and NH_TRUNCATED (with the position);
 *         NH_TOO_LARGE; NH_TOO_MANY_PIXELS; NH_OUT_OF_MEMORY; NH_INVALID, also for a box whose sides aren't 1 to 65535.
 */
nh_status nh_response_image(nh_response *response, const nh_options *options, nh_image **image);

/**
 * Decodes a picture of the program, on the calling thread: a JPEG, PNG, GIF, WebP, AVIF, BMP or ICO; an SVG or HEIC if its
 * library is installed (docs/ISOLATION.md). The image's URL is empty, and its source NH_SOURCE_MEMORY.
 *
 * @param bytes    The file: `size` bytes, read during the call only.
 * @param options  As for nh_response_image.
 * @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
 * @return Like nh_response_image.
 */
nh_status nh_image_decode(const void *bytes, size_t size, const nh_options *options, nh_image **image);

/**
 * Returns the facts about an image. Set info->struct_size to sizeof *info before the call.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_image_get_info(nh_image *image, nh_image_info *info);

/**
 * Releases an image, its pixels, and the files and formats made from them.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_image_release(nh_image *image);

/* ---- Convert and encode images ----------------------------------------------------------------------------------- */

/*
 * These functions work on the calling thread.
 *
 *     const void *bytes;
 *     size_t size;
 *     if (nh_image_encode(image, NH_FORMAT_JPEG, 0, &bytes, &size) == NH_OK) fwrite(bytes, 1, size, file);
 *     if (nh_image_encode(image, NH_FORMAT_WEBP, 80, &bytes, &size) == NH_OK) fwrite(bytes, 1, size, file);
 */

/**
 * Writes an image's pixels into the caller's buffer, in another format.
 *
 * @param buffer    Gets the rows; bytes between rows aren't changed.
 * @param capacity  The bytes of the buffer.
 * @param stride    Bytes from one row to the next; 0 for no space between rows.
 * @return NH_OK; NH_INVALID, also if the buffer is too small for the last row, or the stride for a row.
 */
nh_status nh_image_convert(nh_image *image, nh_pixels format, void *buffer, size_t capacity, size_t stride);

/**
 * Returns an image's pixels in another format, without space between rows. They are valid as long as the image; a second call for the
 * same format costs nothing.
 *
 * @param pixels  Gets the address of the first byte.
 * @param size    Gets the number of bytes.
 * @return NH_OK; NH_INVALID; NH_OUT_OF_MEMORY.
 */
nh_status nh_image_pixels(nh_image *image, nh_pixels format, const void **pixels, size_t *size);

/**
 * Encodes an image as a file. The bytes are valid as long as the image; a second call for the same format costs nothing.
 *
 * @param quality  For JPEG and WebP 1 to 100, 0 for 92 and 90. For PNG and lossless WebP 0, or 100 for the smallest file, which takes
 *                 much longer.
 * @param bytes    Gets the address of the first byte.
 * @param size     Gets the number of bytes.
 * @return NH_OK; NH_INVALID; NH_OUT_OF_MEMORY.
 */
nh_status nh_image_encode(nh_image *image, nh_format format, int32_t quality, const void **bytes, size_t *size);

/* ---- Submit requests, take events later -------------------------------------------------------------------------- */

/*
 *     nh_event event;
 *     int is_final = 0;
 *     nh_submit(cache, url, NH_OPTIONS(.size = 256, .priority = 5), &ticket);
 *     while (!is_final && nh_wait(ticket, -1, &event, sizeof event) == NH_OK) {
 *         if (event.image_count == 1) draw(event.images[0]);  // a stale one may come first
 *         is_final = event.is_final;
 *         nh_event_clear(&event);
 *     }
 *     nh_ticket_release(ticket);
 */

/**
 * Starts a request and returns at once. A fresh answer from the cache is ready when this function returns. So it may wait for the disk,
 * never for the network. Requests for one URL share one fetch. nh_queue_set limits the requests to one host, and in all; other requests
 * wait for their turn, and only their deadline runs during that wait.
 *
 * @param options  NULL for none. With sizes, the answer is images.
 * @param ticket   Gets the handle; NULL on failure. Release it with nh_ticket_release. May be NULL itself, for programs that identify
 *                 events by user_data; the events then have no ticket.
 * @return NH_OK; NH_BAD_URL or NH_BAD_HEADER, before the network is used; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_submit(nh_cache *cache, const char *url, const nh_options *options, nh_ticket **ticket);

/**
 * Starts an nh_request, like nh_submit a URL with options.
 *
 * @param ticket  As for nh_submit.
 * @return Like nh_submit.
 */
nh_status nh_submit_request(nh_cache *cache, nh_request *request, nh_ticket **ticket);

/**
 * Waits for a ticket's next event and takes it, so that nh_poll and other threads don't get it.
 *
 * @param timeout_ms  The longest wait in milliseconds; 0 checks without waiting; negative: no limit.
 * @param event       Gets the event; clear it with nh_event_clear. Zeroed if none came.
 * @param event_size  sizeof *event.
 * @return NH_OK with an event, also with one that reports a failure: see its code. NH_TIMEOUT if none came in time; the request goes on.
 *         NH_FORKED. NH_INVALID, also if the final event was taken before, and for a ticket with a callback.
 */
nh_status nh_wait(nh_ticket *ticket, int64_t timeout_ms, nh_event *event, size_t event_size);

/**
 * Frees everything that an event owns, and zeroes it. Clearing a zeroed event does nothing.
 *
 * @return NH_OK; NH_INVALID if `event` is NULL, or if its response or one of its images is not an open handle.
 */
nh_status nh_event_clear(nh_event *event);

/**
 * Cancels a request. Its final event, NH_EVENT_CANCELLED, is available at once, unless it had a final event before.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_cancel(nh_ticket *ticket);

/**
 * Cancels the requests of a handle that are under way: all, or those with a tag or of a site. Blocking calls of these requests return
 * NH_CANCELLED. Requests of another site with the same base URL aren't cancelled.
 *
 * @param options  A tag or a site, and no other option. NULL for all.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_cancel_all(nh_cache *cache, const nh_options *options);

/**
 * Changes the priority of a request, in the queue and while it runs. After its end it does nothing.
 *
 * @param priority  The value of nh_options.priority.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_ticket_set_priority(nh_ticket *ticket, int64_t priority);

/**
 * Submits the request of a ticket again, for instance after a failure. The ticket doesn't change; events of the new ticket carry the
 * same callback and user_data. A freezable request keeps its Idempotency-Key, so that a server that has already processed it doesn't do
 * it twice. After the ticket's success (2xx) has been taken, the new request gets a new key.
 *
 * @param cache  The cache that the request was submitted to.
 * @param again  Gets the new handle; NULL on failure. Release it with nh_ticket_release.
 * @return Like nh_submit; NH_INVALID also for a ticket whose answer was in memory when it was submitted: such a ticket keeps no request.
 */
nh_status nh_resubmit(nh_cache *cache, nh_ticket *ticket, nh_ticket **again);

/**
 * Returns the state of a request.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_ticket_state(nh_ticket *ticket, nh_ticket_status *state);

/**
 * Releases a ticket. It doesn't cancel: the request goes on, and its events still come by nh_poll or nh_dispatch, with a ticket that is
 * no longer an open handle.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_ticket_release(nh_ticket *ticket);

/* ---- The completion queue ---------------------------------------------------------------------------------------- */

/*
 *     nh_submit(cache, url, NH_OPTIONS(.size = 256, .callback = hear, .user_data = cell), NULL);
 *     while (nh_dispatch(cache, 16) >= 0) draw_frame();  // hear() is called here, on this thread
 */

/**
 * Returns a descriptor that is readable while there is something for nh_poll or nh_dispatch: for poll, epoll, a GLib source, libuv.
 * Never read, write or close it. Each handle has one; the first call creates it, and nh_close closes it. With edge-triggered epoll, take
 * all events before you wait again.
 *
 * @return The descriptor; on failure a negative number: -NH_INVALID, -NH_FORKED, -NH_CLOSED or -NH_IO.
 */
int32_t nh_fd(nh_cache *cache);

/**
 * Takes events of the handle's tickets that have no callback, in the order in which they became ready. It also takes the events without
 * a ticket that were subscribed to without a callback (nh_outbox_attach, nh_outbox_ask, nh_site_watch). Never waits.
 *
 * @param events      Gets the events; clear each with nh_event_clear.
 * @param count       The number of places in `events`.
 * @param event_size  sizeof *events.
 * @return The number of events; 0 if there are none. On failure a negative number: -NH_INVALID or -NH_FORKED.
 */
int32_t nh_poll(nh_cache *cache, nh_event *events, size_t count, size_t event_size);

/**
 * Calls on this thread the callbacks of tickets that have events, and of subscriptions (nh_outbox_attach, nh_outbox_ask, nh_site_watch,
 * nh_activity_watch). Two threads never call for one ticket at the same time. A callback may call every function of the library, even
 * close the cache or call nh_dispatch. Nested calls of nh_dispatch are limited to a depth of twenty, because stacks are limited; beyond
 * it the call returns -NH_INVALID.
 *
 * @param timeout_ms  The longest wait for a first event, in milliseconds; 0 doesn't wait; negative: no limit.
 * @return The number of callbacks that were called; 0 if there was no event in time. On failure a negative number: -NH_CLOSED if the
 *         cache was closed during the call, or was shut down and all events were delivered; -NH_INVALID; -NH_FORKED.
 */
int32_t nh_dispatch(nh_cache *cache, int64_t timeout_ms);

/* ---- Questions --------------------------------------------------------------------------------------------------- */

/*
 *     nh_event event;
 *     int is_final = 0;
 *     nh_submit(cache, url, NH_OPTIONS(.asks = NH_ASK_CREDENTIALS), &ticket);
 *     while (!is_final && nh_wait(ticket, -1, &event, sizeof event) == NH_OK) {
 *         nh_reply reply = {.struct_size = sizeof reply, .user = "ann", .password = "walnut"};
 *         if (event.question == NH_ASK_CREDENTIALS) nh_answer(event.ticket, &reply);
 *         is_final = event.is_final;
 *         nh_event_clear(&event);
 *     }
 *     nh_ticket_release(ticket);
 */

/** The program's verdict on an answer. */
typedef enum nh_verdict {
    NH_VERDICT_UNSAID = 0,
    /** The answer is good. */
    NH_VERDICT_ACCEPT = 1,
    /** The answer is bad: the request fails with NH_HTTP, and nothing is stored. */
    NH_VERDICT_REJECT = 2,
    /** The answer is bad, but a retry may bring a good one; at most as many as the request's retries. */
    NH_VERDICT_RETRY = 3
} nh_verdict;

/** The program's reply to a question. Set struct_size and the members for the question; set all other members to zero. */
typedef struct nh_reply {
    uint32_t struct_size;
    /** For NH_ASK_VERDICT. */
    nh_verdict verdict;
    /** With NH_VERDICT_REJECT: the reason, for the error message. */
    const char *reason;
    /** For NH_ASK_HEADERS: header_count headers to add. For NH_ASK_CHALLENGE: headers that replace those of the same name. */
    const nh_header *headers;
    size_t header_count;
    /** For NH_ASK_CREDENTIALS. */
    const char *user;
    const char *password;
} nh_reply;

/**
 * Answers the last question of a ticket. May be called from any thread, also in a callback.
 *
 * @param ticket  The event's ticket; in a callback it is set even if nh_submit returned none.
 * @param reply   NULL to leave the question unanswered, without further waiting.
 * @return NH_OK; NH_INVALID, also if no question is open, because none was asked, it was answered, its time is over, or the request has
 *         ended; NH_FORKED. Headers that can't be sent end the request with NH_BAD_HEADER.
 */
nh_status nh_answer(nh_ticket *ticket, const nh_reply *reply);

/* ---- Answers without waiting ------------------------------------------------------------------------------------- */

/*
 * These functions return fresh results that are available at once, or nothing. nh_peek is for pictures, nh_peek_response for bodies;
 * nh_thumbnail_now and nh_get_now do the same, and count as requests. They return stale results under NH_POLICY_OFFLINE only. nh_submit
 * delivers a stale result first, and then asks the server (NH_DELIVERY_TWICE, the default).
 *
 *     // .decode also finds a compressed thumbnail; after a restart, all but small ones are compressed.
 *     if ((image = nh_peek(cache, url, NH_OPTIONS(.size = 128, .decode = NH_YES))) != NULL) {
 *         draw(image);
 *         nh_image_release(image);
 *     } else {
 *         nh_submit(cache, url, NH_OPTIONS(.size = 128, .quiet = NH_YES), NULL);  // for a later frame
 *     }
 */

/**
 * Returns a thumbnail if it can be shown at once: it is fresh, and in memory or stored on disk as pixels (NH_THUMB_STORE_RAW). Never
 * uses the network, never waits, and takes a tenth of a microsecond for a thumbnail that was shown before. For programs that draw; they
 * request missing thumbnails with nh_submit.
 *
 * @param options  The size, and any other options. With `decode`, a thumbnail that is stored as a file is decoded, too.
 * @return The handle; release it with nh_image_release. NULL if there is nothing to show, and on failure. Then nh_error_get_info returns
 *         NH_OK, or the error: NH_BAD_URL; NH_BAD_HEADER; NH_DENIED and NH_IO if nh_thumbnail would fail before it looks for a picture;
 *         NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_image *nh_peek(nh_cache *cache, const char *url, const nh_options *options);

/**
 * Like nh_peek, but nh_stats and the log count the result as a request and a hit: for programs, and bindings, that check the cache
 * before they submit a request.
 *
 * @return Like nh_peek; NULL counts nothing.
 */
nh_image *nh_thumbnail_now(nh_cache *cache, const char *url, const nh_options *options);

/**
 * Returns the answer to a GET if it is fresh and in the cache. Never uses the network, and never waits. For programs that can't wait,
 * and for programs that request missing answers with nh_submit.
 *
 * @param options   NULL for none.
 * @param response  Gets the handle; NULL on failure, and if there is no answer. Release it with nh_response_release.
 * @return NH_OK, also if there is no answer; NH_BAD_URL; NH_BAD_HEADER; NH_DENIED and NH_IO if nh_get would fail before it looks for an
 *         answer; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_peek_response(nh_cache *cache, const char *url, const nh_options *options, nh_response **response);

/**
 * Like nh_peek_response, but nh_stats and the log count the answer as a request and a hit. It also returns the body.
 *
 * @param found  Gets the answer; all members are NULL and 0 if there is none, and on failure.
 * @return Like nh_peek_response.
 */
nh_status nh_get_now(nh_cache *cache, const char *url, const nh_options *options, nh_found *found);

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/*
 *     nh_request_create(url, &request);
 *     nh_request_set(request, &(nh_options){.struct_size = sizeof(nh_options), .method = "PUT", .deadline_ms = 5000});
 *     nh_request_set_body(request, "seeds", 5);
 *     if (nh_perform(cache, request, &response) == NH_OK) nh_response_release(response);
 *     nh_request_free(request);
 */

/**
 * Creates a request with more parts than nh_options can describe: a body, a form, places where the answer is saved. It is a GET of `url`
 * until the functions below change it. They copy their arguments. A request may be used any number of times, from any thread, and
 * changed in between: tickets keep the state at the time when they were made. URL and headers are checked when it is used: a URL of more
 * than 65,536 bytes is NH_BAD_URL then, except for data: URLs.
 *
 * @param request  Gets the handle; NULL on failure. Free it with nh_request_free.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_create(const char *url, nh_request **request);

/**
 * Sets options of a request: the options that are set in `options` replace earlier values, the others stay as they are. An option can be
 * changed, but not reset to "not set"; create another request for that.
 *
 * @return NH_OK; NH_INVALID, also for options that a request doesn't have. Headers and a method that can't be sent, and secrets without
 *         a provider, are errors when the request is used.
 */
nh_status nh_request_set(nh_request *request, const nh_options *options);

/**
 * Adds a header. It replaces the headers of the same name that would be sent otherwise. Two added headers of the same name are both
 * sent, in this order.
 *
 * @return NH_OK; NH_INVALID. A name or value that can't be sent, more than 1,000 headers, and more than 262,144 bytes of them, are
 *         NH_BAD_HEADER when the request is used.
 */
nh_status nh_request_add_header(nh_request *request, const char *name, const char *value);

/**
 * Frees a request. Its tickets go on.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_free(nh_request *request);

/* ---- Requests: body and form ------------------------------------------------------------------------------------- */

/*
 *     nh_request_set(request, NH_OPTIONS(.method = "POST"));
 *     nh_request_add_part(request, NH_PART(.name = "title", .data = "A nut", .size = 5));
 *     nh_request_add_part(request, NH_PART(.name = "picture", .path = "nut.jpg", .type = "image/jpeg"));
 */

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

/**
 * Sets the body: `size` bytes, copied. NULL and 0 for none.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_body(nh_request *request, const void *body, size_t size);

/**
 * Sends a file's bytes as the body. They are read while they are sent, one piece at a time. Set a Content-Type header for them.
 *
 * @param path  Checked when the request is used: a missing file, or one that isn't a regular file, is NH_IO then, and so is a file that
 *              has changed before it is sent. NULL for none.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_body_file(nh_request *request, const char *path);

/**
 * Adds a part to a form (multipart/form-data), which is then the body: a plain field, bytes as a file, or a file.
 *
 * @return NH_OK; NH_INVALID. When the request is used, a type that can't be sent is NH_BAD_HEADER, and a file is checked as in
 *         nh_request_set_body_file.
 */
nh_status nh_request_add_part(nh_request *request, const nh_part *part);

/**
 * Adds a field to the body, encoded like a plain web form (application/x-www-form-urlencoded). Sets the Content-Type unless the request
 * has one.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_add_field(nh_request *request, const char *name, const char *value);

/* ---- Requests: save the answer ----------------------------------------------------------------------------------- */

/*
 *     nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = "nuts.tar"));
 *     nh_request_set(request, NH_OPTIONS(.progress_events = NH_YES));
 *     nh_submit_request(cache, request, &ticket);
 */

/** The kind of place where an answer is saved. */
typedef enum nh_sink_kind {
    /** A file. It appears under its name only when it is complete, and then replaces an older file. A broken transfer that can be
     *  continued leaves a hidden file beside it. The next request for it continues that file, in any process (nh_options.resume). */
    NH_SINK_FILE = 1,
    /** A file; the answer is added to its end, completely or not at all. */
    NH_SINK_APPEND = 2,
    /** A descriptor. If it accepts no bytes, only this transfer waits. It is copied when the request is used, and may
     *  be closed after that. */
    NH_SINK_DESCRIPTOR = 3,
    /** The program gets the answer in pieces, as NH_EVENT_DATA. While more than a mebibyte waits to be taken, no more bytes are
     *  received. */
    NH_SINK_EVENTS = 4
} nh_sink_kind;

/** A place where an answer is saved while it arrives. Set struct_size, kind, and the members of that kind. */
typedef struct nh_sink {
    uint32_t struct_size;
    nh_sink_kind kind;
    /** For NH_SINK_FILE and NH_SINK_APPEND. */
    const char *path;
    /** For NH_SINK_DESCRIPTOR. */
    int32_t descriptor;
    /** Must be 0. */
    uint32_t reserved;
} nh_sink;

#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
/** Like NH_OPTIONS: NH_SINK(.kind = NH_SINK_FILE, .path = "nut.jpg"). C only. */
#define NH_SINK(...) (&(nh_sink){.struct_size = sizeof(nh_sink), __VA_ARGS__})
#endif

/**
 * Saves the answer while it arrives. May be called for several places: each gets the whole answer. A saved answer may be larger than the
 * cache's max_bytes; only the request's own max_bytes limits it. Without that, a compressed answer (Content-Encoding) that decodes to
 * more than 64 MiB, and to more than 1,000 times the received bytes, is NH_TOO_LARGE. The response has the body, and the cache stores
 * it, only up to the cache's max_bytes. Answers that aren't a success aren't saved.
 *
 * @return NH_OK; NH_INVALID. The request fails with NH_NO_SPACE on a full disk and with NH_IO if the file can't be written.
 */
nh_status nh_request_save_to(nh_request *request, const nh_sink *sink);

/* ---- Sites ------------------------------------------------------------------------------------------------------- */

/*
 *     const nh_header token = {"Authorization", "Bearer hazel"};
 *     nh_site_open(cache, "https://api.example.org/v1/", NH_OPTIONS(.headers = &token, .header_count = 1), &site);
 *     if (nh_get(cache, "nuts?page=2", NH_OPTIONS(.site = site), &response) == NH_OK) nh_response_release(response);
 *     nh_site_close(site);
 */

/**
 * Creates a site: a base URL, and options that its requests share. Requests name the site in nh_options.site; their URLs can then be
 * relative to the base URL. A site belongs to its cache's handle and can't be used after that is closed.
 *
 * User and password are sent to the base URL's origin only, also if a request of the site has a URL of another origin. The same is true
 * of all headers except harmless ones and those that options->keep_headers_across_origins names.
 *
 * @param base_url  An absolute URL. Relative URLs of requests are resolved like links on a page at this URL: with
 *                  "https://example.org/api/" (mind the last slash) "statuses" is https://example.org/api/statuses.
 * @param options   The options that its requests inherit, without allow_files and options of the directory. NULL for none.
 * @param site      Gets the handle; NULL on failure. Close it with nh_site_close.
 * @return NH_OK; NH_BAD_URL; NH_BAD_HEADER; NH_INVALID.
 */
nh_status nh_site_open(nh_cache *cache, const char *base_url, const nh_options *options, nh_site **site);

/**
 * Returns the options in force for the requests of a site at its origin, including those of its cache and the defaults, like
 * nh_cache_get_options. Don't pass them to other calls either. User and password, and passwords of certificates, aren't returned.
 *
 * @param options  Gets the options. Set options->struct_size to sizeof *options before the call. Texts are valid as long as the handle.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_site_get_options(nh_site *site, nh_options *options);

/**
 * Deletes the cookies of a site, in memory and in the cache's directory. May wait for the disk.
 *
 * @return NH_OK, also if it has none; NH_INVALID.
 */
nh_status nh_site_clear_cookies(nh_site *site);

/**
 * Closes a site. Its requests go on.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_site_close(nh_site *site);

/**
 * Returns whether the last connection to a site's host succeeded.
 *
 * @param reachable  Gets NH_YES or NH_NO; NH_UNSAID if no connection was tried.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_site_reachable(nh_site *site, nh_choice *reachable);

/**
 * Subscribes to changes of the result of nh_site_reachable, as NH_EVENT_REACHABILITY, from now on until the cache's handle is closed. Of
 * several events that weren't taken only the newest is kept. Sites of one handle with the same base URL share one listener, the last one
 * set.
 *
 * @param callback   Called by nh_dispatch; NULL for events that nh_poll returns.
 * @param user_data  The pointer that the events carry.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_site_watch(nh_site *site, nh_callback callback, void *user_data);

/* ---- The outbox -------------------------------------------------------------------------------------------------- */

/*
 *     nh_event event;
 *     nh_request_set(request, NH_OPTIONS(.method = "POST", .freezable = NH_YES, .outbox_handler = "posts"));
 *     if (nh_perform(cache, request, &response) == NH_FROZEN) puts("It is sent later.");  // NH_OK: here is the answer
 *     nh_outbox_attach(cache, "posts", NULL, NULL);  // with a callback nh_dispatch calls it, as for requests
 *     while (nh_poll(cache, &event, 1, sizeof event) == 1) {
 *         if (event.kind == NH_EVENT_OUTCOME && event.code == NH_OK) puts("It was sent.");
 *         if (event.kind == NH_EVENT_OUTCOME) nh_outbox_drop(cache, event.outbox_id);  // else it comes again
 *         nh_event_clear(&event);
 *     }
 *
 * Results of a freezable request:
 *
 *     result                       for the first attempt         for a later attempt, from the outbox
 *     status 2xx                   it is the answer              NH_FROZEN_DONE
 *     status 408, 425, 429, 5xx    it is the answer              it is tried again
 *     status 401, 403              it is the answer              NH_FROZEN_PAUSED, until nh_outbox_provide or nh_outbox_replay
 *     any other status             it is the answer              NH_FROZEN_DEAD
 *     no answer (*)                NH_FROZEN                     it is tried again
 *     part of an answer            the error, NH_TRUNCATED       it is tried again
 *
 * (*) NH_TIMEOUT (also at the deadline), NH_DNS, NH_REFUSED, NH_RESET, NH_TLS, NH_CIRCUIT_OPEN. Any other error, such as NH_DENIED, ends
 * the request at the first attempt.
 *
 * Later attempts: after about 1 s, 2 s, 4 s and so on, up to five minutes, or after Retry-After, up to a day. If the server becomes
 * reachable, the next attempt follows at once. After outbox_attempts, outbox_max_age_ms or outbox_key_lifetime_ms the request is
 * NH_FROZEN_DEAD. Requests of one queue (outbox_queue) arrive in their order. While one of them waits, is sent or is paused, later ones
 * become NH_FROZEN without an attempt, even if the server is reachable.
 *
 * One of the processes that have the directory open sends the requests, from nh_open on, without another call. While no process has it
 * open, nothing is sent. nh_close interrupts an attempt, which is repeated later; call nh_drain before it to let the attempt end.
 *
 * A frozen request has a number: outbox_id of the event or of nh_error_info. Its outcome comes as NH_EVENT_OUTCOME to handles that are
 * attached to its outbox_handler (nh_outbox_attach). Without a handler, check with nh_outbox_get, or search with nh_outbox_next, for
 * NH_FROZEN_DONE and NH_FROZEN_DEAD. An outcome stays, also across restarts, and counts to outbox_items, until nh_outbox_drop.
 */

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

/**
 * Returns the first request in the outbox after a number, in the order in which they are sent; 0 returns the first of all. May wait for
 * the disk, like all functions whose names begin with nh_outbox.
 *
 *     nh_frozen_info info = {.struct_size = sizeof info};
 *     nh_frozen *frozen;
 *     while (nh_outbox_next(cache, info.id, &frozen) == NH_OK && frozen != NULL) {
 *         nh_frozen_get_info(frozen, &info);
 *         if (info.state == NH_FROZEN_DONE) nh_outbox_drop(cache, info.id);
 *         nh_frozen_release(frozen);
 *     }
 *
 * @param frozen  Gets the handle, a copy of the request's current state; NULL after the last one, and on failure. Release it with
 *                nh_frozen_release.
 * @return NH_OK; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_outbox_next(nh_cache *cache, uint64_t after, nh_frozen **frozen);

/**
 * Returns the request with a number.
 *
 * @param frozen  As for nh_outbox_next.
 * @return NH_OK; NH_INVALID, also if there is no such request; NH_IO; NH_CLOSED; NH_FORKED.
 */
nh_status nh_outbox_get(nh_cache *cache, uint64_t id, nh_frozen **frozen);

/**
 * Returns the answer to a request that has ended: done (NH_FROZEN_DONE), or put aside (NH_FROZEN_DEAD) because of this answer. It stays
 * until it is dropped, so a program that is killed before it has processed the answer finds it again.
 *
 * @param response  Gets the handle: status, headers, and up to 1 MiB of the body. NULL on failure. Release it with nh_response_release.
 * @return NH_OK; NH_INVALID, also if there is no such request, it hasn't ended, or there was no answer; NH_IO; NH_CLOSED; NH_FORKED.
 */
nh_status nh_outbox_response(nh_cache *cache, uint64_t id, nh_response **response);

/**
 * Sends a request again that was put aside or that waits, as soon as it is its turn. Its times and attempts are counted from now on.
 *
 * @param id  0 for all of them.
 * @return The number of requests; 0 if there is none with that number. On failure a negative number: -NH_IO, -NH_CLOSED, -NH_FORKED or
 *         -NH_INVALID.
 */
int32_t nh_outbox_replay(nh_cache *cache, uint64_t id);

/**
 * Removes a request, or its outcome; the request isn't sent after this.
 *
 * @return NH_OK; NH_INVALID, also if there is none with that number; NH_CONFLICT while another process is sending it; NH_IO; NH_CLOSED;
 *         NH_FORKED.
 */
nh_status nh_outbox_drop(nh_cache *cache, uint64_t id);

/**
 * Subscribes this handle to the outcomes of requests with this handler, as NH_EVENT_OUTCOME: also earlier outcomes, those of other
 * processes, and those from before a restart. Each outcome comes once to an open handle, and again to the next handle, until it is
 * dropped.
 *
 * @param handler    The name in nh_options.outbox_handler.
 * @param callback   Called by nh_dispatch; NULL for events that nh_poll returns.
 * @param user_data  The pointer that the events carry.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_outbox_attach(nh_cache *cache, const char *handler, nh_callback callback, void *user_data);

/**
 * Ends the subscription of nh_outbox_attach: outcomes of this handler no longer come to this handle.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_outbox_detach(nh_cache *cache, const char *handler);

/**
 * Subscribes this handle to questions for secrets (NH_ASK_SECRET); the message of the event is the provider's name. A question comes if
 * a request can't be sent because its secret isn't known, or because the server has refused it (401, 403). Answer it with
 * nh_outbox_provide, from any thread; until then the request and the later ones of its queue wait.
 *
 * @param provider   NULL for all providers without their own listener.
 * @param callback   Called by nh_dispatch; NULL for events that nh_poll returns.
 * @param user_data  The pointer that the events carry.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_outbox_ask(nh_cache *cache, const char *provider, nh_callback callback, void *user_data);

/**
 * Sets the secret of a provider, for all handles on the directory in this process. It is kept in memory only. Queues that wait for it
 * continue.
 *
 * @param secret  NULL removes the secret.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_outbox_provide(nh_cache *cache, const char *provider, const char *secret);

/**
 * Returns the facts about a request in the outbox, as they were when the handle was made. Set info->struct_size to sizeof *info before
 * the call.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_frozen_get_info(nh_frozen *frozen, nh_frozen_info *info);

/**
 * Returns one of the last attempts that didn't end the request, in their order from 0. Set attempt->struct_size to sizeof *attempt
 * before the call.
 *
 * @return NH_OK; NH_INVALID, also if `index` is not below history_count.
 */
nh_status nh_frozen_attempt_at(nh_frozen *frozen, int32_t index, nh_frozen_attempt *attempt);

/**
 * Releases a handle. The request stays in the outbox.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_frozen_release(nh_frozen *frozen);

/* ---- Maintenance of a cache -------------------------------------------------------------------------------------- */

/*
 *     nh_statistics statistics = {.struct_size = sizeof statistics};
 *     nh_remove(cache, url, NULL);
 *     nh_trim(cache, 100 << 20);
 *     nh_stats(cache, &statistics);
 *     printf("%lld bytes on disk\n", (long long)statistics.disk_bytes);
 */

/** Contents of a cache, and counts of events. Set struct_size before the call. */
typedef struct nh_statistics {
    uint32_t struct_size;
    /** Always 0. */
    uint32_t reserved;

    /* In this process, since the directory was opened; all handles on it count together. */

    /** Requests submitted. */
    int64_t requests;
    /** Requests that were answered from the cache, without the network. */
    int64_t hits;
    /** Requests that waited for the fetch of another request. */
    int64_t joined;
    /** Exchanges with servers, including redirects and retries. */
    int64_t transfers;
    /** Fetches that ended with a confirmation of the stored answer (304), with a new answer, without an answer. */
    int64_t revalidated;
    int64_t fetched;
    int64_t failed;
    /** Decodes of a picture, each for any number of sizes. */
    int64_t decodes;
    /** Transfers of pictures that ended early, because the thumbnails were complete (nh_options.early_stop). */
    int64_t stopped;
    /** Bodies that were moved to a file, because the bodies under way held too much memory. */
    int64_t filed;
    /** Bytes of bodies received. */
    int64_t bytes_received;
    /** Requests of this handle that are under way. */
    int64_t activity;

    /* On disk, of all processes. */

    /** Records: metadata of URLs, bodies, thumbnails. */
    int64_t metas;
    int64_t bodies;
    int64_t thumbs;
    /** The used and the allowed disk space, in bytes. */
    int64_t disk_bytes;
    int64_t disk_limit;
    /** Bytes of dropped records that results of this process still use. */
    int64_t pinned_bytes;
    /** Records that this process dropped to stay within the limit. */
    int64_t dropped;

    /* In memory, of this process. */

    int64_t memory_items;
    int64_t memory_bytes;
    int64_t memory_limit;
    int64_t memory_hits;
    int64_t memory_misses;
    int64_t memory_evictions;
    /** Records that aren't on disk yet (spill), and records that were lost because they couldn't be written. */
    int64_t unwritten;
    int64_t lost;
    /** How often memory had to be freed: half of it, all of it. */
    int64_t pressure_warnings;
    int64_t pressure_criticals;
    /** Records that were written to disk when they had to leave memory (spill) or by nh_flush, and their bytes. */
    int64_t spilled;
    int64_t spilled_bytes;
    /** Records that this process didn't store, because another process held the directory's lock for too long. */
    int64_t held_up;
} nh_statistics;

/**
 * Removes all stored answers of a URL, for all credentials, partitions and cache keys: the next request asks the server. When this
 * returns, no process gets an older answer from the cache or stores an answer that was requested before. Thumbnails that another URL
 * shares stay. May wait for the disk, and up to five seconds for another process.
 *
 * @param options  NULL for all answers of the URL. A site, a key, credentials, a partition and other options that select an answer limit
 *                 the removal to that answer.
 * @return NH_OK, also if nothing was stored; NH_BAD_URL; NH_BAD_HEADER; NH_BUSY if another process holds the directory's lock for five
 *         seconds; NH_NO_SPACE, NH_IO if it can't be done; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_remove(nh_cache *cache, const char *url, const nh_options *options);

/**
 * Removes everything that is stored, for all processes. May wait for the disk.
 *
 * @return NH_OK; NH_BUSY if another process holds the directory's lock for five seconds; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_clear(nh_cache *cache);

/**
 * Removes the least recently used records until no more than `bytes` are left on disk. The limit doesn't change. May wait for the disk.
 *
 * @return NH_OK; NH_BUSY if another process holds the directory's lock for five seconds; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID if
 *         `bytes` is negative.
 */
nh_status nh_trim(nh_cache *cache, int64_t bytes);

/**
 * Writes to disk what is only in memory (NH_SPILL_PRESSURE), so that it survives the end of this process. May wait for the disk.
 *
 * @return NH_OK, also if there is nothing to write; NH_BUSY if another process holds the directory's lock for five seconds;
 *         NH_NO_SPACE; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_flush(nh_cache *cache);

/**
 * Returns the contents of a cache, and counts of events. Instant. Set statistics->struct_size to sizeof *statistics before.
 *
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_stats(nh_cache *cache, nh_statistics *statistics);

/**
 * Returns the values of nh_stats as one JSON object, with a member for each of the struct's, and "warning": a problem with the location
 * of the directory, or null.
 *
 * @param buffer    Gets as many bytes as fit, terminated by NUL. May be NULL if `capacity` is 0.
 * @param capacity  The bytes of the buffer.
 * @return The number of bytes of the whole text, without the NUL; the text is complete if that is less than `capacity`. On failure a
 *         negative number: -NH_CLOSED, -NH_FORKED or -NH_INVALID.
 */
int32_t nh_stats_json(nh_cache *cache, char *buffer, size_t capacity);

/**
 * Returns whether another process has held the directory's lock for `patience_ms`, while this process waited for it. Meanwhile nothing
 * can be stored, so a program that fetches in order to store should pause. The result changes at most four times a second; each change
 * is logged, at NH_LOG_WARNING.
 *
 * @param patience_ms  In milliseconds; the first call on a handle sets it for all later ones. The command uses 30,000.
 * @return 1 or 0; on failure a negative number: -NH_CLOSED, -NH_FORKED or -NH_INVALID.
 */
int32_t nh_is_held_up(nh_cache *cache, int64_t patience_ms);

/**
 * Subscribes to changes of the number of requests of the handle that are under way (nh_statistics.activity) from or to 0, as
 * NH_EVENT_BUSY or NH_EVENT_IDLE, from now on until the handle is closed. Each handle has one listener, the last one set.
 *
 * @param callback   Called by nh_dispatch; NULL for events that nh_poll returns.
 * @param user_data  The pointer that the events carry.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_activity_watch(nh_cache *cache, nh_callback callback, void *user_data);

/**
 * Waits until no request of the handle is under way. Events that weren't taken can still be taken.
 *
 * @param timeout_ms  The longest wait in milliseconds; 0 checks without waiting; negative: no limit.
 * @return NH_OK; NH_TIMEOUT; NH_FORKED; NH_INVALID.
 */
nh_status nh_wait_idle(nh_cache *cache, int64_t timeout_ms);

/* ---- The process ------------------------------------------------------------------------------------------------- */

/*
 *     nh_queue_set(NH_OPTIONS(.concurrency = 8, .per_host = 2, .rate = 10));
 */

/** How urgently memory is needed. */
typedef enum nh_pressure {
    /** Half of the memory of the caches is freed. */
    NH_PRESSURE_WARNING = 1,
    /** All of it is freed, and the allocator returns its unused memory to the system. */
    NH_PRESSURE_CRITICAL = 2
} nh_pressure;

/**
 * Sets how many requests run at once, for all caches of the process, now and later. Running requests aren't affected. Each call sets all
 * of these options: an option that isn't set gets its initial value, even if an earlier call has set it. The values can't be read back.
 *
 * @param options  Options of the process; NULL restores the initial values.
 * @return NH_OK; NH_INVALID, also for an option of another level; then nothing changes.
 */
nh_status nh_queue_set(const nh_options *options);

/**
 * Frees memory of all caches of this process: for programs that are notified of a memory shortage. The library itself listens to the
 * kernel's notifications; a supervisor's pipe or socket ($MEMORY_PRESSURE_WATCH) is read by the program.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_memory_pressure(nh_pressure level);

/* ---- The log ----------------------------------------------------------------------------------------------------- */

/*
 *     nh_log_set(NH_LOG_INFO, write_line, stderr);
 */

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

/**
 * Sets a function of the program that gets lines of the log. The program's own threads call it: in nh_log_dispatch, and at the end of
 * nh_dispatch, nh_poll, nh_wait and the blocking calls, with all lines so far. The end of a request is logged before its event is
 * delivered. Up to 1,000 lines wait to be taken. A forked child gets the lines of its own process.
 *
 * Independent of this, the environment variable NUTHATCH_LOG (error, warning, info or debug) sends the lines to standard error.
 *
 * @param level      The least important level that the function gets; NH_LOG_NONE for no lines.
 * @param callback   NULL for none.
 * @param user_data  Passed to the callback. The library never follows it.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_log_set(nh_log_level level, nh_log_callback callback, void *user_data);

/**
 * Passes the waiting lines of the log to the program's function (nh_log_set), on this thread.
 *
 * @return NH_OK.
 */
nh_status nh_log_dispatch(void);

/* ---- URLs and secret headers ------------------------------------------------------------------------------------- */

/*
 *     char shown[4096];
 *     nh_url_put("http://ann:walnut@example.org/", NH_URL_REDACTED, shown, sizeof shown);
 *     puts(shown);  // http://ann:***@example.org/
 */

/** The form in which nh_url_put writes a URL. */
typedef enum nh_url_form {
    /** The URL with its password hidden, as in messages and in the log: "http://ann:***@example.org/". Any text is accepted. */
    NH_URL_REDACTED = 1,
    /** Its origin, to which its user and password are sent: "https://example.org", without the scheme's default port. */
    NH_URL_ORIGIN = 2
} nh_url_form;

/**
 * Writes a URL in another form.
 *
 * @param url       Absolute for NH_URL_ORIGIN; any text for NH_URL_REDACTED.
 * @param buffer    Gets as many bytes as fit, terminated by NUL. May be NULL if `capacity` is 0.
 * @param capacity  The bytes of the buffer.
 * @return The number of bytes of the whole text, without the NUL; the text is complete if that is less than `capacity`. -NH_INVALID;
 *         -NH_BAD_URL if NH_URL_ORIGIN is asked of a URL that isn't HTTP.
 */
int32_t nh_url_put(const char *url, nh_url_form form, char *buffer, size_t capacity);

/**
 * Returns whether the outbox treats a header of this name as secret, so that it should not be written anywhere: credentials and cookies,
 * and headers with similar names, such as X-Api-Key and X-Auth-Token.
 *
 * @return 1 or 0; -NH_INVALID.
 */
int32_t nh_header_is_secret(const char *name);

/* ---- The table of options ---------------------------------------------------------------------------------------- */

/*
 *     nh_option option = {.struct_size = sizeof option};
 *     while (nh_option_next(option.name, &option) == NH_OK && option.name != NULL) printf("%s: %s\n", option.name, option.help);
 */

/** The type of an option in nh_options. DURATION is a number of milliseconds, BYTES and COUNT are other numbers. SHARE (0 to 1) and
 *  RATE are doubles. FLAG is an nh_choice, WORDS an enumeration. The others are texts and lists; POINTER, FUNCTION and HANDLE exist
 *  only in C. */
typedef enum nh_option_kind {
    NH_OPTION_DURATION = 1,
    NH_OPTION_BYTES = 2,
    NH_OPTION_COUNT = 3,
    NH_OPTION_SHARE = 4,
    NH_OPTION_RATE = 5,
    NH_OPTION_FLAG = 6,
    NH_OPTION_WORDS = 7,
    NH_OPTION_TEXT = 8,
    NH_OPTION_PATH = 9,
    /** A text that is never shown or written. */
    NH_OPTION_SECRET = 10,
    NH_OPTION_HEADERS = 11,
    NH_OPTION_NAMES = 12,
    NH_OPTION_SIZES = 13,
    NH_OPTION_SECRETS = 14,
    NH_OPTION_QUESTIONS = 15,
    NH_OPTION_POINTER = 16,
    NH_OPTION_FUNCTION = 17,
    NH_OPTION_HANDLE = 18
} nh_option_kind;

/** The levels at which an option can be set. The numbers are bits. */
typedef enum nh_option_level {
    NH_LEVEL_CACHE = 1,
    NH_LEVEL_SITE = 2,
    NH_LEVEL_REQUEST = 4,
    NH_LEVEL_IMAGE = 8,
    NH_LEVEL_PROCESS = 16
} nh_option_level;

/** What an option affects. The numbers are bits. */
typedef enum nh_option_reach {
    /** Which stored answer a request gets, if any. */
    NH_REACHES_HIT = 1,
    /** Which requests share one transfer. */
    NH_REACHES_FETCH = 2,
    /** The cache key of an answer. */
    NH_REACHES_NAME = 4,
    /** What the outbox stores of a request. */
    NH_REACHES_OUTBOX = 8
} nh_option_reach;

/** An option of nh_options. Set struct_size before the call. Texts are valid as long as the process, and empty if the option has none. */
typedef struct nh_option {
    uint32_t struct_size;
    nh_option_kind kind;
    /** Its name in all interfaces; the members of nh_options for durations end in _ms. */
    const char *name;
    /** One line of help, and the details. */
    const char *help;
    const char *doc;
    /** The value if no level sets the option, in words. */
    const char *by_default;
    /** The range of a number, in words, and its bounds; for durations in milliseconds. 0 and 0 without a range. */
    const char *range;
    double least;
    double greatest;
    /** The meaning of NH_NONE or NH_OFF: "unlimited", "zero", "off"; empty if the option refuses it. */
    const char *none;
    /** The meaning of an empty text; empty if the option refuses it. */
    const char *empty;
    /** The words of an enumeration, separated by commas: their numbers begin with 1. */
    const char *words;
    /** The first version that has it. */
    const char *since;
    /** Bits of nh_option_level, and of nh_option_reach. */
    uint32_t levels;
    uint32_t reaches;
    /** The offset of its (first) member in nh_options. */
    size_t offset;
} nh_option;

/**
 * Returns the options one after the other, for programs and bindings that check and document them: their names, ranges and words, their
 * levels, and their offsets in nh_options. It never returns values.
 *
 * A program that may run with an older library than its header asks for an option by name: the library has it if
 * nh_option_next("redirects", &option) == NH_OK. A library without the option returns NH_INVALID if it is set.
 *
 * @param after   The name of the previous option; NULL for the first.
 * @param option  Gets the option; its name is NULL after the last one. Set option->struct_size to sizeof *option before the call.
 * @return NH_OK; NH_INVALID, also for an unknown name.
 */
nh_status nh_option_next(const char *after, nh_option *option);

#ifdef __cplusplus
}
#endif

#endif
