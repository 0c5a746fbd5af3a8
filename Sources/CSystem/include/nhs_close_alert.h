/* Tells whether the server of a TLS connection has announced its end (close_notify). For a body without a length,
   libcurl accepts any end of the connection as the end of the body, even one that an attacker caused. */
#ifndef NHS_CLOSE_ALERT_H
#define NHS_CLOSE_ALERT_H

#include <curl/curl.h>

typedef struct nhs_close_alert nhs_close_alert;

/* Watches the handle's current connection, which must end with this transfer. Returns NULL if that can't be done:
   the connection has no TLS, libcurl doesn't use OpenSSL, or there is no memory. */
nhs_close_alert *nhs_close_alert_watch(CURL *easy);
int nhs_close_alert_came(const nhs_close_alert *close_alert);
void nhs_close_alert_free(nhs_close_alert *close_alert);

#endif
