/* Generated from options.toml by Scripts/make-header; edit that instead. */
#ifndef NH_OPTIONS_H
#define NH_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_events.h"
#include "nh_handles.h"
#include "nh_values.h"

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

#endif
