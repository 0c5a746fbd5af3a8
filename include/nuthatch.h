/* Made by `make header`; edit the sources that it names instead. */

/*
 * Nuthatch: fetches URLs once, keeps them ready, and hands them back: as they came, or as thumbnails ready to show.
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
 * A cache belongs to a directory. A request is a URL, and options where there is more to say: sizes of thumbnails, headers, limits.
 * One struct, nh_options, says them for a request, for a site (a base URL with what its requests have in common) and for a cache.
 * Name what you want to say; 0 leaves an option as the level above has it. NH_OPTIONS is short for the struct with its size, in C:
 *
 *     nh_get(cache, url, NULL, &response);
 *     nh_get(cache, url, &(nh_options){.struct_size = sizeof(nh_options), .deadline_ms = 5000, .retries = NH_NONE}, &response);
 *     nh_thumbnail(cache, url, NH_OPTIONS(.size = 256, .site = site), &image);
 *
 * What has more structure is an nh_request: a body, a form, places where the answer goes. What was fetched is kept in the directory,
 * which any number of processes and handles share. is_in_cache says whether an answer was there before it was asked for.
 *
 * There are four ways to an answer:
 *
 *   - nh_get and nh_thumbnail wait for it; nh_perform and nh_perform_images for that of an nh_request.
 *   - nh_submit returns at once. nh_poll takes the events of all requests of the handle, and nh_fd is readable while there are some;
 *     nh_wait takes those of one ticket. Exactly one event of a ticket is final, always.
 *   - For requests with a callback (nh_options) nh_dispatch calls it, on the thread that called nh_dispatch and on no other.
 *   - nh_peek gives a thumbnail that is fresh and can be shown within the next microsecond, or nothing; nh_peek_response a body
 *     within a few.
 *
 * A loop over events, beside whatever else the program waits for:
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
 * A request may ask its program something on its way (nh_answer); one that can't reach its server may wait in the outbox
 * (nh_options.freezable). The sections below begin with an example each; bindings/c/examples in the sources has whole programs.
 * C++ has nuthatch.hpp.
 *
 * Caveats
 * =======
 *
 * Errors.    Functions that can fail return an nh_status: NH_OK (0) or a stable number with a stable word
 *            (nh_status_name). Those that return a number give the status negated: -NH_CLOSED. nh_error_message says for
 *            this thread's last failure what happened, to which URL, and what to do; nh_error_get_info says more. A result
 *            place gets NULL (or zeros) on failure. Passwords in URLs are shown as ***.
 * Ownership. What a function gives through a result place is yours until its release function. What an event holds is the
 *            event's until nh_event_clear; take a handle out of it by setting its place to NULL. Strings and bytes inside an
 *            object live as long as the object, also after the cache was closed. What you pass is copied before the call
 *            returns. Objects come from the library and go back to it; never free() one.
 * Handles.   A NULL, released, foreign or made-up handle, and one of another kind, is answered with NH_INVALID by
 *            every function; nothing is followed. Releasing a handle twice is therefore found out.
 * Threads.   Every function may be called from any thread, at any time. No callback ever runs on a thread of the
 *            library. Its threads have all signals but SIGBUS blocked, so your handlers run on yours. Releasing an object while
 *            another thread reads bytes out of it is your race, as with free().
 * Events.    They belong to the handle that the request was submitted with: two handles on one directory don't take each
 *            other's. Events of requests with a callback go to nh_dispatch only, of those without to nh_poll only, and
 *            nh_wait takes its own ticket's before either. Events that nobody takes hold their answers until nh_close: a
 *            program that never polls says so (nh_options.quiet).
 * Closing.   nh_shutdown ends everything and leaves the last events to be taken; nh_close gives them up. Either tells
 *            threads that are blocked in a call NH_CLOSED. Stop polling nh_fd before nh_close, which closes it.
 * Outbox.    Freezing is acknowledged (NH_EVENT_FROZEN, NH_FROZEN) once the request would survive a loss of power. It is sent at
 *            least once: a kill between answer and record sends it again, with the same Idempotency-Key and the same bytes.
 *            Outcomes come at least once: nh_outbox_drop after you have made something of one, not before. nh_clear and nh_trim
 *            never touch the outbox. What of it is damaged on the disk is set aside in a file, outbox/damaged-..., of which the
 *            log tells (nh_log_set); the rest is sent.
 * Limits.    A URL may have 65,536 bytes (data: URLs what max_bytes allows), a method 64, the headers of a request, and the head of
 *            an answer, 1,000 lines with 262,144 bytes; a path 4,095 bytes, other names, users and passwords 65,536. What is
 *            longer is NH_BAD_URL, NH_BAD_HEADER, NH_HTTP for answers, and NH_INVALID for the rest.
 * Refusals.  A thread that the system refuses is NH_OUT_OF_MEMORY. Where it refuses to wait for events (a filter of system
 *            calls does), every request ends with NH_INTERNAL and the cause, also those under way, and so does nh_open.
 * Options.   0, NULL and NH_UNSAID mean "as the level above has it". NH_NONE is a number that says none: no limit, no retry; NH_FOREVER
 *            the greatest, NH_OFF a text that is off. A number out of its option's range is NH_INVALID. nh_option_next has them all.
 * Blocking.  For the network wait only nh_get, nh_thumbnail, nh_perform and nh_perform_images, and as long as they are told nh_wait,
 *            nh_dispatch, nh_wait_idle, nh_drain and nh_close. For the disk may wait what says so. What decodes and encodes works on
 *            the calling thread. The rest waits for neither.
 * Waits.     timeout_ms of a call that waits (nh_wait, nh_dispatch, nh_close) is no option: 0 looks and doesn't wait, negative waits
 *            for as long as it takes. A signal ends no wait: its handler runs, and the wait goes on. For Ctrl-C block SIGINT in
 *            all threads, and have one of yours call sigwait() and then nh_shutdown, which does end them.
 * Fork.      After fork() the child's inherited caches and tickets answer NH_FORKED; responses and images stay readable;
 *            opening a cache anew works. Close or release inherited handles in the child as you like: the parent isn't
 *            touched.
 * Exec.      No connection of the library survives exec(). (A pair of sockets that libcurl talks to itself with does.)
 * Exit.      exit() with requests under way is fine: the library's thread ends first. Nobody hears of their end.
 * Sizes.     Structs begin with struct_size; set it with sizeof, and zero what you don't set. That is how programs and libraries of
 *            different versions understand each other. Of nh_event the library sets it; nh_poll and nh_wait are told the size. An
 *            option that is newer than the library is NH_INVALID; nh_option_next tells beforehand.
 * Text.      All strings are UTF-8, terminated by NUL. URLs come back byte for byte as they were passed.
 * Files.     The directory must be on a file system of this machine. Its files are mapped. What the disk can't give or take
 *            (it is full, it fails, somebody cut a file) is a miss or NH_NO_SPACE or NH_IO, never wrong bytes; but a body or
 *            pixels that you hold, and that lie in such a file, read as zeros where they are missing (nh_response_check).
 *            Each record is checked when it is used first since a process has opened the directory. Bits that flip later, in
 *            memory or on the disk, are given as they are (750 of 99,024 in a test that flips them on purpose); nuthatch verify
 *            checks everything again. Files of ours that others could have made or changed, and a netrc, certificate or key
 *            that isn't yours or root's, or to which others may write, aren't used: NH_UNSAFE_FILE.
 * Pictures.  They are decoded in your process, by libjpeg-turbo, libpng, ISA-L and Little CMS, behind checks of size, pixels, scans
 *            and memory. SECURITY.md of the sources says what was fuzzed and what isn't promised.
 * Setuid.    In a program that has more rights than who started it, no variable of the environment counts, NUTHATCH_CACHE, NETRC,
 *            http_proxy and SSLKEYLOGFILE among them, and ~ is the folder that the system has for the user whose rights it has.
 * Log.       NUTHATCH_LOG=debug in the environment shows on standard error what happens (nh_log_set).
 * Unload.    The library stays loaded once it was: dlclose() does nothing.
 *
 * What can still end a process
 * ============================
 *
 * The first mapped file, which the first nh_open brings, installs a handler of SIGBUS. It deals with pages of the cache's files
 * that can't be had, and passes every other SIGBUS on to the handler that was there before, or to what the system does. It stays
 * for good. Nothing of the library ends a process on purpose; these do:
 *
 *   - A handler of SIGBUS that is installed later and doesn't call the one before it: the full or failing disk is its then.
 *     Python's faulthandler is one when it is enabled after the first cache was opened (before, all is well). Put the handler
 *     in before nh_open, or pass on what isn't yours with its siginfo_t and context.
 *   - A call from a thread that has SIGBUS blocked: the kernel ends the process for a page that can't be had there. Leave SIGBUS
 *     out of the mask of threads that use the library, or that read bodies and pixels.
 *   - No memory for small things. Bodies, pictures, and whatever else has a size that a server, a file or the program chooses
 *     is checked for and is NH_OUT_OF_MEMORY; but where the Swift runtime gets not even some bytes it ends the process.
 *     The kernel's out-of-memory killer asks nobody. Where nothing may be promised beyond what there is
 *     (vm.overcommit_memory is 2), an index that can't be read needs memory for its zeros.
 *   - A stack that is too small for a call. What the system gives a thread by itself is enough.
 *   - What C lets a program do: reading bytes of an object after its release, writing into memory that isn't its own, calling
 *     in a signal handler, or in a child of vfork().
 *   - A defect of the library, or of libcurl, libcrypto, libjpeg, libpng, lcms2 or ISA-L.
 */

#ifndef NUTHATCH_H
#define NUTHATCH_H

#include <stddef.h>
#include <stdint.h>

/** The version of this header, and the same as a number: major * 1000000 + minor * 1000 + patch.
 *  nh_version and nh_version_num return those of the library. */
#define NH_VERSION "0.1.0"
#define NH_VERSION_NUM 1000

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/*
 * Handles. Each is a number in the shape of a pointer, never an address: a released or foreign one is found out
 * without touching memory, and every function answers it with NH_INVALID.
 */

/** A cache: a directory, and the way to the network behind it. From nh_open, to nh_close. */
typedef struct nh_cache nh_cache;
/** What to fetch, under construction. From nh_request_create, to nh_request_free. */
typedef struct nh_request nh_request;
/** A request under way. From nh_submit, to nh_ticket_release. */
typedef struct nh_ticket nh_ticket;
/** An answer with its bytes. From nh_get or an event, to nh_response_release. */
typedef struct nh_response nh_response;
/** A base URL with what its requests have in common. From nh_site_open, to nh_site_close. */
typedef struct nh_site nh_site;
/** A decoded picture. From nh_thumbnail, nh_response_image or an event, to nh_image_release. */
typedef struct nh_image nh_image;
/** What is known of a request in the outbox. From nh_outbox_next or an event, to nh_frozen_release. */
typedef struct nh_frozen nh_frozen;

