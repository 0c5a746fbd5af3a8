/* The libraries in use, and their versions. */
#ifndef NHS_LIBRARIES_H
#define NHS_LIBRARIES_H

#include <stddef.h>

enum { nhs_version_size = 40 };

/*
 * Returns the name of the library with this place, and writes its version; NULL after the last place. Only those that are
 * written in C. The last places are those that a linked-in libcurl contains.
 *
 * is_inside: it is linked in, and not a file of its own.
 * is_told:   the library that is loaded said its version. Otherwise it can't, and the version is that of the header that
 *            this code was compiled with.
 */
const char *nhs_library_at(size_t place, char version[nhs_version_size], int *is_inside, int *is_told);

/* Returns the name of the feature with this place, as libcurl's documents write it, if the loaded libcurl has it; "" if it
   hasn't; NULL after the last place. */
const char *nhs_curl_feature(size_t place);

#endif
