#include "nhs_samples.h"

#include "nhs_average.h"

#include <string.h>

static uint32_t byte_of(const nhs_samples *s, const nhs_colors *c, const void *line, size_t x) {
    uint32_t most = (1u << s->a_depth) - 1;
    uint32_t value = s->a_depth > 8 ? ((const uint16_t *)line)[x] : ((const uint8_t *)line)[x];
    value = value > most ? most : value;
    if (c->is_alpha_limited) {
        uint32_t low = 16u << (s->a_depth - 8), high = 235u << (s->a_depth - 8);
        value = value < low ? low : value > high ? high : value;
        value -= low;
        most = high - low;
    }
    return most == 255 ? value : (value * 255 + most / 2) / most;
}

const uint8_t *nhs_samples_alpha(const nhs_samples *s, const nhs_colors *c, const void *line, size_t count,
                                 uint8_t *spare) {
    if (s->a_depth == 8 && !c->is_alpha_limited) {
        return line;
    }
    for (size_t x = 0; x < count; x++) {
        spare[x] = (uint8_t)byte_of(s, c, line, x);
    }
    return spare;
}

// Moves samples towards `zero`: those with alpha 0 become `zero`, those with 255 stay. The largest sum is 255 * 255 + 128 + 254; it
// fits into 16 bits.
static void multiply_bytes(uint8_t *restrict samples, const uint8_t *restrict alpha, uint16_t zero, size_t count) {
    for (size_t x = 0; x < count; x++) {
        uint16_t part = alpha[x];
        uint16_t sum = (uint16_t)(samples[x] * part + zero * (uint16_t)(255 - part) + 128);
        samples[x] = (uint8_t)((uint16_t)(sum + (sum >> 8)) >> 8);
    }
}

// Samples have at most 12 bits.
static void multiply_words(uint16_t *restrict samples, const uint8_t *restrict alpha, uint32_t zero, size_t count) {
    for (size_t x = 0; x < count; x++) {
        uint32_t part = alpha[x], sum = samples[x] * part + zero * (255 - part);
        samples[x] = (uint16_t)((sum + (sum >> 8) + 128) >> 8);
    }
}

static void multiply(const nhs_samples *s, const void *plane, size_t stride, int32_t row, const uint8_t *alpha,
                     int32_t zero, size_t count) {
    uint8_t *line = (uint8_t *)plane + (size_t)row * stride;
    if (s->depth > 8) {
        multiply_words((uint16_t *)(void *)line, alpha, (uint32_t)zero, count);
    } else {
        multiply_bytes(line, alpha, (uint16_t)zero, count);
    }
}

// Averages of the pixels of each sample of chroma. Beyond an edge, the last pixel counts again.
static void average_pairs(const uint8_t *one, const uint8_t *other, size_t width, uint8_t *restrict out) {
    size_t pairs = width / 2;
    for (size_t x = 0; x < pairs; x++) {
        // Words of two bytes each, because compilers make vectors of them.
        uint16_t above, below;
        memcpy(&above, one + 2 * x, 2);
        memcpy(&below, other + 2 * x, 2);
        out[x] = (uint8_t)((uint16_t)((above & 255) + (above >> 8) + (below & 255) + (below >> 8) + 2) >> 2);
    }
    if (width % 2) {
        out[pairs] = (uint8_t)((one[width - 1] + other[width - 1] + 1) >> 1);
    }
}

void nhs_samples_multiply(const nhs_samples *s, const nhs_colors *c, void *spare) {
    size_t width = (size_t)s->width, columns = s->halves_columns ? width / 2 + width % 2 : width;
    uint8_t *rows[2] = {spare, (uint8_t *)spare + width}, *averages = rows[1] + width;
    const uint8_t *above = NULL;
    for (int32_t row = 0; row < s->height; row++) {
        const uint8_t *line = (const uint8_t *)s->a + (size_t)row * s->a_stride;
        const uint8_t *alpha = nhs_samples_alpha(s, c, line, width, rows[row % 2]);
        multiply(s, s->y, s->y_stride, row, alpha, c->zeros[0], width);
        int is_first = s->halves_rows && row % 2 == 0 && row + 1 < s->height;
        if (s->u && !is_first) {
            const uint8_t *parts = alpha;
            if (s->halves_columns) {
                average_pairs(s->halves_rows && row % 2 ? above : alpha, alpha, width, averages);
                parts = averages;
            }
            int32_t of_chroma = s->halves_rows ? row / 2 : row;
            multiply(s, s->u, s->uv_stride, of_chroma, parts, c->zeros[1], columns);
            multiply(s, s->v, s->uv_stride, of_chroma, parts, c->zeros[1], columns);
        }
        above = alpha;
    }
}

// Multiplies the distances of samples from `zero`. Results are from 0 to `most`.
static void stretch(uint16_t *restrict samples, const float *restrict factors, int32_t zero, int32_t most, size_t count) {
    for (size_t x = 0; x < count; x++) {
        float value = (float)((int32_t)samples[x] - zero) * factors[x] + (float)zero + 0.5F;
        value = value < 0 ? 0 : value;
        value = value > (float)most ? (float)most : value;
        samples[x] = (uint16_t)(int32_t)value;
    }
}

const uint8_t *nhs_samples_divide(const nhs_samples *s, const nhs_colors *c, int32_t factor, int32_t row,
                                  uint16_t *const averages[3], void *alpha_row, void *spare) {
    nhs_plane plane = {s->a, s->a_stride, s->width, s->height};
    size_t count = (size_t)(s->width / factor + (s->width % factor != 0));
    if (s->a_depth > 8) {
        nhs_average_words(&plane, factor, factor, row, alpha_row, spare);
    } else {
        nhs_average_bytes(&plane, factor, factor, row, alpha_row, spare);
    }
    const uint8_t *alpha = nhs_samples_alpha(s, c, alpha_row, count, alpha_row);
    float *factors = spare;
    for (size_t x = 0; x < count; x++) {
        factors[x] = alpha[x] ? 255.0F / (float)alpha[x] : 0;
    }
    for (int k = 0; k < (s->u ? 3 : 1); k++) {
        stretch(averages[k], factors, c->zeros[k > 0], (1 << s->depth) - 1, count);
    }
    return alpha;
}
