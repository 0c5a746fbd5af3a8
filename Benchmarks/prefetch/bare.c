/*
 * The minimum of work: one thread fetches every URL of standard input by libcurl. One thread for each processor decodes at
 * 1/DENOMINATOR, reduces to 128x96 with the library's kernels, encodes, hashes, and writes to FILE, with the original. There
 * is no index, no metadata and no other process, and every error ends the program. Pictures are 640x480, and the server is
 * our own.
 *
 *   bare DENOMINATOR FILE < urls
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <curl/curl.h>
#include <jpeglib.h>
#include <openssl/evp.h>

#include "nhs_resample.h"

enum { SOURCE_WIDTH = 640, SOURCE_HEIGHT = 480, WIDTH = 128, HEIGHT = 96, BATCH = 16, CONNECTIONS = 8, WAITING = 64 };

typedef struct body {
    struct body *next;
    unsigned char *bytes;
    size_t count, room;
} body;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static body *first, **end = &first;
static int waiting, is_over;

static int denominator;
static int file;
static off_t used;

static void fail(const char *what) {
    fprintf(stderr, "bare: %s\n", what);
    exit(1);
}

/* For one axis: the window of Lanczos weights of each target pixel. */
typedef struct plan {
    int taps;
    int *starts;
    int16_t *weights;
} plan;

static double lanczos(double x) {
    if (x == 0) return 1;
    return fabs(x) >= 3 ? 0 : 3 * sin(M_PI * x) * sin(M_PI * x / 3) / (M_PI * M_PI * x * x);
}

static plan plan_axis(int from, int to) {
    double scale = (double)from / to;
    plan made = {.taps = ((int)ceil(6 * scale) + 3) / 4 * 4};
    made.starts = malloc((size_t)to * sizeof *made.starts);
    made.weights = malloc((size_t)to * made.taps * sizeof *made.weights);
    for (int i = 0; i < to; i++) {
        double middle = (i + 0.5) * scale, sum = 0, exact[256];
        int start = (int)floor(middle - 3 * scale + 0.5), rest = 1 << 14;
        start = start < 0 ? 0 : start + made.taps > from ? from - made.taps : start;
        for (int t = 0; t < made.taps; t++) sum += exact[t] = lanczos((start + t + 0.5 - middle) / scale);
        int16_t *weights = made.weights + (size_t)i * made.taps;
        for (int t = 0; t < made.taps; t++) rest -= weights[t] = (int16_t)lrint(exact[t] / sum * (1 << 14));
        weights[made.taps / 2] += (int16_t)rest;
        made.starts[i] = start;
    }
    return made;
}

typedef struct reducer {
    const nhs_resample_kernels *kernels;
    plan columns, rows;
    nhs_window windows[WIDTH];
    int16_t *table, *wide, *middle;
    const int16_t **wide_rows;
    nhs_weights *weights;
    size_t values;
    int taken, made;
} reducer;

static void plan_reducer(reducer *r, int width, int height) {
    r->kernels = nhs_resample_kernels_at(NHS_KERNELS_BEST);
    r->columns = plan_axis(width, WIDTH);
    r->rows = plan_axis(height, HEIGHT);
    int taps = r->columns.taps;
    r->table = malloc((size_t)WIDTH * taps * 4 * sizeof *r->table);
    for (int i = 0; i < WIDTH; i++) {
        r->windows[i] = (nhs_window){.start = r->columns.starts[i], .weights = i * taps * 4};
        for (int t = 0; t < taps; t++) {
            int16_t *at = r->table + (size_t)i * taps * 4 + (t >> 2) * 16 + ((t >> 1) & 1) * 8 + (t & 1);
            for (int copy = 0; copy < 4; copy++) at[copy * 2] = r->columns.weights[(size_t)i * taps + t];
        }
    }
    r->values = (size_t)(width + NHS_ROW_BLOCK) / NHS_ROW_BLOCK * NHS_ROW_BLOCK * 4;
    r->wide = calloc((size_t)height * r->values, sizeof *r->wide);
    r->middle = calloc(2 * r->values, sizeof *r->middle);
    r->wide_rows = malloc((size_t)height * sizeof *r->wide_rows);
    for (int y = 0; y < height; y++) r->wide_rows[y] = r->wide + (size_t)y * r->values;
    r->weights = malloc((size_t)(2 * r->rows.taps + 64) * sizeof *r->weights);
}

