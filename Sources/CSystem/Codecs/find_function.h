/* Functions of libraries that are loaded only if they are installed. */
#ifndef NHS_FIND_FUNCTION_H
#define NHS_FIND_FUNCTION_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Writes the address of a function of a loaded library to `function`. Returns false if the library doesn't have it. */
static inline bool find(void *function, void *library, const char *name) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

#endif
