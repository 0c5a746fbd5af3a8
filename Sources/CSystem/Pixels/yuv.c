#include "nhs_yuv.h"

#include "nhs_alpha.h"
#include "nhs_average.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Each row of `spare` has some columns more than the picture, so that loops may run to a multiple of a vector.
enum { MARGIN = 128 };

static size_t spare_row(int32_t width) {
    return ((size_t)width + MARGIN) & ~(size_t)63;
}

size_t nhs_yuv_spare(int32_t width) {
    // Luma and two rows of chroma, and a row of sums of 16 bits.
    return spare_row(width) * 5;
}

static inline uint16_t high(uint16_t value, uint16_t factor) {
    return (uint16_t)(((uint32_t)(uint16_t)(value << 8) * factor) >> 16);
}

// Values above 255 become 255.
static inline uint8_t clipped(uint16_t value) {
    uint16_t level = value >> 6;
    return (uint8_t)(level < 255 ? level : 255);
}

static inline uint16_t minus(uint16_t value, uint16_t other) {
    return value > other ? (uint16_t)(value - other) : 0;
}

// Colours with libwebp's numbers, so that a picture looks as it does in browsers. All sums fit into 16 bits without a sign.
enum { Y_FACTOR = 19077, V_RED = 26149, U_GREEN = 6419, V_GREEN = 13320, U_BLUE = 33050 };
enum { RED_BIAS = 14234, GREEN_BIAS = 8708, BLUE_BIAS = 17685 };

#ifdef __SSE2__
static inline __m128i number(int value) {
    return _mm_set1_epi16((short)value);
}

// Eight bytes, each times 256.
static inline __m128i eight_high(const uint8_t *bytes) {
    return _mm_unpacklo_epi8(_mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)bytes));
}

static inline __m128i eight(const uint8_t *bytes) {
    return _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)bytes), _mm_setzero_si128());
}

static void color_eight(const uint8_t *y, const uint8_t *u, const uint8_t *v, uint8_t *rgba) {
    __m128i light = _mm_mulhi_epu16(eight_high(y), number(Y_FACTOR));
    __m128i us = eight_high(u), vs = eight_high(v);
    __m128i red = _mm_subs_epu16(_mm_add_epi16(light, _mm_mulhi_epu16(vs, number(V_RED))), number(RED_BIAS));
    __m128i away = _mm_add_epi16(_mm_mulhi_epu16(us, number(U_GREEN)), _mm_mulhi_epu16(vs, number(V_GREEN)));
    __m128i green = _mm_subs_epu16(_mm_add_epi16(light, number(GREEN_BIAS)), away);
    __m128i blue = _mm_subs_epu16(_mm_add_epi16(light, _mm_mulhi_epu16(us, number(U_BLUE))), number(BLUE_BIAS));
    __m128i red_blue = _mm_packus_epi16(_mm_srli_epi16(red, 6), _mm_srli_epi16(blue, 6));
    __m128i green_alpha = _mm_packus_epi16(_mm_srli_epi16(green, 6), number(255));
    __m128i first = _mm_unpacklo_epi8(red_blue, green_alpha), second = _mm_unpackhi_epi8(red_blue, green_alpha);
    _mm_storeu_si128((__m128i *)rgba, _mm_unpacklo_epi16(first, second));
    _mm_storeu_si128((__m128i *)(rgba + 16), _mm_unpackhi_epi16(first, second));
}

// Makes 16 columns from `near` and `far`, which have nine each.
static void enlarge_eight(const uint8_t *near, const uint8_t *far, uint8_t *out) {
    __m128i near_left = eight(near), near_right = eight(near + 1), far_left = eight(far), far_right = eight(far + 1);
    __m128i falling = _mm_add_epi16(near_right, far_left), rising = _mm_add_epi16(near_left, far_right);
    __m128i sum = _mm_add_epi16(_mm_add_epi16(falling, rising), number(8));
    falling = _mm_srli_epi16(_mm_add_epi16(sum, _mm_add_epi16(falling, falling)), 3);
    rising = _mm_srli_epi16(_mm_add_epi16(sum, _mm_add_epi16(rising, rising)), 3);
    __m128i odd = _mm_srli_epi16(_mm_add_epi16(falling, near_left), 1);
    __m128i even = _mm_srli_epi16(_mm_add_epi16(rising, near_right), 1);
    // Both are below 256.
    _mm_storeu_si128((__m128i *)out, _mm_or_si128(odd, _mm_slli_epi16(even, 8)));
}
#endif

