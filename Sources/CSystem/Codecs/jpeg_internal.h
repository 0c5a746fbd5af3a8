// Shared by the files of the JPEG decoder.
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

// The most bytes that libjpeg-turbo wants in the buffer before it decodes a group of blocks in its fast way.
enum { MOST_OF_A_GROUP = DCTSIZE2 * 8 * D_MAX_BLOCKS_IN_MCU };

struct nhs_jpeg {
    struct jpeg_decompress_struct codec;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf escape;
    nhs_fault fault;
    nhs_warnings warnings;
    nhs_jpeg_limits limits;
    enum stage stage;
    bool may_stop; // after the scans that the scale needs
    bool is_buffered; // several scans: libjpeg's buffered-image mode
    bool stopped;
    int32_t scans;
    int64_t scan_blocks;
    uint32_t components_seen; // bit per component that had a scan
    boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW *);

    // Several scales: the leader reads the input, and followers make rows of other scales from its coefficients.
    nhs_jpeg *leader;
    nhs_jpeg *followers[MAX_FOLLOWERS];
    int follower_count;
    JBLOCK *kept;       // leader: the groups of one row, in the order of the stream
    size_t kept_room;   // in groups of blocks
    size_t kept_count;
    size_t taken;       // follower: the number of those that it has read
    int arrays_lent;    // follower: the number of its leader's arrays that it has got; or of `means`

    nhs_jpeg_means *means; // one for each component, if only means are kept
    bool passes_over;      // the current scan has only details, which aren't kept

    uint8_t *own;       // copied input that isn't consumed yet
    size_t own_size;
    int64_t fed;        // input bytes so far
    size_t skip;        // bytes to skip that haven't arrived yet
    size_t extension;   // bytes in the buffer that aren't input (`nhs_jpeg_extend`)
    bool has_ended;     // the input is complete
    bool hit_end;       // libjpeg has read beyond the end
    bool is_damaged;
    int64_t damage_offset;
};

// The number of input bytes that libjpeg has consumed.
int64_t nhs_jpeg_position(const nhs_jpeg *j);
// Sets the fault unless there is one already. Returns NHS_FAILED.
int nhs_jpeg_fail(nhs_jpeg *j, int kind, const char *message);
// Notes that pixels are missing or wrong from this point on.
void nhs_jpeg_note_damage(nhs_jpeg *j);

// libjpeg-turbo decodes the last 3 KB in its slow way, because the buffer ends there: in a small picture that is much.
// So this copies the rest of a small one with one scan, and puts markers behind its end marker. Nothing reads those.
void nhs_jpeg_extend(nhs_jpeg *j);

// Starts libjpeg. Call it with `escape` set.
int nhs_jpeg_start_codec(nhs_jpeg *j, int denominator, int may_stop);
// Makes room for another group of blocks. Call it with `escape` set.
void nhs_jpeg_make_room(nhs_jpeg *leader);
// Installs the callback that sees each group of blocks of a sequential picture before libjpeg.
void nhs_jpeg_watch_groups(nhs_jpeg *j);
// Keeps a group for the followers.
void nhs_jpeg_keep(nhs_jpeg *leader, JBLOCKROW *blocks);
// Makes libjpeg keep only the means of blocks. For a progressive picture with one pixel a block, before it starts.
int nhs_jpeg_keep_means(nhs_jpeg *j);
// Skips the scan that has just begun if it only has details and only means are kept.
void nhs_jpeg_pass_over_details(nhs_jpeg *j);
void nhs_jpeg_free_means(nhs_jpeg *j);
// Lets a follower of a picture with several scans make rows from the scans so far.
int nhs_jpeg_begin_following(nhs_jpeg *follower);

#endif
