/* Cookies, netrc files, challenges, and a site's rules for all its requests; answers as text and JSON. */
#include "checks.h"

#include <sys/stat.h>

static nh_cache *cache;
static const char *base;

/* Returns the answer of /echo to a request of a site. */
static const char *echo_of(nh_site *site) {
    static char text[20000];
    nh_response *response = NULL;
    const char *json = "";
    text[0] = 0;
    CHECK("echo", nh_get(cache, "/echo", NH_OPTIONS(.site = site), &response) == NH_OK && nh_response_json(response, &json, NULL) == NH_OK);
    snprintf(text, sizeof text, "%s", json);
    nh_response_release(response);
    return text;
}

/* Trust applies to TLS, which is not used here. But answers of requests with own certificates stay apart. */
static void trust(void) {
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    char url[200];
    snprintf(url, sizeof url, "%s/headers?Cache-Control=max-age%%3D600&trust", base);
    const char *files[] = {NULL, "/one.pem", "/two.pem", ""};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) {
            CHECK("get", nh_get(cache, url, NH_OPTIONS(.ca_file = files[i]), &response) == NH_OK);
            nh_response_get_info(response, &info);
            CHECK("kept apart", info.is_in_cache == (round == 1 || i == 3));
            nh_response_release(response);
        }
    }
    for (int round = 0; round < 2; round++) {
        CHECK("unchecked", nh_get(cache, url, NH_OPTIONS(.insecure = NH_YES), &response) == NH_OK);
        nh_response_get_info(response, &info);
        CHECK("its own", info.is_in_cache == round);
        nh_response_release(response);
        CHECK("by a folder", nh_get(cache, url, NH_OPTIONS(.ca_dir = "/"), &response) == NH_OK);
        nh_response_get_info(response, &info);
        CHECK("its own", info.is_in_cache == round);
        nh_response_release(response);
    }
    CHECK("no such folder", nh_get(cache, "https://127.0.0.1:1/", NH_OPTIONS(.ca_dir = "/nowhere"), &response) == NH_TLS &&
                                strstr(nh_error_message(), "/nowhere: No such file") != NULL);
    CHECK("no such file", nh_get(cache, "https://127.0.0.1:1/", NH_OPTIONS(.ca_file = "/nowhere.pem"), &response) == NH_TLS &&
                              strstr(nh_error_message(), "/nowhere.pem: No such file") != NULL);
    CHECK("none", nh_get(cache, url, NH_OPTIONS(.ca_file = NH_OFF), &response) == NH_INVALID &&
                      strstr(nh_error_message(), "ca_file") != NULL);
}

static void cookies(void) {
    nh_site *site = NULL, *other = NULL;
    nh_response *response = NULL;
    nh_options options = {.struct_size = sizeof options, .cookie_jar = NH_COOKIE_JAR_MEMORY, .policy = NH_POLICY_RELOAD};
    CHECK("a site", nh_site_open(cache, base, &options, &site) == NH_OK);
    CHECK("none yet", strstr(echo_of(site), "Cookie") == NULL);
    nh_get(cache, "/headers?Set-Cookie=id%3Dhazel%3B%20Path%3D/", NH_OPTIONS(.site = site), &response);
    nh_response_release(response);
    CHECK("sent back", strstr(echo_of(site), "id=hazel") != NULL);
    nh_site_open(cache, base, &options, &other);
    CHECK("the same site", strstr(echo_of(other), "id=hazel") != NULL);
    CHECK("cleared", nh_site_clear_cookies(other) == NH_OK && strstr(echo_of(site), "id=hazel") == NULL);
    nh_site_close(site);
    nh_site_close(other);
    options.cookie_jar = NH_COOKIE_JAR_DISK;
    nh_site_open(cache, base, &options, &site);
    nh_get(cache, "/headers?Set-Cookie=id%3Dwalnut%3B%20Path%3D/", NH_OPTIONS(.site = site), &response);
    nh_response_release(response);
    nh_site_close(site);
    nh_close(cache, 2000);
    cache = open_cache(NULL);
    nh_site_open(cache, base, &options, &site);
    CHECK("kept", strstr(echo_of(site), "id=walnut") != NULL);
    nh_site_close(site);
    options.cookie_jar = (nh_cookie_jar)7;
    CHECK("no such place", nh_site_open(cache, base, &options, &site) == NH_INVALID);
    nh_cache *wrong = NULL;
    options = (nh_options){.struct_size = sizeof options, .cookie_jar = NH_COOKIE_JAR_MEMORY};
    CHECK("for sites only", nh_open(folder, &options, &wrong) == NH_INVALID && wrong == NULL);
}

