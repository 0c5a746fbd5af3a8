#include "nhs_samples.h"

#include "nhs_alpha.h"
#include "nhs_average.h"
#include "nhs_tone.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Rows of words in `spare`; each has some more than the picture has columns.
enum { MARGIN = 64, ROWS = 7 };

static size_t spare_row(int32_t width) {
    return ((size_t)width + MARGIN) & ~(size_t)31;
}

size_t nhs_samples_spare(int32_t width) {
    // Luma, two rows of chroma, a row between two of chroma, and three rows of colours for `tone`. Sums take two of these.
    return spare_row(width) * ROWS * sizeof(uint16_t);
}

static void widen(const void *from, int is_wide, int32_t dropped, uint16_t *restrict out, size_t count) {
    if (is_wide) {
        const uint16_t *words = from;
        for (size_t x = 0; x < count; x++) {
            out[x] = (uint16_t)(words[x] >> dropped);
        }
    } else {
        const uint8_t *bytes = from;
        for (size_t x = 0; x < count; x++) {
            out[x] = bytes[x];
        }
    }
}

// Three parts of the nearer row and one of the farther one. Samples have at most 12 bits.
static void blend(const void *near, const void *far, int is_wide, int32_t dropped, uint16_t *restrict out, size_t count) {
    if (is_wide) {
        const uint16_t *one = near, *other = far;
        for (size_t x = 0; x < count; x++) {
            out[x] = (uint16_t)(3 * (one[x] >> dropped) + (other[x] >> dropped));
        }
    } else {
        const uint8_t *one = near, *other = far;
        for (size_t x = 0; x < count; x++) {
            out[x] = (uint16_t)(3 * one[x] + other[x]);
        }
    }
}

// Enlarges a row to `width` columns. Its samples are multiplied by 1 << `bits`.
static void enlarge(const uint16_t *restrict from, int bits, uint16_t *restrict out, size_t width) {
    uint16_t half = (uint16_t)(1 << bits >> 1), most = (uint16_t)(2 << bits);
    int shift = bits + 2;
    size_t pairs = (width - 1) / 2;
    out[0] = (uint16_t)((uint16_t)(from[0] + half) >> bits);
    for (size_t x = 0; x < pairs; x++) {
        uint16_t left = from[x], right = from[x + 1];
        // At most 65520 and the rounding.
        out[2 * x + 1] = (uint16_t)((uint16_t)(3 * left + right + most) >> shift);
        out[2 * x + 2] = (uint16_t)((uint16_t)(left + 3 * right + most) >> shift);
    }
    // As libyuv does it, also where the width is odd.
    out[width - 1] = (uint16_t)((uint16_t)(from[pairs] + half) >> bits);
}

typedef struct {
    const nhs_samples *samples;
    int32_t row;
    int32_t dropped;
    uint16_t *between;
} chroma_row;

static void cut_low(uint16_t *row, int32_t bits, size_t count) {
    uint16_t kept = (uint16_t)(0xFFFF << bits);
    for (size_t x = 0; x < count; x++) {
        row[x] &= kept;
    }
}

static void read_chroma(const chroma_row *c, const void *plane, uint16_t *out) {
    const nhs_samples *s = c->samples;
    int is_wide = s->depth > 8;
    size_t width = (size_t)s->width;
    size_t columns = s->halves_columns ? width / 2 + width % 2 : width;
    int32_t near = c->row, far = c->row;
    if (s->halves_rows) {
        int32_t last = (s->height - 1) / 2;
        near = c->row / 2;
        far = c->row % 2 ? near + 1 : near - 1;
        far = far < 0 ? 0 : far > last ? last : far;
    }
    const uint8_t *here = (const uint8_t *)plane + (size_t)near * s->uv_stride;
    const uint8_t *there = (const uint8_t *)plane + (size_t)far * s->uv_stride;
    if (!s->halves_columns) {
        widen(here, is_wide, c->dropped, out, columns);
    } else if (s->halves_rows) {
        blend(here, there, is_wide, c->dropped, c->between, columns);
        enlarge(c->between, 2, out, width);
    } else {
        widen(here, is_wide, c->dropped, c->between, columns);
        enlarge(c->between, 0, out, width);
    }
}

