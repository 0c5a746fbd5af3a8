#ifndef NHS_TEXT_H
#define NHS_TEXT_H

#include <stddef.h>

/*
 * Converts text to UTF-8. `charset` is a name that the C library knows. The result has `length` bytes; free it with
 * free(). Undecodable bytes become U+FFFD. Returns NULL if the charset isn't known, or if there is no memory.
 */
char *nhs_text_to_utf8(const char *charset, const void *bytes, size_t count, size_t *length);

#endif
