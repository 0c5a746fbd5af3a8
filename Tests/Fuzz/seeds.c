// Writes small pictures of every kind into a folder, for the fuzzers to begin with. The first byte of each file
// chooses among a harness's variants.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ImagingFixtures.h"

static void save(const char *folder, const char *kind, int number, uint8_t *bytes, size_t size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%d", folder, kind, number);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fputc(number, file);
    fwrite(bytes, 1, size, file);
    fclose(file);
    free(bytes);
}

// As text of the bytes in hexadecimal digits.
static void save_digits(const char *folder, const char *kind, int number, const char *digits) {
    size_t size = strlen(digits) / 2;
    uint8_t *bytes = malloc(size);
    for (size_t i = 0; bytes && i < size; i++) {
        unsigned byte = 0;
        sscanf(digits + 2 * i, "%2x", &byte);
        bytes[i] = (uint8_t)byte;
    }
    save(folder, kind, number, bytes, size);
}

// Two by two pixels each.
static void save_small_formats(const char *folder) {
    // With a global table; then interlaced and transparent, with a table of its own and a loop, smaller than its screen.
    save_digits(folder, "gif", 1,
                "474946383961020002008100000000ff1100ff2200ff3300ff2c0000000002000200000203443405003b");
    save_digits(folder, "gif", 4,
                "47494638396105000500000000" "21ff0b4e45545343415045322e300301000000" "21f90401090002002c0100010002000200c1"
                "0000ff1100ff2200ff3300ff" "020344340500" "2c00000000020002000002030128003b");
    // 24 bits; runs of 8 bits with a table of two; masks with alpha in a header of 56 bytes.
    save_digits(folder, "bmp", 1,
                "424d000000000000000036000000280000000200000002000000010018000000000000000000000000000000000000000000"
                "00000000" "0102030405060000" "0708090a0b0c0000");
    save_digits(folder, "bmp", 4,
                "424d00000000000000003e000000280000000200000002000000010008000100000000000000000000000000000002000000"
                "00000000" "0000ff00ff00ff00" "02010000" "0002010001000001");
    save_digits(folder, "bmp", 8,
                "424d000000000000000046000000380000000200000002000000010020000300000000000000000000000000000000000000"
                "000000000000ff0000ff0000ff000000000000ff" "01020304050607080910111213141516");
    // A bitmap of a bit a pixel with its mask.
    save_digits(folder, "ico", 1,
                "000001000100020202000100010040000000160000002800000002000000040000000100010000000000000000000000"
                "00000000000000000000000000000000ff00ffffff00" "80000000400000004000000000000000");
}

int main(int count, char **arguments) {
    if (count != 2) {
        fputs("usage: seeds FOLDER\n", stderr);
        return 2;
    }
    static uint8_t samples[64 * 64 * 8];
    for (size_t i = 0; i < sizeof samples; i++) {
        samples[i] = (uint8_t)(i * i / 97 + i / 7);
    }
    int number = 0;
    size_t size;
    for (int color = NHT_GRAY; color <= NHT_YCCK; color++) {
        for (int kind = 0; kind < 5; kind++) {
            nht_jpeg_options o = {.width = 33, .height = 25, .color = color, .quality = 60};
            o.horizontal = color == NHT_GRAY ? 1 : 2;
            o.vertical = color == NHT_GRAY ? 1 : 1 + kind % 2;
            o.is_progressive = kind == 1;
            o.is_arithmetic = kind == 2;
            o.restart_rows = kind == 3;
            o.separate_scans = kind == 4;
            o.write_adobe = color >= NHT_RGB;
            uint8_t *bytes = nht_jpeg(&o, samples, &size);
            save(arguments[1], "jpeg", number++, bytes, size);
        }
    }
    static const int types[] = {0, 2, 3, 4, 6};
    for (int t = 0; t < 5; t++) {
        for (int kind = 0; kind < 4; kind++) {
            nht_png_options o = {.width = 31, .height = 22, .depth = 8, .color_type = types[t], .level = 6};
            o.is_interlaced = kind == 1;
            o.filters = kind == 2 ? 0xF8 : 0;
            o.idat_bytes = kind == 2 ? 50 : 0;
            o.has_trns = kind == 3 && types[t] < 4;
            o.gamma = kind == 3 ? 100000 : 0;
            o.depth = kind == 3 && types[t] != 3 ? 16 : 8;
            uint8_t *bytes = nht_png(&o, samples, &size);
            save(arguments[1], "png", number++, bytes, size);
        }
    }
    for (int kind = 0; kind < 16; kind++) {
        nht_webp_options o = {.width = 34, .height = 23, .quality = 70, .method = 4};
        o.is_lossless = kind & 1;
        o.has_alpha = kind >> 1 & 1;
        o.partitions = kind >> 2 & 1;
        o.keeps_alpha_raw = kind >> 3;
        uint8_t *bytes = nht_webp(&o, samples, &size);
        save(arguments[1], "webp", number++, bytes, size);
    }
    for (int kind = NHT_SRGB; kind <= NHT_INK; kind++) {
        uint8_t *bytes = nht_profile(kind, &size);
        save(arguments[1], "profile", kind == NHT_GRAY_18 ? 0 : kind == NHT_INK ? 2 : 1 + 4 * kind, bytes, size);
    }
    save_small_formats(arguments[1]);
    return 0;
}
