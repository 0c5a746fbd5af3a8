// Rows of several scales from one pass over a JPEG's input. Every scale has its own libjpeg decoder with its own
// inverse transform and upsampling, so that its rows are the same as alone. Only one of them, the leader, reads the
// input.
#include "jpeg_internal.h"

#include <stdlib.h>
#include <string.h>

#include <jpegint.h>

// With one scan: the leader's groups of blocks are replayed

static const jpeg_component_info *component_of(const nhs_jpeg *j, int block) {
    return j->codec.cur_comp_info[j->codec.MCU_membership[block]];
}

static bool is_drained(const nhs_jpeg *follower, size_t kept) {
    return follower->taken == kept || follower->codec.output_scanline >= follower->codec.output_height;
}

void nhs_jpeg_make_room(nhs_jpeg *leader) {
    if (leader->kept_count < leader->kept_room) {
        return;
    }
    for (int i = 0; i < leader->follower_count; i++) {
        if (!is_drained(leader->followers[i], leader->kept_count)) {
            nhs_jpeg_fail(leader, NHS_FAULT_INTERNAL, "a scale was left behind");
            longjmp(leader->escape, 1);
        }
        leader->followers[i]->taken = 0;
    }
    leader->kept_count = 0;
}

void nhs_jpeg_keep(nhs_jpeg *leader, JBLOCKROW *blocks) {
    size_t count = (size_t)leader->codec.blocks_in_MCU;
    JBLOCK *to = leader->kept + leader->kept_count * count;
    for (size_t i = 0; i < count; i++) {
        memcpy(to[i], blocks[i][0], sizeof(JBLOCK));
    }
    leader->kept_count++;
}

static boolean on_replay(j_decompress_ptr codec, JBLOCKROW *blocks) {
    nhs_jpeg *j = codec->client_data;
    const nhs_jpeg *leader = j->leader;
    if (j->taken >= leader->kept_count) {
        return FALSE;
    }
    int count = codec->blocks_in_MCU;
    const JBLOCK *from = leader->kept + j->taken * (size_t)count;
    for (int i = 0; i < count; i++) {
        // The blocks were cleared. If a block becomes one pixel, only its mean is needed.
        bool is_mean = component_of(j, i)->DCT_scaled_size == 1;
        memcpy(blocks[i][0], from[i], is_mean ? sizeof(JCOEF) : sizeof(JBLOCK));
    }
    j->taken++;
    return TRUE;
}

static int make_kept(nhs_jpeg *leader) {
    if (leader->kept) {
        return NHS_OK;
    }
    const struct jpeg_decompress_struct *codec = &leader->codec;
    // With a single component, each group is one block, in as many rows as its sampling factor.
    size_t rows = codec->comps_in_scan == 1 ? (size_t)codec->cur_comp_info[0]->v_samp_factor : 1;
    leader->kept_room = codec->MCUs_per_row * rows;
    leader->kept = calloc(leader->kept_room, (size_t)codec->blocks_in_MCU * sizeof(JBLOCK));
    if (!leader->kept) {
        return NHS_FAILED;
    }
    nhs_jpeg_watch_groups(leader);
    return NHS_OK;
}

// With several scans: all read the leader's arrays of coefficients

static jvirt_barray_ptr on_request(j_common_ptr codec, int pool, boolean is_zeroed,
                                   JDIMENSION blocks_per_row, JDIMENSION rows, JDIMENSION rows_at_once) {
    (void)pool;
    (void)is_zeroed;
    (void)blocks_per_row;
    (void)rows;
    (void)rows_at_once;
    nhs_jpeg *j = codec->client_data;
    if (j->arrays_lent >= j->leader->codec.num_components) {
        nhs_jpeg_fail(j, NHS_FAULT_INTERNAL, "libjpeg wants more arrays than there are components");
        longjmp(j->escape, 1);
    }
    return j->leader->codec.coef->coef_arrays[j->arrays_lent++];
}

int nhs_jpeg_begin_following(nhs_jpeg *j) {
    if (setjmp(j->escape)) {
        return NHS_FAILED;
    }
    // Copy the state that the leader has read from the input, which this decoder hasn't seen.
    const struct jpeg_decompress_struct *leader = &j->leader->codec;
    for (int c = 0; c < leader->num_components; c++) {
        j->codec.comp_info[c].quant_table = leader->comp_info[c].quant_table;
    }
    j->codec.coef_bits = leader->coef_bits;
    j->codec.input_scan_number = leader->input_scan_number;
    j->codec.input_iMCU_row = leader->total_iMCU_rows;
    j->codec.inputctl->eoi_reached = leader->inputctl->eoi_reached;
    j->codec.master->last_good_iMCU_row = leader->master->last_good_iMCU_row;
    j->codec.do_block_smoothing = leader->do_block_smoothing;
    jpeg_start_output(&j->codec, j->codec.input_scan_number);
    j->stage = STAGE_ROWS;
    return NHS_OK;
}

int nhs_jpeg_follow(nhs_jpeg *j, nhs_jpeg *leader, int denominator, int32_t *width, int32_t *height) {
    bool is_started = leader->stage == STAGE_SCANS || leader->stage == STAGE_ROWS;
    if (j->stage != STAGE_READY || !is_started || leader->leader || leader->means ||
        leader->follower_count == MAX_FOLLOWERS) {
        return nhs_jpeg_fail(j, NHS_FAULT_INTERNAL, "a JPEG decoder can't follow");
    }
    if (setjmp(j->escape)) {
        return NHS_FAILED;
    }
    j->leader = leader;
    if (leader->is_buffered) {
        j->codec.mem->request_virt_barray = on_request;
    } else if (make_kept(leader) != NHS_OK) {
        return nhs_jpeg_fail(j, NHS_FAULT_OUT_OF_MEMORY, "no memory for a row of blocks");
    }
    if (nhs_jpeg_start_codec(j, denominator, leader->may_stop) != NHS_OK) {
        return NHS_FAILED;
    }
    if (!leader->is_buffered) {
        j->codec.entropy->decode_mcu = on_replay;
    }
    leader->followers[leader->follower_count++] = j;
    *width = (int32_t)j->codec.output_width;
    *height = (int32_t)j->codec.output_height;
    return NHS_OK;
}

int nhs_jpeg_has_rows(const nhs_jpeg *j) {
    return j->stage == STAGE_ROWS;
}
