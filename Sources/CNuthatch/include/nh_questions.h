#ifndef NH_QUESTIONS_H
#define NH_QUESTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_values.h"

/** The program's verdict on an answer. */
typedef enum nh_verdict {
    NH_VERDICT_UNSAID = 0,
    /** The answer is good. */
    NH_VERDICT_ACCEPT = 1,
    /** The answer is bad: the request fails with NH_HTTP, and nothing is stored. */
    NH_VERDICT_REJECT = 2,
    /** The answer is bad, but a retry may bring a good one; at most as many as the request's retries. */
    NH_VERDICT_RETRY = 3
} nh_verdict;

/** The program's reply to a question. Set struct_size and the members for the question; set all other members to zero. */
typedef struct nh_reply {
    uint32_t struct_size;
    /** For NH_ASK_VERDICT. */
    nh_verdict verdict;
    /** With NH_VERDICT_REJECT: the reason, for the error message. */
    const char *reason;
    /** For NH_ASK_HEADERS: header_count headers to add. For NH_ASK_CHALLENGE: headers that replace those of the same name. */
    const nh_header *headers;
    size_t header_count;
    /** For NH_ASK_CREDENTIALS. */
    const char *user;
    const char *password;
} nh_reply;

#endif
