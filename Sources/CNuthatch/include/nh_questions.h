#ifndef NH_QUESTIONS_H
#define NH_QUESTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_values.h"

/** What the program thinks of an answer. */
typedef enum nh_verdict {
    NH_VERDICT_UNSAID = 0,
    /** It is good. */
    NH_VERDICT_ACCEPT = 1,
    /** It is none: the request fails with NH_HTTP, and nothing is stored. */
    NH_VERDICT_REJECT = 2,
    /** It is none, but another attempt may bring one; as many as the request's retries. */
    NH_VERDICT_RETRY = 3
} nh_verdict;

/** An answer to a question. Set struct_size, and what the question is about; zero the rest. */
typedef struct nh_reply {
    uint32_t struct_size;
    /** For NH_ASK_VERDICT. */
    nh_verdict verdict;
    /** With NH_VERDICT_REJECT: why, for the error's message. */
    const char *reason;
    /** For NH_ASK_HEADERS: header_count headers to add. For NH_ASK_CHALLENGE: to send in the place of those of the same
     *  name. */
    const nh_header *headers;
    size_t header_count;
    /** For NH_ASK_CREDENTIALS. */
    const char *user;
    const char *password;
} nh_reply;

#endif
