#include "nhs_jpeg_decode.h"

#include <stdbool.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>
#include <jpegint.h>

enum stage { STAGE_HEADER, STAGE_READY, STAGE_SCANS, STAGE_ROWS, STAGE_FAILED };

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

    uint8_t *own;       // bytes that were fed and not yet used up
    size_t own_size;
    int64_t fed;        // bytes given so far
    size_t skip;        // bytes to pass over that were not yet given
    bool has_ended;     // no more input will come
    bool hit_end;       // libjpeg asked beyond the end
    bool is_damaged;
    int64_t damage_offset;
};

// What libjpeg reads when the input is over: an end-of-image marker.
static const JOCTET end_of_image[2] = {0xFF, JPEG_EOI};

static int64_t position(const nhs_jpeg *j) {
    return j->hit_end ? j->fed : j->fed - (int64_t)j->source.bytes_in_buffer;
}

static void set_fault(nhs_jpeg *j, int kind, const char *message) {
    j->stage = STAGE_FAILED;
    if (j->fault.kind != NHS_FAULT_NONE) {
        return;
    }
    j->fault.kind = kind;
    j->fault.offset = position(j);
    snprintf(j->fault.message, sizeof j->fault.message, "%s", message);
}

static int fail(nhs_jpeg *j, int kind, const char *message) {
    set_fault(j, kind, message);
    return NHS_FAILED;
}

// libjpeg's callbacks

static int kind_of(int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY:
        return NHS_FAULT_OUT_OF_MEMORY;
    case JERR_NO_BACKING_STORE: // max_memory_to_use is exhausted
    case JERR_WIDTH_OVERFLOW:
    case JERR_IMAGE_TOO_BIG:
        return NHS_FAULT_TOO_MANY_PIXELS;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_NOT_COMPILED:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
        return NHS_FAULT_UNSUPPORTED;
    case JERR_BAD_STATE:
    case JERR_BAD_LIB_VERSION:
    case JERR_BAD_STRUCT_SIZE:
    case JERR_BAD_VIRTUAL_ACCESS:
    case JERR_CANT_SUSPEND:
        return NHS_FAULT_INTERNAL;
    default:
        return NHS_FAULT_CORRUPT;
    }
}

static void on_error(j_common_ptr codec) {
    nhs_jpeg *j = codec->client_data;
    char message[JMSG_LENGTH_MAX];
    codec->err->format_message(codec, message);
    int kind = kind_of(codec->err->msg_code);
    if (kind == NHS_FAULT_CORRUPT && j->hit_end) {
        kind = NHS_FAULT_TRUNCATED;
    }
    set_fault(j, kind, message);
    longjmp(j->escape, 1);
}

// Whether the current scan adds details: where such a scan breaks off, some are missing, and no more.
static bool is_refining(const nhs_jpeg *j) {
    return j->codec.progressive_mode && (j->codec.Ss > 0 || j->codec.Ah > 0);
}

static void on_message(j_common_ptr codec, int level) {
    nhs_jpeg *j = codec->client_data;
    if (level >= 0) {
        return;
    }
    j->warnings.count++;
    if (j->warnings.kept < NHS_KEPT_WARNINGS) {
        char message[JMSG_LENGTH_MAX];
        codec->err->format_message(codec, message);
        snprintf(j->warnings.messages[j->warnings.kept++], NHS_MESSAGE_BYTES, "%s", message);
    }
    switch (codec->err->msg_code) {
    // Pixels are missing or wrong, as opposed to stray bytes between segments.
    case JWRN_HIT_MARKER:
        if (is_refining(j) && !j->hit_end) {
            break;
        }
        __attribute__((fallthrough));
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        if (!j->is_damaged) {
            j->is_damaged = true;
            j->damage_offset = position(j);
        }
        break;
    default:
        break;
    }
}

static void on_output(j_common_ptr codec) {
    (void)codec;
}

static void on_source(j_decompress_ptr codec) {
    (void)codec;
}

