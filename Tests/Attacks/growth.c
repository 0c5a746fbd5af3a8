/* growth CACHE: reads lines "WHAT FILE NAME", does WHAT with the bytes of FILE, and has callgrind write the number of instructions
   under NAME, of all threads together. Preparation and clean-up are not counted. */
#include <nuthatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

/* Sets further options of a request. */
#define SET(request, ...) nh_request_set(request, NH_OPTIONS(__VA_ARGS__))

static const char *folder;
static nh_cache *cache;
static const char *name;
static int rounds;

static void begin(void) { CALLGRIND_ZERO_STATS; }

static void end(void) {
    CALLGRIND_DUMP_STATS_AT(name);
    printf("%s: %s\n", name, nh_error_message());
    fflush(stdout);
}

static void take(nh_response *response) {
    const char *key, *value;
    if (response == NULL) return;
    for (int i = 0; nh_response_header_at(response, i, &key, &value) == NH_OK; i++) {}
    nh_response_header(response, "none", &value);
    nh_response_release(response);
}

/* Runs twice: the second run handles the results of the first. */
static void perform(nh_request *request) {
    for (int i = 0; i < 2; i++) {
        nh_response *response = NULL;
        nh_perform(cache, request, &response);
        take(response);
    }
    nh_request_free(request);
}

static nh_request *request_for(const char *url) {
    nh_request *request = NULL;
    nh_request_create(url, &request);
    SET(request, .retries = NH_NONE);
    return request;
}

static void look_up(const char *url) {
    nh_response *response = NULL;
    nh_site *site = NULL;
    begin();
    nh_image_release(nh_peek(cache, url, NH_OPTIONS(.size = 20)));
    nh_peek_response(cache, url, NULL, &response);
    nh_remove(cache, url, NULL);
    nh_site_open(cache, url, NULL, &site);
    nh_site_close(site);
    end();
}

static void get(const char *url) {
    begin();
    perform(request_for(url));
    end();
}

static void read_as(const char *url) {
    nh_response *response = NULL;
    nh_get(cache, url, NULL, &response);
    const char *text;
    size_t size;
    begin();
    nh_response_text(response, &text, &size);
    nh_response_json(response, &text, &size);
    end();
    nh_response_release(response);
}

/* With a site that stores cookies. */
static void get_with_cookies(const char *url) {
    nh_options options = {.struct_size = sizeof options, .cookie_jar = NH_COOKIE_JAR_DISK};
    nh_site *site = NULL;
    nh_request *request = NULL;
    begin();
    nh_site_open(cache, url, &options, &site);
    nh_request_create(url, &request);
    SET(request, .site = site);
    perform(request);
    nh_site_close(site);
    end();
}

static void decode(const char *bytes, size_t size) {
    nh_image *image = NULL;
    nh_options options = {.struct_size = sizeof options, .size = 4, .allow_damaged = NH_YES};
    begin();
    if (nh_image_decode(bytes, size, &options, &image) == NH_OK) nh_image_release(image);
    end();
}

/* The first line is the URL, and each other line a header or a field. */
static void send_lines(char *text, int what) {
    char *rest = text, *url = strsep(&rest, "\n"), *line;
    begin();
    nh_request *request = request_for(url);
    while ((line = strsep(&rest, "\n")) != NULL && *line) {
        char *key = strsep(&line, "=");
        if (what == 0) nh_request_add_header(request, key, line);
        if (what == 1) nh_request_add_field(request, key, line);
        if (what == 2) nh_request_add_part(request, NH_PART(.name = key, .data = line, .size = strlen(line)));
    }
    if (what > 0) SET(request, .method = "POST");
    perform(request);
    end();
}