/** What a call came to. The words are those of nh_status_name: the name in small letters, without NH_. */
typedef enum nh_status {
    /** Success. */
    NH_OK = 0,
    /** No byte came for timeout, or the request's deadline passed. */
    NH_TIMEOUT = 1,
    /** The host name has no address, or its name server doesn't answer. */
    NH_DNS = 2,
    /** No connection could be made: nothing listens there, or the network has no way to it. */
    NH_REFUSED = 3,
    /** The connection broke before the answer was complete. */
    NH_RESET = 4,
    /** The TLS handshake or the check of the certificate failed. */
    NH_TLS = 5,
    /** The answer isn't a success, or the server broke the HTTP protocol. */
    NH_HTTP = 6,
    /** The answer or the picture has more bytes than max_bytes, or an answer that is saved decodes to too many times what came. */
    NH_TOO_LARGE = 7,
    /** The picture has more pixels than max_pixels, or decoding it needs more memory than there is: the message has the numbers. */
    NH_TOO_MANY_PIXELS = 8,
    /** The bytes are no picture. The first ones tell, also of an answer that would break off later. */
    NH_NOT_AN_IMAGE = 9,
    /** A picture, but of a format that isn't decoded. */
    NH_UNSUPPORTED_FORMAT = 10,
    /** The picture is damaged. */
    NH_CORRUPT = 11,
    /** The answer or the picture ends too early. */
    NH_TRUNCATED = 12,
    /** The address guard refused the address; a file: URL that may not be read; a cache's directory that belongs to somebody else. */
    NH_DENIED = 13,
    /** The URL can't be used; the message says at which byte. */
    NH_BAD_URL = 14,
    /** A method, or the name or value of a header, can't be sent. */
    NH_BAD_HEADER = 15,
    /** More redirects in a row than redirects allows. */
    NH_TOO_MANY_REDIRECTS = 16,
    /** The network isn't to be used, and the cache has no answer. */
    NH_OFFLINE = 17,
    /** The host failed too often in a row and is left alone for a while. */
    NH_CIRCUIT_OPEN = 18,
    /** The request was cancelled. */
    NH_CANCELLED = 19,
    /** The cache was closed. */
    NH_CLOSED = 20,
    /** The handle belongs to the process that this one was forked from. */
    NH_FORKED = 21,
    /** The request was put into the outbox, to be sent later: no answer came, others of its queue wait, or its secret isn't known. */
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
    /** The answer isn't of the format that it was to be read as. */
    NH_WRONG_FORMAT = 30,
    /** Another process holds a lock of the directory for too long; it may be stopped. The message names it. */
    NH_BUSY = 31,
    /** A file isn't taken up because others may have made or changed it: the message says which one, and why. */
    NH_UNSAFE_FILE = 32
} nh_status;

/** Of a number in nh_options: none, off or zero, as the option's comment says. Other negative numbers are numbers. */
#define NH_NONE (-9223372036854775807 - 1)
/** Of a number in nh_options: the greatest that the option has, or no end. */
#define NH_FOREVER 9223372036854775807
/** Of a text in nh_options that may be off: an address that no text has. */
#ifdef __cplusplus
#define NH_OFF (reinterpret_cast<const char *>(static_cast<intptr_t>(-1)))
#else
#define NH_OFF ((const char *)(intptr_t)-1)
#endif

/** Yes, no, or nothing said. */
typedef enum nh_choice { NH_UNSAID = 0, NH_YES = 1, NH_NO = 2 } nh_choice;

/** A header to be sent. */
typedef struct nh_header {
    const char *name;
    const char *value;
} nh_header;

/** The box of a thumbnail: its sides, 1 to 65535. A height of 0 means a square. */
typedef struct nh_size {
    int64_t width;
    int64_t height;
} nh_size;

/** A header whose value isn't written to disk: its name, what stands before the secret, such as "Bearer " (NULL for nothing), and
 *  who knows the secret. "env:NAME" is a variable of the environment; nh_outbox_provide tells others. */
typedef struct nh_secret {
    const char *header;
    const char *prefix;
    const char *provider;
} nh_secret;

/** Where an answer came from. NH_SOURCE_REVALIDATED: from the cache, and the server says that it still holds. */
typedef enum nh_source {
    NH_SOURCE_NONE = 0,
    NH_SOURCE_MEMORY = 1,
    NH_SOURCE_DISK = 2,
    NH_SOURCE_REVALIDATED = 3,
    NH_SOURCE_NETWORK = 4
} nh_source;

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

/** What is taken for fresh. */
typedef enum nh_policy {
    NH_POLICY_UNSAID = 0,
    /** Pictures stay fresh for days unless the server says otherwise. Whatever else comes without a lifetime is
     *  asked for again each time. */
    NH_POLICY_KIT = 1,
    /** RFC 9111, to the letter. */
    NH_POLICY_RFC9111 = 2,
    /** Whatever is stored is fresh, however old; the network is never asked. */
    NH_POLICY_OFFLINE = 3,
    /** Nothing that is stored answers; what comes is stored. */
    NH_POLICY_RELOAD = 4
} nh_policy;

/** Which addresses may be connected to. Judged on the address really connected to, for every hop. */
typedef enum nh_addresses {
    NH_ADDRESSES_UNSAID = 0,
    /** No link-local ones (cloud metadata), and no private ones by redirect from a public one. */
    NH_ADDRESSES_GUARDED = 1,
    /** Public ones only. */
    NH_ADDRESSES_PUBLIC = 2,
    /** All. */
    NH_ADDRESSES_ANY = 3
} nh_addresses;

/** How a request shows user and password. */
typedef enum nh_sign_in {
    NH_SIGN_IN_UNSAID = 0,
    /** Basic, with the first request, unasked. */
    NH_SIGN_IN_BASIC = 1,
    /** Digest, after the server has asked. Of a server that wants a body proven, too (auth-int and not auth), a
     *  request with a body is the error http, with the status 401. */
    NH_SIGN_IN_DIGEST = 2,
    /** NTLM, after the server has asked. */
    NH_SIGN_IN_NTLM = 3,
    /** Negotiate (Kerberos), where libcurl has it; without user and password, as whom the system knows. */
    NH_SIGN_IN_NEGOTIATE = 4,
    /** The strongest that the server asks for, Basic being the weakest; Negotiate, which uses no password, where
     *  there is none. */
    NH_SIGN_IN_ANY = 5
} nh_sign_in;

/** Whether a site's cookies are sent back to its servers, and where they are kept meanwhile. */
typedef enum nh_cookie_jar {
    NH_COOKIE_JAR_UNSAID = 0,
    /** They are ignored. */
    NH_COOKIE_JAR_OFF = 1,
    /** In memory, as long as the directory is open in this process. */
    NH_COOKIE_JAR_MEMORY = 2,
    /** In the cache's directory, too, for other processes and later ones: readable for its owner only, and in
     *  clear. */
    NH_COOKIE_JAR_DISK = 3
} nh_cookie_jar;

/** When answers from the cache are delivered (docs/HTTP.md of the sources has a table). */
typedef enum nh_delivery {
    NH_DELIVERY_UNSAID = 0,
    /** A stale one at once, and after it the fresh one, or why there is none. */
    NH_DELIVERY_TWICE = 1,
    /** One answer, a stale one too; it is revalidated behind. Where the program judges answers (a verdict) it is
     *  as fresh. */
    NH_DELIVERY_FIRST = 2,
    /** One answer, which holds now, or which its server lets be shown while it is asked (stale-while-revalidate).
     *  Where the server can't be asked, fails (429, 5xx), or takes longer than the deadline, a stale one is given
     *  in its place. */
    NH_DELIVERY_FRESH = 3
} nh_delivery;

/** When what comes is written to disk. */
typedef enum nh_spill {
    NH_SPILL_UNSAID = 0,
    /** At once: it survives this process however it ends, and other processes find it. */
    NH_SPILL_EAGER = 1,
    /** When memory is short, or when the cache is closed. Until then it is this process's: lost with it, and out
     *  of reach of what other processes remove (not of their clear). */
    NH_SPILL_PRESSURE = 2
} nh_spill;

/** When what is read from the disk is compared with its checksum. */
typedef enum nh_check_bytes {
    NH_CHECK_BYTES_UNSAID = 0,
    /** When it is read for the first time while any process has the directory open, by whichever of them. Disks
     *  say by themselves when they fail. */
    NH_CHECK_BYTES_FIRST = 1,
    /** Each time it is read: for disks, and file systems, that change bytes without a word. */
    NH_CHECK_BYTES_ALWAYS = 2
} nh_check_bytes;

/** How thumbnails are kept on disk. Those of at most 16 KiB are kept raw in any case. */
typedef enum nh_thumb_store {
    NH_THUMB_STORE_UNSAID = 0,
    /** As JPEG of quality 92 where they are opaque, else as PNG: a tenth of the room. */
    NH_THUMB_STORE_PACKED = 1,
    /** As PNG: the same pixels every time. */
    NH_THUMB_STORE_LOSSLESS = 2,
    /** As pixels, used where they lie. */
    NH_THUMB_STORE_RAW = 3
} nh_thumb_store;

/** Whether a process sends what is in an outbox. */
typedef enum nh_outbox {
    NH_OUTBOX_UNSAID = 0,
    /** In its turn, when no other process does. */
    NH_OUTBOX_AUTO = 1,
    /** Requests may be frozen, and looked at, but are sent by others. */
    NH_OUTBOX_OFF = 2
} nh_outbox;

/** How a picture is made to fit its box. */
typedef enum nh_fit {
    NH_FIT_UNSAID = 0,
    /** All of it is inside of the box. */
    NH_FIT_INSIDE = 1,
    /** It covers the box; what is beyond is cut off. */
    NH_FIT_COVER = 2,
    /** It has the sides of the box, whatever its own are. */
    NH_FIT_STRETCH = 3
} nh_fit;

/** How much of a picture is decoded before it is scaled down. */
typedef enum nh_scaling {
    NH_SCALING_UNSAID = 0,
    /** As much as can be told from all of it. */
    NH_SCALING_BEST = 1,
    /** As little as will do. */
    NH_SCALING_FAST = 2
} nh_scaling;

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
 *  What is fresh: policy, validator_ttl_ms, image_ttl_ms, no_cache_ttl_ms, heuristic, expire_after_ms.
 *  Limits: timeout_ms, deadline_ms, retries, give_up_after_ms, max_bytes, max_pixels, batched.
 *  Where to: site, addresses, proxy, redirects.
 *  What is sent: method, headers, keep_headers_across_origins, user_agent, accept.
 *  Who asks: user, password, user_place, bearer, sign_in, cert, cert_key, cert_password, netrc, partition,
 *    cookie_jar, asks, asks_not.
 *  What the answer is kept under: cache_key, ignore_query.
 *  Thumbnails: size, sizes, fit, enlarge, scaling, allow_damaged, early_stop, decode.
 *  How the answer comes: delivery, priority, tag, progress_events, resume.
 *  What becomes of it when its server can't be reached: freezable, outbox_durable, outbox_queue, outbox_handler,
 *    secrets, password_provider, outbox_attempts, outbox_max_age_ms, outbox_key_lifetime_ms.
 *  How a C program hears of it: user_data, callback, quiet.
 *  The cache's own: memory_bytes, memory_items, disk_bytes, spill, thumb_store, keep_source, allow_files, outbox,
 *    outbox_bytes, outbox_items, check_bytes.
 *  The process's queue: concurrency, per_host, per_host_grows, rate, inflight_bytes.
 *  Whom to trust: ca_file, ca_dir, insecure.
 */
