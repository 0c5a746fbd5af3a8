/* SHA-256 by OpenSSL's libcrypto. */
#ifndef NHS_DIGEST_H
#define NHS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { nhs_sha256_size = 32 };

/* 0, or -1 when there was no memory for it. */
int nhs_sha256(const void *bytes, size_t count, uint8_t digest[nhs_sha256_size]);

#endif
