#include "nhs_digest.h"

/* The functions of libcrypto that OpenSSL 3 calls deprecated: the ones that it recommends ask for memory, take locks, and
   search providers by name. Once such a search has failed for lack of memory, libcrypto may never succeed again. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

void nhs_sha256(const void *bytes, size_t count, uint8_t digest[nhs_sha256_size]) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, count);
    SHA256_Final(digest, &context);
}