typedef struct nh_options {
    uint32_t struct_size;

    /* What is fresh */

    /** What is taken for fresh. Default: kit. Of a cache or a site or a request. */
    nh_policy policy;
    /** kit: how long pictures with a validator and no lifetime are fresh. 0 or more, or none. Default: 1d.
     *  NH_NONE: zero. Of a cache or a site or a request. */
    int64_t validator_ttl_ms;
    /** kit: how long pictures without any word on caching are fresh. 0 or more, or none. Default: 7d. NH_NONE:
     *  zero. Of a cache or a site or a request. */
    int64_t image_ttl_ms;
    /** kit: how long answers marked no-cache are fresh. 0 or more, or none. Default: 60s. NH_NONE: zero. Of a
     *  cache or a site or a request. */
    int64_t no_cache_ttl_ms;
    /** rfc9111: share of the time since Last-Modified for which an answer without a lifetime is fresh. 0 to 1, or
     *  none. Default: 0.1. NH_NONE: zero. Of a cache or a site or a request. */
    double heuristic;

    /* Limits */

    /** Longest silence: connecting, waiting, between two bytes. An answer that drips may take any time: deadline
     *  limits the whole. 1 ms or more, or none. Default: 30s. NH_NONE: unlimited. Of a cache or a site or a
     *  request. */
    int64_t timeout_ms;
    /** Longest time for all of a request. One that is said counts from the call, the wait for its turn in the
     *  queue included, and from the first attempt for requests of a batch (batched); it runs on while the server
     *  has asked to be left alone (Retry-After). The default for pictures counts neither. 1 ms or more, or none.
     *  Default: two minutes for pictures, else none. NH_NONE: unlimited. Of a cache or a site or a request. */
    int64_t deadline_ms;
    /** Further attempts after one that failed. Of what may be sent twice: GET, HEAD, OPTIONS, TRACE, PUT and
     *  DELETE, and not POST and PATCH. After a fault of the connection (timeout, dns, refused, reset, truncated),
     *  and after the statuses 408, 425, 429, 500, 502, 503 and 504. Each waits for a random time: up to 250 ms,
     *  500 ms and so on, up to 20 s; or for as long as Retry-After says, and where that is more than five minutes
     *  there is none. The last one of a request of a batch (batched) waits 5 s where the host refused or broke the
     *  connection. 0 to 1000, or none. Default: 3. NH_NONE: zero. Of a cache or a site or a request. */
    int64_t retries;
    /** How long a host may be out of reach before its requests fail. For how long the host may be out of reach, or
     *  have too much to do (429, 503), since its last good answer. Until then the request waits for the host,
     *  whatever retries says, and what it waits is no part of its deadline; after that it fails with the fault or
     *  the status. A millisecond is as good as no wait. A request that must not be sent twice, or that is
     *  freezable, doesn't wait either. A host that has never answered is out of reach once five requests to it
     *  have failed in a row. Before that, retries counts. 0 or more, or none. Default: five minutes for requests
     *  of a batch, else none. NH_NONE: unlimited. Of a request. */
    int64_t give_up_after_ms;
    /** Largest body. What is saved while it comes may be of any size unless its request says a number. 1 or more,
     *  or none. Default: 64MiB. NH_NONE: unlimited. Of a cache or a site or a request. */
    int64_t max_bytes;
    /** Most pixels that a picture may have. 1 or more, or none. Default: 100,000,000. NH_NONE: unlimited. Of a
     *  cache or a site or a request or an image. */
    int64_t max_pixels;
    /** It is one of a batch: of many that are submitted at once. Its deadline counts from its first attempt: the
     *  waits for its turn in the queue are left out, unless it is freezable. It waits for a host that is away, or
     *  has too much to do, for as long as give_up_after says. Default: no. Of a request. */
    nh_choice batched;
    /** Must be 0. */
    uint32_t reserved_1;

    /* Where to */

    /** The site whose options hold, and against whose URL this one is resolved. Default: none. Of a request. */
    nh_site *site;
    /** Which addresses may be connected to. Default: guarded. Of a cache or a site or a request. */
    nh_addresses addresses;
    /** Must be 0. */
    uint32_t reserved_2;
    /** The way of all requests; empty for none. http://, https://, socks4://, socks5:// or socks5h://. Answers
     *  that came by a proxy are kept for it alone. The guard judges addresses in URLs, and names as far as this
     *  machine can look them up in a second. What only the proxy knows goes through, and what a proxy finds for a
     *  name is its business: give it rules of its own. With socks5h:// no name is looked up here. Default: what
     *  the environment says. "": none. Of a cache or a site. */
    const char *proxy;

    /* What is sent */

    /** The method, such as POST. One that HTTP knows is put into capitals; any other is sent as it is spelled.
     *  Default: GET. Of a request. */
    const char *method;
    /** Headers that are sent, in this order. A header replaces those of the same name that a level above, or the
     *  library, would send. Said again for the same request, they take the place of all those that were said
     *  before. Default: none. Of a cache or a site or a request. */
    const nh_header *headers;
    size_t header_count;
    /** Names of headers that go along to other origins. When a redirect, or the URL of a site's request, leads to
     *  another origin, headers stay behind, but for harmless ones (Accept, Content-Type and their like:
     *  docs/HTTP.md of the sources) and these, whatever secrets are in them; Host never goes. All levels together
     *  name them. Default: none. With commas between them. Of a cache or a site or a request. */
    const char *keep_headers_across_origins;
    /** What the User-Agent header says. Default: nuthatch/VERSION. "": an empty header. Of a cache or a site. */
    const char *user_agent;
    /** What the Accept header says. Default: anything; for pictures, first of all what is decoded. "": an empty
     *  header. Of a cache or a site. */
    const char *accept;

    /* Who asks */

    /** User and password, for one origin. They go to the site's origin, or that of the request's URL, and to no
     *  other, also across redirects. Default: nobody. NH_OFF: off. "": an empty name. Of a site or a request. */
    const char *user;
    /** The password of user. Default: empty. "": an empty password. Of a site or a request. */
    const char *password;
    /** Where user and password may go, for programs that send them along with many URLs. https://example.org: one
     *  origin; example.org or example.org:8080: both over HTTP and over HTTPS. To a URL elsewhere they aren't
     *  sent. Default: wherever the URL leads. Of a request. */
    const char *user_place;
    /** Sign in with a token, sent to the origin of the URL and to no other. Default: none. Of a request. */
    const char *bearer;
    /** How user and password are shown. Default: basic. Of a site or a request. */
    nh_sign_in sign_in;
    /** Must be 0. */
    uint32_t reserved_3;
    /** A certificate that says who asks, in a file in PEM. Default: none. Of a site or a request. */
    const char *cert;
    /** The key of cert. Default: in the same file. Of a site or a request. */
    const char *cert_key;
    /** What the key of cert is encrypted with. Default: none. "": an empty password. Of a site or a request. */
    const char *cert_password;
    /** A file with users and passwords by host. Requests sign in by it when nothing else says who asks. It must be
     *  yours or root's, and nobody else may write to it. Default: none. NH_OFF: off. "": $NETRC, else ~/.netrc. Of
     *  a cache or a site or a request. */
    const char *netrc;
    /** A name for whose answers these are, in place of the credentials that are sent. For tokens that change.
     *  Default: the credentials. Of a cache or a site or a request. */
    const char *partition;
    /** Whether cookies that the servers set are sent back, and where they are kept. Sites with the same base URL,
     *  user and partition share their cookies. What waits in the outbox is sent without. Default: off. Of a site. */
    nh_cookie_jar cookie_jar;
    /** Must be 0. */
    uint32_t reserved_4;
    /** What the program wants to be asked. Questions come as events and are answered with answer; in a blocking
     *  call the callback gets them, on the caller's thread, and without one they count as unanswered. One that
     *  nobody answers within 30 seconds, or before the deadline, counts as unanswered, too. Default: nothing. Of a
     *  site or a request. */
    uint64_t asks;
    /** What its site asks and this request doesn't. Default: nothing. Of a request. */
    uint64_t asks_not;

    /* What the answer is kept under */

    /** What the answer is kept under, instead of the URL. For URLs that carry a signature or a date. Default: the
     *  URL. Of a request. */
    const char *cache_key;
    /** Keep the answer under the URL without its query. Default: no. Of a request. */
    nh_choice ignore_query;
    /** Must be 0. */
    uint32_t reserved_5;

    /* Thumbnails */

    /** The boxes of the thumbnails that are wanted, at most 64. Default: none: the answer itself. size: one
     *  square. Of a request or an image. */
    int64_t size;
    const nh_size *sizes;
    size_t size_count;
    /** How pictures are made to fit their boxes. Default: inside. Of a request or an image. */
    nh_fit fit;
    /** Make smaller pictures larger. Default: no. Of a request or an image. */
    nh_choice enlarge;
    /** How much of a picture is decoded before it is scaled down. Default: best. Of a request or an image. */
    nh_scaling scaling;
    /** Take what can be decoded of a damaged picture. Such an image is marked as partial. Default: no. Of a
     *  request or an image. */
    nh_choice allow_damaged;
    /** End the transfer of a progressive JPEG when the thumbnails are done. Where much of it remains. Other sizes
     *  cost another fetch then, because the original isn't kept. Where originals aren't kept anyway it always may.
     *  Default: no. Of a request. */
    nh_choice early_stop;
    /** Have nh_peek unpack a thumbnail that lies on disk as a file, which takes some tenths of a millisecond.
     *  Default: no. Of a request. */
    nh_choice decode;

    /* How the answer comes */

    /** When answers from the cache are delivered. A call that waits for one answer takes twice for fresh. Default:
     *  twice. Of a request. */
    nh_delivery delivery;
    /** Must be 0. */
    uint32_t reserved_6;
    /** Place in the queue, higher ones first. -10 to 10, or none. Default: 0. NH_NONE: zero. Of a request. */
    int64_t priority;
    /** A word to cancel by. Default: none. Of a request. */
    const char *tag;
    /** Tell of progress, of what is sent and of what comes. Default: no. Of a request. */
    nh_choice progress_events;
    /** Keep a file whose transfer broke off, hidden, to be gone on with. Default: yes. Of a request. */
    nh_choice resume;

    /* What becomes of it when its server can't be reached */

    /** Keep it in the outbox, and send it when its server can be reached again. POST, PUT, PATCH and DELETE only.
     *  It is sent at once, and kept, body and all, where no answer comes: after the first timeout, dns, refused,
     *  reset, tls or circuit_open, without a retry, and at its deadline. It is kept untried where others of its
     *  queue wait (outbox_queue), or its secret isn't known. An answer to this first attempt is its answer,
     *  whatever its status. Later it is sent in its turn, by any process that has the directory open. It gets an
     *  Idempotency-Key unless it has one, the same for every attempt. Nothing secret is written: user and
     *  password, and headers whose names hold auth, token, key, secret, session, cookie, passw, passphrase,
     *  credential, bearer or jwt, need a provider (secrets, password_provider), or the request is
     *  secret_needs_provider. What a .netrc has needs one, too, and so does a token that the answer to a question
     *  for headers adds; other headers that it adds are kept. A site's cookies go with the first attempt only, its
     *  proxy is kept, and must have no password. URL and body are written as they are, for the directory's owner
     *  to read. Default: no. Of a request. */
    nh_choice freezable;
    /** Write it down before the first attempt, so that not even a kill in the middle loses it. Default: no. Of a
     *  request. */
    nh_choice outbox_durable;
    /** Requests of one queue are sent one after the other. While one of them waits, those after it are kept
     *  untried, also where their server can be reached. Default: the URL's origin. Of a request. */
    const char *outbox_queue;
    /** Who gets the outcome. An outcome stays in the outbox, and counts to its outbox_items, until it is dropped.
     *  Default: none: the outcome waits to be collected. Of a request. */
    const char *outbox_handler;
    /** Where the values of secret headers come from when it is sent later. The values are never written. A
     *  provider env:NAME is a variable of the environment; others are told by the program. Default: none. Of a
     *  request. */
    const nh_secret *secrets;
    size_t secret_count;
    /** Who knows the password of user. A request without a user that asks its program for one needs a provider; it
     *  knows both then, as name:password. Only the first attempt asks the program; the outbox asks the provider,
     *  and sends nothing before it has both. Default: none. Of a request. */
    const char *password_provider;
    /** How often a server may answer that it can't now, before the request is put aside. Attempts that reach
     *  nobody don't count. 1 or more, or none. Default: 25. NH_NONE: unlimited. Of a request. */
    int64_t outbox_attempts;
    /** For how long it is tried at all. 1 ms or more, or none. Default: 7d. NH_NONE: unlimited. Of a request. */
    int64_t outbox_max_age_ms;
    /** For how long the server knows the Idempotency-Key. A POST or PATCH that may have arrived isn't sent again
     *  later than that; with none it is, however late. 1 ms or more, or none. Default: 24h. NH_NONE: unlimited. Of
     *  a request. */
    int64_t outbox_key_lifetime_ms;

    /* How a C program hears of it */

    /** A pointer that the events carry; the library never follows it. Default: NULL. Of a site or a request. */
    void *user_data;
    /** A function for nh_dispatch to call with each event. Tickets with a callback are delivered by nh_dispatch
     *  only, those without by nh_poll only. Blocking calls call it for progress and questions. Default: none:
     *  events come by nh_poll. Of a site or a request. */
    nh_callback callback;
    /** Keep the events out of the completion queue. nh_poll never gives them and no callback is called; nh_wait
     *  still takes them. For requests that somebody waits for with nh_wait, and for those whose end nobody wants
     *  to hear of: the answer is in the cache then, and holds no memory. Default: no. Of a request. */
    nh_choice quiet;
    /** Must be 0. */
    uint32_t reserved_7;

    /* The cache's own */

    /** What this process may keep in memory, decoded thumbnails mostly. 0 or more, or none. Default: the smaller
     *  of 64 MiB and an eighth of the memory. NH_NONE: zero. Of a cache. */
    int64_t memory_bytes;
    /** How many things this process may keep in memory. 1 or more, or none. Default: as many as fit. NH_NONE:
     *  unlimited. Of a cache. */
    int64_t memory_items;
    /** What the directory may take on disk, the outbox apart. Each process that writes may take two 64ths of it
     *  more (64 KiB each at the least), because it reserves ahead. 4 MiB to 64 TiB. Default: what the directory
     *  was given before, else 4 GiB. Of a cache. */
    int64_t disk_bytes;
    /** When what comes is written to disk. Default: as the directory's first open in this process says, else
     *  eager. Of a cache. */
    nh_spill spill;
    /** How thumbnails are kept on disk. Those of at most 16 KiB are kept raw in any case. Default: as the
     *  directory's first open in this process says, else packed. Of a cache. */
    nh_thumb_store thumb_store;
    /** Keep bodies of pictures, so that other sizes can be made of them. Default: as the directory's first open in
     *  this process says, else yes. Of a cache. */
    nh_choice keep_source;
    /** Read file: URLs: any file that this process may read. Default: no. Of a cache. */
    nh_choice allow_files;
    /** Whether this process sends what is in the directory's outbox. Default: auto. Of a cache. */
    nh_outbox outbox;
    /** Must be 0. */
    uint32_t reserved_8;
    /** What the outbox may take on disk; more is refused. 1 or more, or none. Default: as the directory's first
     *  open in this process says, else 256 MiB. NH_NONE: unlimited. Of a cache. */
    int64_t outbox_bytes;
    /** How many requests the outbox may hold, those among them whose outcome waits. 1 or more, or none. Default:
     *  as the directory's first open in this process says, else 10,000. NH_NONE: unlimited. Of a cache. */
    int64_t outbox_items;

    /* The process's queue */

    /** How many requests run at once, of all caches together. 1 to 512. Default: as many as the way to the network
     *  carries. Of the process. */
    int64_t concurrency;
    /** How many of them at one host. 1 to 512. Default: 6, or 32 where the host speaks HTTP/2. Of the process. */
    int64_t per_host;
    /** More at a host that bears it, for requests of a batch. From per_host, else from 6, up to 32. The host's
     *  first 429, 503 or reset halves that, and after that one more is tried once a minute. Default: no. Of the
     *  process. */
    nh_choice per_host_grows;
    /** Must be 0. */
    uint32_t reserved_9;
    /** How many requests may begin in a second at one host. 0.000001 to 1000000, or none. Default: no limit.
     *  NH_NONE: unlimited. Of the process. */
    double rate;
    /** What bodies on their way may hold in memory; more goes to files. All of them together. The files have no
     *  name, and lie in the cache's directory. The memory is the machine's, or its control group's. 0 or more, or
     *  none. Default: the smaller of 64 MiB and an eighth of the memory. NH_NONE: zero. Of the process. */
    int64_t inflight_bytes;

    /* Where to */

    /** How many redirects are followed. After a 303, and a 301 or 302 to POST, a GET without the body follows;
     *  else the method and the body stay. With none a redirect is the answer, with its status and its Location,
     *  and is kept apart from what it leads to. One more than are followed is the error too_many_redirects. An
     *  answer in the cache that lies behind more of them is fetched again. 0 to 100, or none. Default: 10.
     *  NH_NONE: zero. Of a cache or a site or a request. */
    int64_t redirects;

    /* Whom to trust */

    /** Certificates that servers are checked by, in a file in PEM. In place of all others: where ca_file or ca_dir
     *  is said, neither the system's certificates nor the environment's count. Else the file is CURL_CA_BUNDLE,
     *  else SSL_CERT_FILE, else the system's; the folder is SSL_CERT_DIR, else the system's. The environment isn't
     *  read where a program is privileged. An answer that was fetched with certificates of one's own, or
     *  unchecked, is kept apart from all others. What a site says about them counts at its origin; what a cache or
     *  a request says, wherever redirects lead. It is about servers, and not about a proxy over https. Default:
     *  what the environment says, else the system's. "": as if nothing were said. Of a cache or a site or a
     *  request. */
    const char *ca_file;
    /** A folder of certificates that servers are checked by, one a file, named by their hashes (openssl rehash).
     *  As ca_file, and beside it where both are said. Default: what the environment says, else the system's. "":
     *  as if nothing were said. Of a cache or a site or a request. */
    const char *ca_dir;
    /** Certificates aren't checked: anybody on the way can read and change what is sent and what comes. For
     *  servers of one's own that have no certificate that could be named by ca_file. The log has a warning, once
     *  in each process. What is said of a site counts at its origin, as for ca_file. Default: no. Of a cache or a
     *  site or a request. */
    nh_choice insecure;

    /* The cache's own */

    /** When what is read from the disk is compared with its checksum. What doesn't match isn't given, and is
     *  fetched again. Always costs a copy of what is given, and the time to read all of it; then memory holds
     *  copies of it, and nothing of the disk's. Default: as the directory's first open in this process says, else
     *  first. Of a cache. */
    nh_check_bytes check_bytes;

    /* What is fresh */

    /** How long answers are fresh since they came, whatever their headers say. For the request that says so, when
     *  it looks into the cache; nothing of it is stored, and nothing is stored for its sake. Zero: expired at
     *  once, so that the server is asked whether an answer still holds. What may be done with a stale answer its
     *  headers say all the same (must-revalidate, stale-while-revalidate), and the request (delivery). Fractions
     *  of a second count as whole ones. 0 or more, or none. Default: what headers and policy say. NH_NONE: zero.
     *  Of a cache or a site or a request. */
    int64_t expire_after_ms;
} nh_options;

