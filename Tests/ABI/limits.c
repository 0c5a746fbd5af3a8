/* Values that are too long or too many, and wrong proxies, are refused at once, with a stable word and a short message.
 * */
#include "checks.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>

enum { huge = 9 << 20, longest_url = 65536, most_headers = 1000, most_header_bytes = 262144 };

static nh_cache *cache;
static const char *base;
static char *letters;

/* Returns so many letters, in a buffer that the next call overwrites. */
static const char *of_length(size_t count) { return letters + huge - count; }

/* Returns BEGIN, letters and END, together of so many bytes. The caller frees it. */
static char *around(const char *begin, size_t count, const char *end) {
    char *text = malloc(count + 1);
    memset(text, 'a', count);
    memcpy(text, begin, strlen(begin));
    memcpy(text + count - strlen(end), end, strlen(end) + 1);
    return text;
}

static nh_status result_of(nh_status status, nh_request *request) {
    nh_response *response = NULL;
    if (status == NH_OK) status = nh_perform(cache, request, &response);
    if (status == NH_OK) nh_response_release(response);
    nh_request_free(request);
    return status;
}

static int is_short(void) { return strlen(nh_error_message()) < 400; }

static nh_request *request_for(const char *path) {
    nh_request *request = NULL;
    nh_request_create(url_of(base, path), &request);
    return request;
}

static nh_status url_status(const char *url) {
    nh_request *request = NULL;
    nh_status status = nh_request_create(url, &request);
    return result_of(status, request);
}

static void check_urls(void) {
    nh_image *image = NULL;
    nh_response *response = NULL;
    nh_site *site = NULL;
    nh_request *request = NULL;
    nh_options options = {.struct_size = sizeof options, .allow_files = NH_YES};
    nh_cache *reading = NULL;
    char *longest = around(url_of(base, "/bytes/1?"), longest_url, ""), *longer = around(url_of(base, "/bytes/1?"), longest_url + 1, "");
    char *secret = around("http://user:secret", 1 << 20, "@h/"), *file = around("file:///", longest_url + 1, "");
    char *data = around("data:,", 1 << 20, "");
    CHECK("the longest URL is known", url_status(longest) != NH_BAD_URL);
    CHECK("a longer one", url_status(longer) == NH_BAD_URL && is_short() && strstr(nh_error_message(), "65536"));
    CHECK("the beginning is shown", strstr(nh_error_message(), "127.0.0.1") != NULL);
    CHECK("peek", peek_at(cache, longer, NH_OPTIONS(.size = 20), &image) == NH_BAD_URL && is_short());
    CHECK("peek_response", nh_peek_response(cache, longer, NULL, &response) == NH_BAD_URL && is_short());
    CHECK("remove", nh_remove(cache, longer, NULL) == NH_BAD_URL && is_short());
    CHECK("site", nh_site_open(cache, longer, NULL, &site) == NH_BAD_URL && is_short());
    CHECK("a site of the usual length", nh_site_open(cache, base, NULL, &site) == NH_OK);
    site_request(site, of_length(longest_url + 1), &request);
    CHECK("below a site", result_of(NH_OK, request) == NH_BAD_URL && is_short());
    nh_site_close(site);
    CHECK("an end that it would have with its site",
          nh_site_open(cache, longest, NULL, &site) == NH_OK && site_request(site, "?b", &request) == NH_OK && nh_request_free(request) == NH_OK);
    nh_site_close(site);
    CHECK("no password", url_status(secret) == NH_BAD_URL && is_short() && !strstr(nh_error_message(), "secret"));
    CHECK("a file's", nh_open(folder, &options, &reading) == NH_OK);
    CHECK("is no longer", nh_get(reading, file, NULL, &response) == NH_BAD_URL && is_short());
    CHECK("data may be", nh_get(cache, data, NULL, &response) == NH_OK && nh_response_release(response) == NH_OK);
    nh_close(reading, 2000);
    CHECK("not of one line", url_status(of_length(huge)) == NH_BAD_URL && is_short());
    free(longest), free(longer), free(secret), free(file), free(data);
}

