#define _GNU_SOURCE // memmem
#include "CodecLimit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>
#include <setjmp.h>
#include <dav1d/dav1d.h>
#include <webp/decode.h>

// An error ends the program, as libjpeg's default handler does: the files are our own.
int limit_decode_jpeg(const uint8_t *bytes, size_t count, int denominator) {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, (unsigned long)count);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_EXT_RGBX;
    jpeg.scale_num = 1;
    jpeg.scale_denom = (unsigned)denominator;
    jpeg_start_decompress(&jpeg);
    size_t stride = (size_t)jpeg.output_width * 4;
    uint8_t *memory = malloc(stride * 16);
    JSAMPROW rows[16];
    for (size_t i = 0; i < 16; i++) rows[i] = memory + i * stride;
    while (jpeg.output_scanline < jpeg.output_height) jpeg_read_scanlines(&jpeg, rows, 16);
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    free(memory);
    return 1;
}

typedef struct input {
    const uint8_t *at, *end;
} input;

static void read_input(png_structp png, png_bytep to, png_size_t count) {
    input *from = png_get_io_ptr(png);
    if (count > (size_t)(from->end - from->at)) png_error(png, "no more bytes");
    memcpy(to, from->at, count);
    from->at += count;
}

int limit_decode_png(const uint8_t *bytes, size_t count) {
    input from = {bytes, bytes + count};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    uint8_t *volatile row = NULL;
    if (setjmp(png_jmpbuf(png))) {
        free(row);
        png_destroy_read_struct(&png, &info, NULL);
        return 0;
    }
    png_set_read_fn(png, &from, read_input);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
    png_read_update_info(png, info);
    row = malloc(png_get_rowbytes(png, info));
    png_uint_32 height = png_get_image_height(png, info);
    for (png_uint_32 y = 0; y < height; y++) png_read_row(png, row, NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    free(row);
    return 1;
}

int limit_decode_webp(const uint8_t *bytes, size_t count) {
    WebPBitstreamFeatures found;
    if (WebPGetFeatures(bytes, count, &found) != VP8_STATUS_OK) return 0;
    int width, height, stride, uv_stride;
    uint8_t *u, *v;
    uint8_t *pixels = found.format == 1 && !found.has_alpha
                          ? WebPDecodeYUV(bytes, count, &width, &height, &u, &v, &stride, &uv_stride)
                          : WebPDecodeRGBA(bytes, count, &width, &height);
    WebPFree(pixels);
    return pixels != NULL;
}

size_t limit_encode_jpeg(const uint8_t *rgbx, int width, int height, int quality) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long count = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &count);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = 4;
    jpeg.in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, quality, TRUE);
    jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(rgbx + (size_t)jpeg.next_scanline * (size_t)width * 4);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(bytes);
    return count;
}

static void keep_bytes(const uint8_t *bytes, void *cookie) {
    (void)bytes;
    (void)cookie;
}

int limit_decode_avif(const uint8_t *bytes, size_t count) {
    size_t place = 0, size = 0;
    while (count - place >= 8) {
        size = (size_t)bytes[place] << 24 | (size_t)bytes[place + 1] << 16 | (size_t)bytes[place + 2] << 8 | bytes[place + 3];
        if (size < 8 || size > count - place) return 0;
        if (memcmp(bytes + place + 4, "mdat", 4) == 0) break;
        place += size;
    }
    if (count - place < 8) return 0;
    Dav1dSettings settings;
    dav1d_default_settings(&settings);
    settings.n_threads = 1;
    settings.max_frame_delay = 1;
    settings.apply_grain = 0;
    Dav1dContext *context;
    if (dav1d_open(&context, &settings) < 0) return 0;
    Dav1dData data = {0};
    Dav1dPicture picture = {0};
    // The colours and the alpha are a picture each, one behind the other.
    int wanted = 1 + (memmem(bytes, place, "auxid:1", 7) || memmem(bytes, place, "auxiliary:alpha", 15)), decoded = 0;
    if (dav1d_data_wrap(&data, bytes + place + 8, size - 8, keep_bytes, NULL) == 0 && dav1d_send_data(context, &data) == 0)
        for (; dav1d_get_picture(context, &picture) == 0; decoded++) dav1d_picture_unref(&picture);
    dav1d_data_unref(&data);
    dav1d_close(&context);
    return decoded == wanted;
}
