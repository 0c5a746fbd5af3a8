#ifndef NHS_TEXT_H
#define NHS_TEXT_H

#include <stddef.h>

/*
 * Text in a charset, by the C library's names for it, as UTF-8: `length` bytes, to be freed with free(). What can't be
 * decoded becomes U+FFFD. NULL when the charset isn't known, or without memory.
 */
char *nhs_text_to_utf8(const char *charset, const void *bytes, size_t count, size_t *length);

#endif
