#include "nhs_digest.h"

/* These functions of libcrypto are deprecated in OpenSSL 3. The recommended ones allocate memory, take locks, and
   search providers by name. If such a search fails once for lack of memory, libcrypto may never succeed again. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

void nhs_sha256(const void *bytes, size_t count, uint8_t digest[nhs_sha256_size]) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, count);
    SHA256_Final(digest, &context);
}
