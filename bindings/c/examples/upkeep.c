/* Maintains a cache, for example for a settings page:  ./upkeep CACHE [remove URL | trim BYTES | flush | memory | clear] */
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nh_status carry_out(nh_cache *cache, const char *what, const char *with) {
    if (!strcmp(what, "remove")) return nh_remove(cache, with, NULL);
    if (!strcmp(what, "trim")) return nh_trim(cache, atoll(with));
    if (!strcmp(what, "flush")) return nh_flush(cache);
    if (!strcmp(what, "memory")) return nh_memory_pressure(NH_PRESSURE_CRITICAL);
    if (!strcmp(what, "clear")) return nh_clear(cache);
    return fprintf(stderr, "no %s\n", what), NH_INVALID;
}

int main(int count, char **arguments) {
    if (count < 2) return fprintf(stderr, "usage: upkeep CACHE [WHAT [WITH]]\n"), 2;

    nh_cache *cache;
    if (nh_open(arguments[1], NULL, &cache) != NH_OK) return fprintf(stderr, "%s\n", nh_error_message()), 1;
    nh_status status = NH_OK;
    if (count > 2) status = carry_out(cache, arguments[2], count > 3 ? arguments[3] : "");
    if (status != NH_OK) fprintf(stderr, "%s: %s\n", nh_status_name(status), nh_error_message());

    nh_statistics figures = {.struct_size = sizeof figures};
    nh_stats(cache, &figures);
    printf("%lld answers, %lld thumbnails\n", (long long)figures.metas, (long long)figures.thumbs);

    /* All figures as JSON. The first call returns the length, the second one the text. */
    int32_t size = nh_stats_json(cache, NULL, 0);
    char *json = size < 0 ? NULL : malloc((size_t)size + 1);
    if (json != NULL && nh_stats_json(cache, json, (size_t)size + 1) > 0) puts(json);
    free(json);
    nh_close(cache, 2000);
    return status != NH_OK;
}
