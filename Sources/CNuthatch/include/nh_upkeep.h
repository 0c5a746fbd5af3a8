#ifndef NH_UPKEEP_H
#define NH_UPKEEP_H

#include <stddef.h>
#include <stdint.h>

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

#endif
