// Decodes a JPEG's scans and rows.
#include "jpeg_internal.h"

#include <jpegint.h>

// libjpeg-turbo has two ways to decode a group of blocks. It uses the fast one if the buffer holds more than a group
// can need. On damaged data their results differ, and would depend on the pieces of the input. So while more input may
// come, a group is begun only if the fast way will be taken, as with complete input. With followers, the group is kept
// for them.
static boolean on_decode_mcu(j_decompress_ptr codec, JBLOCKROW *blocks) {
    nhs_jpeg *j = codec->client_data;
    if (!j->has_ended && !codec->arith_code && j->source.bytes_in_buffer < MOST_OF_A_GROUP) {
        return FALSE;
    }
    if (!j->kept) {
        return j->decode_mcu(codec, blocks);
    }
    nhs_jpeg_make_room(j);
    if (!j->decode_mcu(codec, blocks)) {
        return FALSE;
    }
    nhs_jpeg_keep(j, blocks);
    return TRUE;
}

void nhs_jpeg_watch_groups(nhs_jpeg *j) {
    if (!j->decode_mcu) {
        j->decode_mcu = j->codec.entropy->decode_mcu;
        j->codec.entropy->decode_mcu = on_decode_mcu;
    }
}

// Decoding

static int judge_damage(nhs_jpeg *j) {
    if (j->limits.allow_damaged || !j->is_damaged) {
        return NHS_OK;
    }
    nhs_jpeg_fail(j, j->hit_end ? NHS_FAULT_TRUNCATED : NHS_FAULT_CORRUPT,
                  j->hit_end ? "the JPEG ends before its last row" : "damaged JPEG data");
    j->fault.offset = j->damage_offset;
    return NHS_FAILED;
}

int nhs_jpeg_header(nhs_jpeg *j, nhs_jpeg_info *info) {
    if (j->stage != STAGE_HEADER) {
        return j->stage == STAGE_FAILED ? NHS_FAILED
                                        : nhs_jpeg_fail(j, NHS_FAULT_INTERNAL, "header read twice");
    }
    if (setjmp(j->escape)) {
        return NHS_FAILED;
    }
    if (jpeg_read_header(&j->codec, TRUE) == JPEG_SUSPENDED) {
        return NHS_MORE;
    }
    if (j->hit_end) {
        return nhs_jpeg_fail(j, NHS_FAULT_TRUNCATED, "the JPEG ends within its header");
    }
    J_COLOR_SPACE space = j->codec.jpeg_color_space;
    bool is_cmyk = space == JCS_CMYK || space == JCS_YCCK;
    if (!is_cmyk && space != JCS_GRAYSCALE && space != JCS_YCbCr && space != JCS_RGB) {
        return nhs_jpeg_fail(j, NHS_FAULT_UNSUPPORTED, "a JPEG of an unknown colour space");
    }
    j->codec.out_color_space = is_cmyk ? JCS_CMYK : JCS_EXT_RGBX;
    j->stage = STAGE_READY;
    *info = (nhs_jpeg_info){
        .width = (int32_t)j->codec.image_width,
        .height = (int32_t)j->codec.image_height,
        .components = j->codec.num_components,
        .is_cmyk = is_cmyk,
        .is_inverted = j->codec.saw_Adobe_marker,
        .is_progressive = j->codec.progressive_mode,
    };
    return NHS_OK;
}

// Counts a scan after its header was read.
static int begin_scan(nhs_jpeg *j) {
    j->scans++;
    for (int i = 0; i < j->codec.comps_in_scan; i++) {
        const jpeg_component_info *c = j->codec.cur_comp_info[i];
        j->scan_blocks += (int64_t)c->width_in_blocks * c->height_in_blocks;
        j->components_seen |= 1u << c->component_index;
    }
    nhs_jpeg_pass_over_details(j);
    if (j->scans > j->limits.max_scans) {
        return nhs_jpeg_fail(j, NHS_FAULT_TOO_LARGE, "a JPEG of too many scans");
    }
    if (j->scan_blocks > j->limits.max_scan_blocks) {
        return nhs_jpeg_fail(j, NHS_FAULT_TOO_LARGE, "a JPEG whose scans would take too long");
    }
    return NHS_OK;
}

int nhs_jpeg_start(nhs_jpeg *j, int denominator, int may_stop, int32_t *width, int32_t *height) {
    if (j->stage != STAGE_READY) {
        return j->stage == STAGE_FAILED ? NHS_FAILED
                                        : nhs_jpeg_fail(j, NHS_FAULT_INTERNAL, "started twice");
    }
    if (setjmp(j->escape)) {
        return NHS_FAILED;
    }
    if (nhs_jpeg_start_codec(j, denominator, may_stop) != NHS_OK) {
        return NHS_FAILED;
    }
    nhs_jpeg_extend(j);
    // With complete input and no followers, libjpeg handles the groups alone.
    if (!j->codec.progressive_mode && !j->has_ended) {
        nhs_jpeg_watch_groups(j);
    }
    *width = (int32_t)j->codec.output_width;
    *height = (int32_t)j->codec.output_height;
    return begin_scan(j);
}

