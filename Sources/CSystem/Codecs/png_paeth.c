// Undoes PNG's Paeth filter of two rows at once.
//
// Each pixel waits for the previous one, some twelve cycles, and nothing else in its row can be done meanwhile. But the
// row below can be processed one pixel behind: both pixels go through the same instructions together.
#include "png_internal.h"

#if defined(__x86_64__)

#include <smmintrin.h>
#include <string.h>

#define NHS_SSE41 __attribute__((target("sse4.1")))

#define NHS_INLINE NHS_SSE41 static inline __attribute__((always_inline))

// The low halves hold pixel i of the upper row, the high halves pixel i - 1 of the lower row.
typedef struct two_pixels {
    __m128i left, corner;
} two_pixels;

NHS_INLINE uint32_t load_exactly(const uint8_t *from, size_t bytes) {
    uint32_t pixel = 0;
    memcpy(&pixel, from, bytes);
    return pixel;
}

// Returns both unfiltered pixels, the upper one in the low 32 bits.
NHS_INLINE uint64_t step(two_pixels *state, uint32_t upper, uint32_t lower, uint32_t above) {
    __m128i left = state->left, corner = state->corner;
    __m128i raw = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long)((uint64_t)lower << 32 | upper)));
    __m128i up = _mm_unpacklo_epi64(_mm_cvtepu8_epi16(_mm_cvtsi32_si128((int)above)), left);
    __m128i up_distance = _mm_sub_epi16(left, corner), left_distance = _mm_sub_epi16(up, corner);
    __m128i corner_distance = _mm_abs_epi16(_mm_add_epi16(up_distance, left_distance));
    up_distance = _mm_abs_epi16(up_distance);
    left_distance = _mm_abs_epi16(left_distance);
    __m128i least = _mm_min_epi16(corner_distance, _mm_min_epi16(up_distance, left_distance));
    __m128i guess = _mm_blendv_epi8(corner, up, _mm_cmpeq_epi16(least, up_distance));
    guess = _mm_blendv_epi8(guess, left, _mm_cmpeq_epi16(least, left_distance));
    // Add bytes, so that sums wrap.
    state->left = _mm_add_epi8(raw, guess);
    state->corner = up;
    return (uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(state->left, state->left));
}

// bytes is constant at each call, so that the compiler knows the sizes.
NHS_INLINE void two_rows(uint8_t *upper, uint8_t *lower, const uint8_t *above, size_t count, size_t bytes) {
    two_pixels state = {_mm_setzero_si128(), _mm_setzero_si128()};
    uint64_t done = step(&state, load_exactly(upper, bytes), 0, load_exactly(above, bytes));
    memcpy(upper, &done, bytes);
    // The lower row hasn't begun: there are zeros left of its first pixel.
    state.left = _mm_move_epi64(state.left);
    state.corner = _mm_move_epi64(state.corner);
    size_t i = bytes;
    for (; i + bytes <= count; i += bytes) {
        // Read four bytes, even for pixels of three: another row's filter byte follows each row, and the lower row is a
        // pixel behind.
        uint32_t upper_raw, lower_raw, over;
        memcpy(&upper_raw, upper + i, 4);
        memcpy(&lower_raw, lower + i - bytes, 4);
        memcpy(&over, above + i, 4);
        done = step(&state, upper_raw, lower_raw, over);
        memcpy(upper + i, &done, bytes);
        done >>= 32;
        memcpy(lower + i - bytes, &done, bytes);
    }
    done = step(&state, 0, load_exactly(lower + i - bytes, bytes), 0) >> 32;
    memcpy(lower + i - bytes, &done, bytes);
}

NHS_SSE41 static void two_rows_of_3(uint8_t *upper, uint8_t *lower, const uint8_t *above, size_t count) {
    two_rows(upper, lower, above, count, 3);
}

NHS_SSE41 static void two_rows_of_4(uint8_t *upper, uint8_t *lower, const uint8_t *above, size_t count) {
    two_rows(upper, lower, above, count, 4);
}

bool png_unfilter_two(uint8_t *upper, uint8_t *lower, const uint8_t *above, size_t row_bytes,
                      int pixel_bytes) {
    if (row_bytes < (size_t)pixel_bytes || !__builtin_cpu_supports("sse4.1")) return false;
    switch (pixel_bytes) {
    case 3: two_rows_of_3(upper, lower, above, row_bytes); return true;
    case 4: two_rows_of_4(upper, lower, above, row_bytes); return true;
    default: return false;
    }
}

#else

bool png_unfilter_two(uint8_t *upper, uint8_t *lower, const uint8_t *above, size_t row_bytes,
                      int pixel_bytes) {
    (void)upper, (void)lower, (void)above, (void)row_bytes, (void)pixel_bytes;
    return false;
}

#endif
