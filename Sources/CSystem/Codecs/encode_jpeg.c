// jpeglib.h needs FILE and size_t first.
#include <stdio.h>

#include "encode_bytes.h"

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <stdlib.h>

// The rows of an iMCU in 4:2:0.
#define NHS_ROWS_AT_ONCE 16

typedef struct encoder {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    nhs_encoded *out;
    uint8_t *flat;  // rows blended over white
    jmp_buf failed;
} encoder;

static void on_error(j_common_ptr jpeg) {
    encoder *self = jpeg->client_data;
    // If our own code failed first, its message says more than libjpeg's "can't suspend".
    if (self->out->status == NHS_ENCODE_OK) {
        char text[JMSG_LENGTH_MAX];
        jpeg->err->format_message(jpeg, text);
        int no_memory = jpeg->err->msg_code == JERR_OUT_OF_MEMORY;
        nhs_encoded_fail(self->out, no_memory ? NHS_ENCODE_NO_MEMORY : NHS_ENCODE_REFUSED, text);
    }
    longjmp(self->failed, 1);
}

static void on_message(j_common_ptr jpeg) { (void)jpeg; }

static void point_at_room(encoder *self) {
    self->destination.next_output_byte = self->out->bytes + self->out->size;
    self->destination.free_in_buffer = self->out->capacity - self->out->size;
}

static void on_start(j_compress_ptr jpeg) { point_at_room(jpeg->client_data); }

static boolean on_full(j_compress_ptr jpeg) {
    encoder *self = jpeg->client_data;
    // libjpeg expects the whole buffer to be taken, regardless of free_in_buffer.
    self->out->size = self->out->capacity;
    if (!nhs_encoded_reserve(self->out, 1)) ERREXIT(jpeg, JERR_CANT_SUSPEND);
    point_at_room(self);
    return TRUE;
}

static void on_end(j_compress_ptr jpeg) {
    encoder *self = jpeg->client_data;
    self->out->size = self->out->capacity - self->destination.free_in_buffer;
}

static void lay_on_white(uint8_t *restrict flat, const uint8_t *restrict rgba, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        uint16_t alpha = rgba[i * 4 + 3];
        for (size_t c = 0; c < 3; c++) {
            // An exact division by 255, rounded, in 16 bits.
            uint16_t sum = (uint16_t)(rgba[i * 4 + c] * alpha + 255 * (255 - alpha) + 128);
            flat[i * 4 + c] = (uint8_t)((uint16_t)(sum + (sum >> 8)) >> 8);
        }
        flat[i * 4 + 3] = 255;
    }
}

static void write_rows(encoder *self, nhs_pixels pixels) {
    size_t stride = pixels.width * 4;
    for (size_t y = 0; y < pixels.height; y += NHS_ROWS_AT_ONCE) {
        size_t count = pixels.height - y < NHS_ROWS_AT_ONCE ? pixels.height - y : NHS_ROWS_AT_ONCE;
        JSAMPROW rows[NHS_ROWS_AT_ONCE];
        for (size_t k = 0; k < count; k++) {
            const uint8_t *row = pixels.rgba + (y + k) * stride;
            if (self->flat) lay_on_white(self->flat + k * stride, row, pixels.width);
            // libjpeg only reads them; its type lacks the const.
            rows[k] = self->flat ? self->flat + k * stride : (JSAMPROW)(uintptr_t)row;
        }
        JDIMENSION written = 0;
        while (written < count) {
            written += jpeg_write_scanlines(&self->jpeg, rows + written, (JDIMENSION)count - written);
        }
    }
}

static void encode(encoder *self, nhs_pixels pixels, int quality, int half_chroma) {
    struct jpeg_compress_struct *jpeg = &self->jpeg;
    jpeg_create_compress(jpeg);
    jpeg->dest = &self->destination;
    jpeg->image_width = (JDIMENSION)pixels.width;
    jpeg->image_height = (JDIMENSION)pixels.height;
    jpeg->input_components = 4;
    jpeg->in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, quality, TRUE);
    jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor = half_chroma ? 2 : 1;
    jpeg_start_compress(jpeg, TRUE);
    write_rows(self, pixels);
    jpeg_finish_compress(jpeg);
}

static int encode_guarded(nhs_encoded *out, nhs_pixels pixels, int quality, int half_chroma, int on_white) {
    if (pixels.width == 0 || pixels.height == 0 || pixels.width > JPEG_MAX_DIMENSION ||
        pixels.height > JPEG_MAX_DIMENSION) {
        return nhs_encoded_fail(out, NHS_ENCODE_REFUSED, "a JPEG has 1 to 65500 pixels a side");
    }
    // About the size at quality 92, so that the buffer rarely grows.
    size_t guess = 1024 + pixels.width * pixels.height / 2;
    if (!nhs_encoded_reserve(out, guess < out->limit ? guess : out->limit)) return out->status;
    encoder self = {.out = out};
    self.jpeg.err = jpeg_std_error(&self.errors);
    self.errors.error_exit = on_error;
    self.errors.output_message = on_message;
    self.jpeg.client_data = &self;
    self.destination.init_destination = on_start;
    self.destination.empty_output_buffer = on_full;
    self.destination.term_destination = on_end;
    if (on_white) {
        self.flat = malloc(pixels.width * 4 * NHS_ROWS_AT_ONCE);
        if (!self.flat) return nhs_encoded_fail(out, NHS_ENCODE_NO_MEMORY, "no memory for rows on white");
    }
    if (setjmp(self.failed) == 0) encode(&self, pixels, quality, half_chroma);
    jpeg_destroy_compress(&self.jpeg);
    free(self.flat);
    return out->status;
}

int nhs_encode_jpeg(nhs_encoded *out, nhs_pixels pixels, int quality, int half_chroma, int on_white) {
    // libjpeg asks for more room when it has none left, even if nothing follows. With one byte more the limit is exact.
    size_t limit = out->limit;
    if (limit < SIZE_MAX) out->limit = limit + 1;
    encode_guarded(out, pixels, quality, half_chroma, on_white);
    out->limit = limit;
    if (out->status == NHS_ENCODE_OK && out->size > limit) {
        nhs_encoded_fail(out, NHS_ENCODE_OVER_LIMIT, "more bytes than the limit allows");
    }
    return out->status;
}