static void take_row(reducer *r, const unsigned char *row, int width, unsigned char *result) {
    r->kernels->widen_opaque((int16_t *)r->wide_rows[r->taken++], row, (size_t)width);
    while (r->made < HEIGHT && r->rows.starts[r->made + 1] + r->rows.taps <= r->taken) {
        int taps = r->rows.taps, shift = r->rows.starts[r->made + 1] - r->rows.starts[r->made];
        memset(r->weights, 0, (size_t)(taps + shift) * sizeof *r->weights);
        for (int t = 0; t < taps; t++) {
            const int16_t *weights = r->rows.weights + (size_t)r->made * taps;
            r->weights[t].upper[0] = r->weights[t].upper[1] = weights[t];
            r->weights[t + shift].lower[0] = r->weights[t + shift].lower[1] = weights[taps + t];
        }
        r->kernels->vertical(r->middle, r->middle + r->values, r->wide_rows + r->rows.starts[r->made], r->weights,
                             (size_t)(taps + shift), r->values);
        unsigned char *upper = result + (size_t)r->made * WIDTH * 4;
        nhs_row_pair pair = {r->middle, r->middle + r->values, upper, upper + WIDTH * 4};
        r->kernels->horizontal_opaque(&pair, r->windows, r->table, (size_t)r->columns.taps, WIDTH);
        r->made += 2;
    }
}

static void decode(struct jpeg_decompress_struct *jpeg, reducer *r, const body *picture, unsigned char *result) {
    static _Thread_local unsigned char memory[BATCH * SOURCE_WIDTH * 4];
    jpeg_mem_src(jpeg, picture->bytes, picture->count);
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->image_width != SOURCE_WIDTH || jpeg->image_height != SOURCE_HEIGHT) fail("a picture of another size");
    jpeg->out_color_space = JCS_EXT_RGBX;
    jpeg->scale_num = 1;
    jpeg->scale_denom = (unsigned)denominator;
    jpeg_start_decompress(jpeg);
    JSAMPROW lines[BATCH];
    for (size_t row = 0; row < BATCH; row++) lines[row] = memory + row * jpeg->output_width * 4;
    r->taken = r->made = 0;
    while (jpeg->output_scanline < jpeg->output_height) {
        JDIMENSION got = jpeg_read_scanlines(jpeg, lines, BATCH);
        for (JDIMENSION row = 0; row < got; row++) take_row(r, lines[row], (int)jpeg->output_width, result);
    }
    jpeg_finish_decompress(jpeg);
}

static size_t encode(struct jpeg_compress_struct *jpeg, unsigned char *pixels, unsigned char *to, size_t room) {
    unsigned long count = room;
    jpeg_mem_dest(jpeg, &to, &count);
    jpeg->image_width = WIDTH;
    jpeg->image_height = HEIGHT;
    jpeg->input_components = 4;
    jpeg->in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, 92, TRUE);
    jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor = 1;  // full chroma, as `JPEGChroma.asSeen` for these
    jpeg_start_compress(jpeg, TRUE);
    for (int y = 0; y < HEIGHT; y++) {
        JSAMPROW row = pixels + (size_t)y * WIDTH * 4;
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
    return count;
}

