/* hits CACHE URL: measures hits of a C program, in nanoseconds of the calling thread, which does all the work. Prints the best
 * and the median of several rounds. */
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static nh_cache *cache;
static nh_request *request;
static const char *url;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int peek(void) {
    return nh_image_release(nh_peek(cache, url, NH_OPTIONS(.size = 100))) == NH_OK;
}

static int thumbnail(void) {
    nh_image *image = NULL;
    return nh_thumbnail(cache, url, NH_OPTIONS(.size = 100), &image) == NH_OK && nh_image_release(image) == NH_OK;
}

static int event(void) {
    nh_event event;
    return nh_submit_request(cache, request, NULL) == NH_OK && nh_poll(cache, &event, 1, sizeof event) == 1 &&
           nh_event_clear(&event) == NH_OK;
}

static int by_number(const void *left, const void *right) {
    return (*(const double *)left > *(const double *)right) - (*(const double *)left < *(const double *)right);
}

static int measure(const char *name, int (*hit)(void), int count) {
    double rounds[9];
    for (int round = 0; round < 9; round++) {
        double start = now();
        for (int i = 0; i < count; i++) {
            if (!hit()) return fprintf(stderr, "%s: %s\n", name, nh_error_message()), 1;
        }
        rounds[round] = (now() - start) / count;
    }
    qsort(rounds, 9, sizeof *rounds, by_number);
    printf("%-40s %9.0f %9.0f ns\n", name, rounds[0], rounds[4]);
    return 0;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    url = arguments[2];
    if (nh_open(arguments[1], NULL, &cache) != NH_OK || nh_request_create(url, &request) != NH_OK || !thumbnail()) {
        return fprintf(stderr, "%s\n", nh_error_message()), 1;
    }
    nh_request_set(request, NH_OPTIONS(.size = 100));
    int failed = measure("C: nh_peek and release", peek, 1000000) || measure("C: nh_thumbnail and release", thumbnail, 20000) ||
                 measure("C: nh_submit, nh_poll, nh_event_clear", event, 20000);
    nh_fd(cache);
    failed = failed || measure("C: the same with nh_fd", event, 20000);
    nh_request_free(request);
    nh_close(cache, 2000);
    return failed;
}
