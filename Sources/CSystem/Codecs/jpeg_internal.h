// What the files of the JPEG decoder share.
#ifndef JPEG_INTERNAL_H
#define JPEG_INTERNAL_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

#include "nhs_jpeg_decode.h"

enum stage { STAGE_HEADER, STAGE_READY, STAGE_SCANS, STAGE_ROWS, STAGE_FAILED };

typedef struct nhs_jpeg_means nhs_jpeg_means;

enum { MAX_FOLLOWERS = 3 }; // four scales are all there are

struct nhs_jpeg {
    struct jpeg_decompress_struct codec;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf escape;
    nhs_fault fault;
    nhs_warnings warnings;
    nhs_jpeg_limits limits;
    enum stage stage;
    bool may_stop; // when the scans that the scale needs are there
    bool is_buffered; // several scans: libjpeg's buffered-image mode
    bool stopped;
    int32_t scans;
    int64_t scan_blocks;
    uint32_t components_seen; // bit per component that had a scan
    boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW *);

    // Several scales: the leader reads the input, followers make rows of other scales from its coefficients.
    nhs_jpeg *leader;
    nhs_jpeg *followers[MAX_FOLLOWERS];
    int follower_count;
    JBLOCK *kept;       // a leader's: the groups of one row of them, in the order of the stream
    size_t kept_room;   // in groups
    size_t kept_count;
    size_t taken;       // a follower's: groups of those that it has read
    int arrays_lent;    // a follower's: its leader's arrays that it has been given; or of `means`

    nhs_jpeg_means *means; // one a component, where nothing else is kept of blocks
    bool passes_over;      // the scan at hand has details only, of which nothing is kept

    uint8_t *own;       // bytes that were fed and not yet used up
    size_t own_size;
    int64_t fed;        // bytes given so far
    size_t skip;        // bytes to pass over that were not yet given
    bool has_ended;     // no more input will come
    bool hit_end;       // libjpeg asked beyond the end
    bool is_damaged;
    int64_t damage_offset;
};

// Bytes of the input that libjpeg has used up.
int64_t nhs_jpeg_position(const nhs_jpeg *j);
// The first fault stays; answers NHS_FAILED.
int nhs_jpeg_fail(nhs_jpeg *j, int kind, const char *message);
// Notes that pixels are missing or wrong from here on.
void nhs_jpeg_note_damage(nhs_jpeg *j);

// Starts libjpeg itself. To be called with `escape` set.
int nhs_jpeg_start_codec(nhs_jpeg *j, int denominator, int may_stop);
// Makes room for another group of blocks. To be called with `escape` set.
void nhs_jpeg_make_room(nhs_jpeg *leader);
// Sees to each group of blocks of a sequential picture before libjpeg does.
void nhs_jpeg_watch_groups(nhs_jpeg *j);
// Keeps a group for the followers.
void nhs_jpeg_keep(nhs_jpeg *leader, JBLOCKROW *blocks);
// Has libjpeg keep nothing but the means of blocks: of a progressive picture, with one pixel a block, before it starts.
int nhs_jpeg_keep_means(nhs_jpeg *j);
// Leaves the scan that has just begun unread when it has nothing but details, and means are all that is kept.
void nhs_jpeg_pass_over_details(nhs_jpeg *j);
void nhs_jpeg_free_means(nhs_jpeg *j);
// Lets a follower of a picture of several scans give the rows that the scans so far make.
int nhs_jpeg_begin_following(nhs_jpeg *follower);

#endif
