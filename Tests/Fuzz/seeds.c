// Writes small pictures of every kind into a folder, for the fuzzers to begin with. The first byte of each file
// chooses among a harness's variants.
#include <stdio.h>
#include <stdlib.h>

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
    for (int kind = NHT_SRGB; kind <= NHT_INK; kind++) {
        uint8_t *bytes = nht_profile(kind, &size);
        save(arguments[1], "profile", kind == NHT_GRAY_18 ? 0 : kind == NHT_INK ? 2 : 1 + 4 * kind, bytes, size);
    }
    return 0;
}
