/* The option config of a cache: a file with options, and with a program that signs in. */
#include "checks.h"

#include <signal.h>
#include <sys/stat.h>

static const char *base;
static char file[5000];

static void write_file(const char *text, mode_t mode) {
    FILE *out = fopen(file, "w");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0 || chmod(file, mode) != 0) exit(2);
}

static nh_status opened(const char *config, int retries, nh_cache **cache) {
    nh_options options = {.struct_size = sizeof options, .config = config, .retries = retries, .addresses = NH_ADDRESSES_ANY};
    return nh_open(folder, &options, cache);
}

static void values(void) {
    nh_cache *cache = NULL;
    nh_options told = {.struct_size = sizeof told};
    write_file("retries = 7\ntimeout = \"9s\"\n", 0600);
    CHECK("a file", opened(file, 0, &cache) == NH_OK);
    CHECK("its options", nh_cache_get_options(cache, &told) == NH_OK && told.retries == 7 && told.timeout_ms == 9000);
    CHECK("its name", strcmp(told.config, file) == 0);
    nh_close(cache, 0);
    CHECK("an own option", opened(file, 2, &cache) == NH_OK && nh_cache_get_options(cache, &told) == NH_OK && told.retries == 2);
    nh_close(cache, 0);
    CHECK("none", opened(NULL, 0, &cache) == NH_OK && nh_cache_get_options(cache, &told) == NH_OK && told.retries == 3);
    CHECK("no name", told.config == NULL);
    nh_close(cache, 0);
    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    CHECK("the usual files", opened("", 0, &cache) == NH_OK);
    nh_close(cache, 0);
}

static void mistakes(void) {
    nh_cache *cache = NULL;
    char words[6000];
    write_file("\n[host.\"a.test\"]\nhaeders = {}\n", 0600);
    snprintf(words, sizeof words, "%s:3:1: there is no option 'haeders'; did you mean headers?", file);
    CHECK("a mistake", opened(file, 0, &cache) == NH_INVALID && strstr(nh_error_message(), words) != NULL);
    write_file("retries = 1\n", 0666);
    CHECK("writable for all", opened(file, 0, &cache) == NH_UNSAFE_FILE);
    write_file("[host.\"a.test\"]\nuser = \"ann:hunter2\"\n", 0644);
    CHECK("a secret that all can read", opened(file, 0, &cache) == NH_INVALID && strstr(nh_error_message(), ":2:1: user is secret") != NULL);
    CHECK("not shown", strstr(nh_error_message(), "hunter2") == NULL);
    CHECK("missing", opened("/nowhere/config.toml", 0, &cache) == NH_IO);
    nh_response *response = NULL;
    CHECK("open", opened(NULL, 0, &cache) == NH_OK);
    CHECK("of a request", nh_get(cache, "http://127.0.0.1:9/", NH_OPTIONS(.config = file), &response) == NH_INVALID &&
                              strstr(nh_error_message(), "of a cache") != NULL);
    nh_close(cache, 0);
}

/* The program's headers reach the server, also in a process that ignores the ends of its children. */
static void command(void) {
    nh_cache *cache = NULL;
    nh_response *response = NULL;
    char text[6000];
    const char *json = "";
    snprintf(text, sizeof text, "[host.\"%s\"]\nauth_command = [\"echo\", \"X-Nut: hazel\"]\n", base);
    write_file(text, 0600);
    for (int ignores = 0; ignores < 2; ignores++) {
        signal(SIGCHLD, ignores ? SIG_IGN : SIG_DFL);
        CHECK("open", opened(file, 0, &cache) == NH_OK);
        snprintf(text, sizeof text, "%s/echo?%d", base, ignores);
        CHECK("get", nh_get(cache, text, NULL, &response) == NH_OK && nh_response_json(response, &json, NULL) == NH_OK);
        CHECK("signed in", strstr(json, "hazel") != NULL);
        nh_response_release(response);
        nh_close(cache, 0);
    }
    signal(SIGCHLD, SIG_DFL);
    snprintf(text, sizeof text, "[host.\"%s\"]\nauth_command = [\"/nowhere/tool\"]\n", base);
    write_file(text, 0600);
    CHECK("open", opened(file, 0, &cache) == NH_OK);
    snprintf(text, sizeof text, "%s/echo", base);
    CHECK("no such program", nh_get(cache, text, NULL, &response) == NH_IO && strstr(nh_error_message(), "/nowhere/tool") != NULL);
    nh_close(cache, 0);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    nh_close(open_cache(NULL), 0);
    snprintf(file, sizeof file, "%s/config.toml", folder);
    values();
    mistakes();
    command();
    return failures ? 1 : 0;
}
