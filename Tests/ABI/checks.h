/* What every C test uses: counted checks, one line each, and a cache in a folder of its own. */
#ifndef CHECKS_H
#define CHECKS_H

#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;

/* Says what was checked; the test goes on after a failure. */
#define CHECK(name, condition)                                                              \
    do {                                                                                    \
        if (condition) {                                                                    \
            printf("ok %s\n", name);                                                        \
        } else {                                                                            \
            printf("not ok %s: %s:%d: %s (%s)\n", name, __FILE__, __LINE__, #condition, nh_error_message()); \
            failures++;                                                                     \
        }                                                                                   \
        fflush(stdout);                                                                     \
    } while (0)

static char folder[4096];

/* A cache in a new folder, which goes at the end of the program. */
static void remove_folder(void) { rmdir(folder); }

static inline nh_cache *open_cache(const nh_options *options) {
    nh_cache *cache = NULL;
    if (folder[0] == 0) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/nuthatch-abi-XXXXXX", base ? base : "/tmp");
        if (mkdtemp(folder) == NULL) exit(2);
        atexit(remove_folder);
    }
    if (nh_open(folder, options, &cache) != NH_OK) {
        printf("not ok open: %s\n", nh_error_message());
        exit(2);
    }
    return cache;
}

/* BASE followed by PATH, in a buffer that the next call uses again. */
static inline const char *url_of(const char *base, const char *path) {
    static char url[512];
    snprintf(url, sizeof url, "%s%s", base, path);
    return url;
}

#endif
