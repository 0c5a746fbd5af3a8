// Shared by the files of the PNG decoder.
#ifndef PNG_INTERNAL_H
#define PNG_INTERNAL_H

#include <setjmp.h>
#include <stdbool.h>

#include <isa-l/igzip_lib.h>
#include <png.h>

#include "nhs_png_decode.h"

// The zlib stream of the pixels, read by ISA-L.
typedef struct {
    struct inflate_state inflate;
    bool has_ended;      // the zlib stream is complete
    uint32_t chunk_left; // bytes of the current IDAT that the inflater hasn't got yet
    uint32_t crc;        // of the current IDAT so far
    size_t row_bytes;    // without the filter byte
    int pixel_bytes;
    uint8_t *ring;       // the previous row and RING_ROWS rows, each with its filter byte
    int32_t ring_rows;   // rows in the ring
    int32_t ring_next;   // the next row to deliver
    bool has_failed;     // deliver the rows in the ring, then fail
    uint8_t palette[256][4];
} png_stream;

struct nhs_png {
    png_structp png;
    png_infop info;
    jmp_buf escape;
    nhs_fault fault;
    nhs_warnings warnings;
    nhs_png_limits limits;
    const uint8_t *bytes;
    size_t count;
    size_t position;
    int64_t held; // bytes allocated
    bool out_of_budget;
    bool out_of_memory;
    bool is_short; // the input ended
    int32_t width;
    int32_t height;
    int32_t next_row;
    int color_type;
    bool is_interlaced;
    uint8_t *whole;     // an interlaced picture's pixels
    png_stream *stream; // NULL if libpng inflates
};

// Sets the fault unless there is one already. Returns NHS_FAILED.
int nhs_png_fail(nhs_png *p, int kind, const char *message);
void nhs_png_warn(nhs_png *p, const char *message);
void *nhs_png_allocate(nhs_png *p, size_t count);
void nhs_png_release(nhs_png *p, void *memory);

// png_stream.c
int png_stream_open(nhs_png *p);
int png_stream_rows(nhs_png *p, uint8_t *rows, size_t stride, int32_t max_rows, int32_t *got);
int png_stream_finish(nhs_png *p);

// png_unfilter.c: undoes the filters of consecutive rows, each preceded by its filter byte. The finished row above the
// first one is directly before it. Returns the number of finished rows: fewer than `count` at an unknown filter.
int32_t png_unfilter(uint8_t *first, size_t row_bytes, int32_t count, int pixel_bytes);
// png_paeth.c: undoes filter 4 of two consecutive rows. Returns false without a change if that isn't possible.
bool png_unfilter_two(uint8_t *upper, uint8_t *lower, const uint8_t *above, size_t row_bytes, int pixel_bytes);
void png_expand(uint8_t *to, const uint8_t *row, size_t pixels, const nhs_png *p);

#endif
