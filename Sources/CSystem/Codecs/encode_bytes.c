#include "encode_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nhs_encoded_fail(nhs_encoded *out, int status, const char *message) {
    out->status = status;
    snprintf(out->message, sizeof out->message, "%s", message);
    return status;
}

int nhs_encoded_reserve(nhs_encoded *out, size_t more) {
    if (out->size > out->limit || more > out->limit - out->size) {
        nhs_encoded_fail(out, NHS_ENCODE_OVER_LIMIT, "more bytes than the limit allows");
        return 0;
    }
    size_t needed = out->size + more;
    if (needed <= out->capacity) return 1;
    size_t capacity = out->capacity < out->limit / 2 ? out->capacity * 2 : out->limit;
    if (capacity < needed) capacity = needed;
    uint8_t *bytes = realloc(out->bytes, capacity);
    if (!bytes) {
        nhs_encoded_fail(out, NHS_ENCODE_NO_MEMORY, "no memory for the encoded picture");
        return 0;
    }
    out->bytes = bytes;
    out->capacity = capacity;
    return 1;
}

int nhs_encoded_append(nhs_encoded *out, const void *bytes, size_t count) {
    if (!nhs_encoded_reserve(out, count)) return 0;
    if (count) memcpy(out->bytes + out->size, bytes, count);
    out->size += count;
    return 1;
}

int nhs_all_opaque(nhs_pixels pixels) {
    size_t row = pixels.width * 4;
    for (size_t y = 0; y < pixels.height; y++) {
        const uint8_t *at = pixels.rgba + y * row;
        uint8_t all = 255;
        for (size_t x = 0; x < pixels.width; x++) all &= at[x * 4 + 3];
        if (all != 255) return 0;
    }
    return 1;
}

int nhs_all_gray(nhs_pixels pixels) {
    size_t row = pixels.width * 4;
    for (size_t y = 0; y < pixels.height; y++) {
        const uint8_t *at = pixels.rgba + y * row;
        uint8_t differences = 0;
        for (size_t x = 0; x < pixels.width; x++) {
            differences |= (uint8_t)((at[x * 4] ^ at[x * 4 + 1]) | (at[x * 4] ^ at[x * 4 + 2]));
        }
        if (differences) return 0;
    }
    return 1;
}
