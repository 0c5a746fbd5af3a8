/*
 * CUnpacking: streams of gzip, zstd and xz unpacked piece by piece, for the command. The library never unpacks zstd and xz,
 * so it isn't linked with them.
 */
#ifndef NUTHATCH_CUNPACKING_H
#define NUTHATCH_CUNPACKING_H

#include <stddef.h>
#include <stdint.h>

typedef struct nhp_unpacker nhp_unpacker;

enum { NHP_GZIP, NHP_ZSTD, NHP_XZ };

/* A stream may make its unpacker keep so many MiB of what it wrote last. */
enum { NHP_MOST_MIB = 128 };

/* NULL when there is no memory. */
nhp_unpacker *nhp_unpacker_new(int kind);
void nhp_unpacker_free(nhp_unpacker *unpacker);

enum {
    NHP_MORE,      /* all input is taken, and all that it gives is written */
    NHP_FULL,      /* `out` is full and there may be more: call again */
    NHP_BAD,       /* no such stream, or its check is wrong */
    NHP_FOLLOWED,  /* what follows a whole stream is no stream of this kind */
    NHP_TOO_LARGE, /* the stream wants more memory than NHP_MOST_MIB */
    NHP_NO_MEMORY
};

/* Takes from *in and writes to `out`. After any answer but NHP_MORE and NHP_FULL, the unpacker is only good for freeing. */
int nhp_unpack(nhp_unpacker *unpacker, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity,
               size_t *written);

/* Whether what was taken is whole: one or more streams, or nothing at all. */
int nhp_unpacker_is_whole(const nhp_unpacker *unpacker);

/* Whether something that is no stream stood behind the last one. Of gzip it is skipped, where others answer NHP_FOLLOWED. */
int nhp_unpacker_left_something(const nhp_unpacker *unpacker);

#endif