static int status_of(nh_request *request) {
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    SET(request, .policy = NH_POLICY_RELOAD);
    nh_status status = nh_perform(cache, request, &response);
    if (status == NH_OK) nh_response_get_info(response, &info);
    nh_response_release(response);
    return status == NH_OK ? info.status : -(int)status;
}

static int fails(nh_request *request, nh_status wanted, const char *message) {
    nh_response *response = NULL;
    return nh_perform(cache, request, &response) == wanted && strstr(nh_error_message(), message) != NULL;
}

/* Signing in when another place, or no user, is given. */
static void nobody(void) {
    char path[4200];
    snprintf(path, sizeof path, "%s/passwords", folder);
    FILE *file = fopen(path, "w");
    fputs("machine 127.0.0.1 login u password p\n", file);
    fclose(file);
    nh_options options = {.struct_size = sizeof options, .user = "u", .password = "p"};
    nh_site *site = NULL;
    nh_request *request = NULL;
    nh_site_open(cache, base, &options, &site);
    site_request(site, "/basic-auth/u/p", &request);
    CHECK("the site's user", status_of(request) == 200);
    CHECK("user = NH_OFF sends no credentials", SET(request, .user = NH_OFF) == NH_OK && status_of(request) == 401);
    SET(request, .netrc = path);
    CHECK("the user of a request overrides that of its site", status_of(request) == 200);
    CHECK("half a user", SET(request, .password = "p") == NH_INVALID);
    nh_request_free(request);
    nh_site_close(site);
    options = (nh_options){.struct_size = sizeof options, .netrc = path};
    nh_site_open(cache, base, &options, &site);
    site_request(site, "/basic-auth/u/p", &request);
    CHECK("the site's netrc", status_of(request) == 200);
    CHECK("no netrc", SET(request, .netrc = NH_OFF) == NH_OK && status_of(request) == 401);
    nh_request_free(request);
    site_request(site, "/basic-auth/u/p", &request);
    CHECK("the netrc file of the site is used again", status_of(request) == 200);
    CHECK("without user and netrc no credentials are sent", SET(request, .user = NH_OFF) == NH_OK && status_of(request) == 401);
    nh_request_free(request);
    nh_site_close(site);
    options.netrc = NH_OFF;
    CHECK("none", nh_site_open(cache, base, &options, &site) == NH_OK);
    nh_site_close(site);
    options = (nh_options){.struct_size = sizeof options, .partition = NH_OFF};
    CHECK("what can't be off", nh_site_open(cache, base, &options, &site) == NH_INVALID);
}

static void place(void) {
    nh_request *request = NULL;
    char origin[200], small[4];
    nh_request_create(url_of(base, "/basic-auth/u/p"), &request);
    SET(request, .user = "u", .password = "p");
    CHECK("credentials for another origin are not sent", SET(request, .user_place = "https://example.org") == NH_OK && status_of(request) == 401);
    int length = nh_url_put(url_of(base, "/x"), NH_URL_ORIGIN, origin, sizeof origin);
    CHECK("an origin", length == (int)strlen(origin) && strncmp(origin, "http://127.0.0.1:", 17) == 0);
    CHECK("credentials for this origin are sent", SET(request, .user_place = origin) == NH_OK && status_of(request) == 200);
    CHECK("by its host", SET(request, .user_place = origin + 7) == NH_OK && status_of(request) == 200);
    CHECK("no place", SET(request, .user_place = "a/sesame") == NH_INVALID);
    CHECK("not shown", strstr(nh_error_message(), "sesame") == NULL);
    CHECK("without a place credentials are sent to any host", SET(request, .user_place = NULL) == NH_OK && status_of(request) == 200);
    nh_request_free(request);
    CHECK("no origin", nh_url_put("data:,a", NH_URL_ORIGIN, origin, sizeof origin) == -NH_BAD_URL);
    CHECK("cut off", nh_url_put("http://ann:pw@x/", NH_URL_REDACTED, small, sizeof small) == 17 && strcmp(small, "htt") == 0);
    CHECK("redacted", nh_url_put("http://ann:pw@x/", NH_URL_REDACTED, origin, sizeof origin) == 17
        && strcmp(origin, "http://ann:***@x/") == 0);
    CHECK("measured", nh_url_put("x", NH_URL_REDACTED, NULL, 0) == 1 && nh_url_put(NULL, NH_URL_REDACTED, NULL, 0) == -NH_INVALID);
    CHECK("secret", nh_header_is_secret("Authorization") == 1 && nh_header_is_secret("x-api-key") == 1
        && nh_header_is_secret("set-COOKIE") == 1);
    CHECK("no secret", nh_header_is_secret("Accept") == 0 && nh_header_is_secret(NULL) == -NH_INVALID);
}