// Returns the resolution that a block's coefficients need if the block becomes DCT_scaled_size pixels a side.
static int needed_size(const nhs_jpeg *lane, int component) {
    int size = lane->codec.comp_info[component].DCT_scaled_size;
    // The thumbnail has about half as many pixels a side as the rows. Brightness gains from the rest; colour
    // differences don't.
    bool is_colour = component > 0 && lane->codec.jpeg_color_space == JCS_YCbCr;
    return is_colour && size > 1 ? size / 2 : size;
}

static bool is_about_means(nhs_jpeg *j) {
    jpeg_calc_output_dimensions(&j->codec);
    for (int c = 0; c < j->codec.num_components; c++) {
        if (needed_size(j, c) > 1) {
            return false;
        }
    }
    return true;
}

int nhs_jpeg_start_codec(nhs_jpeg *j, int denominator, int may_stop) {
    j->codec.scale_num = 1;
    j->codec.scale_denom = (unsigned)denominator;
    j->codec.dct_method = JDCT_ISLOW;
    j->codec.do_block_smoothing = FALSE; // triples the time of an early stop, and guesses
    j->is_buffered = jpeg_has_multiple_scans(&j->codec);
    j->codec.buffered_image = j->is_buffered;
    j->may_stop = may_stop;
    if (may_stop && !j->leader && j->codec.progressive_mode && is_about_means(j) &&
        nhs_jpeg_keep_means(j) != NHS_OK) {
        return NHS_FAILED;
    }
    if (!jpeg_start_decompress(&j->codec)) {
        return nhs_jpeg_fail(j, NHS_FAULT_INTERNAL, "libjpeg waits where it must not");
    }
    j->stage = j->is_buffered ? STAGE_SCANS : STAGE_ROWS;
    return NHS_OK;
}

// Returns whether later scans can't visibly change a component whose blocks become size x size pixels. `bits` is by
// zigzag number. The inverse transforms of 1, 2 and 4 average the 8 x 8 pixels, so that low frequencies make nearly the
// whole result.
static bool has_enough(const int *bits, int size) {
    static const unsigned char for_two[] = {0, 1, 2, 4};
    static const unsigned char for_four[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13};
    if (bits[0] < 0 || bits[0] > 1) {
        return false; // a coarser point transform shows as bands
    }
    if (size == 1) {
        return true;
    }
    const unsigned char *needed = size == 2 ? for_two : for_four;
    size_t count = size == 2 ? sizeof for_two : sizeof for_four;
    for (size_t i = 0; i < count; i++) {
        int most = needed[i] == 0 ? 1 : 2;
        if (bits[needed[i]] < 0 || bits[needed[i]] > most) {
            return false;
        }
    }
    return true;
}

static bool is_complete(const nhs_jpeg *j) {
    const struct jpeg_decompress_struct *codec = &j->codec;
    if (!codec->progressive_mode || !codec->coef_bits) {
        return j->components_seen == (1u << codec->num_components) - 1;
    }
    for (int c = 0; c < codec->num_components; c++) {
        for (int k = 0; k < DCTSIZE2; k++) {
            if (codec->coef_bits[c][k] != 0) {
                return false;
            }
        }
    }
    return true;
}

// Returns whether the scans that `j` has read are enough for the scale of `lane`: its own, or a follower's.
static bool is_enough(const nhs_jpeg *j, const nhs_jpeg *lane) {
    const struct jpeg_decompress_struct *codec = &j->codec;
    if (is_complete(j)) {
        return true;
    }
    if (!j->may_stop || !codec->progressive_mode || !codec->coef_bits) {
        return false;
    }
    for (int c = 0; c < codec->num_components; c++) {
        int size = needed_size(lane, c);
        if (size > 4 || !has_enough(codec->coef_bits[c], size)) {
            return false;
        }
    }
    return true;
}

// libjpeg's arithmetic decoder can't pause and resume, so it gets the complete input at once.
static bool must_wait(const nhs_jpeg *j) {
    return j->codec.arith_code && !j->has_ended && !j->leader;
}

