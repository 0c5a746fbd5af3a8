/*
 * Makes JPEGs, each different, in a FOLDER: pictures COUNT FOLDER [QUALITY] [WIDTH HEIGHT] [progressive]. Default: quality
 * 75 and 640x480 pixels, about 28 KB. With quality 69, about 24 KB.
 */
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

/* The side of a square with a gradient between its corners. */
enum { CELL = 40 };

static int width = 640, height = 480, quality = 75, is_progressive;
static unsigned seed;

static unsigned chance(void) {
    seed = seed * 1664525u + 1013904223u;
    return seed >> 16;
}

static int write_picture(const char *path, unsigned number) {
    int columns = width / CELL + 2, rows = height / CELL + 2;
    unsigned char *row = malloc((size_t)width * 3);
    int(*grid)[3] = malloc((size_t)(columns * rows) * sizeof *grid);
    if (!row || !grid) return 0;
    seed = number + 1;
    for (int i = 0; i < columns * rows; i++)
        for (int c = 0; c < 3; c++) grid[i][c] = (int)(chance() % 256);
    FILE *file = fopen(path, "wb");
    if (!file) return 0;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, quality, TRUE);
    if (is_progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int place = y / CELL * columns + x / CELL, fx = x % CELL, fy = y % CELL;
            int noise = (int)(chance() % 9) - 4;
            for (int c = 0; c < 3; c++) {
                int top = grid[place][c] * (CELL - fx) + grid[place + 1][c] * fx;
                int below = grid[place + columns][c] * (CELL - fx) + grid[place + columns + 1][c] * fx;
                int value = (top * (CELL - fy) + below * fy) / (CELL * CELL) + noise;
                row[x * 3 + c] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
        JSAMPROW lines[] = {row};
        jpeg_write_scanlines(&jpeg, lines, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(row);
    free(grid);
    return fclose(file) == 0;
}

int main(int count, char **words) {
    if (count < 3) return 2;
    if (count > 3) quality = atoi(words[3]);
    if (count > 5) {
        width = atoi(words[4]);
        height = atoi(words[5]);
    }
    is_progressive = count > 6;
    for (int i = 0; i < atoi(words[1]); i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%d.jpg", words[2], i);
        if (!write_picture(path, (unsigned)i)) {
            perror(path);
            return 1;
        }
    }
    return 0;
}
