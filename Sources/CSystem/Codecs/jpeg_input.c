// Creates and frees a JPEG decoder, manages its input, and handles libjpeg's messages.
#include "jpeg_internal.h"

#include <stdlib.h>
#include <string.h>

#include <jerror.h>

// libjpeg reads this at the end of the input: an end-of-image marker.
static const JOCTET end_of_image[2] = {0xFF, JPEG_EOI};

int64_t nhs_jpeg_position(const nhs_jpeg *j) {
    size_t left = j->source.bytes_in_buffer;
    left -= left < j->extension ? left : j->extension;
    return j->hit_end ? j->fed : j->fed - (int64_t)left;
}

int nhs_jpeg_fail(nhs_jpeg *j, int kind, const char *message) {
    j->stage = STAGE_FAILED;
    if (j->fault.kind == NHS_FAULT_NONE) {
        j->fault.kind = kind;
        j->fault.offset = nhs_jpeg_position(j);
        snprintf(j->fault.message, sizeof j->fault.message, "%s", message);
    }
    return NHS_FAILED;
}

void nhs_jpeg_note_damage(nhs_jpeg *j) {
    if (!j->is_damaged) {
        j->is_damaged = true;
        j->damage_offset = nhs_jpeg_position(j);
    }
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
    nhs_jpeg_fail(j, kind, message);
    longjmp(j->escape, 1);
}

// Returns whether the current scan only adds details: if it breaks off, only some details are missing.
static bool is_refining(const nhs_jpeg *j) {
    return j->codec.progressive_mode && (j->codec.Ss > 0 || j->codec.Ah > 0);
}

static void on_message(j_common_ptr codec, int level) {
    nhs_jpeg *j = codec->client_data;
    if (level >= 0) {
        return;
    }
    if (j->passes_over && codec->err->msg_code == JWRN_EXTRANEOUS_DATA) {
        return;
    }
    j->warnings.count++;
    if (j->warnings.kept < NHS_KEPT_WARNINGS) {
        char message[JMSG_LENGTH_MAX];
        codec->err->format_message(codec, message);
        snprintf(j->warnings.messages[j->warnings.kept++], NHS_MESSAGE_BYTES, "%s", message);
    }
    switch (codec->err->msg_code) {
    // These warnings mean missing or wrong pixels; others concern stray bytes between segments.
    case JWRN_HIT_MARKER:
        if (is_refining(j) && !j->hit_end) {
            break;
        }
        __attribute__((fallthrough));
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        nhs_jpeg_note_damage(j);
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

// Creating and freeing

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
    free(j->kept);
    nhs_jpeg_free_means(j);
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
        return nhs_jpeg_fail(j, NHS_FAULT_TOO_LARGE, "too many bytes");
    }
    if (needed > j->own_size) {
        size_t size = needed < 4096 ? 4096 : needed + needed / 2;
        uint8_t *grown = malloc(size);
        if (!grown) {
            return nhs_jpeg_fail(j, NHS_FAULT_OUT_OF_MEMORY, "no memory for the input");
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
    if (j->stage == STAGE_ROWS) {
        nhs_jpeg_extend(j);
    }
}

void nhs_jpeg_extend(nhs_jpeg *j) {
    enum { LONGEST = 64 << 10 }; // in a longer picture, the last groups don't count
    size_t left = j->source.bytes_in_buffer;
    const JOCTET *from = j->source.next_input_byte;
    bool has_groups = !j->leader && !j->is_buffered && !j->codec.progressive_mode && !j->codec.arith_code;
    if (!has_groups || !j->has_ended || j->extension > 0 || j->fed > LONGEST || left < sizeof end_of_image ||
        memcmp(from + left - sizeof end_of_image, end_of_image, sizeof end_of_image) != 0) {
        return;
    }
    uint8_t *longer = malloc(left + MOST_OF_A_GROUP);
    if (!longer) {
        return;
    }
    memcpy(longer, from, left);
    for (size_t i = 0; i < MOST_OF_A_GROUP; i += sizeof end_of_image) {
        memcpy(longer + left + i, end_of_image, sizeof end_of_image);
    }
    free(j->own);
    j->own = longer;
    j->own_size = left + MOST_OF_A_GROUP;
    j->extension = MOST_OF_A_GROUP;
    j->source.next_input_byte = longer;
    j->source.bytes_in_buffer = left + MOST_OF_A_GROUP;
}

const nhs_fault *nhs_jpeg_fault(const nhs_jpeg *j) {
    return &j->fault;
}

const nhs_warnings *nhs_jpeg_warnings(const nhs_jpeg *j) {
    return &j->warnings;
}