static boolean on_fill(j_decompress_ptr codec) {
    nhs_jpeg *j = codec->client_data;
    if (!j->has_ended) {
        return FALSE;
    }
    j->hit_end = true;
    j->source.next_input_byte = end_of_image;
    j->source.bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

static void on_skip(j_decompress_ptr codec, long count) {
    nhs_jpeg *j = codec->client_data;
    if (count <= 0 || j->hit_end) {
        return;
    }
    size_t wanted = (size_t)count;
    size_t now = wanted < j->source.bytes_in_buffer ? wanted : j->source.bytes_in_buffer;
    j->source.next_input_byte += now;
    j->source.bytes_in_buffer -= now;
    j->skip = wanted - now;
}

// Life

nhs_jpeg *nhs_jpeg_new(const nhs_jpeg_limits *limits) {
    nhs_jpeg *j = calloc(1, sizeof *j);
    if (!j) {
        return NULL;
    }
    j->limits = *limits;
    j->fault.offset = -1;
    j->damage_offset = -1;
    j->codec.err = jpeg_std_error(&j->errors);
    j->errors.error_exit = on_error;
    j->errors.emit_message = on_message;
    j->errors.output_message = on_output;
    j->codec.client_data = j;
    if (setjmp(j->escape)) {
        nhs_jpeg_free(j);
        return NULL;
    }
    jpeg_create_decompress(&j->codec);
    j->codec.client_data = j;
    long most = limits->max_memory > 0 ? (long)limits->max_memory : 1;
    j->codec.mem->max_memory_to_use = most;
    j->source.init_source = on_source;
    j->source.fill_input_buffer = on_fill;
    j->source.skip_input_data = on_skip;
    j->source.resync_to_restart = jpeg_resync_to_restart;
    j->source.term_source = on_source;
    j->codec.src = &j->source;
    return j;
}

void nhs_jpeg_free(nhs_jpeg *j) {
    if (!j) {
        return;
    }
    if (!setjmp(j->escape)) {
        jpeg_destroy_decompress(&j->codec);
    }
    free(j->own);
    free(j);
}

// Input

static void pass_skipped(nhs_jpeg *j) {
    size_t now = j->skip < j->source.bytes_in_buffer ? j->skip : j->source.bytes_in_buffer;
    j->source.next_input_byte += now;
    j->source.bytes_in_buffer -= now;
    j->skip -= now;
}

void nhs_jpeg_borrow(nhs_jpeg *j, const void *bytes, size_t count) {
    j->source.next_input_byte = bytes;
    j->source.bytes_in_buffer = count;
    j->fed = (int64_t)count;
}

int nhs_jpeg_feed(nhs_jpeg *j, const void *bytes, size_t count) {
    if (j->stage == STAGE_FAILED) {
        return NHS_FAILED;
    }
    if (j->has_ended || count == 0) {
        return NHS_OK;
    }
    size_t left = j->source.bytes_in_buffer;
    size_t needed;
    if (__builtin_add_overflow(left, count, &needed)) {
        return fail(j, NHS_FAULT_TOO_LARGE, "too many bytes");
    }
    if (needed > j->own_size) {
        size_t size = needed < 4096 ? 4096 : needed + needed / 2;
        uint8_t *grown = malloc(size);
        if (!grown) {
            return fail(j, NHS_FAULT_OUT_OF_MEMORY, "no memory for the input");
        }
        if (left > 0) {
            memcpy(grown, j->source.next_input_byte, left);
        }
        free(j->own);
        j->own = grown;
        j->own_size = size;
    } else if (left > 0 && j->source.next_input_byte != j->own) {
        memmove(j->own, j->source.next_input_byte, left);
    }
    memcpy(j->own + left, bytes, count);
    j->source.next_input_byte = j->own;
    j->source.bytes_in_buffer = needed;
    j->fed += (int64_t)count;
    pass_skipped(j);
    return NHS_OK;
}

void nhs_jpeg_end(nhs_jpeg *j) {
    j->has_ended = true;
}

// libjpeg-turbo decodes a group of blocks by one of two ways, the fast one where the buffer holds more than the
// group can need. On damaged data the two differ, so that the result would depend on the pieces: as long as input
// is to come, a group is begun only when the fast way is taken, as it would be with all the input there.
static boolean on_decode_mcu(j_decompress_ptr codec, JBLOCKROW *blocks) {
    enum { MOST_OF_A_GROUP = DCTSIZE2 * 8 * D_MAX_BLOCKS_IN_MCU };
    nhs_jpeg *j = codec->client_data;
    if (!j->has_ended && j->source.bytes_in_buffer < MOST_OF_A_GROUP) {
        return FALSE;
    }
    return j->decode_mcu(codec, blocks);
}

// Decoding

static int judge_damage(nhs_jpeg *j) {
    if (j->limits.allow_damaged || !j->is_damaged) {
        return NHS_OK;
    }
    j->fault.offset = j->damage_offset;
    set_fault(j, j->hit_end ? NHS_FAULT_TRUNCATED : NHS_FAULT_CORRUPT,
              j->hit_end ? "the JPEG ends before its last row" : "damaged JPEG data");
    j->fault.offset = j->damage_offset;
    return NHS_FAILED;
}

int nhs_jpeg_header(nhs_jpeg *j, nhs_jpeg_info *info) {
    if (j->stage != STAGE_HEADER) {
        return j->stage == STAGE_FAILED ? NHS_FAILED : fail(j, NHS_FAULT_INTERNAL, "header read twice");
    }
    if (setjmp(j->escape)) {
        return NHS_FAILED;
    }
    if (jpeg_read_header(&j->codec, TRUE) == JPEG_SUSPENDED) {
        return NHS_MORE;
    }
    if (j->hit_end) {
        return fail(j, NHS_FAULT_TRUNCATED, "the JPEG ends within its header");
    }
    J_COLOR_SPACE space = j->codec.jpeg_color_space;
    bool is_cmyk = space == JCS_CMYK || space == JCS_YCCK;
    if (!is_cmyk && space != JCS_GRAYSCALE && space != JCS_YCbCr && space != JCS_RGB) {
        return fail(j, NHS_FAULT_UNSUPPORTED, "a JPEG of an unknown colour space");
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

// Counts a scan whose header was just read.
static int begin_scan(nhs_jpeg *j) {
    j->scans++;
    for (int i = 0; i < j->codec.comps_in_scan; i++) {
        const jpeg_component_info *c = j->codec.cur_comp_info[i];
        j->scan_blocks += (int64_t)c->width_in_blocks * c->height_in_blocks;
        j->components_seen |= 1u << c->component_index;
    }
    if (j->scans > j->limits.max_scans) {
        return fail(j, NHS_FAULT_TOO_LARGE, "a JPEG of too many scans");
    }
    if (j->scan_blocks > j->limits.max_scan_blocks) {
        return fail(j, NHS_FAULT_TOO_LARGE, "a JPEG whose scans would take too long");
    }
    return NHS_OK;
}

int nhs_jpeg_start(nhs_jpeg *j, int denominator, int may_stop, int32_t *width, int32_t *height) {
    if (j->stage != STAGE_READY) {
        return j->stage == STAGE_FAILED ? NHS_FAILED : fail(j, NHS_FAULT_INTERNAL, "started twice");
    }
    if (setjmp(j->escape)) {
        return NHS_FAILED;
    }
    j->codec.scale_num = 1;
    j->codec.scale_denom = (unsigned)denominator;
    j->codec.dct_method = JDCT_ISLOW;
    j->codec.do_block_smoothing = FALSE; // triples the time of an early stop, and guesses
    j->is_buffered = jpeg_has_multiple_scans(&j->codec);
    j->codec.buffered_image = j->is_buffered;
    j->may_stop = may_stop;
    if (!jpeg_start_decompress(&j->codec)) {
        return fail(j, NHS_FAULT_INTERNAL, "libjpeg waits where it must not");
    }
    if (!j->codec.progressive_mode && !j->codec.arith_code) {
        j->decode_mcu = j->codec.entropy->decode_mcu;
        j->codec.entropy->decode_mcu = on_decode_mcu;
    }
    j->stage = j->is_buffered ? STAGE_SCANS : STAGE_ROWS;
    *width = (int32_t)j->codec.output_width;
    *height = (int32_t)j->codec.output_height;
    return begin_scan(j);
}

// Whether a scan could still change a component's coefficients that matter when each of its blocks becomes
// size x size pixels. Zigzag numbers; the inverse transforms of 1, 2 and 4 average the 8 x 8 pixels, so that
// low frequencies make nearly all of the result.
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

static bool is_enough(const nhs_jpeg *j) {
    const struct jpeg_decompress_struct *codec = &j->codec;
    if (is_complete(j)) {
        return true;
    }
    if (!j->may_stop || !codec->progressive_mode || !codec->coef_bits) {
        return false;
    }
    for (int c = 0; c < codec->num_components; c++) {
        int size = codec->comp_info[c].DCT_scaled_size;
        // The thumbnail has about half as many pixels a side as the rows. Brightness profits from the rest,
        // colour differences don't.
        if (c > 0 && codec->jpeg_color_space == JCS_YCbCr && size > 1) {
            size /= 2;
        }
        if (size > 4 || !has_enough(codec->coef_bits[c], size)) {
            return false;
        }
    }
    return true;
}

// libjpeg's arithmetic decoder can't stop in the middle and go on later, so that it gets all the input at once.
static bool must_wait(const nhs_jpeg *j) {
    return j->codec.arith_code && !j->has_ended;
}

int nhs_jpeg_absorb(nhs_jpeg *j) {
    if (j->stage == STAGE_ROWS) {
        return NHS_OK;
    }
    if (j->stage != STAGE_SCANS) {
        return j->stage == STAGE_FAILED ? NHS_FAILED : fail(j, NHS_FAULT_INTERNAL, "not started");
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
            over = j->stopped = is_enough(j);
            break;
        case JPEG_REACHED_EOI:
            over = true;
            break;
        default:
            break;
        }
    }
    if (!j->stopped && (j->hit_end || !j->codec.progressive_mode) && !is_complete(j)) {
        // Scans are missing. A progressive picture with an end marker chose to have no more of them.
        if (!j->is_damaged) {
            j->is_damaged = true;
            j->damage_offset = position(j);
        }
    }
    if (judge_damage(j) != NHS_OK) {
        return NHS_FAILED;
    }
    // Where the picture itself has no more scans, guessing what they would have said looks better than blocks.
    j->codec.do_block_smoothing = !j->stopped && !is_complete(j);
    jpeg_start_output(&j->codec, j->codec.input_scan_number);
    j->stage = STAGE_ROWS;
    return NHS_OK;
}

int nhs_jpeg_rows(nhs_jpeg *j, uint8_t *rows, size_t stride, int32_t max_rows, int32_t *got) {
    enum { BATCH = 16 };
    *got = 0;
    if (j->stage != STAGE_ROWS) {
        return j->stage == STAGE_FAILED ? NHS_FAILED : fail(j, NHS_FAULT_INTERNAL, "not started");
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
    }
    // The arithmetic decoder can't tell an end from zeros.
    if (j->hit_end && j->codec.arith_code && !j->is_buffered && !j->is_damaged) {
        j->is_damaged = true;
        j->damage_offset = position(j);
    }
    return judge_damage(j);
}

void nhs_jpeg_get_report(const nhs_jpeg *j, nhs_jpeg_report *report) {
    *report = (nhs_jpeg_report){
        .bytes_used = position(j),
        .scans_used = j->scans,
        .stopped_early = j->stopped && !is_complete(j),
        .is_damaged = j->is_damaged,
        .is_truncated = j->is_damaged && j->hit_end,
        .damage_offset = j->damage_offset,
    };
}

const nhs_fault *nhs_jpeg_fault(const nhs_jpeg *j) {
    return &j->fault;
}

const nhs_warnings *nhs_jpeg_warnings(const nhs_jpeg *j) {
    return &j->warnings;
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
