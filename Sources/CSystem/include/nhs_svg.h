// Draws SVGs by librsvg, which only the process that decodes for others loads.
#ifndef NHS_SVG_H
#define NHS_SVG_H

#include "nhs_fault.h"

#include <stddef.h>

// Loads librsvg and all that it opens when it draws. Returns whether that worked.
int nhs_svg_load(void);
int nhs_svg_is_loaded(void);

// A part of the drawing, in its own units, and the pixels that it becomes.
typedef struct {
    double width, height; // of the whole drawing
    double x, y, part_width, part_height;
    int32_t columns, rows;
} nhs_svg_view;

// Draws into `pixels`, four bytes each, straight RGBA. References outside the file aren't followed.
int nhs_svg_draw(const void *bytes, size_t count, const nhs_svg_view *view, uint8_t *pixels, nhs_fault *fault);

#endif
