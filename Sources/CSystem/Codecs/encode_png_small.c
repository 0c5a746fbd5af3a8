// PNG by libpng: slow to write, small files.
#include "encode_bytes.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// Above this size zlib's last levels take seconds and gain almost nothing.
#define NHS_LARGE_PIXELS (1 << 20)

typedef struct encoder {
    nhs_encoded *out;
    png_structp png;
    png_infop info;
    uint8_t *row;
} encoder;

static void on_error(png_structp png, png_const_charp message) {
    encoder *self = png_get_error_ptr(png);
    if (self->out->status == NHS_ENCODE_OK) {
        int no_memory = strstr(message, "emory") != NULL;
        nhs_encoded_fail(self->out, no_memory ? NHS_ENCODE_NO_MEMORY : NHS_ENCODE_REFUSED, message);
    }
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void on_write(png_structp png, png_bytep bytes, png_size_t count) {
    encoder *self = png_get_io_ptr(png);
    if (!nhs_encoded_append(self->out, bytes, count)) png_error(png, "no room");
}

static void on_flush(png_structp png) { (void)png; }

static void pack(uint8_t *to, const uint8_t *rgba, size_t pixels, int channels) {
    for (size_t i = 0; i < pixels; i++) {
        const uint8_t *pixel = rgba + i * 4;
        *to++ = pixel[0];
        if (channels >= 3) {
            *to++ = pixel[1];
            *to++ = pixel[2];
        }
        if (channels == 2 || channels == 4) *to++ = pixel[3];
    }
}

static void encode(encoder *self, nhs_pixels pixels, int channels) {
    static const int types[5] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                 PNG_COLOR_TYPE_RGB_ALPHA};
    png_set_write_fn(self->png, self, on_write, on_flush);
    png_set_user_limits(self->png, INT32_MAX, INT32_MAX);
    png_set_IHDR(self->png, self->info, (png_uint_32)pixels.width, (png_uint_32)pixels.height, 8,
                 types[channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(self->png,
                              pixels.width * pixels.height > NHS_LARGE_PIXELS ? 6 : Z_BEST_COMPRESSION);
    png_set_compression_mem_level(self->png, 9);
    png_set_filter(self->png, PNG_FILTER_TYPE_BASE, PNG_ALL_FILTERS);
    png_write_info(self->png, self->info);
    for (size_t y = 0; y < pixels.height; y++) {
        pack(self->row, pixels.rgba + y * pixels.width * 4, pixels.width, channels);
        png_write_row(self->png, self->row);
    }
    png_write_end(self->png, self->info);
}

int nhs_encode_png_small(nhs_encoded *out, nhs_pixels pixels, int channels) {
    if (pixels.width == 0 || pixels.height == 0 || pixels.width > INT32_MAX / 8 ||
        pixels.height > INT32_MAX || channels < 1 || channels > 4) {
        return nhs_encoded_fail(out, NHS_ENCODE_REFUSED, "a PNG of such sides");
    }
    encoder self = {.out = out};
    self.row = malloc(pixels.width * (size_t)channels);
    self.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &self, on_error, on_warning);
    if (self.png) self.info = png_create_info_struct(self.png);
    if (!self.row || !self.png || !self.info) {
        nhs_encoded_fail(out, NHS_ENCODE_NO_MEMORY, "no memory for the PNG encoder");
    } else if (setjmp(png_jmpbuf(self.png)) == 0) {
        encode(&self, pixels, channels);
    }
    png_destroy_write_struct(&self.png, &self.info);
    free(self.row);
    return out->status;
}