#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
/** Options for one call: nh_thumbnail(cache, url, NH_OPTIONS(.size = 256, .priority = 5), &image). They are valid until
 *  the end of the enclosing block. */
#define NH_OPTIONS(...) (&(nh_options){.struct_size = sizeof(nh_options), __VA_ARGS__})
#endif

/* ---- The library, and what went wrong ---------------------------------------------------------------------------- */

/*
 * Every function may be called from any thread. Where its comment says nothing else, it waits neither for the network nor for the
 * disk, and NH_INVALID is a wrong handle or NULL.
 *
 *     if (nh_get(cache, url, NULL, &response) != NH_OK) {
 *         nh_error_info info = {.struct_size = sizeof info};
 *         nh_error_get_info(&info);
 *         fprintf(stderr, "%s: %s\n", nh_status_name(info.code), info.message);
 *     }
 */

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

/**
 * The version of the library, such as "0.1.0".
 */
const char *nh_version(void);

/**
 * The version of the library as a number, to be compared with NH_VERSION_NUM, that of the header.
 */
uint32_t nh_version_num(void);

/**
 * The stable word of a status, such as "too_large"; "ok" for NH_OK, "unknown" for a number that is none.
 */
const char *nh_status_name(nh_status status);

/**
 * What went wrong in the last call on this thread that failed: what happened, to which URL, and what to do. In UTF-8;
 * valid until the next failing call on this thread. Empty when none has failed. Never NULL.
 */
const char *nh_error_message(void);

/**
 * Tells more about the last call on this thread that failed. Set info->struct_size to sizeof *info before. Everything
 * pointed to is valid until the next failing call on this thread.
 *
 * @return NH_OK, also when none has failed: its code is NH_OK then. NH_INVALID.
 */
nh_status nh_error_get_info(nh_error_info *info);

/* ---- Open and close ---------------------------------------------------------------------------------------------- */

/*
 *     nh_options options = {.struct_size = sizeof options, .disk_bytes = 1 << 30, .policy = NH_POLICY_RFC9111};
 *     if (nh_open("thumbs.cache", &options, &cache) != NH_OK) die(nh_error_message());
 *     nh_drain(cache, 5000);  // what is under way may end, for five seconds
 *     nh_close(cache, 2000);
 */

/**
 * Opens a cache; may wait for the disk. The same directory may be open any number of times, in this process and in others: each
 * handle has requests, events and options of its own, and all share what is stored.
 *
 * A directory on a file system that is mounted read-only, or to which this user may not write, is opened to be read: what is
 * in it is found, answers of the network are delivered and not kept, and what would change it fails with NH_IO.
 *
 * @param path     The directory, made when it is missing, for its owner only. NULL: $NUTHATCH_CACHE, else
 *                 $XDG_CACHE_HOME/nuthatch, else ~/.cache/nuthatch.
 * @param options  NULL for the defaults.
 * @param cache    Gets the handle; NULL on failure. Close it with nh_close.
 * @return NH_OK; NH_IO when the directory can't be made or used; NH_DENIED when it belongs to somebody else or others may
 *         write to it; NH_CONFLICT when it is open in this process with other options of the directory; NH_NO_SPACE;
 *         NH_INVALID; NH_BAD_HEADER for a header that can't be sent.
 */
nh_status nh_open(const char *path, const nh_options *options, nh_cache **cache);

/**
 * Cancels all that is under way, and takes no more requests: from now on they are answered with NH_CLOSED, and so is who
 * waits in a blocking call. The final events of the tickets can still be taken, by nh_poll, nh_dispatch or nh_wait; they
 * are all there when this returns. For programs that want to hear of every end before they close. May be repeated.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_shutdown(nh_cache *cache);

/**
 * Closes a cache. Requests that are under way end with NH_CLOSED, at once and on every thread that waits for one; events
 * that nobody has taken are given back; the descriptor of nh_fd is closed. Responses and images stay valid, tickets stay
 * handles. Other handles on the directory go on. The last one writes what is in memory only (NH_SPILL_PRESSURE).
 *
 * It waits for one thing on the network: a stale answer was given, and is being revalidated behind.
 *
 * @param timeout_ms  The longest wait for that, in milliseconds, such as 2000; 0 ends the revalidations, too, and never waits;
 *                    negative waits for as long as they take.
 * @return NH_OK. NH_TIMEOUT when revalidations are still under way: all else is closed and written, and the handle is good for
 *         another nh_close, which may wait on or end them. NH_BUSY when what was in memory only couldn't be written because
 *         another process has held the directory's lock for five seconds: it is lost then, and the cache is closed all the same.
 *         NH_INVALID when `cache` is not an open cache.
 */
