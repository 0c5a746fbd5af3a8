// The growing output buffer of the encoders; not for their callers.
#ifndef NUTHATCH_ENCODE_BYTES_H
#define NUTHATCH_ENCODE_BYTES_H

#include "nhs_encode.h"

// Makes room for that many more bytes. Returns false and sets the status if there is none.
int nhs_encoded_reserve(nhs_encoded *out, size_t more);
// Appends bytes. Returns false and sets the status on failure.
int nhs_encoded_append(nhs_encoded *out, const void *bytes, size_t count);
// Sets the status and the message, and returns the status.
int nhs_encoded_fail(nhs_encoded *out, int status, const char *message);

#endif
