#include "nhs_farewell.h"

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>

/* Shared by the connection, which may live longer, and the caller. Used only on the thread that runs both. */
struct nhs_farewell {
    int users;
    int came;
};

static int place = -1;
static pthread_once_t placing = PTHREAD_ONCE_INIT;

static void connection_freed(void *ssl, void *farewell, CRYPTO_EX_DATA *data, int index, long number, void *pointer) {
    (void)ssl, (void)data, (void)index, (void)number, (void)pointer;
    nhs_farewell_free(farewell);
}

static void find_place(void) { place = SSL_get_ex_new_index(0, NULL, NULL, NULL, connection_freed); }

static void told(const SSL *ssl, int where, int alert) {
    nhs_farewell *farewell = where == SSL_CB_READ_ALERT ? SSL_get_ex_data(ssl, place) : NULL;
    if (farewell && (alert & 0xff) == SSL_AD_CLOSE_NOTIFY) farewell->came = 1;
}

nhs_farewell *nhs_farewell_watch(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session || !session->internals) {
        return NULL;
    }
    if (session->backend != CURLSSLBACKEND_OPENSSL) return NULL;
    SSL *ssl = session->internals;
    pthread_once(&placing, find_place);
    if (place < 0 || SSL_get_ex_data(ssl, place)) return NULL;
    nhs_farewell *farewell = calloc(1, sizeof *farewell);
    if (!farewell) return NULL;
    farewell->users = 2;
    if (SSL_set_ex_data(ssl, place, farewell) != 1) {
        free(farewell);
        return NULL;
    }
    SSL_set_info_callback(ssl, told);
    return farewell;
}

int nhs_farewell_came(const nhs_farewell *farewell) { return farewell->came; }

void nhs_farewell_free(nhs_farewell *farewell) {
    if (farewell && --farewell->users == 0) free(farewell);
}