nh_status nh_close(nh_cache *cache, int64_t timeout_ms);

/**
 * Tells what holds for the requests of a cache: what it was opened with, and where that says nothing the defaults, and what the
 * directory was opened with first in this process. Where nobody says a netrc, or an option whose default is found as it is needed
 * (deadline_ms, user_agent, accept, proxy), it is 0 or NULL. No limit is NH_FOREVER, also where NH_NONE said it; zero is NH_NONE.
 *
 * What is told is to be read, and not to be passed on: values of secret headers, and the password of a proxy, are ***.
 *
 * @param options  Gets them. Set options->struct_size to sizeof *options before the call. Texts live as long as the handle.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_cache_get_options(nh_cache *cache, nh_options *options);

/**
 * Lets what is under way end before a close: the requests of this handle, and what the outbox of the directory is sending in
 * this process, which begins nothing else any more. To be followed by nh_close.
 *
 * @param timeout_ms  The longest wait in milliseconds; 0 looks without waiting; negative waits for ever.
 * @return NH_OK; NH_TIMEOUT when something is still under way; NH_FORKED; NH_INVALID.
 */
nh_status nh_drain(nh_cache *cache, int64_t timeout_ms);

/* ---- Fetch and wait ---------------------------------------------------------------------------------------------- */

/*
 * These wait for the answer: as long as the request's timeout, deadline and turn in the queue allow. Other threads go on meanwhile;
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
 * Gets a URL, from the cache while that is fresh, and waits for the answer. An answer of any status is a success: look
 * at the status in nh_response_info.
 *
 * @param options   NULL for nothing. A size is for nh_thumbnail.
 * @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
 * @return NH_OK, or why there is no answer: NH_BAD_URL, NH_BAD_HEADER, NH_TIMEOUT, NH_DNS, NH_REFUSED, NH_RESET, NH_TLS, NH_HTTP,
 *         NH_TRUNCATED, NH_TOO_LARGE, NH_TOO_MANY_REDIRECTS, NH_DENIED, NH_OFFLINE, NH_CIRCUIT_OPEN, NH_CANCELLED (by
 *         nh_cancel_all), NH_CLOSED, NH_FORKED, NH_INVALID, NH_OUT_OF_MEMORY, NH_IO where no descriptor is left.
 */
nh_status nh_get(nh_cache *cache, const char *url, const nh_options *options, nh_response **response);

/**
 * Gives a thumbnail that fits the box of options->size, or of the one in options->sizes: upright, never enlarged unless that is
 * said. It comes from the cache while that is fresh, else the picture is fetched, and both are kept. JPEG and PNG are decoded,
 * on a thread of the library's.
 *
 * @param options  The size, and what else there is to say.
 * @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
 * @return As nh_get; NH_HTTP when the answer isn't a success; as nh_response_image.
 */
nh_status nh_thumbnail(nh_cache *cache, const char *url, const nh_options *options, nh_image **image);

/**
 * Carries out a request without sizes and waits for the answer.
 *
 * @param response  Gets the handle; NULL on failure. Release it with nh_response_release.
 * @return As nh_get, and NH_BAD_HEADER; NH_INVALID for a request with sizes.
 */
nh_status nh_perform(nh_cache *cache, nh_request *request, nh_response **response);

/**
 * Carries out a request with sizes and waits for the images.
 *
 * @param images  Gets the handles, in the order of the sizes; NULL each on failure. Release each with nh_image_release.
 * @param count   How many there are room for: the number of the request's sizes.
 * @return As nh_thumbnail, and NH_BAD_HEADER; NH_INVALID when `count` is not the number of sizes.
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

/** What a response holds. Set struct_size before the call. Everything pointed to lives as long as the response. */
typedef struct nh_response_info {
    uint32_t struct_size;
    /** The HTTP status, such as 200. */
    int32_t status;
    /** The body: body_size bytes, not terminated (nh_response_text is). Never NULL. */
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
    /** 1 when it isn't fresh by its request's policy: given because the server can't be asked, or before it is. Else 0. */
    int32_t is_stale;
    /** 1 when the cache has the answer now: it was there, or has been kept. 0 for what must not be kept, and for what couldn't be,
     *  because another process held the lock of the cache or the disk was full. */
    int32_t is_stored;
    /** The words after the status; empty where the server sent none. */
    const char *reason;
    /** Microseconds from the start of the last exchange until the name was found, the connection stood, TLS was agreed. */
    int64_t dns_us;
    int64_t connect_us;
    int64_t tls_us;
    /** How many interim answers (1xx) came before this one, for nh_response_interim_at; 0 from the cache. */
    int32_t interim_count;
    /** 1 when the body was longer: of an answer to a request in the outbox the first MiB is kept (nh_outbox_response). Else 0. */
    int32_t is_cut;
    /** 1 when the request (POST, PUT, DELETE, PATCH) has made stored answers invalid that couldn't be removed yet, because another
     *  process held the lock of the cache or the disk was full. No process gives them any more, and the next one that keeps an
     *  answer removes them. Of what a bad disk refuses to remove only this process knows. Else 0. */
    int32_t is_removal_due;
    /** 1 when the body may end too early: nothing says how long it is, and its TLS connection ended without the farewell
     *  (close_notify) that only the server can send. Such an answer isn't stored. Else 0. */
    int32_t is_truncated;
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

/** What nh_get_now gives; it never grows, hence no struct_size. */
typedef struct nh_found {
    /** To be released with nh_response_release; NULL when nothing was found. */
    nh_response *response;
    /** The body, which lives as long as the response, and how many bytes it has. */
    const void *body;
    size_t body_size;
} nh_found;

/**
 * Tells what a response holds. Set info->struct_size to sizeof *info before the call.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_response_get_info(nh_response *response, nh_response_info *info);

/**
 * Says whether the body could be read, for who has copied it or made something of it: a body of the cache lies in a mapped file,
 * and what the disk fails to give of it reads as zeros.
 *
 * @return NH_OK; NH_IO when some of it may have been zeros; NH_INVALID.
 */
nh_status nh_response_check(nh_response *response);

/**
 * Gives the first value of a header, its name compared without regard to case; NULL when there is none. It lives as
 * long as the response.
 *
 * @return NH_OK, also when there is none; NH_INVALID.
 */
nh_status nh_response_header(nh_response *response, const char *name, const char **value);

/**
 * Gives the header line number `index`, from 0 in the order of arrival; repeated headers are lines of their own.
 *
 * @return NH_OK; NH_INVALID, also when `index` is not below header_count.
 */
nh_status nh_response_header_at(nh_response *response, int32_t index, const char **name, const char **value);

/**
 * Tells of the interim answer (1xx) number `index`, from 0 in the order of arrival. Set interim->struct_size to
 * sizeof *interim before the call.
 *
 * @return NH_OK; NH_INVALID, also when `index` is not below interim_count.
 */
nh_status nh_response_interim_at(nh_response *response, int32_t index, nh_interim *interim);

/**
 * Gives the body as text in UTF-8, terminated by NUL, made on the calling thread: by the charset of the Content-Type, else taken
 * for UTF-8; what can't be decoded becomes U+FFFD. It lives as long as the response.
 *
 * @param text  Gets the first byte.
 * @param size  Gets the number of bytes, without the NUL; there may be others among them. May be NULL.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_response_text(nh_response *response, const char **text, size_t *size);

/**
 * Gives the body as nh_response_text does, where it is JSON (RFC 8259). Of a body that isn't, nothing is given.
 *
 * @param text  Gets the first byte; NULL on failure.
 * @param size  Gets the number of bytes, without the NUL; 0 on failure. May be NULL.
 * @return NH_OK; NH_WRONG_FORMAT, with the place in the message; NH_INVALID.
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
    /** 1 when it isn't fresh by its request's policy: given because the server can't be asked, or before it is. Else 0. */
    int32_t is_stale;
    /** The HTTP status of the answer that it was made from. */
    int32_t http_status;
    /** 1 when the cache has now what it was made from: it was there, or has been kept (nh_response_info). Else 0. */
    int32_t is_stored;
    /** Always 0. */
    uint32_t reserved;
} nh_image_info;

/**
 * Decodes the body of a response, on the calling thread, whatever its status and Content-Type say.
 *
 * @param options  What the image must fit (size, or one of sizes), and how: those of an image. Never NULL.
 * @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
 * @return NH_OK; NH_NOT_AN_IMAGE; NH_UNSUPPORTED_FORMAT (the message names the format); NH_CORRUPT and NH_TRUNCATED
 *         (with the place); NH_TOO_LARGE; NH_TOO_MANY_PIXELS; NH_OUT_OF_MEMORY; NH_INVALID, also for a box whose sides
 *         aren't 1 to 65535.
 */
nh_status nh_response_image(nh_response *response, const nh_options *options, nh_image **image);

/**
 * Decodes a JPEG or PNG that the program has from elsewhere, on the calling thread. Its URL is empty then, and its source
 * NH_SOURCE_MEMORY.
 *
 * @param bytes    The file: `size` bytes, read during the call only.
 * @param options  As for nh_response_image.
 * @param image    Gets the handle; NULL on failure. Release it with nh_image_release.
 * @return As nh_response_image.
 */
nh_status nh_image_decode(const void *bytes, size_t size, const nh_options *options, nh_image **image);

/**
 * Tells what an image holds. Set info->struct_size to sizeof *info before the call.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_image_get_info(nh_image *image, nh_image_info *info);

/**
 * Releases an image, its pixels, and what was made from them.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_image_release(nh_image *image);

/* ---- Images in other forms --------------------------------------------------------------------------------------- */

/*
 * They work on the calling thread.
 *
 *     const void *bytes;
 *     size_t size;
 *     if (nh_image_encode(image, NH_FORMAT_JPEG, 0, &bytes, &size) == NH_OK) fwrite(bytes, 1, size, file);
 */

/**
 * Writes an image's pixels into a buffer of the caller's, in another format.
 *
 * @param buffer    Gets the rows; bytes between them are left as they are.
 * @param capacity  The bytes of the buffer.
 * @param stride    Bytes from one row to the next; 0 for no room between them.
 * @return NH_OK; NH_INVALID, also when the buffer is too small for the last row, or the stride for a row.
 */
nh_status nh_image_convert(nh_image *image, nh_pixels format, void *buffer, size_t capacity, size_t stride);

/**
 * Gives an image's pixels in another format, without room between rows. They live as long as the image; asking again for
 * the same costs nothing.
 *
 * @param pixels  Gets the first byte.
 * @param size    Gets the number of bytes.
 * @return NH_OK; NH_INVALID; NH_OUT_OF_MEMORY.
 */
nh_status nh_image_pixels(nh_image *image, nh_pixels format, const void **pixels, size_t *size);

/**
 * Gives an image as a file. The bytes live as long as the image; asking again for the same costs nothing.
 *
 * @param quality  For JPEG 1 to 100, 0 for 92. For PNG 0, or 100 for the smallest file, which takes much longer.
 * @param bytes    Gets the first byte.
 * @param size     Gets their number.
 * @return NH_OK; NH_INVALID; NH_OUT_OF_MEMORY.
 */
nh_status nh_image_encode(nh_image *image, nh_format format, int32_t quality, const void **bytes, size_t *size);

