/* Functions for every C test: counted checks, with one line each, and a cache in a new folder. */
#ifndef CHECKS_H
#define CHECKS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <ftw.h>
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;

/* Prints the result of a check. The test goes on after a failure. */
/* Sets further options of a request. */
#define SET(request, ...) nh_request_set(request, NH_OPTIONS(__VA_ARGS__))

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

static pid_t owner;

static inline int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

/* Opens a cache in a new folder. The folder is removed at the end of the program, but not of its children. */
static inline void remove_folder(void) {
    if (getpid() == owner) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline nh_cache *open_cache(const nh_options *options) {
    nh_cache *cache = NULL;
    if (folder[0] == 0) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/nuthatch-abi-XXXXXX", base ? base : "/tmp");
        if (mkdtemp(folder) == NULL) exit(2);
        owner = getpid();
        atexit(remove_folder);
    }
    if (nh_open(folder, options, &cache) != NH_OK) {
        printf("not ok open: %s\n", nh_error_message());
        exit(2);
    }
    return cache;
}

/* Returns BASE followed by PATH, in a buffer that the next call overwrites. */
static inline const char *url_of(const char *base, const char *path) {
    static _Thread_local char url[512];
    snprintf(url, sizeof url, "%s%s", base, path);
    return url;
}

/* Returns the status of nh_peek. */
static inline nh_status peek_at(nh_cache *cache, const char *url, const nh_options *options, nh_image **image) {
    nh_error_info error = {.struct_size = sizeof error};
    *image = nh_peek(cache, url, options);
    if (*image == NULL) nh_error_get_info(&error);
    return error.code;
}

/* Makes a request of a site. */
static inline nh_status site_request(nh_site *site, const char *url, nh_request **request) {
    nh_status status = nh_request_create(url, request);
    return status == NH_OK ? SET(*request, .site = site) : status;
}

/* Returns the number of requests under way, or a negative number if it is unknown. */
static inline int activity(nh_cache *cache) {
    nh_statistics statistics = {.struct_size = sizeof statistics};
    return nh_stats(cache, &statistics) == NH_OK ? (int)statistics.activity : -1;
}

/* Returns how often a thread of this program went to sleep, or -1 if it doesn't sleep. */
static inline long sleeps_of(pid_t thread) {
    char path[64], line[256];
    long sleeps = -1;
    int is_asleep = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)thread);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        is_asleep |= strncmp(line, "State:\tS", 8) == 0;
        sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps);
    }
    if (file) fclose(file);
    return is_asleep ? sleeps : -1;
}

/* Waits until a thread sleeps from one look to the next: it has come to the call in which it waits. */
static inline void wait_until_asleep(const pid_t *thread) {
    long before = -1;
    for (;;) {
        const pid_t number = __atomic_load_n(thread, __ATOMIC_SEQ_CST);
        const long now = number ? sleeps_of(number) : -1;
        if (now >= 0 && now == before) return;
        before = now;
        usleep(20000);
    }
}

/* Calls the control interface of the test server with JSON. */
static inline void tell(nh_cache *cache, const char *base, const char *call, const char *json) {
    nh_request *request = NULL;
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    char url[512];
    snprintf(url, sizeof url, "%s/_control/%s", base, call);
    nh_request_create(url, &request);
    SET(request, .method = "POST");
    nh_request_set_body(request, json, strlen(json));
    if (nh_perform(cache, request, &response) != NH_OK || nh_response_get_info(response, &info) != NH_OK ||
        info.status != 200) {
        printf("not ok %s %s: %s\n", call, json, nh_error_message());
        failures++;
    }
    nh_response_release(response);
    nh_request_free(request);
}

/* Returns the answer of /echo to a request, in a buffer that the next call overwrites. */
static inline const char *echoed(nh_cache *cache, nh_request *request) {
    static char text[8192];
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    text[0] = 0;
    if (nh_perform(cache, request, &response) != NH_OK) return text;
    nh_response_get_info(response, &info);
    snprintf(text, sizeof text, "%.*s", (int)info.body_size, (const char *)info.body);
    nh_response_release(response);
    return text;
}

#endif