static void color(const uint8_t *y, const uint8_t *u, const uint8_t *v, uint8_t *rgba, size_t count) {
    size_t x = 0;
#ifdef __SSE2__
    for (; x + 8 <= count; x += 8) {
        color_eight(y + x, u + x, v + x, rgba + 4 * x);
    }
#endif
    for (; x < count; x++) {
        uint16_t light = high(y[x], Y_FACTOR);
        uint16_t red = minus((uint16_t)(light + high(v[x], V_RED)), RED_BIAS);
        uint16_t away = (uint16_t)(high(u[x], U_GREEN) + high(v[x], V_GREEN));
        uint16_t green = minus((uint16_t)(light + GREEN_BIAS), away);
        uint16_t blue = minus((uint16_t)(light + high(u[x], U_BLUE)), BLUE_BIAS);
        rgba[4 * x] = clipped(red);
        rgba[4 * x + 1] = clipped(green);
        rgba[4 * x + 2] = clipped(blue);
        rgba[4 * x + 3] = 255;
    }
}

// Enlarges a row of chroma to `width` columns, between the nearer and the farther row of the plane.
static void enlarge(const uint8_t *near, const uint8_t *far, uint8_t *out, size_t width) {
    size_t pairs = (width - 1) / 2, x = 0;
    out[0] = (uint8_t)((3 * near[0] + far[0] + 2) >> 2);
#ifdef __SSE2__
    for (; x + 8 <= pairs; x += 8) {
        enlarge_eight(near + x, far + x, out + 2 * x + 1);
    }
#endif
    for (; x < pairs; x++) {
        int sum = near[x] + near[x + 1] + far[x] + far[x + 1] + 8;
        int falling = (sum + 2 * (near[x + 1] + far[x])) >> 3;
        int rising = (sum + 2 * (near[x] + far[x + 1])) >> 3;
        out[2 * x + 1] = (uint8_t)((falling + near[x]) >> 1);
        out[2 * x + 2] = (uint8_t)((rising + near[x + 1]) >> 1);
    }
    if (width % 2 == 0) {
        out[width - 1] = (uint8_t)((3 * near[pairs] + far[pairs] + 2) >> 2);
    }
}

void nhs_yuv_row(const nhs_planes *p, int32_t row, uint8_t *rgba, void *spare) {
    size_t width = (size_t)p->width;
    uint8_t *u = spare;
    uint8_t *v = u + spare_row(p->width);
    int32_t near = row / 2;
    int32_t far = row % 2 ? near + 1 : near - 1;
    int32_t last = (p->height - 1) / 2;
    far = far < 0 ? 0 : far > last ? last : far;
    size_t here = (size_t)near * p->uv_stride;
    size_t there = (size_t)far * p->uv_stride;
    enlarge(p->u + here, p->u + there, u, width);
    enlarge(p->v + here, p->v + there, v, width);
    color(p->y + (size_t)row * p->y_stride, u, v, rgba, width);
    if (p->a) {
        nhs_alpha_put(p->a + (size_t)row * p->a_stride, rgba, width);
    }
}

void nhs_yuv_reduced_row(const nhs_planes *p, int32_t factor, int32_t row, uint8_t *rgbx, void *spare) {
    size_t room = spare_row(p->width);
    uint16_t *sums = spare;
    uint8_t *y = (uint8_t *)spare + 2 * room;
    uint8_t *u = y + room;
    uint8_t *v = u + room;
    int32_t width = p->width / 2 + p->width % 2, height = p->height / 2 + p->height % 2;
    nhs_average_bytes(&(nhs_plane){p->y, p->y_stride, p->width, p->height}, factor, factor, row, y, sums);
    nhs_average_bytes(&(nhs_plane){p->u, p->uv_stride, width, height}, factor / 2, factor / 2, row, u, sums);
    nhs_average_bytes(&(nhs_plane){p->v, p->uv_stride, width, height}, factor / 2, factor / 2, row, v, sums);
    color(y, u, v, rgbx, (size_t)(p->width / factor + (p->width % factor != 0)));
}
