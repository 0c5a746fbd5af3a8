/*
 * The limit of decoding: decodes every file that standard input names by libjpeg alone at 1/DENOMINATOR of its size, with
 * THREADS threads. The bytes are in memory already. Prints files, seconds and microseconds of user CPU time.
 *
 *   decode DENOMINATOR THREADS < paths
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <jpeglib.h>

typedef struct picture {
    unsigned char *bytes;
    unsigned long count;
} picture;

static picture *pictures;
static int picture_count;
static unsigned denominator = 2;
static atomic_int next_picture;

static int read_picture(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    fseek(file, 0, SEEK_END);
    long count = ftell(file);
    rewind(file);
    picture one = {.bytes = malloc((size_t)count), .count = (unsigned long)count};
    if (!one.bytes || fread(one.bytes, 1, one.count, file) != one.count) return 0;
    pictures = realloc(pictures, (size_t)(picture_count + 1) * sizeof *pictures);
    pictures[picture_count++] = one;
    return fclose(file) == 0;
}

/* An error ends the program, as libjpeg's default handler does: the files are our own. */
static void *decode(void *unused) {
    (void)unused;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    unsigned char *memory = malloc(16384 * 4 * 8);
    for (int i; (i = atomic_fetch_add(&next_picture, 1)) < picture_count;) {
        jpeg_mem_src(&jpeg, pictures[i].bytes, pictures[i].count);
        jpeg_read_header(&jpeg, TRUE);
        jpeg.out_color_space = JCS_EXT_RGBX;
        jpeg.scale_num = 1;
        jpeg.scale_denom = denominator;
        jpeg_start_decompress(&jpeg);
        JSAMPROW rows[8];
        for (size_t row = 0; row < 8; row++) rows[row] = memory + row * jpeg.output_width * 4;
        while (jpeg.output_scanline < jpeg.output_height) jpeg_read_scanlines(&jpeg, rows, 8);
        jpeg_finish_decompress(&jpeg);
    }
    jpeg_destroy_decompress(&jpeg);
    free(memory);
    return NULL;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    denominator = (unsigned)atoi(words[1]);
    int threads = atoi(words[2]);
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!read_picture(line)) {
            perror(line);
            return 1;
        }
    }
    struct timespec begin, end;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_t others[64];
    for (int i = 1; i < threads && i < 64; i++) pthread_create(&others[i], NULL, decode, NULL);
    decode(NULL);
    for (int i = 1; i < threads && i < 64; i++) pthread_join(others[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    getrusage(RUSAGE_SELF, &after);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    double cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1e6 +
                 (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
    printf("%d %.6f %.0f\n", picture_count, seconds, cpu);
    return 0;
}
