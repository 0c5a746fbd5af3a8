/*
 * CUnpacking: decompresses gzip, zstd and xz piece by piece, for the command. The library never decompresses zstd and
 * xz, so it isn't linked with them.
 */
#ifndef NUTHATCH_CUNPACKING_H
#define NUTHATCH_CUNPACKING_H

#include <stddef.h>
#include <stdint.h>

typedef struct nhp_unpacker nhp_unpacker;

enum { NHP_GZIP, NHP_ZSTD, NHP_XZ };

/* The most memory in MiB that a stream may require for its window. */
enum { NHP_MOST_MIB = 128 };

/* Returns NULL if there is no memory. */
nhp_unpacker *nhp_unpacker_new(int kind);
void nhp_unpacker_free(nhp_unpacker *unpacker);

enum {
    NHP_MORE,      /* all input is consumed, and its output is written */
    NHP_FULL,      /* `out` is full and there may be more: call again */
    NHP_BAD,       /* the stream is invalid, or its checksum is wrong */
    NHP_FOLLOWED,  /* the data after a complete stream is not a stream of this kind */
    NHP_TOO_LARGE, /* the stream needs more memory than NHP_MOST_MIB */
    NHP_NO_MEMORY
};

/* Reads from *in and writes to `out`. After any result but NHP_MORE and NHP_FULL, the unpacker can only be freed. */
int nhp_unpack(nhp_unpacker *unpacker, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity,
               size_t *written);

/* Returns whether the input is complete: one or more streams, or nothing at all. */
int nhp_unpacker_is_whole(const nhp_unpacker *unpacker);

/* Returns whether there was something other than a stream after the last one. In gzip it is skipped; for the other
   formats nhp_unpack returns NHP_FOLLOWED. */
int nhp_unpacker_left_something(const nhp_unpacker *unpacker);

/* The versions of the libraries that unpack. */
const char *nhp_zstd_version(void);
const char *nhp_xz_version(void);

#endif
