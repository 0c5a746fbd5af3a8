// The common kinds of PNG pixels, inflated by ISA-L a few rows at a time. It accepts and refuses exactly what libpng
// does. So it keeps the order of libpng's checks and its pieces of 8 KiB, because some results depend on them.
#include "png_internal.h"

#include <string.h>

#include "nhs_inflate.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { RING_ROWS = 16, PIECE = 8192 };

enum { CHUNK_IDAT = 0x49444154, CHUNK_IEND = 0x49454E44, CHUNK_IHDR = 0x49484452, CHUNK_PLTE = 0x504C5445 };

#if defined(__x86_64__)
__attribute__((target("avx"))) static void clear_upper_halves(void) {
    _mm256_zeroupper();
}
#endif

// igzip leaves the upper halves of the registers dirty, which slows later SSE2 code down.
static int inflate_piece(png_stream *s) {
    int status = isal_inflate(&s->inflate);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx")) {
        clear_upper_halves();
    }
#endif
    return status;
}

static uint32_t be32(const uint8_t *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int too_short(nhs_png *p) {
    p->position = p->count;
    return nhs_png_fail(p, NHS_FAULT_TRUNCATED, "the PNG ends too early");
}

// Returns NHS_MORE if libpng must decode the picture.
int png_stream_open(nhs_png *p) {
    const uint8_t *data = p->bytes + p->position;
    uint32_t chunk = be32(data - 8);
    if (chunk < 2 || p->count - p->position < 2) {
        return NHS_MORE;
    }
    // A window of 32 KiB, deflate, no dictionary, a correct check: anything else is rare or an error.
    if (data[0] != 0x78 || (data[1] & 0x20) || (data[0] << 8 | data[1]) % 31 != 0) {
        return NHS_MORE;
    }
    png_stream *s = nhs_png_allocate(p, sizeof *s);
    if (!s) {
        return nhs_png_fail(p, NHS_FAULT_OUT_OF_MEMORY, "no memory for the inflater");
    }
    memset(s, 0, sizeof *s);
    p->stream = s;
    static const uint8_t channels[] = {1, 0, 3, 1, 2, 0, 4};
    s->pixel_bytes = channels[p->color_type];
    s->row_bytes = (size_t)p->width * (size_t)s->pixel_bytes;
    s->ring = nhs_png_allocate(p, (s->row_bytes + 1) * (RING_ROWS + 1) + 3);
    if (!s->ring) {
        return nhs_png_fail(p, p->out_of_memory ? NHS_FAULT_OUT_OF_MEMORY : NHS_FAULT_TOO_MANY_PIXELS,
                            "no memory for a few rows");
    }
    memset(s->ring, 0, s->row_bytes + 1);
    memset(s->ring + (s->row_bytes + 1) * (RING_ROWS + 1), 0, 3);
    if (p->color_type == PNG_COLOR_TYPE_PALETTE) {
        png_colorp colors;
        png_bytep alphas;
        int color_count = 0, alpha_count = 0;
        png_get_PLTE(p->png, p->info, &colors, &color_count);
        if (!png_get_tRNS(p->png, p->info, &alphas, &alpha_count, NULL)) {
            alpha_count = 0;
        }
        for (int i = 0; i < 256; i++) {
            s->palette[i][0] = i < color_count ? colors[i].red : 0;
            s->palette[i][1] = i < color_count ? colors[i].green : 0;
            s->palette[i][2] = i < color_count ? colors[i].blue : 0;
            s->palette[i][3] = i < alpha_count ? alphas[i] : 255;
        }
    }
    isal_inflate_init(&s->inflate);
    s->inflate.crc_flag = ISAL_ZLIB;
    s->chunk_left = chunk;
    s->crc = nhs_crc32(0, data - 4, 4);
    return NHS_OK;
}

// Checks the checksum after a chunk's data.
static int check_crc(nhs_png *p, uint32_t crc) {
    if (p->count - p->position < 4) {
        return too_short(p);
    }
    p->position += 4;
    if (be32(p->bytes + p->position - 4) != crc) {
        return nhs_png_fail(p, NHS_FAULT_CORRUPT, "IDAT: CRC error");
    }
    return NHS_OK;
}

static bool is_name(uint32_t name) {
    for (int shift = 0; shift < 32; shift += 8) {
        uint8_t letter = (uint8_t)(name >> shift) & 0xDF;
        if (letter < 'A' || letter > 'Z') {
            return false;
        }
    }
    return true;
}

static int next_header(nhs_png *p, uint32_t *length, uint32_t *name) {
    if (p->count - p->position < 8) {
        return too_short(p);
    }
    *length = be32(p->bytes + p->position);
    *name = be32(p->bytes + p->position + 4);
    p->position += 8;
    if (*length > 0x7FFFFFFF || !is_name(*name)) {
        return nhs_png_fail(p, NHS_FAULT_CORRUPT, "invalid chunk header");
    }
    return NHS_OK;
}

// Passes the next piece to the inflater, from the next IDAT if necessary.
static int next_piece(nhs_png *p) {
    png_stream *s = p->stream;
    while (s->chunk_left == 0) {
        uint32_t name;
        if (check_crc(p, s->crc) != NHS_OK || next_header(p, &s->chunk_left, &name) != NHS_OK) {
            return NHS_FAILED;
        }
        if (name != CHUNK_IDAT) {
            return nhs_png_fail(p, NHS_FAULT_CORRUPT, "Not enough image data");
        }
        s->crc = nhs_crc32(0, p->bytes + p->position - 4, 4);
    }
    size_t count = s->chunk_left < PIECE ? s->chunk_left : PIECE;
    if (p->count - p->position < count) {
        return too_short(p);
    }
    s->inflate.next_in = (uint8_t *)(uintptr_t)(p->bytes + p->position);
    s->inflate.avail_in = (uint32_t)count;
    s->crc = nhs_crc32(s->crc, p->bytes + p->position, count);
    s->chunk_left -= (uint32_t)count;
    p->position += count;
    return NHS_OK;
}

static const char *inflate_message(int status) {
    switch (status) {
    case ISAL_INVALID_BLOCK: return "IDAT: invalid block";
    case ISAL_INVALID_SYMBOL: return "IDAT: invalid code";
    case ISAL_INVALID_LOOKBACK: return "IDAT: invalid distance too far back";
    case ISAL_INCORRECT_CHECKSUM: return "IDAT: incorrect data check";
    default: return "IDAT: damaged data";
    }
}

static bool is_over(const png_stream *s) {
    return s->inflate.block_state == ISAL_BLOCK_FINISH;
}

static int fill(nhs_png *p, uint8_t *to, size_t count) {
    png_stream *s = p->stream;
    s->inflate.next_out = to;
    s->inflate.avail_out = (uint32_t)count;
    while (s->inflate.avail_out > 0) {
        if (is_over(s)) {
            return nhs_png_fail(p, NHS_FAULT_CORRUPT, "Not enough image data");
        }
        uint32_t before = s->inflate.avail_out;
        int status = inflate_piece(s);
        if (status != ISAL_DECOMP_OK) {
            return nhs_png_fail(p, NHS_FAULT_CORRUPT, inflate_message(status));
        }
        if (s->inflate.avail_out == before && s->inflate.avail_in == 0 && !is_over(s)) {
            if (next_piece(p) != NHS_OK) {
                return NHS_FAILED;
            }
        }
    }
    return NHS_OK;
}

// After the last row: the stream must end, without surplus bytes.
static int finish_pixels(nhs_png *p) {
    png_stream *s = p->stream;
    uint8_t rest[1024];
    bool had_more = false;
    bool is_first = true; // libpng's inflater would still be in the call that returned the last row
    while (!is_over(s)) {
        s->inflate.next_out = rest;
        s->inflate.avail_out = is_first ? 1 : sizeof rest;
        uint32_t before = s->inflate.avail_out;
        int status = inflate_piece(s);
        uint32_t produced = before - s->inflate.avail_out;
        had_more |= produced > 0;
        if (status != ISAL_DECOMP_OK) {
            if (is_first && !had_more) {
                return nhs_png_fail(p, NHS_FAULT_CORRUPT, inflate_message(status));
            }
            nhs_png_warn(p, inflate_message(status));
            break;
        }
        is_first = false;
        if (produced == 0 && !is_over(s) && s->inflate.avail_in == 0 && next_piece(p) != NHS_OK) {
            return NHS_FAILED;
        }
    }
    if (had_more) {
        nhs_png_warn(p, "Too much image data");
    } else if (s->inflate.avail_in > 0 || s->chunk_left > 0) {
        nhs_png_warn(p, "Extra compressed data");
    }
    s->has_ended = true;
    if (p->count - p->position < s->chunk_left) {
        return too_short(p);
    }
    s->crc = nhs_crc32(s->crc, p->bytes + p->position, s->chunk_left);
    p->position += s->chunk_left;
    s->chunk_left = 0;
    return check_crc(p, s->crc);
}

// Fills the ring behind its first row, which is the previous ring's last one.
static int refill(nhs_png *p) {
    png_stream *s = p->stream;
    size_t slot = s->row_bytes + 1;
    if (s->ring_rows > 0) {
        memcpy(s->ring, s->ring + (size_t)s->ring_rows * slot, slot);
    }
    int32_t left = p->height - p->next_row;
    s->ring_next = 0;
    s->ring_rows = 0;
    int32_t wanted = left < RING_ROWS ? left : RING_ROWS;
    int status = fill(p, s->ring + slot, (size_t)wanted * slot);
    if (status == NHS_OK && wanted == left) {
        status = finish_pixels(p);
        s->ring_rows = wanted;
    } else {
        s->ring_rows = (int32_t)(((size_t)wanted * slot - s->inflate.avail_out) / slot);
    }
    int32_t good = png_unfilter(s->ring + slot, s->row_bytes, s->ring_rows, s->pixel_bytes);
    if (good < s->ring_rows) {
        s->ring_rows = good;
        status = nhs_png_fail(p, NHS_FAULT_CORRUPT, "bad adaptive filter value");
    }
    s->has_failed = status != NHS_OK;
    return status;
}

int png_stream_rows(nhs_png *p, uint8_t *rows, size_t stride, int32_t max_rows, int32_t *got) {
    png_stream *s = p->stream;
    size_t slot = s->row_bytes + 1;
    for (; *got < max_rows && p->next_row < p->height; ++*got, ++p->next_row, ++s->ring_next) {
        if (s->ring_next == s->ring_rows) {
            if (s->has_failed) {
                return NHS_FAILED;
            }
            refill(p);
            if (s->ring_rows == 0) {
                return NHS_FAILED;
            }
        }
        const uint8_t *row = s->ring + (size_t)(s->ring_next + 1) * slot;
        png_expand(rows + (size_t)*got * stride, row + 1, (size_t)p->width, p);
    }
    return p->next_row == p->height && s->has_failed ? NHS_FAILED : NHS_OK;
}

int png_stream_finish(nhs_png *p) {
    if (p->next_row < p->height) {
        return nhs_png_fail(p, NHS_FAULT_INTERNAL, "finished before the last row");
    }
    for (;;) {
        uint32_t length, name;
        if (next_header(p, &length, &name) != NHS_OK) {
            return NHS_FAILED;
        }
        bool is_critical = !(name & 0x20000000);
        bool is_known = name == CHUNK_IDAT || name == CHUNK_IEND || name == CHUNK_PLTE;
        if (name == CHUNK_IHDR || (is_critical && !is_known)) {
            return nhs_png_fail(p, NHS_FAULT_CORRUPT, name == CHUNK_IHDR ? "IHDR: out of place"
                                                                        : "unhandled critical chunk");
        }
        if (p->count - p->position < (size_t)length + 4) {
            return too_short(p);
        }
        uint32_t crc = nhs_crc32(0, p->bytes + p->position - 4, (size_t)length + 4);
        p->position += (size_t)length + 4;
        if (crc != be32(p->bytes + p->position - 4)) {
            if (is_critical) {
                return nhs_png_fail(p, NHS_FAULT_CORRUPT, "CRC error");
            }
            nhs_png_warn(p, "CRC error");
        }
        if (name == CHUNK_IEND) {
            if (length > 0) {
                nhs_png_warn(p, "IEND: invalid");
            }
            return NHS_OK;
        }
        if (is_critical) {
            nhs_png_warn(p, name == CHUNK_PLTE ? "PLTE: out of place" : "Too many IDATs found");
        }
    }
}
