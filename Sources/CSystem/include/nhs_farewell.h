/* Tells whether the server of a TLS connection has announced its end (close_notify). For a body without a length,
   libcurl accepts any end of the connection as the end of the body, even one that an attacker caused. */
#ifndef NHS_FAREWELL_H
#define NHS_FAREWELL_H

#include <curl/curl.h>

typedef struct nhs_farewell nhs_farewell;

/* Watches the handle's current connection, which must end with this transfer. Returns NULL if that can't be done:
   the connection has no TLS, libcurl doesn't use OpenSSL, or there is no memory. */
nhs_farewell *nhs_farewell_watch(CURL *easy);
int nhs_farewell_came(const nhs_farewell *farewell);
void nhs_farewell_free(nhs_farewell *farewell);

#endif
