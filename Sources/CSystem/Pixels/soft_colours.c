#include "nhs_encode.h"

#if defined(__SSE2__)
#include <emmintrin.h>
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

// Half of how much larger a value is than the one behind it, and 128.
static int pair(const uint8_t *at) { return (at[0] - at[1] + 256) >> 1; }

static int larger(int step, int one, int other) {
    int size = one < other ? other - one : one - other;
    return step > size ? step : size;
}

#if defined(__SSE2__)
static inline __m128i pairs(const uint8_t *at) {
    __m128i minus = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(at + 1)), _mm_set1_epi8(-1));
    return _mm_avg_epu8(_mm_loadu_si128((const __m128i *)at), minus);
}

static inline __m128i sizes(__m128i one, __m128i other) {
    return _mm_or_si128(_mm_subs_epu8(one, other), _mm_subs_epu8(other, one));
}

static inline uint32_t total(__m128i sums) {
    uint32_t four[4];
    _mm_storeu_si128((__m128i *)four, sums);
    return four[0] + four[1] + four[2] + four[3];
}
#endif

// What two rows add, the lower one looked at in full: the largest of each value's steps to the right and
// upwards, in red minus green and green minus blue. They lie as in the picture, so that no lane of a vector
// has to be moved: what would begin at a blue or an alpha means nothing, and is no step. Reads five bytes
// behind the values.
static void add_steps(sums *to, const uint8_t *row, const uint8_t *above, const uint8_t *top, size_t values) {
    uint32_t squares = 0, visible = 0;
    size_t i = 0;
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128(), one = _mm_set1_epi8(1), edge = _mm_set1_epi8(VISIBLE_STEP);
    const __m128i meant = _mm_set1_epi32(0xFFFF);
    __m128i sum = zero, count = zero;
    for (; i + 16 <= values; i += 16) {
        __m128i here = pairs(row + i), between = pairs(above + i);
        __m128i step = _mm_max_epu8(sizes(pairs(row + i + 4), here), sizes(between, here));
        step = _mm_and_si128(_mm_max_epu8(step, sizes(pairs(top + i), between)), meant);
        __m128i low = _mm_unpacklo_epi8(step, zero), high = _mm_unpackhi_epi8(step, zero);
        sum = _mm_add_epi32(sum, _mm_add_epi32(_mm_madd_epi16(low, low), _mm_madd_epi16(high, high)));
        count = _mm_add_epi32(count, _mm_sad_epu8(_mm_min_epu8(_mm_subs_epu8(step, edge), one), zero));
    }
    squares = total(sum);
    visible = total(count);
#endif
    for (; i < values; i++) {
        int here = pair(row + i), between = pair(above + i);
        int step = larger(larger(larger(0, pair(row + i + 4), here), between, here), pair(top + i), between);
        if (i & 2) continue;
        squares += (uint32_t)(step * step);
        visible += step > VISIBLE_STEP;
    }
    to->squares += squares;
    to->visible += visible;
    to->values += values / 2;
}

static int can_be_soft(sums found, uint64_t values) {
    return found.visible * VISIBLE_SHARE <= values && found.squares <= values * NOISE * NOISE;
}

int nhs_colours_are_soft(nhs_pixels pixels) {
    sums found = {0};
    size_t stride = pixels.width * 4;
    // More than are looked at: what isn't soft shows long before its end, mostly.
    uint64_t values = (uint64_t)(stride / 2) * ((pixels.height + 1) / 2);
    for (size_t y = 0; y < pixels.height && can_be_soft(found, values); y += 2) {
        const uint8_t *row = pixels.rgba + y * stride;
        const uint8_t *above = y ? row - stride : row, *top = y ? above - stride : row;
        // The last two pixels go without: whole vectors are read.
        for (size_t x = 0; x + 12 <= stride; x += RUN) {
            size_t left = stride - 8 - x;
            add_steps(&found, row + x, above + x, top + x, left < RUN ? left : RUN);
        }
    }
    return can_be_soft(found, found.values);
}