/* ---- Submit and hear of it later --------------------------------------------------------------------------------- */

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
 * Starts a request and returns at once. What is in the cache, and fresh, is there when this returns: it may wait for the disk,
 * never for the network. Requests for one URL share one fetch. As many go to one host, and as many together, as nh_queue_set
 * says; the others wait their turn, and only their deadline runs meanwhile.
 *
 * @param options  NULL for nothing. With sizes its answer is pictures.
 * @param ticket   Gets the handle; NULL on failure. Release it with nh_ticket_release. May be NULL itself, for programs that
 *                 know what an event belongs to by its user_data: events then have no ticket.
 * @return NH_OK; NH_BAD_URL or NH_BAD_HEADER, before any network is touched; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_submit(nh_cache *cache, const char *url, const nh_options *options, nh_ticket **ticket);

/**
 * Starts an nh_request, as nh_submit does a URL with options.
 *
 * @param ticket  As for nh_submit.
 * @return As nh_submit.
 */
nh_status nh_submit_request(nh_cache *cache, nh_request *request, nh_ticket **ticket);

/**
 * Waits for a ticket's next event, which neither nh_poll nor another thread gets then.
 *
 * @param timeout_ms  The longest wait in milliseconds; 0 looks without waiting; negative waits for ever.
 * @param event       Gets the event; clear it with nh_event_clear. Zeroed when none came.
 * @param event_size  sizeof *event.
 * @return NH_OK with an event, also with one that tells of a failure: see its code. NH_TIMEOUT when none came in
 *         time; the request goes on. NH_FORKED. NH_INVALID, also when the final event was taken before, and for a ticket
 *         with a callback.
 */
nh_status nh_wait(nh_ticket *ticket, int64_t timeout_ms, nh_event *event, size_t event_size);

/**
 * Gives back what an event owns, and zeroes it. Clearing a zeroed event does nothing.
 *
 * @return NH_OK; NH_INVALID when `event` is NULL, or when its response or one of its images is no open handle.
 */
nh_status nh_event_clear(nh_event *event);

/**
 * Cancels a request. Its final event is NH_EVENT_CANCELLED, there at once, unless it had one before.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_cancel(nh_ticket *ticket);

/**
 * Cancels the requests of a handle that are under way: all, or those with a tag or of a site. Blocking calls among them end with
 * NH_CANCELLED. Those of another site with the same base URL are not the site's.
 *
 * @param options  Its tag or its site; there is nothing else to say. NULL for all.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_cancel_all(nh_cache *cache, const nh_options *options);

/**
 * Gives a request another priority, in the queue and while it runs. Later it does nothing.
 *
 * @param priority  As nh_options.priority.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_ticket_set_priority(nh_ticket *ticket, int64_t priority);

/**
 * Submits the request of a ticket once more, whatever became of it: after a failure, for instance. The ticket stays as it is;
 * events of the new one carry what those of the old one do. A freezable request keeps its Idempotency-Key, so that a server that
 * has had it doesn't do it twice; once the ticket's success (2xx) has been taken, it is another request, with another key.
 *
 * @param cache  Whose request it was.
 * @param again  Gets the new handle; NULL on failure. Release it with nh_ticket_release.
 * @return As nh_submit; NH_INVALID, too, for a ticket whose answer was in memory when it was submitted: such keep nothing.
 */
nh_status nh_resubmit(nh_cache *cache, nh_ticket *ticket, nh_ticket **again);

/**
 * Tells where a request stands.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_ticket_state(nh_ticket *ticket, nh_ticket_status *state);

/**
 * Releases a ticket. Never cancels: the request goes on, and its events still come by nh_poll or nh_dispatch, where their
 * ticket then is a handle that is no longer open.
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
 * Gives a descriptor that is readable while there is something for nh_poll or nh_dispatch: for poll, epoll, a GLib source,
 * libuv. Never read it, write it or close it. One a handle, made at the first call, closed by nh_close. With edge-triggered
 * epoll, take all there is before waiting again.
 *
 * @return The descriptor; on failure a negative number, which is -NH_INVALID, -NH_FORKED, -NH_CLOSED or -NH_IO.
 */
int32_t nh_fd(nh_cache *cache);

/**
 * Takes events of the handle's tickets that have no callback, in the order in which the tickets had something to tell; and those
 * of no ticket, which somebody listens for without a callback (nh_outbox_attach, nh_outbox_ask, nh_site_watch).
 * Never waits.
 *
 * @param events      Gets the events; clear each with nh_event_clear.
 * @param count       How many there is room for.
 * @param event_size  sizeof *events.
 * @return How many events were taken; 0 when there are none. On failure a negative number, which is -NH_INVALID or
 *         -NH_FORKED.
 */
int32_t nh_poll(nh_cache *cache, nh_event *events, size_t count, size_t event_size);

/**
 * Calls the callbacks of tickets that have events, and of who listens for others, on this thread. Two threads never call
 * for one ticket at the same time. A callback may do whatever it likes with the library, also close the cache, and call
 * nh_dispatch again: one within the other twenty deep, and then it is NH_INVALID, because stacks end.
 *
 * @param timeout_ms  The longest wait for a first event, in milliseconds; 0 doesn't wait; negative waits for ever.
 * @return How many callbacks were called; 0 when there was no event in time. On failure a negative number, which is
 *         -NH_CLOSED when the cache was closed meanwhile, or was shut down and all has been told; -NH_INVALID; -NH_FORKED.
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

/**
 * Answers the question that a ticket asked last. From any thread, also from within a callback.
 *
 * @param ticket  Of the event; inside a callback it is there even when nh_submit gave none.
 * @param reply   NULL to leave it unanswered, without further waiting.
 * @return NH_OK; NH_INVALID, also when no question is open, because none was asked, it was answered, too much time went by,
 *         or the request has ended; NH_FORKED. Headers that can't be sent end the request with NH_BAD_HEADER.
 */
nh_status nh_answer(nh_ticket *ticket, const nh_reply *reply);

/* ---- What can be given at once ----------------------------------------------------------------------------------- */

/*
 * They give what is fresh and can be given at once, or nothing. nh_peek is for pictures, nh_peek_response for bodies; nh_thumbnail_now
 * and nh_get_now do the same, and count as requests. What is stale they give under NH_POLICY_OFFLINE only; nh_submit gives it first,
 * and then asks the server (NH_DELIVERY_TWICE, the default).
 *
 *     // .decode finds it after a restart, too: all but small ones lie packed on the disk then.
 *     if ((image = nh_peek(cache, url, NH_OPTIONS(.size = 128, .decode = NH_YES))) != NULL) {
 *         draw(image);
 *         nh_image_release(image);
 *     } else {
 *         nh_submit(cache, url, NH_OPTIONS(.size = 128, .quiet = NH_YES), NULL);  // for a later frame
 *     }
 */

/**
 * Gives a thumbnail if it can be shown at once: it is in memory, or lies on disk as pixels (NH_THUMB_STORE_RAW), and is fresh.
 * Never asks the network, never waits, and takes a tenth of a microsecond where the same was shown before. For programs that
 * draw: what isn't there they ask for with nh_submit.
 *
 * @param options  The size, and what else there is to say. With `decode` one that lies on disk as a file is unpacked, too.
 * @return The handle, to be released with nh_image_release. NULL when there is nothing to show, and on failure: nh_error_get_info
 *         says NH_OK then, or what it was: NH_BAD_URL; NH_BAD_HEADER; NH_DENIED and NH_IO where nh_thumbnail would fail before it
 *         looks for a picture; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_image *nh_peek(nh_cache *cache, const char *url, const nh_options *options);

/**
 * As nh_peek, but counted by nh_stats as a request that was a hit, and told of in the log as one: for programs, and bindings, that
 * look whether there is something before they make a request.
 *
 * @return As nh_peek; nothing is counted when it is NULL.
 */
nh_image *nh_thumbnail_now(nh_cache *cache, const char *url, const nh_options *options);

/**
 * Gives the answer to a GET if it can be given at once: it is in the cache, and fresh. Never asks the network, and never waits.
 * For programs that can't wait, and for those that would rather ask for what isn't there with nh_submit.
 *
 * @param options   NULL for nothing.
 * @param response  Gets the handle; NULL on failure, and when there is nothing to give. Release it with nh_response_release.
 * @return NH_OK, also when there is nothing; NH_BAD_URL; NH_BAD_HEADER; NH_DENIED and NH_IO where nh_get would fail before it looks
 *         for an answer; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_peek_response(nh_cache *cache, const char *url, const nh_options *options, nh_response **response);

/**
 * As nh_peek_response, but counted by nh_stats as a request that was a hit, told of in the log as one, and with its body told at
 * once.
 *
 * @param found  Gets the answer; all of it is NULL and 0 when there is none to give at once, and on failure.
 * @return As nh_peek_response.
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
 * Begins the description of a request that has more to say than nh_options: a body, a form, places where the answer goes. It is
 * a GET of `url` until the functions below say otherwise. What they are given is copied. A request may be used any number of
 * times, from any thread, and changed in between: tickets keep what it was when they were made. URL and headers are checked when
 * it is used: a URL of more than 65,536 bytes is NH_BAD_URL then, but for data: URLs.
 *
 * @param request  Gets the handle; NULL on failure. Free it with nh_request_free.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_create(const char *url, nh_request **request);

/**
 * Says something more about a request: what `options` say is so from now on, and what they don't say stays as it is. What was said
 * can be said otherwise, but not taken back: for that, begin another request.
 *
 * @return NH_OK; NH_INVALID, also for options that a request doesn't have. Headers and a method that can't be sent, and secrets
 *         without a provider, are found out when the request is used.
 */
nh_status nh_request_set(nh_request *request, const nh_options *options);

/**
 * Adds a header. It replaces those of the same name that would be sent otherwise. Added twice, both are sent, in this order.
 *
 * @return NH_OK; NH_INVALID. A name or value that can't be sent, more than 1,000 headers, and more than 262,144 bytes of them,
 *         are NH_BAD_HEADER when the request is used.
 */
nh_status nh_request_add_header(nh_request *request, const char *name, const char *value);

/**
 * Frees a request. Tickets that were made from it go on.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_free(nh_request *request);

/* ---- Requests: what is sent -------------------------------------------------------------------------------------- */

/*
 *     nh_request_set(request, NH_OPTIONS(.method = "POST"));
 *     nh_request_add_part(request, NH_PART(.name = "title", .data = "A nut", .size = 5));
 *     nh_request_add_part(request, NH_PART(.name = "picture", .path = "nut.jpg", .type = "image/jpeg"));
 */

/** A part of a form: bytes or a file. Set struct_size, name, and data or path; zero what you don't say. */
typedef struct nh_part {
    uint32_t struct_size;
    /** Must be 0. */
    uint32_t reserved;
    /** The field's name. Quotes and line breaks are escaped as browsers do. */
    const char *name;
    /** `size` bytes, copied. */
    const void *data;
    size_t size;
    /** Or a file, read while it is sent, as with nh_request_set_body_file. */
    const char *path;
    /** What it is called there. NULL: data is a plain field, and a file has its own name. */
    const char *file_name;
    /** Its Content-Type. NULL: none for a plain field, else application/octet-stream. */
    const char *type;
} nh_part;

#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
/** As NH_OPTIONS: NH_PART(.name = "picture", .path = "nut.jpg"). C only. */
#define NH_PART(...) (&(nh_part){.struct_size = sizeof(nh_part), __VA_ARGS__})
#endif