/* Headers of the cache, of a site and of the request. */
static void send_headers_of_all(char *text) {
    char *rest = text, *url = strsep(&rest, "\n"), *line;
    nh_header headers[1000];
    nh_options options = {.struct_size = sizeof options, .headers = headers};
    nh_cache *other = NULL;
    nh_site *site = NULL;
    nh_request *request = NULL;
    nh_response *response = NULL;
    while (options.header_count < 1000 && (line = strsep(&rest, "\n")) != NULL && *line) {
        char *key = strsep(&line, "=");
        headers[options.header_count++] = (nh_header){key, line};
    }
    begin();
    nh_open(folder, &options, &other);
    nh_site_open(other, url, &options, &site);
    nh_request_create(url, &request);
    SET(request, .site = site);
    for (size_t i = 0; i < options.header_count; i++) nh_request_add_header(request, headers[i].name, headers[i].value);
    nh_perform(other, request, &response);
    take(response);
    end();
    nh_request_free(request);
    nh_site_close(site);
    nh_close(other, 2000);
}

/* The URL is the first line of the file. The file is also a netrc file. */
static void sign_in(const char *text, const char *path) {
    char url[200] = "";
    sscanf(text, "# %199s", url);
    nh_request *request = request_for(url);
    SET(request, .netrc = path);
    begin();
    perform(request);
    end();
}

/* The URL is the first item of the list. The list also names hosts without a proxy. */
static void go_around_a_proxy(const char *text) {
    char url[200] = "";
    sscanf(text, "%199[^,]", url);
    nh_cache *other = NULL;
    nh_response *response = NULL;
    /* These are read when the first cache is opened. */
    nh_close(cache, 2000);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("no_proxy", text, 1);
    begin();
    nh_open(folder, NULL, &other);
    nh_get(other, url, NULL, &response);
    take(response);
    nh_close(other, 2000);
    end();
    unsetenv("http_proxy");
    nh_open(folder, NULL, &cache);
}

/* So many requests are in the outbox, and half as many were dropped. */
static void read_outbox(const char *text) {
    char path[4096];
    nh_options options = {.struct_size = sizeof options, .outbox = NH_OUTBOX_OFF};
    nh_cache *other = NULL;
    nh_frozen *frozen = NULL;
    nh_response *response = NULL;
    int count = atoi(text);
    snprintf(path, sizeof path, "%s-%d", folder, rounds++);
    nh_open(path, &options, &other);
    for (int i = 0; i < count; i++) {
        nh_request *request = request_for("http://127.0.0.1:1/");
        SET(request, .method = "POST", .freezable = NH_YES);
        nh_perform(other, request, &response);
        nh_request_free(request);
    }
    for (int i = 1; i <= count; i += 2) nh_outbox_drop(other, (uint64_t)i);
    nh_close(other, 2000);
    nh_open(path, &options, &other);
    begin();
    nh_outbox_next(other, 0, &frozen);
    end();
    nh_frozen_release(frozen);
    nh_close(other, 2000);
}

int main(int count, char **arguments) {
    char what[100], file[1000], label[100];
    if (count != 2) return 2;
    folder = arguments[1];
    name = label;
    if (nh_open(folder, NULL, &cache) != NH_OK) return 2;
    while (scanf("%99s %999s %99s", what, file, label) == 3) {
        struct stat status;
        FILE *stream = fopen(file, "rb");
        if (stream == NULL || fstat(fileno(stream), &status) != 0) return 2;
        size_t size = (size_t)status.st_size;
        char *text = malloc(size + 1);
        if (fread(text, 1, size, stream) != size) return 2;
        text[size] = 0;
        fclose(stream);
        if (!strcmp(what, "look_up")) look_up(text);
        if (!strcmp(what, "get")) get(text);
        if (!strcmp(what, "read_as")) read_as(text);
        if (!strcmp(what, "cookies")) get_with_cookies(text);
        if (!strcmp(what, "decode")) decode(text, size);
        if (!strcmp(what, "headers")) send_lines(text, 0);
        if (!strcmp(what, "fields")) send_lines(text, 1);
        if (!strcmp(what, "form")) send_lines(text, 2);
        if (!strcmp(what, "headers_of_all")) send_headers_of_all(text);
        if (!strcmp(what, "netrc")) sign_in(text, file);
        if (!strcmp(what, "no_proxy")) go_around_a_proxy(text);
        if (!strcmp(what, "outbox")) read_outbox(text);
        free(text);
    }
    nh_close(cache, 2000);
    return 0;
}
