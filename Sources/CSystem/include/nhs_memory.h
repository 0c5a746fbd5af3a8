// Memory for the pixels of a whole picture.
#ifndef NHS_MEMORY_H
#define NHS_MEMORY_H

#include <stddef.h>

// Returns memory that is aligned to a cache line, or NULL. Give it back with `free`. For a large piece, the kernel is asked for
// pages of 2 MB: the first access to each small page may take a fifth of the time in which a picture is decoded.
void *nhs_memory_new(size_t size);

#endif
