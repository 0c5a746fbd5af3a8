/* Prints the limits of a cache, and of a site of it:  ./limits CACHE BASE */
#include <nuthatch.h>
#include <stdio.h>

/* NH_FOREVER means no limit, and NH_NONE means 0, because 0 itself means "not set". */
static void show(const char *name, int64_t number) {
    if (number == NH_FOREVER) printf("  %s: no limit\n", name);
    else printf("  %s: %lld\n", name, number == NH_NONE ? 0LL : (long long)number);
}

static void show_all(const char *whose, const nh_options *options) {
    printf("%s\n", whose);
    show("timeout_ms", options->timeout_ms);
    show("retries", options->retries);
    show("max_bytes", options->max_bytes);
    show("max_pixels", options->max_pixels);
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: limits CACHE BASE\n"), 2;

    nh_cache *cache;
    nh_site *site;
    nh_options options = {.struct_size = sizeof options};
    if (nh_open(arguments[1], NH_OPTIONS(.retries = NH_NONE), &cache) != NH_OK ||
        nh_site_open(cache, arguments[2], NH_OPTIONS(.timeout_ms = 5000, .max_bytes = NH_FOREVER), &site) != NH_OK) {
        return fprintf(stderr, "%s\n", nh_error_message()), 1;
    }
    if (nh_cache_get_options(cache, &options) == NH_OK) show_all(arguments[1], &options);
    if (nh_site_get_options(site, &options) == NH_OK) show_all(arguments[2], &options);
    nh_site_close(site);
    return nh_close(cache, 0) != NH_OK;
}
