/* Typed functions for libcurl's variadic calls, which Swift can't make. */
#ifndef NHS_CURL_H
#define NHS_CURL_H

#include <curl/curl.h>
#include <sys/socket.h>

CURLcode nhs_easy_set_long(CURL *easy, CURLoption option, long value);
CURLcode nhs_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode nhs_easy_set_string(CURL *easy, CURLoption option, const char *value);
/* libcurl keeps a copy of the bytes. */
CURLcode nhs_easy_set_bytes(CURL *easy, CURLoption option, const void *bytes, size_t count);
CURLcode nhs_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode nhs_easy_set_pointer(CURL *easy, CURLoption option, const void *value);

typedef size_t (*nhs_data_callback)(char *bytes, size_t size, size_t count, void *context);

/* The header callback gets one line in each call, the write callback any number of body bytes. */
CURLcode nhs_easy_set_header_callback(CURL *easy, nhs_data_callback callback, void *context);
CURLcode nhs_easy_set_write_callback(CURL *easy, nhs_data_callback callback, void *context);

/* The read callback fills the buffer with bytes of the request's body, and returns 0 at the end. The seek callback goes
   back, so that the body can be sent again. */
CURLcode nhs_easy_set_read_callback(CURL *easy, nhs_data_callback callback, void *context);
CURLcode nhs_easy_set_seek_callback(CURL *easy, curl_seek_callback callback, void *context);

/* Called when bytes have moved, and about once a second. */
CURLcode nhs_easy_set_progress_callback(CURL *easy, curl_xferinfo_callback callback, void *context);
CURLcode nhs_easy_set_debug_callback(CURL *easy, curl_debug_callback callback, void *context);

/* Returns nonzero if a socket to that address may be opened. */
typedef int (*nhs_address_judge)(void *context, const struct sockaddr *address, unsigned int length);

typedef void (*nhs_socket_opened)(void *context, int descriptor);

typedef struct {
    nhs_address_judge judge;
    nhs_socket_opened opened;
    void *context;
    int failure; /* the errno of a socket that could not be opened; 0 if none failed */
} nhs_socket_rules;

/* Opens sockets as the rules say, closed on exec. The rules must stay valid. If an address is refused, libcurl tries
   the next one. */
CURLcode nhs_easy_set_socket_rules(CURL *easy, nhs_socket_rules *rules);

/* Called to close a socket, maybe long after its transfer: the context must stay valid as long as the multi handle. */
typedef int (*nhs_close_callback)(void *context, curl_socket_t socket);
CURLcode nhs_easy_set_close_callback(CURL *easy, nhs_close_callback callback, void *context);

/* Called when there is a connection, new or kept, before anything of the request is sent on it. */
CURLcode nhs_easy_set_prereq_callback(CURL *easy, curl_prereq_callback callback, void *context);

/* Returns the value, or 0 (NULL) if libcurl has none. */
long nhs_easy_get_long(CURL *easy, CURLINFO info);
curl_off_t nhs_easy_get_offset(CURL *easy, CURLINFO info);
void *nhs_easy_get_context(CURL *easy);

typedef int (*nhs_socket_callback)(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context);
typedef int (*nhs_timer_callback)(CURLM *multi, long timeout_ms, void *context);

CURLMcode nhs_multi_set_callbacks(CURLM *multi, nhs_socket_callback on_socket, nhs_timer_callback on_timer,
                                  void *context);
CURLMcode nhs_multi_set_long(CURLM *multi, CURLMoption option, long value);

/* Returns a finished transfer of `multi`, with its result in *result, or NULL if there is none. */
CURL *nhs_multi_next_done(CURLM *multi, CURLcode *result);

/*
 * Returns the ASCII (punycode) form of a host name with characters beyond ASCII; NULL if there is none. Uses libcurl's
 * own IDNA library, because libcurl connects to the name that it computes. Release it with nhs_string_free.
 */
char *nhs_host_to_ascii(const char *host);
void nhs_string_free(char *string);

/* Returns whether this code is in one file with the function: it is linked in. */
int nhs_is_inside(const void *function);

/* Writes the path of the library or program that contains this code. Returns 0 if it can't be known. */
int nhs_own_file(char *path, size_t size);

/* Returns whether libcurl has places of certificates built in. */
int nhs_curl_knows_certificates(void);

/* Returns whether libcurl can sign in by Negotiate, and the library for it can be loaded. */
int nhs_curl_can_negotiate(void);

#endif
