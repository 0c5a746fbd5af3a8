// A PNG writer without libpng: libpng spends its time in zlib, and ISA-L's deflate is several times faster at about the
// same size.
#include "encode_bytes.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

// Filtered rows are passed to deflate in pieces of about this size.
#define NHS_PIECE (256 * 1024)

enum { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_PAETH = 4 };

typedef struct writer {
    nhs_encoded *out;
    struct isal_zstream stream;
    uint8_t *memory;  // everything below, in one block
    uint8_t *level_buffer;
    uint8_t *rows[2];   // the row and the one above, each with a pixel of zeros before it
    uint8_t *tries[3];  // filtered rows
    uint8_t *piece;
    size_t piece_size, piece_room;
} writer;

static void put32(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

// Sets a chunk's length and appends its checksum, after its data.
static int finish_chunk(nhs_encoded *out, size_t start) {
    size_t length = out->size - start - 8;
    if (length > INT32_MAX) return !nhs_encoded_fail(out, NHS_ENCODE_REFUSED, "a PNG chunk of 2 GiB");
    put32(out->bytes + start, (uint32_t)length);
    uint8_t sum[4];
    put32(sum, crc32_gzip_refl(0, out->bytes + start + 4, length + 4));
    return nhs_encoded_append(out, sum, 4);
}

static int write_head(nhs_encoded *out, nhs_pixels pixels, size_t channels) {
    uint8_t head[16 + 17] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 0, 0, 0, 0, 'I', 'H', 'D', 'R'};
    put32(head + 16, (uint32_t)pixels.width);
    put32(head + 20, (uint32_t)pixels.height);
    head[24] = 8;
    head[25] = channels == 4 ? 6 : 2;
    return nhs_encoded_append(out, head, 16 + 13) && finish_chunk(out, 8);
}

// Deflates the piece into the output.
static int deflate_piece(writer *self, int last) {
    struct isal_zstream *stream = &self->stream;
    stream->next_in = self->piece;
    stream->avail_in = (uint32_t)self->piece_size;
    stream->end_of_stream = (uint16_t)last;
    self->piece_size = 0;
    for (;;) {
        if (!nhs_encoded_reserve(self->out, 1)) return 0;
        size_t room = self->out->capacity - self->out->size;
        if (room > UINT32_MAX) room = UINT32_MAX;
        stream->next_out = self->out->bytes + self->out->size;
        stream->avail_out = (uint32_t)room;
        if (isal_deflate(stream) != COMP_OK) {
            return !nhs_encoded_fail(self->out, NHS_ENCODE_REFUSED, "deflate failed");
        }
        self->out->size += room - stream->avail_out;
        int all_in = stream->avail_in == 0 && stream->avail_out != 0;
        if (last ? stream->internal_state.state == ZSTATE_END : all_in) return 1;
    }
}

static void pack_rgb(uint8_t *restrict rgb, const uint8_t *restrict rgba, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        rgb[i * 3] = rgba[i * 4];
        rgb[i * 3 + 1] = rgba[i * 4 + 1];
        rgb[i * 3 + 2] = rgba[i * 4 + 2];
    }
}

// The sum of the differences as signed numbers: small differences compress well.
static uint64_t cost(const uint8_t *differences, size_t count) {
    uint64_t total = 0;
    while (count) {
        // Short enough for 16-bit sums, which vectorise well.
        size_t part = count < 256 ? count : 256;
        uint16_t sum = 0;
        for (size_t i = 0; i < part; i++) {
            uint8_t up = differences[i], down = (uint8_t)-differences[i];
            sum = (uint16_t)(sum + (up < down ? up : down));
        }
        total += sum;
        differences += part;
        count -= part;
    }
    return total;
}

static void filter_sub(uint8_t *restrict to, const uint8_t *restrict row, size_t count, size_t channels) {
    const uint8_t *left = row - channels;
    for (size_t i = 0; i < count; i++) to[i] = (uint8_t)(row[i] - left[i]);
}

static void filter_up(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict above,
                      size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = (uint8_t)(row[i] - above[i]);
}

// Sixteen samples at once, with any compiler that has vectors.
typedef uint8_t samples __attribute__((vector_size(16)));

static inline samples load_samples(const uint8_t *from) {
    samples values;
    memcpy(&values, from, sizeof values);
    return values;
}

static inline samples either(samples mask, samples yes, samples no) { return (mask & yes) | (~mask & no); }

// Paeth's predictor in 8 bits. If `up` and `left` deviate from the corner in the same direction, the corner's distance
// is the sum of their distances and never the least. Otherwise it is their difference.
static inline samples guesses(samples left, samples up, samples corner) {
    samples up_is_more = (samples)(up > corner), left_is_more = (samples)(left > corner);
    samples to_left = either(up_is_more, up - corner, corner - up);
    samples to_up = either(left_is_more, left - corner, corner - left);
    samples left_is_nearer = (samples)(to_left <= to_up);
    samples to_corner =
        either(left_is_nearer, to_up - to_left, to_left - to_up) | ~(up_is_more ^ left_is_more);
    samples take_left = left_is_nearer & (samples)(to_left <= to_corner);
    return either(take_left, left, either((samples)(to_up <= to_corner), up, corner));
}