static void netrc(void) {
    char path[4200];
    snprintf(path, sizeof path, "%s/netrc", folder);
    FILE *file = fopen(path, "w");
    fputs("machine 127.0.0.1 login u password p\n", file);
    fclose(file);
    nh_request *request = NULL;
    nh_request_create(url_of(base, "/basic-auth/u/p"), &request);
    CHECK("without", status_of(request) == 401);
    CHECK("by a file", SET(request, .netrc = path) == NH_OK && status_of(request) == 200);
    SET(request, .netrc = "/does/not/exist");
    CHECK("that is missing", status_of(request) == -NH_IO);
    /* A file name is shown without characters that disturb a log or a terminal. */
    SET(request, .netrc = "/does/not\nexist\x1b[1m");
    CHECK("that is oddly named", fails(request, NH_IO, "/does/not\\nexist\\u{1B}[1m can't be read"));
    char odd[4200];
    snprintf(odd, sizeof odd, "%s/odd\nname", folder);
    fclose(fopen(odd, "w"));
    chmod(odd, 0666);
    SET(request, .netrc = odd);
    CHECK("that others may write", fails(request, NH_UNSAFE_FILE, "/odd\\nname isn't used"));
    setenv("NETRC", path, 1);
    SET(request, .netrc = "");
    CHECK("the usual one", status_of(request) == 200);
    setenv("NETRC", "/does/not/exist", 1);
    CHECK("need not be there", status_of(request) == 401);
    nh_request_free(request);
    nh_site *site = NULL;
    nh_options options = {.struct_size = sizeof options, .netrc = path};
    nh_site_open(cache, base, &options, &site);
    site_request(site, "/basic-auth/u/p", &request);
    CHECK("a site's", status_of(request) == 200);
    nh_request_free(request);
    nh_site_close(site);
}

struct hook {
    int asked, seen;
};

/* The rules of a site: a token for each request, answers to challenges, and a verdict on answers. */
static void answer(nh_event *event, void *user) {
    struct hook *hook = user;
    const nh_header token = {"X-Token", "7"}, basic = {"Authorization", "Basic dTpw"};
    nh_response_info info = {.struct_size = sizeof info};
    nh_reply reply = {.struct_size = sizeof reply, .header_count = 1, .verdict = NH_VERDICT_ACCEPT, .reason = "too short"};
    if (event->kind != NH_EVENT_QUESTION) return;
    hook->asked |= (int)event->question;
    reply.headers = event->question == NH_ASK_CHALLENGE ? &basic : &token;
    if (event->question == NH_ASK_VERDICT) {
        nh_response_get_info(event->response, &info);
        if (info.body_size < 3) reply.verdict = ++hook->seen < 3 ? NH_VERDICT_RETRY : NH_VERDICT_REJECT;
    }
    CHECK("answer", nh_answer(event->ticket, &reply) == NH_OK);
}

