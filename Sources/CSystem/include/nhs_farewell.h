/* Whether the server of a TLS connection has said that it has sent all (close_notify). libcurl takes any end of the connection
 * for the end of a body that has no length, also one that somebody on the way made. */
#ifndef NHS_FAREWELL_H
#define NHS_FAREWELL_H

#include <curl/curl.h>

typedef struct nhs_farewell nhs_farewell;

/* Watches the connection that the handle has at this moment, which must end with this transfer. NULL where that can't be done: the
 * connection has no TLS, libcurl uses another library than OpenSSL, or there is no memory. */
nhs_farewell *nhs_farewell_watch(CURL *easy);
int nhs_farewell_came(const nhs_farewell *farewell);
void nhs_farewell_free(nhs_farewell *farewell);

#endif
