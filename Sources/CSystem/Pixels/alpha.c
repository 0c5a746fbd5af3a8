#include "nhs_alpha.h"

#ifdef __SSE2__
#include <emmintrin.h>

static inline void put_four(uint8_t *rgba, __m128i alpha) {
    __m128i colors = _mm_and_si128(_mm_loadu_si128((const __m128i *)rgba), _mm_set1_epi32(0x00FFFFFF));
    _mm_storeu_si128((__m128i *)rgba, _mm_or_si128(colors, alpha));
}
#endif

void nhs_alpha_put(const uint8_t *alpha, uint8_t *rgba, size_t count) {
    size_t x = 0;
#ifdef __SSE2__
    __m128i zero = _mm_setzero_si128();
    for (; x + 8 <= count; x += 8) {
        __m128i words = _mm_unpacklo_epi8(zero, _mm_loadl_epi64((const __m128i *)(alpha + x)));
        put_four(rgba + 4 * x, _mm_unpacklo_epi16(zero, words));
        put_four(rgba + 4 * x + 16, _mm_unpackhi_epi16(zero, words));
    }
#endif
    for (; x < count; x++) {
        rgba[4 * x + 3] = alpha[x];
    }
}
