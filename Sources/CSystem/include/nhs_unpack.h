/* Compressed content (gzip, deflate) unpacked piece by piece, by ISA-L, with its checks and its end. */
#ifndef NHS_UNPACK_H
#define NHS_UNPACK_H

#include <stddef.h>
#include <stdint.h>

typedef struct nhs_unpacker nhs_unpacker;

enum { NHS_UNPACK_GZIP, NHS_UNPACK_DEFLATE };

/* NULL when there is no memory. "deflate" is zlib's form, and the bare one that some servers send instead. */
nhs_unpacker *nhs_unpacker_new(int kind);
void nhs_unpacker_free(nhs_unpacker *unpacker);

enum { NHS_UNPACK_MORE, NHS_UNPACK_FULL, NHS_UNPACK_BAD };

/*
 * Takes from *in and writes to `out`. NHS_UNPACK_MORE: all input is taken; NHS_UNPACK_FULL: `out` is full and there
 * may be more, call again; NHS_UNPACK_BAD: no such stream, or its check is wrong.
 */
int nhs_unpack(nhs_unpacker *unpacker, const uint8_t **in, size_t *in_count, uint8_t *out, size_t capacity,
               size_t *written);

/* Whether what was taken is whole: one or more members with their trailers, or nothing at all. */
int nhs_unpacker_is_whole(const nhs_unpacker *unpacker);

/* Whether something else than zeros, which pad, stands behind the last member: not a part of it, but perhaps of a list. */
int nhs_unpacker_left_something(const nhs_unpacker *unpacker);

#endif