// Rows have room for whole groups of samples.
static void filter_paeth(uint8_t *to, const uint8_t *row, const uint8_t *above, size_t count,
                         size_t channels) {
    for (size_t i = 0; i < count; i += sizeof(samples)) {
        samples guess = guesses(load_samples(row + i - channels), load_samples(above + i),
                                load_samples(above + i - channels));
        guess = load_samples(row + i) - guess;
        memcpy(to + i, &guess, sizeof guess);
    }
}

static int write_rows(writer *self, nhs_pixels pixels, size_t channels) {
    size_t count = pixels.width * channels;
    for (size_t y = 0; y < pixels.height; y++) {
        uint8_t *row = self->rows[y & 1] + channels, *above = self->rows[~y & 1] + channels;
        const uint8_t *rgba = pixels.rgba + y * pixels.width * 4;
        if (channels == 4) {
            memcpy(row, rgba, count);
        } else {
            pack_rgb(row, rgba, pixels.width);
        }
        static const uint8_t names[3] = {FILTER_SUB, FILTER_UP, FILTER_PAETH};
        filter_sub(self->tries[0], row, count, channels);
        filter_up(self->tries[1], row, above, count);
        filter_paeth(self->tries[2], row, above, count, channels);
        uint64_t least = UINT64_MAX;
        size_t best = 0;
        for (size_t k = 0; k < 3; k++) {
            uint64_t this_cost = cost(self->tries[k], count);
            if (this_cost < least) {
                least = this_cost;
                best = k;
            }
        }
        if (self->piece_size + count + 1 > self->piece_room && !deflate_piece(self, 0)) return 0;
        uint8_t *to = self->piece + self->piece_size;
        to[0] = names[best];
        memcpy(to + 1, self->tries[best], count);
        self->piece_size += count + 1;
    }
    return deflate_piece(self, 1);
}

static int prepare(writer *self, nhs_pixels pixels, size_t channels) {
    size_t row = pixels.width * channels + channels + 64;
    self->piece_room = row > NHS_PIECE ? row : NHS_PIECE;
    size_t all = pixels.height * (pixels.width * channels + 1);
    if (self->piece_room > all) self->piece_room = all;
    size_t level_size = ISAL_DEF_LVL1_DEFAULT;
    self->memory = malloc(5 * row + self->piece_room + level_size);
    if (!self->memory) return !nhs_encoded_fail(self->out, NHS_ENCODE_NO_MEMORY, "no memory for rows");
    uint8_t *at = self->memory;
    memset(at + level_size, 0, 2 * row);  // above the first row and left of each are zeros
    self->level_buffer = at;
    at += level_size;
    for (size_t k = 0; k < 2; k++, at += row) self->rows[k] = at;
    for (size_t k = 0; k < 3; k++, at += row) self->tries[k] = at;
    self->piece = at;

    isal_deflate_init(&self->stream);
    self->stream.level = 1;
    self->stream.level_buf = self->level_buffer;
    self->stream.level_buf_size = (uint32_t)level_size;
    self->stream.gzip_flag = IGZIP_ZLIB;
    return 1;
}

int nhs_encode_png_fast(nhs_encoded *out, nhs_pixels pixels, int opaque) {
    size_t channels = opaque ? 3 : 4;
    if (pixels.width == 0 || pixels.height == 0 || pixels.width > INT32_MAX / 8 ||
        pixels.height > INT32_MAX || pixels.height > SIZE_MAX / 8 / pixels.width) {
        return nhs_encoded_fail(out, NHS_ENCODE_REFUSED, "a PNG of such sides");
    }
    size_t guess = 1024 + pixels.width * pixels.height * channels / 2;
    if (!nhs_encoded_reserve(out, guess < out->limit ? guess : out->limit)) return out->status;
    // Allocated, because its 82 KB are too much for some threads' stacks.
    writer *self = malloc(sizeof *self);
    if (!self) return nhs_encoded_fail(out, NHS_ENCODE_NO_MEMORY, "no memory for deflate");
    self->out = out;
    self->memory = NULL;
    self->piece_size = 0;
    static const uint8_t data[8] = {0, 0, 0, 0, 'I', 'D', 'A', 'T'};
    static const uint8_t end[12] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xAE, 0x42, 0x60, 0x82};
    if (write_head(out, pixels, channels)) {
        size_t start = out->size;
        if (nhs_encoded_append(out, data, 8) && prepare(self, pixels, channels) &&
            write_rows(self, pixels, channels) && finish_chunk(out, start)) {
            nhs_encoded_append(out, end, 12);
        }
    }
    free(self->memory);
    free(self);
    return out->status;
}
