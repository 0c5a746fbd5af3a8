/* Makes small JPEGs, each different, about 24 KB at 640x480: pictures COUNT FOLDER. */
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

enum { WIDTH = 640, HEIGHT = 480, CELL = 40 };

static unsigned seed;

static unsigned chance(void) {
    seed = seed * 1664525u + 1013904223u;
    return seed >> 16;
}

static int write_picture(const char *path, unsigned number) {
    static unsigned char row[WIDTH * 3];
    static int grid[HEIGHT / CELL + 2][WIDTH / CELL + 2][3];
    seed = number + 1;
    for (int y = 0; y < HEIGHT / CELL + 2; y++)
        for (int x = 0; x < WIDTH / CELL + 2; x++)
            for (int c = 0; c < 3; c++) grid[y][x][c] = (int)(chance() % 256);
    FILE *file = fopen(path, "wb");
    if (!file) return 0;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 75, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            int gx = x / CELL, gy = y / CELL, fx = x % CELL, fy = y % CELL;
            int noise = (int)(chance() % 9) - 4;
            for (int c = 0; c < 3; c++) {
                int top = grid[gy][gx][c] * (CELL - fx) + grid[gy][gx + 1][c] * fx;
                int below = grid[gy + 1][gx][c] * (CELL - fx) + grid[gy + 1][gx + 1][c] * fx;
                int value = (top * (CELL - fy) + below * fy) / (CELL * CELL) + noise;
                row[x * 3 + c] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
        JSAMPROW rows[] = {row};
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return fclose(file) == 0;
}

int main(int count, char **words) {
    if (count != 3) return 2;
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
