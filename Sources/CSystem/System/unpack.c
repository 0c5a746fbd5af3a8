#include "nhs_unpack.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

/* Header and trailer are parsed here, byte by byte, because igzip loses parts of a header that arrives in pieces. */
enum state {
    START,
    FIXED,     /* gzip's ten bytes */
    EXTRA_LOW, EXTRA_HIGH, EXTRA,
    NAME, COMMENT,
    HEADER_CHECK,
    ZLIB,      /* the second byte of zlib's header, or of a raw stream */
    BODY,
    TRAILER,
    AFTER,     /* after a complete member */
    IGNORED,   /* bytes after the last member, which are ignored */
    BAD
};

enum { FLAG_CHECK = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_RESERVED = 0xE0 };

struct nhs_unpacker {
    int kind;
    int is_bare;
    int left_something; /* there were bytes after the last member */
    enum state state;
    uint8_t flags;
    uint8_t first; /* of zlib's two header bytes */
    uint32_t count; /* of bytes in this state, or left to skip */
    uint64_t trailer_bytes;
    uint32_t check;
    uint32_t size;
    struct inflate_state inflate;
};

nhs_unpacker *nhs_unpacker_new(int kind) {
    nhs_unpacker *u = malloc(sizeof *u);
    if (!u) return NULL;
    u->kind = kind;
    u->is_bare = 0;
    u->left_something = 0;
    u->state = START;
    return u;
}

void nhs_unpacker_free(nhs_unpacker *u) { free(u); }

int nhs_unpacker_is_whole(const nhs_unpacker *u) {
    return u->state == START || u->state == AFTER || u->state == IGNORED;
}

int nhs_unpacker_left_something(const nhs_unpacker *u) { return u->left_something; }

static void begin_body(nhs_unpacker *u) {
    isal_inflate_init(&u->inflate);
    u->inflate.crc_flag = ISAL_DEFLATE;
    u->check = u->kind == NHS_UNPACK_GZIP ? 0 : 1;
    u->size = 0;
    u->state = BODY;
}

/* Starts the next part of a gzip header, according to its flags. */
static void next_part(nhs_unpacker *u) {
    u->count = 0;
    if (u->flags & FLAG_EXTRA) {
        u->flags &= (uint8_t)~FLAG_EXTRA;
        u->state = EXTRA_LOW;
    } else if (u->flags & FLAG_NAME) {
        u->flags &= (uint8_t)~FLAG_NAME;
        u->state = NAME;
    } else if (u->flags & FLAG_COMMENT) {
        u->flags &= (uint8_t)~FLAG_COMMENT;
        u->state = COMMENT;
    } else if (u->flags & FLAG_CHECK) {
        u->flags &= (uint8_t)~FLAG_CHECK;
        u->state = HEADER_CHECK;
    } else {
        begin_body(u);
    }
}

static void take_fixed(nhs_unpacker *u, uint8_t byte) {
    static const uint8_t magic[] = {0x1f, 0x8b, 8};
    if ((u->count < 3 && byte != magic[u->count]) || (u->count == 3 && (byte & FLAGS_RESERVED))) {
        u->state = BAD;
        return;
    }
    if (u->count == 3) u->flags = byte;
    if (++u->count == 10) next_part(u);
}

static void take_trailer(nhs_unpacker *u, uint8_t byte) {
    u->trailer_bytes |= (uint64_t)byte << (8 * u->count);
    uint32_t wanted = u->kind == NHS_UNPACK_GZIP ? 8 : 4;
    if (++u->count < wanted) return;
    int is_right;
    if (u->kind == NHS_UNPACK_GZIP) {
        is_right = u->trailer_bytes == ((uint64_t)u->size << 32 | u->check);
    } else {
        is_right = __builtin_bswap32((uint32_t)u->trailer_bytes) == u->check;
    }
    u->state = !is_right ? BAD : u->kind == NHS_UNPACK_GZIP ? AFTER : IGNORED;
}