/**
 * Sets the body: `size` bytes, copied. NULL and 0 for none.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_body(nh_request *request, const void *body, size_t size);

/**
 * Sends a file's bytes as the body, read while they are sent: no more than a piece of it is ever in memory. Say what they
 * are with a Content-Type header.
 *
 * @param path  Looked at when the request is used: one that is missing, or no regular file, is NH_IO then, and so is one
 *              that has changed by the time that it is sent. NULL for none.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_set_body_file(nh_request *request, const char *path);

/**
 * Adds a part to a form (multipart/form-data), which is then the body: a plain field, bytes as a file, or a file.
 *
 * @return NH_OK; NH_INVALID. A type that can't be sent is NH_BAD_HEADER when the request is used, and a file as with
 *         nh_request_set_body_file.
 */
nh_status nh_request_add_part(nh_request *request, const nh_part *part);

/**
 * Adds a field to the body, encoded as browsers send plain forms (application/x-www-form-urlencoded); the Content-Type says
 * so unless the request has one.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_request_add_field(nh_request *request, const char *name, const char *value);

/* ---- Requests: where the answer goes ----------------------------------------------------------------------------- */

/*
 *     nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = "nuts.tar"));
 *     nh_request_set(request, NH_OPTIONS(.progress_events = NH_YES));
 *     nh_submit_request(cache, request, &ticket);
 */

/** Where an answer goes. */
typedef enum nh_sink_kind {
    /** A file, which has its name only once it is complete; one that was there is replaced then. When a transfer breaks off and can
     *  be gone on with, what is there stays in a hidden file beside it, and the next request for it goes on there, in any process
     *  (nh_options.resume). */
    NH_SINK_FILE = 1,
    /** A file that the answer is added to the end of: all of it or nothing. */
    NH_SINK_APPEND = 2,
    /** A descriptor. What it doesn't take holds the transfer up, and nothing else. It is copied when the request is used: it may
     *  be closed after that. */
    NH_SINK_DESCRIPTOR = 3,
    /** The program, in pieces, as NH_EVENT_DATA. While more than a mebibyte waits to be taken, nothing more comes. */
    NH_SINK_EVENTS = 4
} nh_sink_kind;

/** Where an answer goes while it comes. Set struct_size, kind, and what belongs to it. */
typedef struct nh_sink {
    uint32_t struct_size;
    nh_sink_kind kind;
    /** Of NH_SINK_FILE and NH_SINK_APPEND. */
    const char *path;
    /** Of NH_SINK_DESCRIPTOR. */
    int32_t descriptor;
    /** Must be 0. */
    uint32_t reserved;
} nh_sink;

#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
/** As NH_OPTIONS: NH_SINK(.kind = NH_SINK_FILE, .path = "nut.jpg"). C only. */
#define NH_SINK(...) (&(nh_sink){.struct_size = sizeof(nh_sink), __VA_ARGS__})
#endif

/**
 * Saves the answer, while it comes. May be called for several places: each gets all of the answer.
 * What is saved may be larger than the cache's max_bytes, and is limited only by what the request says of max_bytes. Without it, a
 * compressed answer (Content-Encoding) that decodes to more than 64 MiB, and to more than 1,000 times the bytes that came, is
 * NH_TOO_LARGE. The response has the body, and the cache keeps it, only up to the cache's max_bytes. Answers
 * that are no success are saved nowhere.
 *
 * @return NH_OK; NH_INVALID. The request fails with NH_NO_SPACE on a full disk and with NH_IO when the file can't be written.
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
 * Makes a site: a base URL, and what the requests below it have in common. Requests name it in nh_options.site, and may be said
 * relative to its URL then. A site belongs to its cache's handle and is of no use once that is closed.
 *
 * User and password go to the base URL's origin only, also when a request of the site names another, and so do all headers
 * but harmless ones and those that options->keep_headers_across_origins names.
 *
 * @param base_url  Absolute. What requests name is resolved against it, as links on a page at this URL would be: with
 *                  "https://example.org/api/" (mind the last slash) "statuses" is https://example.org/api/statuses.
 * @param options   What its requests inherit; allow_files and the directory's own must not be given. NULL for nothing.
 * @param site      Gets the handle; NULL on failure. Close it with nh_site_close.
 * @return NH_OK; NH_BAD_URL; NH_BAD_HEADER; NH_INVALID.
 */
nh_status nh_site_open(nh_cache *cache, const char *base_url, const nh_options *options, nh_site **site);

/**
 * Tells what holds for the requests of a site at its origin, what it has from its cache and the defaults among it, as
 * nh_cache_get_options does, and as little to be passed on. User and password, and passwords of certificates, aren't told.
 *
 * @param options  Gets them. Set options->struct_size to sizeof *options before the call. Texts live as long as the handle.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_site_get_options(nh_site *site, nh_options *options);

/**
 * Forgets the cookies of a site, in memory and in the cache's directory. May wait for the disk.
 *
 * @return NH_OK, also when it keeps none; NH_INVALID.
 */
nh_status nh_site_clear_cookies(nh_site *site);

/**
 * Closes a site. Its requests go on.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_site_close(nh_site *site);

/**
 * Tells whether a site's host could be reached of late, as the last connection to it showed.
 *
 * @param reachable  Gets NH_YES or NH_NO; NH_UNSAID when nobody has tried.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_site_reachable(nh_site *site, nh_choice *reachable);

/**
 * Has changes of what nh_site_reachable tells come as NH_EVENT_REACHABILITY, from now on until the cache's handle is closed; of
 * several that nobody took the newest is kept. Sites of one handle with the same base URL share one listener, the last.
 *
 * @param callback   Called by nh_dispatch; NULL for events that nh_poll gives.
 * @param user_data  What the events carry.
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
 * What a freezable request comes to:
 *
 *     what came                    of the first attempt          of a later one, from the outbox
 *     status 2xx                   it is the answer              NH_FROZEN_DONE
 *     status 408, 425, 429, 5xx    it is the answer              it is tried again
 *     status 401, 403              it is the answer              NH_FROZEN_PAUSED, until nh_outbox_provide or nh_outbox_replay
 *     any other status             it is the answer              NH_FROZEN_DEAD
 *     no answer (*)                NH_FROZEN                     it is tried again
 *     part of an answer            that error                    it is tried again
 *
 * (*) NH_TIMEOUT (also by the deadline), NH_DNS, NH_REFUSED, NH_RESET, NH_TLS, NH_CIRCUIT_OPEN. Any other error, such as NH_DENIED,
 * is the first attempt's end.
 *
 * Tried again: after about 1 s, 2 s, 4 s and so on, five minutes at the most, or what Retry-After says, up to a day; at once when the
 * server shows itself. It is NH_FROZEN_DEAD after outbox_attempts, outbox_max_age_ms or outbox_key_lifetime_ms. Requests of one queue
 * (outbox_queue) arrive in their order: while one waits, is sent or is paused, those after it are NH_FROZEN untried, also where the
 * server is up.
 *
 * Who sends: one of the processes that have the directory open, from nh_open on, without another call; nobody while none has. nh_close
 * ends what is being sent, and it is sent again later; nh_drain before it lets that end.
 *
 * How to learn of the end: NH_FROZEN comes with a number, the event's outbox_id or nh_error_info's. Its outcome is NH_EVENT_OUTCOME to
 * who is attached to its outbox_handler; without one ask nh_outbox_get, or look through nh_outbox_next, for NH_FROZEN_DONE and
 * NH_FROZEN_DEAD. It stays, also across restarts, and counts to outbox_items, until nh_outbox_drop.
 */

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

/**
 * Gives the first request in the outbox after a number, in the order in which they are sent: with 0 the first of all. May wait
 * for the disk, like all functions whose names begin with nh_outbox.
 *
 *     nh_frozen_info info = {.struct_size = sizeof info};
 *     nh_frozen *frozen;
 *     while (nh_outbox_next(cache, info.id, &frozen) == NH_OK && frozen != NULL) {
 *         nh_frozen_get_info(frozen, &info);
 *         if (info.state == NH_FROZEN_DONE) nh_outbox_drop(cache, info.id);
 *         nh_frozen_release(frozen);
 *     }
 *
 * @param frozen  Gets the handle, of what holds at this moment; NULL after the last one, and on failure. Release it with
 *                nh_frozen_release.
 * @return NH_OK; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_outbox_next(nh_cache *cache, uint64_t after, nh_frozen **frozen);

/**
 * Gives the request of a number.
 *
 * @param frozen  As for nh_outbox_next.
 * @return NH_OK; NH_INVALID, also when there is none; NH_IO; NH_CLOSED; NH_FORKED.
 */
nh_status nh_outbox_get(nh_cache *cache, uint64_t id, nh_frozen **frozen);

/**
 * Gives the answer to a request that has ended: done (NH_FROZEN_DONE), or put aside (NH_FROZEN_DEAD) because of it. It stays until
 * it is dropped, so that a program that is killed before it made something of it finds it again.
 *
 * @param response  Gets the handle: status, headers, and up to 1 MiB of the body. NULL on failure. Release it with
 *                  nh_response_release.
 * @return NH_OK; NH_INVALID, also when there is no such request, it hasn't ended, or there was no answer; NH_IO; NH_CLOSED;
 *         NH_FORKED.
 */
nh_status nh_outbox_response(nh_cache *cache, uint64_t id, nh_response **response);

/**
 * Sends a request that was put aside or that waits as soon as it is its turn, whatever was before: times and attempts count from
 * now on.
 *
 * @param id  0 for all of them.
 * @return How many; 0 when there is none of that number. On failure a negative number, which is -NH_IO, -NH_CLOSED,
 *         -NH_FORKED or -NH_INVALID.
 */
int32_t nh_outbox_replay(nh_cache *cache, uint64_t id);

/**
 * Forgets a request, or its outcome: it is never sent after this.
 *
 * @return NH_OK; NH_INVALID, also when there is none of that number; NH_CONFLICT while another process is sending it; NH_IO;
 *         NH_CLOSED; NH_FORKED.
 */
nh_status nh_outbox_drop(nh_cache *cache, uint64_t id);

/**
 * Has the outcomes of requests with this handler come as NH_EVENT_OUTCOME, those from before among them, also from other
 * processes and before a restart. Each comes once for a handle that is open, and again for the next one, until it is
 * dropped.
 *
 * @param handler    As in nh_options.outbox_handler.
 * @param callback   Called by nh_dispatch; NULL for events that nh_poll gives.
 * @param user_data  What the events carry.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_outbox_attach(nh_cache *cache, const char *handler, nh_callback callback, void *user_data);

/**
 * Ends what nh_outbox_attach began: outcomes of this handler don't come to this handle any more.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_outbox_detach(nh_cache *cache, const char *handler);

/**
 * Has the program asked for secrets, by a question (NH_ASK_SECRET) whose message is the provider's name: when a request can't be
 * sent because its secret isn't known, or because the server has refused it (401, 403). nh_outbox_provide answers it, from any
 * thread; until then the request and those behind it wait.
 *
 * @param provider   NULL for any that has no listener of its own.
 * @param callback   Called by nh_dispatch; NULL for events that nh_poll gives.
 * @param user_data  What the events carry.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_outbox_ask(nh_cache *cache, const char *provider, nh_callback callback, void *user_data);

/**
 * Tells what a provider knows, for all handles on the directory in this process. It stays in memory. Queues that wait for it go
 * on.
 *
 * @param secret  NULL to take it back.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_outbox_provide(nh_cache *cache, const char *provider, const char *secret);

/**
 * Tells what is known of a request in the outbox, as it was when the handle was made. Set info->struct_size to sizeof *info
 * before the call.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_frozen_get_info(nh_frozen *frozen, nh_frozen_info *info);

/**
 * Tells of one of its last attempts that didn't end it, from 0 in their order. Set attempt->struct_size to sizeof *attempt
 * before the call.
 *
 * @return NH_OK; NH_INVALID, also when `index` is not below history_count.
 */
