/*
 * inflate FILE.gz: measures ISA-L (with our frames) and zlib unpacking a gzip stream, in turn. Prints the medians of five
 * runs. Both get 16 KiB at a time and return up to 32 KiB, as for bodies. From the root of the repository:
 *   cc -O2 -ISources/CSystem/include Benchmarks/fetch/inflate.c Sources/CSystem/System/unpack.c -lisal -lz -o build/inflate
 */
#include "nhs_unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <zlib.h>

enum { PIECE = 16384, ROUNDS = 5 };
static uint8_t out[32768] __attribute__((aligned(64)));

static size_t by_isal(const uint8_t *data, size_t count) {
    nhs_unpacker *unpacker = nhs_unpacker_new(NHS_UNPACK_GZIP);
    size_t sum = 0, written;
    for (size_t at = 0; at < count; at += PIECE) {
        size_t left = count - at < PIECE ? count - at : PIECE;
        const uint8_t *next = data + at;
        int state = NHS_UNPACK_FULL;
        while (state == NHS_UNPACK_FULL) {
            state = nhs_unpack(unpacker, &next, &left, out, sizeof out, &written);
            sum += written;
        }
    }
    nhs_unpacker_free(unpacker);
    return sum;
}

static size_t by_zlib(const uint8_t *data, size_t count) {
    z_stream stream = {0};
    if (inflateInit2(&stream, 15 + 16) != Z_OK) exit(1);
    for (size_t at = 0; at < count; at += PIECE) {
        stream.next_in = (Bytef *)data + at;
        stream.avail_in = (uInt)(count - at < PIECE ? count - at : PIECE);
        do {
            stream.next_out = out;
            stream.avail_out = sizeof out;
        } while (inflate(&stream, Z_NO_FLUSH) == Z_OK && stream.avail_out == 0);
    }
    size_t sum = stream.total_out;
    inflateEnd(&stream);
    return sum;
}

/* Returns the microseconds of one run. Repeats it for a tenth of a second. */
static double time_of(size_t (*unpack)(const uint8_t *, size_t), const uint8_t *data, size_t count, size_t *sum) {
    clock_t begin = clock();
    int times = 0;
    do {
        *sum = unpack(data, count);
        times++;
    } while (clock() - begin < CLOCKS_PER_SEC / 10);
    return (double)(clock() - begin) * 1e6 / CLOCKS_PER_SEC / times;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fseek(file, 0, SEEK_END) != 0) return 2;
    size_t count = (size_t)ftell(file), sums[2];
    uint8_t *data = malloc(count);
    rewind(file);
    if (!data || fread(data, 1, count, file) != count) return 2;
    double isal[ROUNDS], zlib[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        isal[round] = time_of(by_isal, data, count, &sums[0]);
        zlib[round] = time_of(by_zlib, data, count, &sums[1]);
    }
    if (sums[0] != sums[1]) return 1;
    qsort(isal, ROUNDS, sizeof *isal, compare);
    qsort(zlib, ROUNDS, sizeof *zlib, compare);
    printf("%zu bytes to %zu: ISA-L %.1f us, zlib %.1f us, %.2f times\n", count, sums[0], isal[ROUNDS / 2],
           zlib[ROUNDS / 2], zlib[ROUNDS / 2] / isal[ROUNDS / 2]);
    return 0;
}
