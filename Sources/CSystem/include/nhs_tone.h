// From HDR colours to sRGB, as a browser shows them on a usual screen.
#ifndef NHS_TONE_H
#define NHS_TONE_H

#include <stddef.h>
#include <stdint.h>

#include "nhs_samples.h"

enum { NHS_TONE_LEVELS = 4096 };

// `is_hlg`: hybrid log-gamma, else PQ. `primaries` is a number of ISO/IEC 23091-2. Returns NULL if there is no memory.
nhs_tone *nhs_tone_new(int32_t is_hlg, int32_t primaries);
void nhs_tone_free(nhs_tone *tone);

// Converts red, green and blue with 12 bits each to opaque RGBA.
void nhs_tone_row(const nhs_tone *tone, const uint16_t *const rgb[3], uint8_t *rgba, size_t count);

#endif