static body *next_body(void) {
    pthread_mutex_lock(&lock);
    while (!first && !is_over) pthread_cond_wait(&changed, &lock);
    body *found = first;
    if (found) {
        first = found->next;
        if (!first) end = &first;
        waiting--;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void *work(void *unused) {
    (void)unused;
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct decoder = {.err = jpeg_std_error(&errors)};
    struct jpeg_compress_struct encoder = {.err = &errors};
    jpeg_create_decompress(&decoder);
    jpeg_create_compress(&encoder);
    EVP_MD *sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    reducer r = {0};
    plan_reducer(&r, SOURCE_WIDTH / denominator, SOURCE_HEIGHT / denominator);
    unsigned char *pixels = malloc(WIDTH * HEIGHT * 4), *packed = malloc(1 << 17), hash[32];
    for (body *picture; (picture = next_body()); free(picture->bytes), free(picture)) {
        decode(&decoder, &r, picture, pixels);
        size_t count = encode(&encoder, pixels, packed, 1 << 17);
        EVP_DigestInit_ex2(digest, sha256, NULL);
        EVP_DigestUpdate(digest, picture->bytes, picture->count);
        EVP_DigestFinal_ex(digest, hash, NULL);
        pthread_mutex_lock(&lock);
        off_t at = used;
        used += (off_t)(picture->count + count + sizeof hash);
        pthread_mutex_unlock(&lock);
        struct iovec parts[] = {{hash, sizeof hash}, {picture->bytes, picture->count}, {packed, count}};
        if (pwritev(file, parts, 3, at) < 0) fail("can't write");
    }
    return NULL;
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *context) {
    body *to = context;
    if (to->count + size * count > to->room) {
        to->room = (to->count + size * count) * 2;
        to->bytes = realloc(to->bytes, to->room);
    }
    memcpy(to->bytes + to->count, bytes, size * count);
    to->count += size * count;
    return size * count;
}

/* Passes received pictures to the workers, and their handles to `idle`. Returns the number of pictures. */
static int collect(CURLM *multi, CURL **idle, int *idle_count) {
    int ended = 0, left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        CURL *easy = message->easy_handle;
        if (message->data.result != CURLE_OK) fail(curl_easy_strerror(message->data.result));
        body *picture;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &picture);
        curl_multi_remove_handle(multi, easy);
        idle[(*idle_count)++] = easy;
        ended++;
        pthread_mutex_lock(&lock);
        *end = picture;
        end = &picture->next;
        waiting++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return ended;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    denominator = atoi(words[1]);
    sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0});
    file = open(words[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0) fail("can't write");
    long workers = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[64];
    for (long i = 0; i < workers && i < 64; i++) pthread_create(&threads[i], NULL, work, NULL);

    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    CURL *idle[CONNECTIONS];
    int idle_count = 0, active = 0, done = 0, has_more = 1;
    while (idle_count < CONNECTIONS) idle[idle_count++] = curl_easy_init();
    char url[4096];
    while (has_more || active) {
        pthread_mutex_lock(&lock);
        int is_busy = waiting >= WAITING;
        pthread_mutex_unlock(&lock);
        while (!is_busy && idle_count && (has_more = has_more && fgets(url, sizeof url, stdin))) {
            url[strcspn(url, "\n")] = 0;
            CURL *easy = idle[--idle_count];
            body *picture = calloc(1, sizeof *picture);
            curl_easy_setopt(easy, CURLOPT_URL, url);
            curl_easy_setopt(easy, CURLOPT_PRIVATE, picture);
            curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
            curl_easy_setopt(easy, CURLOPT_WRITEDATA, picture);
            curl_multi_add_handle(multi, easy);
            active++;
        }
        int running, ended;
        curl_multi_perform(multi, &running);
        done += ended = collect(multi, idle, &idle_count);
        active -= ended;
        if (active && !ended) curl_multi_poll(multi, NULL, 0, 100, NULL);
        if (!active && is_busy) usleep(500);
    }
    pthread_mutex_lock(&lock);
    is_over = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (long i = 0; i < workers && i < 64; i++) pthread_join(threads[i], NULL);
    printf("%d pictures, %lld bytes\n", done, (long long)used);
    return 0;
}
