// Decodes HEICs by libheif, which only the process that decodes for others loads.
#ifndef NHS_HEIC_H
#define NHS_HEIC_H

#include "nhs_fault.h"

#include <stddef.h>

// Loads libheif. Returns whether that worked.
int nhs_heic_load(void);
int nhs_heic_is_loaded(void);

typedef struct nhs_heic nhs_heic;

// Decodes the primary picture, turned and cropped as the file says, in its own colours. NULL and the fault on failure. The limits
// are those of a side and of all pixels.
nhs_heic *nhs_heic_decode(const void *bytes, size_t count, int32_t side, nhs_fault *fault);
void nhs_heic_free(nhs_heic *picture);
void nhs_heic_size(const nhs_heic *picture, int32_t *width, int32_t *height);
// Straight RGBA, rows of `stride` bytes.
const uint8_t *nhs_heic_rows(const nhs_heic *picture, int32_t *stride);
int nhs_heic_has_alpha(const nhs_heic *picture);
// The ICC profile; NULL if there is none.
const void *nhs_heic_profile(const nhs_heic *picture, size_t *count);

#endif
