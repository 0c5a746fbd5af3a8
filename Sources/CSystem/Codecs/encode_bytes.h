// The growing output of the encoders; not for their callers.
#ifndef NUTHATCH_ENCODE_BYTES_H
#define NUTHATCH_ENCODE_BYTES_H

#include "nhs_encode.h"

// Makes room for that many bytes after the present ones; false with the status set when there is none.
int nhs_encoded_reserve(nhs_encoded *out, size_t more);
// Appends bytes; false as above.
int nhs_encoded_append(nhs_encoded *out, const void *bytes, size_t count);
// Notes a failure and returns its status.
int nhs_encoded_fail(nhs_encoded *out, int status, const char *message);

#endif