#ifdef __SSE2__
static inline __m128i factor_pair(int16_t low, int16_t high) {
    return _mm_set1_epi32((int32_t)((uint32_t)(uint16_t)low | (uint32_t)(uint16_t)high << 16));
}

typedef struct {
    __m128i yu, v, offset;
} channel;

static inline __m128i eight_of(const channel *c, const __m128i yu[2], const __m128i v[2], __m128i shift) {
    __m128i low = _mm_add_epi32(_mm_add_epi32(_mm_madd_epi16(yu[0], c->yu), _mm_madd_epi16(v[0], c->v)), c->offset);
    __m128i high = _mm_add_epi32(_mm_add_epi32(_mm_madd_epi16(yu[1], c->yu), _mm_madd_epi16(v[1], c->v)), c->offset);
    return _mm_packs_epi32(_mm_sra_epi32(low, shift), _mm_sra_epi32(high, shift));
}

// Returns how many columns were done.
static size_t color_eights(const nhs_colors *c, const uint16_t *const in[3], uint8_t *rgba, uint16_t *const wide[3],
                           size_t count) {
    channel channels[3];
    for (int k = 0; k < 3; k++) {
        channels[k].yu = factor_pair(c->factors[k][0], c->factors[k][1]);
        channels[k].v = factor_pair(c->factors[k][2], 0);
        channels[k].offset = _mm_set1_epi32(c->offsets[k]);
    }
    __m128i shift = _mm_cvtsi32_si128(c->shift), zero = _mm_setzero_si128();
    __m128i most = _mm_set1_epi16((short)c->most);
    size_t x = 0;
    for (; x + 8 <= count; x += 8) {
        __m128i y = _mm_loadu_si128((const __m128i *)(in[0] + x));
        __m128i u = _mm_loadu_si128((const __m128i *)(in[1] + x));
        __m128i v = _mm_loadu_si128((const __m128i *)(in[2] + x));
        __m128i yu[2] = {_mm_unpacklo_epi16(y, u), _mm_unpackhi_epi16(y, u)};
        __m128i vs[2] = {_mm_unpacklo_epi16(v, zero), _mm_unpackhi_epi16(v, zero)};
        __m128i red = eight_of(&channels[0], yu, vs, shift);
        __m128i green = eight_of(&channels[1], yu, vs, shift);
        __m128i blue = eight_of(&channels[2], yu, vs, shift);
        if (wide) {
            __m128i results[3] = {red, green, blue};
            for (int k = 0; k < 3; k++) {
                _mm_storeu_si128((__m128i *)(wide[k] + x), _mm_max_epi16(_mm_min_epi16(results[k], most), zero));
            }
            continue;
        }
        __m128i red_blue = _mm_packus_epi16(red, blue);
        __m128i green_alpha = _mm_packus_epi16(green, _mm_set1_epi16(255));
        __m128i first = _mm_unpacklo_epi8(red_blue, green_alpha), second = _mm_unpackhi_epi8(red_blue, green_alpha);
        _mm_storeu_si128((__m128i *)(rgba + 4 * x), _mm_unpacklo_epi16(first, second));
        _mm_storeu_si128((__m128i *)(rgba + 4 * x + 16), _mm_unpackhi_epi16(first, second));
    }
    return x;
}
#endif

// Writes RGBX, or with `wide` the three results.
static void color(const nhs_colors *c, const uint16_t *const in[3], uint8_t *rgba, uint16_t *const wide[3], size_t count) {
    size_t x = 0;
#ifdef __SSE2__
    x = color_eights(c, in, rgba, wide, count);
#endif
    for (; x < count; x++) {
        for (int k = 0; k < 3; k++) {
            int32_t sum = c->offsets[k];
            for (int n = 0; n < 3; n++) {
                sum += c->factors[k][n] * (int32_t)in[n][x];
            }
            sum >>= c->shift;
            sum = sum < 0 ? 0 : sum > c->most ? c->most : sum;
            if (wide) {
                wide[k][x] = (uint16_t)sum;
            } else {
                rgba[4 * x + (size_t)k] = (uint8_t)sum;
            }
        }
        if (!wide) {
            rgba[4 * x + 3] = 255;
        }
    }
}

