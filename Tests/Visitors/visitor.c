/* A program with a cache open: `visitor DIRECTORY [pressure]`. For each URL on standard input, a line about its thumbnail; for
   `stats`, what nh_stats_json says; for `pressure`, what becomes of a warning. */
#include <nuthatch.h>
#include <stdio.h>
#include <string.h>

int main(int count, char **arguments) {
    nh_options options = {.struct_size = sizeof options};
    if (count > 2) options.spill = NH_SPILL_PRESSURE;
    nh_cache *cache;
    if (count < 2 || nh_open(arguments[1], &options, &cache) != NH_OK) return puts(nh_error_message()), 1;
    puts("open");
    fflush(stdout);
    char line[4096];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = 0;
        char text[4096];
        nh_image *image;
        nh_image_info info = {.struct_size = sizeof info};
        nh_status status;
        if (strcmp(line, "stats") == 0) {
            if (nh_stats_json(cache, text, sizeof text) > 0) puts(text);
        } else if (strcmp(line, "pressure") == 0) {
            puts(nh_status_name(nh_memory_pressure(NH_PRESSURE_WARNING)));
        } else if ((status = nh_thumbnail(cache, line, NH_OPTIONS(.size = 256), &image)) != NH_OK) {
            puts(nh_status_name(status));
        } else {
            nh_image_get_info(image, &info);
            printf("%s %dx%d\n", info.is_in_cache ? "hit" : "fetched", info.width, info.height);
            nh_image_release(image);
        }
        fflush(stdout);
    }
    return nh_close(cache, 2000) != NH_OK;
}
