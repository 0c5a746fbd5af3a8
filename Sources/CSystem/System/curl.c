#define _GNU_SOURCE
#include "nhs_curl.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

CURLcode nhs_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode nhs_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode nhs_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode nhs_easy_set_bytes(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

CURLcode nhs_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode nhs_easy_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}

CURLcode nhs_easy_set_header_callback(CURL *easy, nhs_data_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback);
    return code ? code : curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
}

CURLcode nhs_easy_set_write_callback(CURL *easy, nhs_data_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
    return code ? code : curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}

CURLcode nhs_easy_set_read_callback(CURL *easy, nhs_data_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_READFUNCTION, callback);
    return code ? code : curl_easy_setopt(easy, CURLOPT_READDATA, context);
}

CURLcode nhs_easy_set_seek_callback(CURL *easy, curl_seek_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
    return code ? code : curl_easy_setopt(easy, CURLOPT_SEEKDATA, context);
}

CURLcode nhs_easy_set_progress_callback(CURL *easy, curl_xferinfo_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
    return code ? code : curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context);
}

CURLcode nhs_easy_set_debug_callback(CURL *easy, curl_debug_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
    return code ? code : curl_easy_setopt(easy, CURLOPT_DEBUGDATA, context);
}

/* Without this, programs that the process executes would inherit libcurl's sockets, and libcurl would connect to any
   address. */
static curl_socket_t open_judged_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)purpose;
    nhs_socket_rules *rules = context;
    if (!rules->judge(rules->context, &address->addr, address->addrlen)) return CURL_SOCKET_BAD;
    int descriptor = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (descriptor < 0) {
        rules->failure = errno;
    } else {
        rules->opened(rules->context, descriptor);
    }
    return descriptor;
}

CURLcode nhs_easy_set_socket_rules(CURL *easy, nhs_socket_rules *rules) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_judged_socket);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, rules);
    return code;
}

CURLcode nhs_easy_set_close_callback(CURL *easy, nhs_close_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
    return code ? code : curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
}

CURLcode nhs_easy_set_prereq_callback(CURL *easy, curl_prereq_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
    return code ? code : curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}

long nhs_easy_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

curl_off_t nhs_easy_get_offset(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

void *nhs_easy_get_context(CURL *easy) {
    void *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

CURLMcode nhs_multi_set_callbacks(CURLM *multi, nhs_socket_callback on_socket, nhs_timer_callback on_timer,
                                  void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code;
}

CURLMcode nhs_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

CURL *nhs_multi_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

/*
 * CURLU_PUNYCODE is in the API since 7.88; a libcurl without IDNA returns an error, and so does this function. libcurl
 * reads the name in the locale's character set, and most C programs never leave "C". So this thread uses UTF-8
 * meanwhile.
 */
char *nhs_host_to_ascii(const char *host) {
#ifdef CURLU_PUNYCODE
    char *ascii = NULL;
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
    CURLU *url = curl_url();
    if (url != NULL && curl_url_set(url, CURLUPART_SCHEME, "http", 0) == CURLUE_OK &&
        curl_url_set(url, CURLUPART_HOST, host, 0) == CURLUE_OK) {
        char *converted = NULL;
        if (curl_url_get(url, CURLUPART_HOST, &converted, CURLU_PUNYCODE) == CURLUE_OK && converted != NULL) {
            ascii = strdup(converted);
        }
        curl_free(converted);
    }
    curl_url_cleanup(url);
    if (utf8) {
        uselocale(before);
        freelocale(utf8);
    }
    return ascii;
#else
    (void)host;
    return NULL;
#endif
}

void nhs_string_free(char *string) { free(string); }
