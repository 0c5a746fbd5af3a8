// The errors of the imaging room's C shims.
#ifndef NHS_FAULT_H
#define NHS_FAULT_H

#include <stdint.h>

enum {
    NHS_OK = 0,
    NHS_MORE = 1, // feed more input, then call again
    NHS_FAILED = 2 // see the fault; the object can only be freed
};

enum {
    NHS_FAULT_NONE = 0,
    NHS_FAULT_CORRUPT,
    NHS_FAULT_TRUNCATED,
    NHS_FAULT_TOO_LARGE,
    NHS_FAULT_TOO_MANY_PIXELS,
    NHS_FAULT_UNSUPPORTED,
    NHS_FAULT_OUT_OF_MEMORY,
    NHS_FAULT_INTERNAL
};

enum { NHS_MESSAGE_BYTES = 200, NHS_KEPT_WARNINGS = 4 };

typedef struct {
    int32_t kind;
    int64_t offset; // offset in the input; negative if unknown
    char message[NHS_MESSAGE_BYTES];
} nhs_fault;

// Warnings of the codecs: the first few are kept, all are counted.
typedef struct {
    int64_t count;
    int32_t kept;
    char messages[NHS_KEPT_WARNINGS][NHS_MESSAGE_BYTES];
} nhs_warnings;

// Returns a kept warning, or NULL.
static inline const char *nhs_warning(const nhs_warnings *warnings, int32_t index) {
    return index >= 0 && index < warnings->kept ? warnings->messages[index] : 0;
}

static inline const char *nhs_fault_message(const nhs_fault *fault) {
    return fault->message;
}

#endif