static void rules(void) {
    struct hook hook = {0};
    nh_site *site = NULL;
    nh_response *response = NULL;
    nh_response_info info = {.struct_size = sizeof info};
    nh_options options = {.struct_size = sizeof options, .asks = 1u << 20, .callback = answer, .user_data = &hook};
    CHECK("no such question", nh_site_open(cache, base, &options, &site) == NH_INVALID);
    options.asks = NH_ASK_HEADERS | NH_ASK_CHALLENGE | NH_ASK_VERDICT;
    CHECK("asks", nh_site_open(cache, base, &options, &site) == NH_OK);
    CHECK("a token", strstr(echo_of(site), "X-Token") && hook.asked == (NH_ASK_HEADERS | NH_ASK_VERDICT));
    hook.asked = 0;
    CHECK("a challenge", nh_get(cache, "/basic-auth/u/p", NH_OPTIONS(.site = site), &response) == NH_OK);
    nh_response_get_info(response, &info);
    CHECK("is met", info.status == 200 && hook.asked == (NH_ASK_HEADERS | NH_ASK_CHALLENGE | NH_ASK_VERDICT));
    nh_response_release(response);
    CHECK("a 200 that is an error", nh_get(cache, "/bytes/2", NH_OPTIONS(.site = site), &response) == NH_HTTP && hook.seen == 3);
    CHECK("why", strstr(nh_error_message(), "too short") != NULL);
    nh_request *request = NULL;
    nh_image *image = NULL;
    CHECK("a picture", nh_thumbnail(cache, "/png/40/30?rules", NH_OPTIONS(.site = site, .size = 20), &image) == NH_OK && nh_image_release(image) == NH_OK);
    site_request(site, "/bytes/2", &request);
    SET(request, .asks_not = NH_ASK_HEADERS | NH_ASK_CHALLENGE | NH_ASK_VERDICT);
    CHECK("a request says otherwise", nh_perform(cache, request, &response) == NH_OK);
    nh_response_release(response);
    nh_request_free(request);
    site_request(site, "/bytes/30", &request);
    hook.asked = 0;
    CHECK("by dispatch", nh_submit_request(cache, request, NULL) == NH_OK);
    while (activity(cache) > 0) nh_dispatch(cache, 1000);
    CHECK("asked there", hook.asked == (NH_ASK_HEADERS | NH_ASK_VERDICT));
    nh_request_free(request);
    nh_site_close(site);
}

/* Bytes that a server declares as text, and their text in UTF-8. */
static void is_text(const char *type, const char *base64, const char *expected) {
    char script[400], name[100];
    static int count;
    snprintf(name, sizeof name, "/text-%d", ++count);
    snprintf(script, sizeof script,
             "{\"path\": \"%s\", \"script\": {\"headers\": [[\"Content-Type\", \"%s\"]], \"steps\": [{\"bytes\": "
             "{\"base64\": \"%s\"}}]}}",
             name, type, base64);
    nh_request *request = NULL;
    nh_response *response = NULL;
    nh_request_create(url_of(base, "/_control/on"), &request);
    SET(request, .method = "POST");
    nh_request_set_body(request, script, strlen(script));
    if (nh_perform(cache, request, &response) != NH_OK) exit(2);
    nh_response_release(response);
    nh_request_free(request);
    const char *text = NULL;
    nh_get(cache, url_of(base, name), NULL, &response);
    CHECK(type, nh_response_text(response, &text, NULL) == NH_OK && strcmp(text, expected) == 0);
    nh_response_release(response);
}

static void charsets(void) {
    is_text("text/plain; charset=iso-8859-1", "Z/w=", "g\xc3\xbc");
    is_text("text/plain; charset=UTF-16LE", "ZwD8AKwg", "g\xc3\xbc\xe2\x82\xac");
    is_text("text/plain; charset=windows-1252", "gA==", "\xe2\x82\xac");
    is_text("text/plain", "w7z/", "\xc3\xbc\xef\xbf\xbd");
}

static void formats(void) {
    nh_response *response = NULL;
    const char *text = NULL, *again = NULL;
    size_t size = 0;
    nh_get(cache, url_of(base, "/bytes/3"), NULL, &response);
    CHECK("text", nh_response_text(response, &text, &size) == NH_OK && size == 3 && strcmp(text, "xxx") == 0);
    CHECK("the same", nh_response_text(response, &again, NULL) == NH_OK && again == text);
    CHECK("no JSON", nh_response_json(response, &text, &size) == NH_WRONG_FORMAT && text == NULL && size == 0);
    CHECK("the message has the place of the JSON error", strstr(nh_error_message(), "at byte 0") != NULL);
    CHECK("its word", strcmp(nh_status_name(NH_WRONG_FORMAT), "wrong_format") == 0);
    nh_response_release(response);
    nh_get(cache, url_of(base, "/echo"), NULL, &response);
    CHECK("JSON", nh_response_json(response, &text, &size) == NH_OK && text[0] == '{' && size == strlen(text));
    nh_response_release(response);
    CHECK("released", nh_response_text(response, &text, &size) == NH_INVALID);
}

int main(int count, char **arguments) {
    if (count < 2) return 2;
    base = arguments[1];
    cache = open_cache(NULL);
    trust();
    cookies();
    netrc();
    nobody();
    place();
    rules();
    formats();
    charsets();
    nh_close(cache, 2000);
    return failures != 0;
}
