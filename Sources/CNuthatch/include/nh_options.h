/* Generated from options.toml by Scripts/make-header; edit that instead. */
#ifndef NH_OPTIONS_H
#define NH_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_events.h"
#include "nh_handles.h"
#include "nh_values.h"

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

#endif
