#include "nhs_digest.h"

#include <openssl/evp.h>
#include <pthread.h>

/* Looked up once: libcrypto searches its providers by name each time that it is asked, which costs more than hashing a
   small file. */
static EVP_MD *sha256;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fetch(void) { sha256 = EVP_MD_fetch(NULL, "SHA256", NULL); }

void nhs_sha256_prepare(void) { pthread_once(&once, fetch); }

int nhs_sha256(const void *bytes, size_t count, uint8_t digest[nhs_sha256_size]) {
    pthread_once(&once, fetch);
    if (!sha256) return -1;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context) return -1;
    int isDone = EVP_DigestInit_ex2(context, sha256, NULL) == 1 && EVP_DigestUpdate(context, bytes, count) == 1 &&
                 EVP_DigestFinal_ex(context, digest, NULL) == 1;
    EVP_MD_CTX_free(context);
    return isDone ? 0 : -1;
}
