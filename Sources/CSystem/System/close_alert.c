#include "nhs_close_alert.h"

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>

/* Shared by the connection, which may live longer, and the caller. Used only on the thread that runs both. */
struct nhs_close_alert {
    int users;
    int came;
};

static int place = -1;
static pthread_once_t placing = PTHREAD_ONCE_INIT;

static void connection_freed(void *ssl, void *alert, CRYPTO_EX_DATA *data, int index, long number, void *pointer) {
    (void)ssl, (void)data, (void)index, (void)number, (void)pointer;
    nhs_close_alert_free(alert);
}

static void find_place(void) { place = SSL_get_ex_new_index(0, NULL, NULL, NULL, connection_freed); }

static void told(const SSL *ssl, int where, int alert) {
    nhs_close_alert *close_alert = where == SSL_CB_READ_ALERT ? SSL_get_ex_data(ssl, place) : NULL;
    if (close_alert && (alert & 0xff) == SSL_AD_CLOSE_NOTIFY) close_alert->came = 1;
}

nhs_close_alert *nhs_close_alert_watch(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session || !session->internals) {
        return NULL;
    }
    if (session->backend != CURLSSLBACKEND_OPENSSL) return NULL;
    SSL *ssl = session->internals;
    pthread_once(&placing, find_place);
    if (place < 0 || SSL_get_ex_data(ssl, place)) return NULL;
    nhs_close_alert *close_alert = calloc(1, sizeof *close_alert);
    if (!close_alert) return NULL;
    close_alert->users = 2;
    if (SSL_set_ex_data(ssl, place, close_alert) != 1) {
        free(close_alert);
        return NULL;
    }
    SSL_set_info_callback(ssl, told);
    return close_alert;
}

int nhs_close_alert_came(const nhs_close_alert *close_alert) { return close_alert->came; }

void nhs_close_alert_free(nhs_close_alert *close_alert) {
    if (close_alert && --close_alert->users == 0) free(close_alert);
}
