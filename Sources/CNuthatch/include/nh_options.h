#ifndef NH_OPTIONS_H
#define NH_OPTIONS_H

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
    /** When memory is short, or when the cache is closed. Until then it is this process's: lost with it, and out of
        reach of what other processes remove (not of their nh_clear). */
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

/** Whether a site's cookies are sent back to its servers, and where they are kept meanwhile. */
typedef enum nh_cookies {
    /** They are ignored. */
    NH_COOKIES_UNSAID = 0,
    /** In memory, as long as the directory is open in this process. */
    NH_COOKIES_MEMORY = 1,
    /** In the cache's directory, too, for other processes and later ones: readable for its owner only, and in clear. */
    NH_COOKIES_DISK = 2
} nh_cookies;

/** A header to be sent. */
typedef struct nh_header {
    const char *name;
    const char *value;
} nh_header;

/** What holds for every request of a cache, or of a site, that doesn't say otherwise. Set struct_size and zero the rest: 0
 *  and NULL everywhere mean "not given". For a cache that is the default that each member names; for a site it is what the
 *  cache was given. A negative number means "none": no limit, no retry, no lifetime. */
typedef struct nh_options {
    uint32_t struct_size;
    /** NH_POLICY_KIT. */
    nh_policy policy;
    /** Longest silence in milliseconds: connecting, waiting, between two bytes. 30000. */
    int64_t timeout_ms;
    /**
     * All of a request together, in milliseconds. One that is given here, or with a request, counts from the call, its wait
     * for its turn in the queue included, and from the first attempt for requests of a batch (nh_request_set_batched); it
     * runs on while its server has asked to be left alone (Retry-After). The default is 120000 for pictures, in which
     * neither is counted, and no limit otherwise.
     */
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
    /** The proxy for all requests: http://, https://, socks4://, socks5:// or socks5h://; "" for none. Answers
     *  that came by it are kept for it alone. One that is no URL is NH_INVALID. What the
     *  environment says.
     *
     *  The guard judges addresses in URLs, and names as far as this machine can look them up in a second. What only the
     *  proxy knows goes through, and what a proxy finds for a name is its business: give it rules of its own. With
     *  socks5h:// no name is looked up here. */
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
    /** What the directory may take on disk, the outbox apart, in bytes; at least 4 MiB. Each process that writes may take two
     *  64ths of it more (64 KiB each at the least), because it reserves ahead. What the directory was given before, else
     *  4 GiB. */
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
     *  $NETRC, else ~/.netrc. NH_UNSAFE_FILE where it isn't yours or root's, or others may write to it. None. */
    const char *netrc;
    /** Sites only: names of headers that go along when a redirect, or a request's URL, leads to another origin, with commas
     *  between them. Harmless ones go in any case (docs/HTTP.md). None. */
    const char *cross_origin_headers;
    /** NH_YES: no .netrc is looked up, also where the site's cache has one. NH_UNSAID. */
    nh_choice no_netrc;
    /** Must be 0. */
    uint32_t reserved_too;
} nh_options;

/** The process's one queue. Set struct_size; 0 means "not given". */
typedef struct nh_queue_options {
    uint32_t struct_size;
    /** How many requests run at once, 1 to 512. As many as the way to the network carries. */
    int32_t concurrency;
    /** How many of them at one host, 1 to 512. -1: 6, and for requests of a batch (nh_request_set_batched) more where the host
     *  bears it, to 32; its first 429, 503 or reset halves that, and after that one more is tried once a minute. 6, or 32 where it
     *  speaks HTTP/2. */
    int32_t per_host;
    /** Must be 0. */
    uint32_t reserved;
    /** Starts a second for each host. No limit. */
    double rate;
    /** What all bodies that are being received may hold in memory, in bytes; what comes beyond it goes on in files without a
     *  name. Negative: nothing. The smaller of 67108864 (64 MiB) and an eighth of what the machine, or its control group, has. */
    int64_t inflight_bytes;
} nh_queue_options;

#endif
