/* SHA-256 by OpenSSL's libcrypto. */
#ifndef NHS_DIGEST_H
#define NHS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { nhs_sha256_size = 32 };

/* Looks it up, which the first call of the next does otherwise. libcrypto holds locks meanwhile, for milliseconds: whatever is
   forked then by another thread waits for them for ever, at the latest when it ends. */
void nhs_sha256_prepare(void);

/* 0, or -1 when there was no memory for it. */
int nhs_sha256(const void *bytes, size_t count, uint8_t digest[nhs_sha256_size]);

#endif
