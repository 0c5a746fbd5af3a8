#ifndef NHS_TEXT_H
#define NHS_TEXT_H

#include <stddef.h>

/*
 * Converts text in a charset, named as the C library names it, to UTF-8. The result has `length` bytes; free it with
 * free(). Undecodable bytes become U+FFFD. Returns NULL if the charset isn't known, or if there is no memory.
 */
char *nhs_text_to_utf8(const char *charset, const void *bytes, size_t count, size_t *length);

#endif
