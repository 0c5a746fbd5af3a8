// Alpha of one byte, put into rows of RGBA.
#ifndef NHS_ALPHA_H
#define NHS_ALPHA_H

#include <stddef.h>
#include <stdint.h>

void nhs_alpha_put(const uint8_t *alpha, uint8_t *rgba, size_t count);

#endif