/* Handles all bytes except the compressed ones. */
static void take_byte(nhs_unpacker *u, uint8_t byte) {
    switch (u->state) {
    case START:
        u->count = 0;
        if (u->kind == NHS_UNPACK_GZIP) {
            u->state = FIXED;
            take_fixed(u, byte);
        } else {
            u->first = byte;
            u->state = ZLIB;
        }
        break;
    case FIXED: take_fixed(u, byte); break;
    case EXTRA_LOW:
        u->count = byte;
        u->state = EXTRA_HIGH;
        break;
    case EXTRA_HIGH:
        u->count |= (uint32_t)byte << 8;
        u->state = EXTRA;
        if (u->count == 0) next_part(u);
        break;
    case EXTRA:
        if (--u->count == 0) next_part(u);
        break;
    case NAME:
    case COMMENT:
        if (byte == 0) next_part(u);
        break;
    case HEADER_CHECK:
        if (++u->count == 2) next_part(u);
        break;
    case TRAILER: take_trailer(u, byte); break;
    case AFTER:
        /* Real answers have zeros and other bytes after the last member; that is not an error. */
        u->state = byte == 0x1f ? START : IGNORED;
        u->left_something |= u->state == IGNORED && byte != 0;
        if (u->state == START) take_byte(u, byte);
        break;
    case IGNORED: u->left_something |= byte != 0; break;
    default: break;
    }
}

/* At the end of the body: the bytes that igzip has read behind it belong to the trailer. */
static void end_body(nhs_unpacker *u) {
    uint32_t bits = (uint32_t)(u->inflate.read_in_length < 0 ? 0 : u->inflate.read_in_length);
    uint64_t held = u->inflate.read_in >> (bits % 8);
    u->state = u->is_bare ? IGNORED : TRAILER;
    u->count = 0;
    u->trailer_bytes = 0;
    for (uint32_t left = bits / 8; left > 0; left--, held >>= 8) {
        take_byte(u, (uint8_t)held);
    }
}

#if defined(__x86_64__)
#include <immintrin.h>
__attribute__((target("avx"))) static void clear_upper_halves(void) { _mm256_zeroupper(); }
#endif

/* igzip leaves the upper halves of the registers dirty, which slows later SSE2 code down. */
static int inflate_some(struct inflate_state *inflate) {
    int status = isal_inflate(inflate);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx")) clear_upper_halves();
#endif
    return status;
}

static size_t unpack_body(nhs_unpacker *u, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity) {
    uint32_t offered = *in_count > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)*in_count;
    uint32_t room = capacity > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)capacity;
    u->inflate.next_in = (uint8_t *)(uintptr_t)*in;
    u->inflate.avail_in = offered;
    u->inflate.next_out = out;
    u->inflate.avail_out = room;
    int status = inflate_some(&u->inflate);
    size_t taken = offered - u->inflate.avail_in;
    size_t made = room - u->inflate.avail_out;
    *in += taken;
    *in_count -= taken;
    u->check = u->kind == NHS_UNPACK_GZIP ? crc32_gzip_refl(u->check, out, made)
                                          : isal_adler32(u->check, out, made);
    u->size += (uint32_t)made;
    int is_stuck = taken == 0 && made == 0 && offered > 0 && room > 0 && u->inflate.block_state != ISAL_BLOCK_FINISH;
    if (status < 0 || is_stuck) {
        u->state = BAD;
    } else if (u->inflate.block_state == ISAL_BLOCK_FINISH) {
        end_body(u);
    }
    return made;
}

/* Handles a zlib header, or the beginning of a raw stream: then igzip gets the bytes that were held back. */
static size_t take_zlib(nhs_unpacker *u, uint8_t second, uint8_t *out, size_t capacity) {
    int is_zlib = (u->first & 15) == 8 && u->first >> 4 <= 7 && (u->first << 8 | second) % 31 == 0;
    if (is_zlib && (second & 0x20)) { /* needs a preset dictionary, which isn't available */
        u->state = BAD;
        return 0;
    }
    begin_body(u);
    if (is_zlib) return 0;
    u->is_bare = 1;
    uint8_t two[2] = {u->first, second};
    const uint8_t *bytes = two;
    size_t count = 2;
    return unpack_body(u, &bytes, &count, out, capacity);
}

int nhs_unpack(nhs_unpacker *u, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity,
               size_t *written) {
    *written = 0;
    while (u->state != BAD) {
        if (u->state == BODY) {
            *written += unpack_body(u, in, in_count, out + *written, capacity - *written);
            if (*written == capacity) return NHS_UNPACK_FULL;
            /* If there is room left, igzip stops only for lack of input. */
            if (u->state == BODY && *in_count == 0) return NHS_UNPACK_MORE;
            continue;
        }
        if (*in_count == 0) return NHS_UNPACK_MORE;
        uint8_t byte = *(*in)++;
        --*in_count;
        if (u->state == IGNORED) {
            u->left_something |= byte != 0;
            for (; *in_count > 0; --*in_count) u->left_something |= *(*in)++ != 0;
        } else if (u->state == ZLIB) {
            *written += take_zlib(u, byte, out + *written, capacity - *written);
        } else {
            take_byte(u, byte);
        }
    }
    return NHS_UNPACK_BAD;
}