static void check_sent(void) {
    nh_request *request = request_for("/echo");
    CHECK("method", result_of(SET(request, .method = of_length(huge)), request) == NH_BAD_HEADER && is_short());
    request = request_for("/echo");
    CHECK("method of 65", result_of(SET(request, .method = of_length(65)), request) == NH_BAD_HEADER && is_short());
    request = request_for("/echo");
    CHECK("method of 64", result_of(SET(request, .method = of_length(64)), request) != NH_BAD_HEADER);
    request = request_for("/echo");
    CHECK("header's name", result_of(nh_request_add_header(request, of_length(huge), "x"), request) == NH_BAD_HEADER && is_short());
    request = request_for("/echo");
    CHECK("header's value", result_of(nh_request_add_header(request, "x", of_length(huge)), request) == NH_BAD_HEADER && is_short());
    request = request_for("/echo");
    for (int i = 0; i <= most_headers; i++) nh_request_add_header(request, "x", "y");
    CHECK("too many headers", result_of(NH_OK, request) == NH_BAD_HEADER && is_short() && strstr(nh_error_message(), "1000"));
    request = request_for("/echo");
    CHECK("bearer", result_of(SET(request, .bearer = of_length(huge)), request) == NH_BAD_HEADER && is_short());
    request = request_for("/echo");
    CHECK("user", result_of(SET(request, .user = of_length(huge), .password = "x"), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("password", result_of(SET(request, .user = "x", .password = of_length(huge)), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("certificate", result_of(SET(request, .cert = of_length(huge)), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("its key", result_of(SET(request, .cert = "x", .cert_key = of_length(huge)), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("its password", result_of(SET(request, .cert = "x", .cert_password = of_length(huge)), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("netrc", result_of(SET(request, .netrc = of_length(huge)), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("key", result_of(SET(request, .cache_key = of_length(huge)), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("partition", result_of(SET(request, .partition = of_length(huge)), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("tag", result_of(SET(request, .tag = of_length(huge)), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("field's type", result_of(nh_request_add_part(request, NH_PART(.name = "x", .data = "y", .size = 1, .type = of_length(huge))), request) != NH_INTERNAL);
    request = request_for("/echo");
    SET(request, .method = "POST");
    CHECK("body's file", result_of(nh_request_set_body_file(request, of_length(huge)), request) == NH_INVALID && is_short());
    request = request_for("/echo");
    CHECK("file", result_of(nh_request_save_to(request, NH_SINK(.kind = NH_SINK_FILE, .path = of_length(huge))), request) == NH_INVALID && is_short());
    for (int what = 0; what < 3; what++) {
        static const char *const names[] = {"queue", "handler", "provider"};
        request = request_for("/echo");
        SET(request, .method = "POST", .freezable = NH_YES);
        nh_status status = what == 0   ? SET(request, .outbox_queue = of_length(huge))
                           : what == 1 ? SET(request, .outbox_handler = of_length(huge))
                                       : SET(request, .secrets = &(nh_secret){"x", NULL, of_length(huge)}, .secret_count = 1);
        CHECK(names[what], result_of(status, request) == NH_INVALID && is_short());
    }
}

static void check_options(void) {
    static const char *const bad[] = {"http://",    "http://[",      "::::",      "http:// h", "http://h h:1",    "ftp://h:1", "h:1",
                                      "http://h:x", "http://h:99999", "http://h:0", "socks5://", "http://u:secret@", "http://[::1",  "http://h\n"};
    nh_options options = {.struct_size = sizeof options};
    nh_cache *other = NULL;
    nh_site *site = NULL;
    char name[100], *long_proxy = around("http://", huge, ":1"), *deep = malloc(huge + 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.proxy = bad[i];
        snprintf(name, sizeof name, "proxy %d", (int)i);
        CHECK(name, nh_open(folder, &options, &other) == NH_INVALID && nh_site_open(cache, base, &options, &site) == NH_INVALID &&
                        strstr(nh_error_message(), "proxy") && !strstr(nh_error_message(), "secret"));
    }
    options.proxy = long_proxy;
    CHECK("a long proxy", nh_open(folder, &options, &other) == NH_INVALID && is_short());
    static const char *const good[] = {"http://h", "http://h:1/", "https://user:pass@h:1", "socks5h://[::1]:1", "socks4://10.0.0.1", ""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        options.proxy = good[i];
        snprintf(name, sizeof name, "good proxy %d", (int)i);
        CHECK(name, nh_open(folder, &options, &other) == NH_OK && nh_close(other, 2000) == NH_OK);
    }
    options.proxy = NULL;
    options.user_agent = of_length(huge);
    CHECK("user agent", nh_open(folder, &options, &other) == NH_BAD_HEADER && is_short());
    options.user_agent = NULL;
    options.accept = of_length(huge);
    CHECK("accept", nh_open(folder, &options, &other) == NH_BAD_HEADER && is_short());
    options.accept = NULL;
    options.netrc = of_length(huge);
    CHECK("netrc of all", nh_open(folder, &options, &other) == NH_INVALID && is_short());
    options.netrc = NULL;
    nh_header headers[most_headers + 1];
    for (int i = 0; i <= most_headers; i++) headers[i] = (nh_header){"x", "y"};
    options.headers = headers, options.header_count = most_headers + 1;
    CHECK("headers of all", nh_open(folder, &options, &other) == NH_INVALID && is_short());
    options.headers = NULL, options.header_count = 0;
    options.user = of_length(huge), options.password = "x";
    CHECK("user of a site", nh_site_open(cache, base, &options, &site) == NH_INVALID && is_short());
    CHECK("folder", nh_open(of_length(huge), NULL, &other) == NH_INVALID && is_short());
    for (int i = 0; i < huge; i++) deep[i] = i % 2 ? '/' : 'a';
    deep[huge] = 0;
    CHECK("folders", nh_open(deep, NULL, &other) == NH_INVALID && is_short());
    free(long_proxy), free(deep);
}

/* Starts a server that answers with so many header lines and so many bytes in them. */
static int listener;

static void *answer(void *unused) {
    (void)unused;
    for (int client; (client = accept(listener, NULL, NULL)) >= 0; close(client)) {
        char asked[4096] = "", line[512];
        int lines = 0, bytes = 0, interim = 0;
        for (size_t had = 0; !strstr(asked, "\r\n\r\n");) {
            ssize_t count = read(client, asked + had, sizeof asked - 1 - had);
            if (count <= 0) break;
            had += (size_t)count;
        }
        sscanf(asked, "GET /%d/%d/%d ", &interim, &lines, &bytes);
        FILE *out = fdopen(dup(client), "w");
        for (int i = 0; i < interim; i++) fputs("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", out);
        fputs("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n", out);
        snprintf(line, sizeof line, "%*s", bytes - 5, "x");
        for (int i = 0; i < lines; i++) fprintf(out, "A: %s\r\n", line);
        fputs("\r\nok", out);
        fclose(out);
        /* Read the request, so that the kernel doesn't discard the sent answer. */
        shutdown(client, SHUT_WR);
        while (read(client, line, sizeof line) > 0) {}
    }
    return NULL;
}

static nh_status heads(int interim, int lines, int bytes) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    char url[100];
    getsockname(listener, (struct sockaddr *)&address, &size);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%d/%d/%d", ntohs(address.sin_port), interim, lines, bytes);
    return url_status(url);
}

static void check_received(void) {
    pthread_t thread;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, sizeof address);
    listen(listener, 5);
    pthread_create(&thread, NULL, answer, NULL);
    CHECK("as many lines as there may be", heads(0, 997, 10) == NH_OK);
    CHECK("one more", heads(0, 998, 10) == NH_HTTP && strstr(nh_error_message(), "1000 header lines"));
    CHECK("interim answers", heads(498, 1, 10) == NH_OK);
    CHECK("too many of them", heads(499, 1, 10) == NH_HTTP && strstr(nh_error_message(), "1000 header lines"));
    CHECK("many bytes", heads(0, 500, 500) == NH_OK);
    CHECK("too many", heads(0, 530, 500) == NH_HTTP && strstr(nh_error_message(), "262144 bytes"));
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
}

int main(int count, char **arguments) {
    nh_options options = {.struct_size = sizeof options, .retries = NH_NONE};
    if (count < 2) return 2;
    base = arguments[1];
    letters = malloc(huge + 1);
    memset(letters, 'a', huge);
    letters[huge] = 0;
    cache = open_cache(&options);
    check_urls();
    check_sent();
    check_options();
    check_received();
    CHECK("close", nh_close(cache, 2000) == NH_OK);
    free(letters);
    return failures != 0;
}
