#include "CUnpacking.h"

#include <lzma.h>
#include <nhs_unpack.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct nhp_unpacker {
    int kind;
    nhs_unpacker *gzip;
    ZSTD_DStream *zstd;
    lzma_stream xz;
    int is_between;     /* before, between or behind streams, which zstd calls frames */
    int has_ended;      /* at least one stream has been whole */
};

/* xz's limit counts the dictionary and the rest of the unpacker's memory. */
static const uint64_t xz_limit = ((uint64_t)NHP_MOST_MIB + 1) << 20;

static int begin_zstd(nhp_unpacker *u) {
    u->zstd = ZSTD_createDStream();
    /* 2 to the power of 27 is 128 MiB. */
    return u->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, 27));
}

nhp_unpacker *nhp_unpacker_new(int kind) {
    nhp_unpacker *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    u->kind = kind;
    u->is_between = 1;
    u->xz = (lzma_stream)LZMA_STREAM_INIT;
    if (kind == NHP_GZIP) u->gzip = nhs_unpacker_new(NHS_UNPACK_GZIP);
    if (kind == NHP_XZ || u->gzip || (kind == NHP_ZSTD && begin_zstd(u))) return u;
    nhp_unpacker_free(u);
    return NULL;
}

void nhp_unpacker_free(nhp_unpacker *u) {
    if (!u) return;
    nhs_unpacker_free(u->gzip);
    ZSTD_freeDStream(u->zstd);
    lzma_end(&u->xz);
    free(u);
}

static int zstd_fault(const nhp_unpacker *u, size_t code) {
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_prefix_unknown: return u->has_ended ? NHP_FOLLOWED : NHP_BAD;
    case ZSTD_error_frameParameter_windowTooLarge: return NHP_TOO_LARGE;
    case ZSTD_error_memory_allocation: return NHP_NO_MEMORY;
    default: return NHP_BAD;
    }
}

static int unpack_zstd(nhp_unpacker *u, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity,
                       size_t *written) {
    ZSTD_inBuffer input = {*in, *in_count, 0};
    ZSTD_outBuffer output = {out, capacity, 0};
    int state = NHP_FULL;
    while (state == NHP_FULL && output.pos < output.size) {
        /* Between two frames there is nothing left to write, and a call without input would begin a frame. */
        if (u->is_between && input.pos == input.size) {
            state = NHP_MORE;
            break;
        }
        size_t before = output.pos;
        int is_all_taken = input.pos == input.size;
        size_t hint = ZSTD_decompressStream(u->zstd, &output, &input);
        if (ZSTD_isError(hint)) {
            state = zstd_fault(u, hint);
        } else {
            u->is_between = hint == 0;
            u->has_ended |= u->is_between;
            if (is_all_taken && output.pos == before) state = NHP_MORE;
        }
    }
    *in += input.pos;
    *in_count -= input.pos;
    *written = output.pos;
    return state;
}

static int xz_fault(const nhp_unpacker *u, lzma_ret code) {
    switch (code) {
    case LZMA_FORMAT_ERROR: return u->has_ended ? NHP_FOLLOWED : NHP_BAD;
    case LZMA_MEMLIMIT_ERROR: return NHP_TOO_LARGE;
    case LZMA_MEM_ERROR: return NHP_NO_MEMORY;
    default: return NHP_BAD;
    }
}

/* Skips the zero padding that may follow a stream, and begins the next stream. */
static int begin_next_xz(nhp_unpacker *u) {
    while (u->has_ended && u->xz.avail_in > 0 && *u->xz.next_in == 0) {
        u->xz.next_in++;
        u->xz.avail_in--;
    }
    if (u->xz.avail_in == 0) return NHP_MORE;
    /* Check the first byte: xz judges a header only when it is complete, which garbage may never be. */
    if (*u->xz.next_in != 0xfd) return NHP_FOLLOWED;
    /* Begin each stream with a new decoder: with LZMA_CONCATENATED, xz reports everything after the first stream as damaged. */
    lzma_ret code = lzma_stream_decoder(&u->xz, xz_limit, 0);
    if (code != LZMA_OK) return xz_fault(u, code);
    u->is_between = 0;
    return NHP_FULL;
}

static int unpack_xz(nhp_unpacker *u, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity,
                     size_t *written) {
    u->xz.next_in = *in;
    u->xz.avail_in = *in_count;
    u->xz.next_out = out;
    u->xz.avail_out = capacity;
    int state = NHP_FULL;
    while (state == NHP_FULL && u->xz.avail_out > 0) {
        if (u->is_between) {
            state = begin_next_xz(u);
            continue;
        }
        lzma_ret code = lzma_code(&u->xz, LZMA_RUN);
        if (code == LZMA_STREAM_END) {
            u->is_between = u->has_ended = 1;
        } else if (code == LZMA_BUF_ERROR && u->xz.avail_in == 0) {
            state = NHP_MORE;
        } else if (code != LZMA_OK) {
            state = xz_fault(u, code);
        }
    }
    *in = u->xz.next_in;
    *in_count = u->xz.avail_in;
    *written = capacity - u->xz.avail_out;
    return state;
}

static int unpack_gzip(nhp_unpacker *u, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity,
                       size_t *written) {
    switch (nhs_unpack(u->gzip, in, in_count, out, capacity, written)) {
    case NHS_UNPACK_MORE: return NHP_MORE;
    case NHS_UNPACK_FULL: return NHP_FULL;
    default: return NHP_BAD;
    }
}

int nhp_unpack(nhp_unpacker *u, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity,
               size_t *written) {
    switch (u->kind) {
    case NHP_GZIP: return unpack_gzip(u, in, in_count, out, capacity, written);
    case NHP_ZSTD: return unpack_zstd(u, in, in_count, out, capacity, written);
    default: return unpack_xz(u, in, in_count, out, capacity, written);
    }
}

int nhp_unpacker_is_whole(const nhp_unpacker *u) { return u->gzip ? nhs_unpacker_is_whole(u->gzip) : u->is_between; }

int nhp_unpacker_left_something(const nhp_unpacker *u) { return u->gzip && nhs_unpacker_left_something(u->gzip); }

const char *nhp_zstd_version(void) { return ZSTD_versionString(); }

const char *nhp_xz_version(void) { return lzma_version_string(); }
