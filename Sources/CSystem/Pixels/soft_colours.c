#include "nhs_encode.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    RUN = 4096,           // values whose squares have room in 32 bits
    VISIBLE_STEP = 24,    // of two levels
    VISIBLE_SHARE = 100,  // one in so many values
    NOISE = 7,            // of two levels
};

typedef struct sums {
    uint64_t squares, visible, values;
} sums;

// Half of the difference between a value and the next one, plus 128.
static int pair(const uint8_t *at) { return (at[0] - at[1] + 256) >> 1; }

static int larger(int step, int one, int other) {
    int size = one < other ? other - one : one - other;
    return step > size ? step : size;
}

// How many values a run of vectors has gone through, and what it adds to the sums.
typedef struct taken {
    size_t values;
    uint32_t squares, visible;
} taken;

#if defined(__x86_64__)
// The same twice, for vectors of two widths. They lie as in the picture, so that no lane has to be moved: what would
// begin at a blue or an alpha means nothing, and is no step.
#define STEPS(name, target, bytes, vector, of, bits)                                                                  \
    target static inline vector name##_pairs(const uint8_t *at) {                                                     \
        vector minus = of##xor_si##bits(of##loadu_si##bits((const vector *)(at + 1)), of##set1_epi8(-1));             \
        return of##avg_epu8(of##loadu_si##bits((const vector *)at), minus);                                           \
    }                                                                                                                 \
    target static inline vector name##_sizes(vector one, vector other) {                                              \
        return of##or_si##bits(of##subs_epu8(one, other), of##subs_epu8(other, one));                                 \
    }                                                                                                                 \
    target static taken name(const uint8_t *row, const uint8_t *above, const uint8_t *top, size_t values) {           \
        const vector zero = of##setzero_si##bits(), one = of##set1_epi8(1), edge = of##set1_epi8(VISIBLE_STEP);       \
        const vector meant = of##set1_epi32(0xFFFF);                                                                  \
        vector sum = zero, count = zero;                                                                              \
        size_t i = 0;                                                                                                 \
        for (; i + bytes <= values; i += bytes) {                                                                     \
            vector here = name##_pairs(row + i), between = name##_pairs(above + i);                                   \
            vector step = of##max_epu8(name##_sizes(name##_pairs(row + i + 4), here), name##_sizes(between, here));   \
            step = of##and_si##bits(of##max_epu8(step, name##_sizes(name##_pairs(top + i), between)), meant);         \
            vector low = of##unpacklo_epi8(step, zero), high = of##unpackhi_epi8(step, zero);                         \
            sum = of##add_epi32(sum, of##add_epi32(of##madd_epi16(low, low), of##madd_epi16(high, high)));            \
            count = of##add_epi32(count, of##sad_epu8(of##min_epu8(of##subs_epu8(step, edge), one), zero));           \
        }                                                                                                             \
        uint32_t sums[bytes / 4], counts[bytes / 4];                                                                  \
        of##storeu_si##bits((vector *)sums, sum);                                                                     \
        of##storeu_si##bits((vector *)counts, count);                                                                 \
        taken all = {i, 0, 0};                                                                                        \
        for (size_t lane = 0; lane < bytes / 4; lane++) {                                                             \
            all.squares += sums[lane];                                                                                \
            all.visible += counts[lane];                                                                              \
        }                                                                                                             \
        return all;                                                                                                   \
    }

STEPS(sse2, , 16, __m128i, _mm_, 128)
STEPS(avx2, __attribute__((target("avx2"))), 32, __m256i, _mm256_, 256)

static taken vectors(const uint8_t *row, const uint8_t *above, const uint8_t *top, size_t values) {
    return (__builtin_cpu_supports("avx2") ? avx2 : sse2)(row, above, top, values);
}
#else
static taken vectors(const uint8_t *row, const uint8_t *above, const uint8_t *top, size_t values) {
    (void)row, (void)above, (void)top, (void)values;
    return (taken){0};
}
#endif

// Adds the steps of two rows; the lower one is examined in full. A step is the largest difference of a value to the
// right and upwards, in red minus green and green minus blue. Values keep their order in the picture, so that no vector
// lane is moved; what would begin at a blue or alpha value is ignored. Reads five bytes behind the values.
static void add_steps(sums *to, const uint8_t *row, const uint8_t *above, const uint8_t *top, size_t values) {
    taken most = vectors(row, above, top, values);
    for (size_t i = most.values; i < values; i++) {
        int here = pair(row + i), between = pair(above + i);
        int step = larger(larger(larger(0, pair(row + i + 4), here), between, here), pair(top + i), between);
        if (i & 2) continue;
        most.squares += (uint32_t)(step * step);
        most.visible += step > VISIBLE_STEP;
    }
    to->squares += most.squares;
    to->visible += most.visible;
    to->values += values / 2;
}

static int can_be_soft(sums found, uint64_t values) {
    return found.visible * VISIBLE_SHARE <= values && found.squares <= values * NOISE * NOISE;
}

int nhs_colours_are_soft(nhs_pixels pixels) {
    sums found = {0};
    size_t stride = pixels.width * 4;
    // An upper bound: a picture without soft colours usually shows it long before its end.
    uint64_t values = (uint64_t)(stride / 2) * ((pixels.height + 1) / 2);
    for (size_t y = 0; y < pixels.height && can_be_soft(found, values); y += 2) {
        const uint8_t *row = pixels.rgba + y * stride;
        const uint8_t *above = y ? row - stride : row, *top = y ? above - stride : row;
        // The last two pixels are left out, because whole vectors are read.
        for (size_t x = 0; x + 12 <= stride; x += RUN) {
            size_t left = stride - 8 - x;
            add_steps(&found, row + x, above + x, top + x, left < RUN ? left : RUN);
        }
    }
    return can_be_soft(found, found.values);
}
