#include "nhs_reduce.h"

#include <string.h>

static void add_square(uint16_t *sums, const uint8_t *pixels, size_t count) {
    uint16_t sum[4] = {0};
    for (size_t i = 0; i < count; i++) {
        for (int c = 0; c < 4; c++) {
            sum[c] = (uint16_t)(sum[c] + pixels[4 * i + (size_t)c]);
        }
    }
    for (int c = 0; c < 4; c++) {
        sums[c] = (uint16_t)(sums[c] + sum[c]);
    }
}

void nhs_reduce_add(uint16_t *sums, const uint8_t *row, size_t pixels, int factor) {
    size_t size = (size_t)factor;
    size_t whole = pixels / size;
    // Constant counts, so that the compiler unrolls.
    for (size_t i = 0; i < whole; i++) {
        switch (factor) {
        case 2: add_square(sums + 4 * i, row + 8 * i, 2); break;
        case 4: add_square(sums + 4 * i, row + 16 * i, 4); break;
        default: add_square(sums + 4 * i, row + 32 * i, 8); break;
        }
    }
    if (pixels % size) {
        add_square(sums + 4 * whole, row + 4 * whole * size, pixels % size);
    }
}

void nhs_reduce_finish(uint8_t *to, uint16_t *sums, size_t pixels, int factor, int rows) {
    size_t size = (size_t)factor;
    size_t squares = (pixels + size - 1) / size;
    for (size_t i = 0; i < squares; i++) {
        size_t columns = (i + 1) * size <= pixels ? size : pixels % size;
        unsigned count = (unsigned)columns * (unsigned)rows;
        for (size_t c = 0; c < 4; c++) {
            to[4 * i + c] = (uint8_t)((sums[4 * i + c] + count / 2) / count);
        }
    }
    memset(sums, 0, squares * 4 * sizeof *sums);
}