// Lets followers start their rows: all of them, or those whose scale needs no more scans. Returns how many have begun.
static int begin_followers(nhs_jpeg *j, bool all) {
    int count = 0;
    for (int i = 0; i < j->follower_count; i++) {
        nhs_jpeg *follower = j->followers[i];
        if (follower->stage == STAGE_SCANS && (all || is_enough(j, follower))) {
            if (nhs_jpeg_begin_following(follower) != NHS_OK) {
                nhs_jpeg_fail(j, follower->fault.kind, follower->fault.message);
                longjmp(j->escape, 1);
            }
            count++;
        }
    }
    return count;
}

int nhs_jpeg_absorb(nhs_jpeg *j) {
    if (j->stage == STAGE_ROWS) {
        return NHS_OK;
    }
    if (j->stage != STAGE_SCANS) {
        return j->stage == STAGE_FAILED ? NHS_FAILED
                                        : nhs_jpeg_fail(j, NHS_FAULT_INTERNAL, "not started");
    }
    if (must_wait(j)) {
        return NHS_MORE;
    }
    if (setjmp(j->escape)) {
        return NHS_FAILED;
    }
    for (bool over = false; !over;) {
        switch (jpeg_consume_input(&j->codec)) {
        case JPEG_SUSPENDED:
            return NHS_MORE;
        case JPEG_REACHED_SOS:
            if (begin_scan(j) != NHS_OK) {
                return NHS_FAILED;
            }
            break;
        case JPEG_SCAN_COMPLETED:
            if (judge_damage(j) != NHS_OK) {
                return NHS_FAILED;
            }
            over = j->stopped = is_enough(j, j);
            if (!over && begin_followers(j, false) > 0) {
                return NHS_OK;
            }
            break;
        case JPEG_REACHED_EOI:
            over = true;
            break;
        default:
            break;
        }
    }
    if (!j->stopped && (j->hit_end || !j->codec.progressive_mode) && !is_complete(j)) {
        // Scans are missing. If a progressive picture has an end marker, that was intended.
        nhs_jpeg_note_damage(j);
    }
    if (judge_damage(j) != NHS_OK) {
        return NHS_FAILED;
    }
    // If the picture has no more scans, smoothing looks better than blocks.
    j->codec.do_block_smoothing = !j->stopped && !j->means && !is_complete(j);
    jpeg_start_output(&j->codec, j->codec.input_scan_number);
    j->stage = STAGE_ROWS;
    begin_followers(j, true);
    return NHS_OK;
}

int nhs_jpeg_rows(nhs_jpeg *j, uint8_t *rows, size_t stride, int32_t max_rows, int32_t *got) {
    enum { BATCH = 16 };
    *got = 0;
    if (j->stage != STAGE_ROWS) {
        return j->stage == STAGE_FAILED ? NHS_FAILED
                                        : nhs_jpeg_fail(j, NHS_FAULT_INTERNAL, "not started");
    }
    if (must_wait(j)) {
        return NHS_MORE;
    }
    if (setjmp(j->escape)) {
        return NHS_FAILED;
    }
    while (*got < max_rows && j->codec.output_scanline < j->codec.output_height) {
        JSAMPROW lines[BATCH];
        int32_t wanted = max_rows - *got < BATCH ? max_rows - *got : BATCH;
        for (int32_t i = 0; i < wanted; i++) {
            lines[i] = rows + (size_t)(*got + i) * stride;
        }
        JDIMENSION now = jpeg_read_scanlines(&j->codec, lines, (JDIMENSION)wanted);
        if (now == 0) {
            return *got > 0 ? NHS_OK : NHS_MORE;
        }
        *got += (int32_t)now;
        if (j->follower_count > 0) {
            break; // one row of groups is kept at a time, and followers read it next
        }
    }
    // The arithmetic decoder can't distinguish the end from zeros.
    if (j->hit_end && j->codec.arith_code && !j->is_buffered && !j->is_damaged) {
        nhs_jpeg_note_damage(j);
    }
    return judge_damage(j);
}

void nhs_jpeg_get_report(const nhs_jpeg *j, nhs_jpeg_report *report) {
    *report = (nhs_jpeg_report){
        .bytes_used = nhs_jpeg_position(j),
        .scans_used = j->scans,
        .stopped_early = j->stopped && !is_complete(j),
        .is_damaged = j->is_damaged,
        .is_truncated = j->is_damaged && j->hit_end,
        .damage_offset = j->damage_offset,
    };
}

void nhs_cmyk_to_rgbx(uint8_t *to, const uint8_t *from, size_t pixels, int is_inverted) {
    unsigned flip = is_inverted ? 0 : 255;
    for (size_t i = 0; i < pixels; i++) {
        unsigned light = from[4 * i + 3] ^ flip;
        for (int c = 0; c < 3; c++) {
            unsigned product = (from[4 * i + c] ^ flip) * light + 128;
            to[4 * i + c] = (uint8_t)((product + (product >> 8)) >> 8);
        }
        to[4 * i + 3] = 255;
    }
}