nh_status nh_frozen_attempt_at(nh_frozen *frozen, int32_t index, nh_frozen_attempt *attempt);

/**
 * Releases what is known of a request, which stays in the outbox.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_frozen_release(nh_frozen *frozen);

/* ---- Looking after a cache --------------------------------------------------------------------------------------- */

/*
 *     nh_statistics statistics = {.struct_size = sizeof statistics};
 *     nh_remove(cache, url, NULL);
 *     nh_trim(cache, 100 << 20);
 *     nh_stats(cache, &statistics);
 *     printf("%lld bytes on disk\n", (long long)statistics.disk_bytes);
 */

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
    /** Transfers of pictures that ended early, because the thumbnails were done (nh_options.early_stop). */
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
    /** Records that this process didn't keep, because another process held the directory's lock for too long. */
    int64_t held_up;
} nh_statistics;

/**
 * Forgets all that is stored of a URL, whoever it is kept for and under whatever key: its next request asks the server. When
 * this returns, no process gets from the cache what was asked for before, nor keeps an answer that was on its way. Thumbnails
 * that another URL has in common stay. May wait for the disk, and up to five seconds for another process.
 *
 * @param options  NULL for all of the URL. A site, a key, credentials, a partition and whatever else makes an answer another than
 *                 everybody's for that URL narrow it to that answer.
 * @return NH_OK, also when nothing was stored; NH_BAD_URL; NH_BAD_HEADER; NH_BUSY when another process holds the directory's lock
 *         for five seconds; NH_NO_SPACE, NH_IO when it can't be done; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_remove(nh_cache *cache, const char *url, const nh_options *options);

/**
 * Forgets everything that is stored, of all processes. May wait for the disk.
 *
 * @return NH_OK; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_clear(nh_cache *cache);

/**
 * Drops what was not used for longest until no more than `bytes` are left on disk. The limit stays what it was. May wait for the
 * disk.
 *
 * @return NH_OK; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID when `bytes` is negative.
 */
nh_status nh_trim(nh_cache *cache, int64_t bytes);

/**
 * Writes to disk what is only in memory (NH_SPILL_PRESSURE), so that it survives this process however it ends. May
 * wait for the disk.
 *
 * @return NH_OK, also when there is nothing to write; NH_NO_SPACE; NH_IO; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_flush(nh_cache *cache);

/**
 * Tells what a cache holds, and what has happened. Instant. Set statistics->struct_size to sizeof *statistics before.
 *
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_stats(nh_cache *cache, nh_statistics *statistics);

/**
 * Tells what nh_stats tells, as one JSON object, with a member for each of the struct's, and "warning": what speaks against the place where
 * the directory is, or null.
 *
 * @param buffer    Gets as much of it as fits, terminated by NUL. May be NULL when `capacity` is 0.
 * @param capacity  The bytes of the buffer.
 * @return How many bytes all of it has, without the NUL: more fits when that is less than `capacity`. On failure a negative
 *         number, which is -NH_CLOSED, -NH_FORKED or -NH_INVALID.
 */
int32_t nh_stats_json(nh_cache *cache, char *buffer, size_t capacity);

/**
 * Tells whether another process has held the directory's lock for so long, and this one has waited for it in vain: nothing can
 * be stored meanwhile, so that a program which fetches in order to store had better wait. What it tells changes four
 * times a second at most; each change is in the log, at NH_LOG_WARNING.
 *
 * @param patience_ms  In milliseconds; the first call on a handle says it for all. 30,000 is what the command has.
 * @return 1 or 0; on failure -NH_CLOSED, -NH_FORKED or -NH_INVALID, a negative number.
 */
int32_t nh_is_held_up(nh_cache *cache, int64_t patience_ms);

/**
 * Has every turn of the number of requests of the handle that are under way (nh_statistics.activity) from or to 0 come as
 * NH_EVENT_BUSY or NH_EVENT_IDLE, from now on until the handle is closed. One listener a handle, the last.
 *
 * @param callback   Called by nh_dispatch; NULL for events that nh_poll gives.
 * @param user_data  What the events carry.
 * @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
 */
nh_status nh_activity_watch(nh_cache *cache, nh_callback callback, void *user_data);

/**
 * Waits until no request of the handle is under way. Their events can be taken then, if they weren't.
 *
 * @param timeout_ms  The longest wait in milliseconds; 0 looks without waiting; negative waits for ever.
 * @return NH_OK; NH_TIMEOUT; NH_FORKED; NH_INVALID.
 */
nh_status nh_wait_idle(nh_cache *cache, int64_t timeout_ms);

/* ---- The process ------------------------------------------------------------------------------------------------- */

/*
 *     nh_queue_set(NH_OPTIONS(.concurrency = 8, .per_host = 2, .rate = 10));
 */

/** How badly memory is wanted. */
typedef enum nh_pressure {
    /** Half of what is kept in memory is given up. */
    NH_PRESSURE_WARNING = 1,
    /** All of it, and the allocator gives back what it holds. */
    NH_PRESSURE_CRITICAL = 2
} nh_pressure;

/**
 * Sets how many requests run at once, for every cache of the process, now and later. What runs already runs on. Each call says
 * all of it anew: what it doesn't say is as it was at the start, whatever an earlier call said. Nothing reads it back.
 *
 * @param options  Those of the process; NULL for what it was at the start.
 * @return NH_OK; NH_INVALID, also for an option that isn't one of the process; then nothing changes.
 */
nh_status nh_queue_set(const nh_options *options);

/**
 * Makes every cache of this process give up memory: for programs that hear of shortage from somewhere. The library listens
 * to what the kernel says by itself; what comes by a supervisor's pipe or socket ($MEMORY_PRESSURE_WATCH), the program reads.
 *
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_memory_pressure(nh_pressure level);

/* ---- The log ----------------------------------------------------------------------------------------------------- */

/*
 *     nh_log_set(NH_LOG_INFO, write_line, stderr);
 */

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

/**
 * Says which lines of the log a function of the program's is to get. It is called by the program's own threads: by
 * nh_log_dispatch, and at the end of nh_dispatch, nh_poll, nh_wait and the blocking calls, for what was noted until then: a
 * request's end is noted before it is told of. Of lines that nobody takes 1,000 are kept. A forked child is told of what
 * happens in it.
 *
 * Independent of this, the lines go to standard error when the environment variable NUTHATCH_LOG is error, warning, info or
 * debug.
 *
 * @param level      Lines that matter as much or more; NH_LOG_NONE for none.
 * @param callback   NULL for none.
 * @param user_data  Handed to the callback. The library never follows it.
 * @return NH_OK; NH_INVALID.
 */
nh_status nh_log_set(nh_log_level level, nh_log_callback callback, void *user_data);

/**
 * Hands the lines of the log that are there to the program's function (nh_log_set), on this thread.
 *
 * @return NH_OK.
 */
nh_status nh_log_dispatch(void);

/* ---- What may be shown and kept ---------------------------------------------------------------------------------- */

/*
 *     char shown[4096];
 *     nh_url_put("http://ann:walnut@example.org/", NH_URL_REDACTED, shown, sizeof shown);
 *     puts(shown);  // http://ann:***@example.org/
 */

/** What nh_url_put writes of a URL. */
typedef enum nh_url_form {
    /** The URL with its password hidden, as messages and the log show it: "http://ann:***@example.org/". Any text will do. */
    NH_URL_REDACTED = 1,
    /** Its origin, where its user and password go: "https://example.org", without the scheme's own port. */
    NH_URL_ORIGIN = 2
} nh_url_form;

/**
 * Writes a URL in another form.
 *
 * @param url       Absolute for NH_URL_ORIGIN; any text for NH_URL_REDACTED.
 * @param buffer    Gets as much of it as fits, terminated by NUL. May be NULL when `capacity` is 0.
 * @param capacity  The bytes of the buffer.
 * @return How many bytes all of it has, without the NUL: more fits when that is less than `capacity`. -NH_INVALID; -NH_BAD_URL
 *         where the origin is asked for of what is no URL of HTTP.
 */
int32_t nh_url_put(const char *url, nh_url_form form, char *buffer, size_t capacity);

/**
 * Tells whether a header of this name holds a secret, as the outbox sees it, so that it had better be written nowhere:
 * credentials and cookies, and whatever is named like one, as X-Api-Key and X-Auth-Token are.
 *
 * @return 1 or 0; -NH_INVALID.
 */
int32_t nh_header_is_secret(const char *name);

/* ---- The table of options ---------------------------------------------------------------------------------------- */

/*
 *     nh_option option = {.struct_size = sizeof option};
 *     while (nh_option_next(option.name, &option) == NH_OK && option.name != NULL) printf("%s: %s\n", option.name, option.help);
 */

/** What an option is, in nh_options: a number of milliseconds, of bytes, of things; a share (0 to 1) or a rate, which are doubles; an
 *  nh_choice; an enumeration; texts; lists; and what only programs in C have. */
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
    /** A text that is shown and written nowhere. */
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

/** Where an option may be said. The numbers are bits. */
typedef enum nh_option_level {
    NH_LEVEL_CACHE = 1,
    NH_LEVEL_SITE = 2,
    NH_LEVEL_REQUEST = 4,
    NH_LEVEL_IMAGE = 8,
    NH_LEVEL_PROCESS = 16
} nh_option_level;

/** What an option has a part in. The numbers are bits. */
typedef enum nh_option_reach {
    /** Which stored answer is given, and whether it is. */
    NH_REACHES_HIT = 1,
    /** Which requests share one transfer. */
    NH_REACHES_FETCH = 2,
    /** What an answer is kept under. */
    NH_REACHES_NAME = 4,
    /** What is frozen with a request in the outbox. */
    NH_REACHES_OUTBOX = 8
} nh_option_reach;

/** An option of nh_options. Set struct_size before the call. Texts live as long as the process, and are empty where there is nothing
 *  to say. */
typedef struct nh_option {
    uint32_t struct_size;
    nh_option_kind kind;
    /** Its name in every face; in nh_options durations have _ms behind it. */
    const char *name;
    /** One line, and more. */
    const char *help;
    const char *doc;
    /** What holds where nobody says it, in words. */
    const char *by_default;
    /** What a number may be, in words, and its bounds: milliseconds of a duration. 0 and 0 where there are none. */
    const char *range;
    double least;
    double greatest;
    /** What NH_NONE or NH_OFF means: "unlimited", "zero", "off"; empty where it is refused. */
    const char *none;
    /** What an empty text means; empty where it is refused. */
    const char *empty;
    /** The words of an enumeration, with commas between them: their numbers begin with 1. */
    const char *words;
    /** The version that brought it. */
    const char *since;
    /** Bits of nh_option_level, and of nh_option_reach. */
    uint32_t levels;
    uint32_t reaches;
    /** Where its (first) member is in nh_options. */
    size_t offset;
} nh_option;

/**
 * Tells of the options one after the other, for programs and bindings that check and document them: their names, ranges and words,
 * where they may be said, and where they are in nh_options. Never a value.
 *
 * A program that may find an older library than its header asks by a name whether that has the option:
 * nh_option_next("redirects", &option) == NH_OK. Said to one that hasn't, it is NH_INVALID.
 *
 * @param after   The name of the option before; NULL for the first.
 * @param option  Gets it; its name is NULL after the last one. Set option->struct_size to sizeof *option before the call.
 * @return NH_OK; NH_INVALID, also for a name that no option has.
 */
nh_status nh_option_next(const char *after, nh_option *option);

#ifdef __cplusplus
}
#endif

#endif
