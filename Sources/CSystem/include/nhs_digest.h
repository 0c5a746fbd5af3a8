/* SHA-256 by OpenSSL's libcrypto. */
#ifndef NHS_DIGEST_H
#define NHS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { nhs_sha256_size = 32 };

/* Allocates no memory and takes no lock: it can't fail, and a forked child may call it. */
void nhs_sha256(const void *bytes, size_t count, uint8_t digest[nhs_sha256_size]);

#endif
