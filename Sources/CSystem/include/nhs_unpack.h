/* Decompresses gzip and deflate piece by piece with ISA-L, and checks the checksum and the end. */
#ifndef NHS_UNPACK_H
#define NHS_UNPACK_H

#include <stddef.h>
#include <stdint.h>

typedef struct nhs_unpacker nhs_unpacker;

enum { NHS_UNPACK_GZIP, NHS_UNPACK_DEFLATE };

/* Returns NULL if there is no memory. "deflate" is zlib's format, or the raw one that some servers send instead. */
nhs_unpacker *nhs_unpacker_new(int kind);
void nhs_unpacker_free(nhs_unpacker *unpacker);

enum { NHS_UNPACK_MORE, NHS_UNPACK_FULL, NHS_UNPACK_BAD };

/*
 * Reads from *in and writes to `out`. NHS_UNPACK_MORE: all input is consumed. NHS_UNPACK_FULL: `out` is full; call
 * again, because there may be more. NHS_UNPACK_BAD: the stream is invalid, or its checksum is wrong.
 */
int nhs_unpack(nhs_unpacker *unpacker, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity,
               size_t *written);

/* Returns whether the input is complete: one or more members with their trailers, or nothing at all. */
int nhs_unpacker_is_whole(const nhs_unpacker *unpacker);

/* Returns whether there were bytes other than zero padding after the last member. */
int nhs_unpacker_left_something(const nhs_unpacker *unpacker);

#endif