static void color_any(const nhs_colors *c, const uint16_t *const in[3], uint8_t *rgba, uint16_t *spare, size_t room,
                      size_t count) {
    if (!c->tone) {
        color(c, in, rgba, NULL, count);
        return;
    }
    uint16_t *const wide[3] = {spare, spare + room, spare + 2 * room};
    color(c, in, rgba, wide, count);
    nhs_tone_row(c->tone, (const uint16_t *const *)wide, rgba, count);
}

// `spare`: room for a row of alpha.
static void put_alpha(const nhs_samples *s, const nhs_colors *c, int32_t row, uint8_t *rgba, uint8_t *spare) {
    size_t width = (size_t)s->width;
    const uint8_t *line = (const uint8_t *)s->a + (size_t)row * s->a_stride;
    nhs_alpha_put(nhs_samples_alpha(s, c, line, width, spare), rgba, width);
    if (!c->is_premultiplied) {
        return;
    }
    for (uint8_t *pixel = rgba; pixel < rgba + 4 * width; pixel += 4) {
        uint32_t alpha = pixel[3];
        if (alpha == 255) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            uint32_t straight = alpha ? (pixel[k] * 255u + alpha / 2) / alpha : 0;
            pixel[k] = (uint8_t)(straight < 255 ? straight : 255);
        }
    }
}

void nhs_samples_row(const nhs_samples *s, const nhs_colors *c, int32_t row, uint8_t *rgba, void *spare) {
    size_t room = spare_row(s->width);
    uint16_t *y = spare, *u = y + room, *v = u + room, *between = v + room;
    widen((const uint8_t *)s->y + (size_t)row * s->y_stride, s->depth > 8, c->dropped, y, (size_t)s->width);
    const uint16_t *in[3] = {y, y, y};
    if (s->u) {
        chroma_row chroma = {s, row, c->dropped, between};
        read_chroma(&chroma, s->u, u);
        read_chroma(&chroma, s->v, v);
        if (c->chroma_cut) {
            cut_low(u, c->chroma_cut, (size_t)s->width);
            cut_low(v, c->chroma_cut, (size_t)s->width);
        }
        in[1] = u;
        in[2] = v;
    }
    color_any(c, in, rgba, between + room, room, (size_t)s->width);
    if (s->a) {
        put_alpha(s, c, row, rgba, (uint8_t *)between);
    }
}

// Averages to words. `sums` has room for two rows of words.
static void average(const nhs_plane *plane, int is_wide, int32_t across, int32_t down, int32_t row, uint16_t *out,
                    void *sums) {
    if (is_wide) {
        nhs_average_words(plane, across, down, row, out, sums);
        return;
    }
    size_t count = (size_t)(plane->width / across + (plane->width % across != 0));
    uint8_t *bytes = (uint8_t *)((uint16_t *)sums + plane->width + 16);
    nhs_average_bytes(plane, across, down, row, bytes, sums);
    widen(bytes, 0, 0, out, count);
}

void nhs_samples_reduced_row(const nhs_samples *s, const nhs_colors *c, int32_t factor, int32_t row, uint8_t *rgba,
                             void *spare) {
    size_t room = spare_row(s->width), count = (size_t)(s->width / factor + (s->width % factor != 0));
    uint16_t *y = spare, *u = y + room, *v = u + room, *rest = v + room;
    int is_wide = s->depth > 8;
    average(&(nhs_plane){s->y, s->y_stride, s->width, s->height}, is_wide, factor, factor, row, y, rest);
    if (s->u) {
        nhs_plane plane = {s->u, s->uv_stride, s->width, s->height};
        int32_t across = factor, down = factor;
        if (s->halves_columns) {
            plane.width = plane.width / 2 + plane.width % 2;
            across /= 2;
        }
        if (s->halves_rows) {
            plane.height = plane.height / 2 + plane.height % 2;
            down /= 2;
        }
        average(&plane, is_wide, across, down, row, u, rest);
        plane.samples = s->v;
        average(&plane, is_wide, across, down, row, v, rest);
    }
    uint16_t *const in[3] = {y, s->u ? u : y, s->u ? v : y};
    const uint8_t *alpha = s->a ? nhs_samples_divide(s, c, factor, row, in, rest, rest + room) : NULL;
    color_any(c, (const uint16_t *const *)in, rgba, rest + room, room, count);
    if (alpha) {
        nhs_alpha_put(alpha, rgba, count);
    }
}
