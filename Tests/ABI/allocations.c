/* Counts the allocations of a hit: calls of malloc and similar functions. */
#include "checks.h"

#include <errno.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Thread_local long allocations;

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    allocations++;
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    allocations++;
    *result = __libc_memalign(alignment, size);
    return *result == NULL ? ENOMEM : 0;
}

enum { calls = 20000 };

static nh_cache *cache;
static char url[512];

static int peek(void) {
    nh_image *image = NULL;
    return peek_at(cache, url, NH_OPTIONS(.size = 100), &image) == NH_OK && image != NULL && nh_image_release(image) == NH_OK;
}

static int thumbnail(void) {
    nh_image *image = NULL;
    return nh_thumbnail(cache, url, NH_OPTIONS(.size = 100), &image) == NH_OK && nh_image_release(image) == NH_OK;
}

static nh_request *request;

static int submit(void) {
    nh_event event;
    int is_hit = nh_submit_request(cache, request, NULL) == NH_OK && nh_poll(cache, &event, 1, sizeof event) == 1 &&
                 event.is_in_cache && event.image_count == 1;
    return nh_event_clear(&event) == NH_OK && is_hit;
}

/* Returns the allocations for each call, on average. In each new second, ages of pictures are renewed, which may allocate. */
static double allocations_of(int (*call)(void)) {
    int done = 0;
    for (int i = 0; i < 100; i++) call();
    long before = allocations;
    for (int i = 0; i < calls; i++) done += call();
    double each = (double)(allocations - before) / calls;
    return done == calls ? each : 1000;
}

/* Writes a figure for the list that the test runner prints. */
static void show(const char *name, double each) {
    const char *path = getenv("NUTHATCH_TEST_FIGURES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file == NULL) return;
    fprintf(file, "allocations of a hit by %s: %.2f\n", name, each);
    fclose(file);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    snprintf(url, sizeof url, "%s/png/300/300?allocations", arguments[1]);
    cache = open_cache(NULL);
    nh_request_create(url, &request);
    SET(request, .size = 100);
    CHECK("the first thumbnail is fetched", thumbnail());
    long before = allocations;
    void *volatile some = malloc(1);
    free(some);
    CHECK("allocations of this program are counted", allocations == before + 1);
    before = allocations;
    nh_request *another = NULL;
    nh_request_create(url, &another);
    nh_request_free(another);
    CHECK("allocations of the library are counted", allocations > before);
    double each = allocations_of(peek);
    show("nh_peek", each);
    CHECK("a hit of nh_peek allocates only its handle", each < 0.01);
    each = allocations_of(thumbnail);
    show("nh_thumbnail", each);
    CHECK("a hit of nh_thumbnail allocates only its handle", each < 0.01);
    each = allocations_of(submit);
    show("nh_submit, nh_poll, nh_event_clear", each);
    CHECK("a hit of nh_submit allocates a ticket and its event", each < 30);
    nh_request_free(request);
    nh_close(cache, 2000);
    return failures != 0;
}
