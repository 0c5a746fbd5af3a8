// For a progressive JPEG of which every block becomes one pixel: keeps only the blocks' means, a 64th of what libjpeg
// would hold, clear and read. When libjpeg asks for rows of blocks, it gets a few rows filled with means.
#include "jpeg_internal.h"

#include <stdlib.h>

#include <jerror.h>
#include <jpegint.h>

// The means of one component. libjpeg uses it as an array of coefficients.
struct nhs_jpeg_means {
    JCOEF *means;
    JDIMENSION columns;
    JDIMENSION rows;
    JBLOCK *blocks; // the rows that libjpeg has at present; everything except the means is zero
    JBLOCKROW lines[MAX_SAMP_FACTOR];
    JDIMENSION line_count;
    JDIMENSION first; // the first row in `lines`
    bool is_written;  // whether libjpeg may have changed them
};

static void keep_lines(nhs_jpeg_means *plane) {
    if (!plane->is_written) {
        return;
    }
    plane->is_written = false;
    size_t count = (size_t)plane->line_count * plane->columns;
    JCOEF *means = plane->means + (size_t)plane->first * plane->columns;
    for (size_t i = 0; i < count; i++) {
        means[i] = plane->blocks[i][0];
    }
}

static void show_lines(nhs_jpeg_means *plane, JDIMENSION first) {
    plane->first = first;
    size_t count = (size_t)plane->line_count * plane->columns;
    const JCOEF *means = plane->means + (size_t)first * plane->columns;
    for (size_t i = 0; i < count; i++) {
        plane->blocks[i][0] = means[i];
    }
}

static JBLOCKARRAY on_access(j_common_ptr codec, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count,
                             boolean is_written) {
    nhs_jpeg_means *plane = (nhs_jpeg_means *)array;
    // libjpeg asks for one row of groups at a time, and the array has whole rows of groups.
    if (count > plane->line_count || first > plane->rows - plane->line_count) {
        ERREXIT(codec, JERR_BAD_VIRTUAL_ACCESS);
    }
    if (first != plane->first) {
        keep_lines(plane);
        show_lines(plane, first);
    }
    if (is_written) {
        plane->is_written = true;
    }
    return plane->lines;
}

static jvirt_barray_ptr on_request(j_common_ptr codec, int pool, boolean is_zeroed, JDIMENSION columns,
                                   JDIMENSION rows, JDIMENSION rows_at_once) {
    (void)pool;
    (void)is_zeroed;
    (void)rows_at_once;
    nhs_jpeg *j = codec->client_data;
    if (j->arrays_lent >= j->codec.num_components) {
        nhs_jpeg_fail(j, NHS_FAULT_INTERNAL, "libjpeg wants more arrays than there are components");
        longjmp(j->escape, 1);
    }
    int component = j->arrays_lent++;
    nhs_jpeg_means *plane = &j->means[component];
    plane->columns = columns;
    plane->rows = rows;
    plane->line_count = (JDIMENSION)j->codec.comp_info[component].v_samp_factor;
    // Neither product overflows: a JPEG has at most 65,500 pixels a side.
    plane->means = calloc((size_t)columns * rows, sizeof(JCOEF));
    plane->blocks = calloc((size_t)columns * plane->line_count, sizeof(JBLOCK));
    if (!plane->means || !plane->blocks || rows < plane->line_count) {
        ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
    }
    for (JDIMENSION i = 0; i < plane->line_count; i++) {
        plane->lines[i] = plane->blocks + (size_t)i * columns;
    }
    return (jvirt_barray_ptr)plane;
}

int nhs_jpeg_keep_means(nhs_jpeg *j) {
    j->means = calloc((size_t)j->codec.num_components, sizeof *j->means);
    if (!j->means) {
        return nhs_jpeg_fail(j, NHS_FAULT_OUT_OF_MEMORY, "no memory for the means of blocks");
    }
    j->codec.mem->request_virt_barray = on_request;
    j->codec.mem->access_virt_barray = on_access;
    return NHS_OK;
}

// Skips a whole scan; libjpeg then looks for the next marker.
static boolean on_passed_over(j_decompress_ptr codec, JBLOCKROW *blocks) {
    (void)codec;
    (void)blocks;
    return TRUE;
}

void nhs_jpeg_pass_over_details(nhs_jpeg *j) {
    j->passes_over = j->means && j->codec.Ss > 0;
    if (j->passes_over) {
        j->codec.entropy->decode_mcu = on_passed_over;
    }
}

void nhs_jpeg_free_means(nhs_jpeg *j) {
    for (int i = 0; j->means && i < j->arrays_lent; i++) {
        free(j->means[i].means);
        free(j->means[i].blocks);
    }
    free(j->means);
}
