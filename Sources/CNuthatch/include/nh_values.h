#ifndef NH_VALUES_H
#define NH_VALUES_H

#include <stddef.h>
#include <stdint.h>

/** For a number in nh_options: none, off or zero, as the option's comment says. Other negative numbers are ordinary values. */
#define NH_NONE (-9223372036854775807 - 1)
/** For a number in nh_options: the greatest value of the option, or no limit. */
#define NH_FOREVER 9223372036854775807
/** Turns off a text in nh_options, if it can be off: an address that no text has. */
#ifdef __cplusplus
#define NH_OFF (reinterpret_cast<const char *>(static_cast<intptr_t>(-1)))
#else
#define NH_OFF ((const char *)(intptr_t)-1)
#endif

/** Yes, no, or not set. */
typedef enum nh_choice { NH_UNSAID = 0, NH_YES = 1, NH_NO = 2 } nh_choice;

/** A header to send. */
typedef struct nh_header {
    const char *name;
    const char *value;
} nh_header;

/** The box of a thumbnail: its sides, 1 to 65535. A height of 0 means a square. */
typedef struct nh_size {
    int64_t width;
    int64_t height;
} nh_size;

/** A header whose value isn't written to disk: its name, the text before the secret, such as "Bearer " (NULL for none), and the name
 *  of the provider of the secret. "env:NAME" is an environment variable; nh_outbox_provide gives the secrets of other providers. */
typedef struct nh_secret {
    const char *header;
    const char *prefix;
    const char *provider;
} nh_secret;

/** Where an answer came from. NH_SOURCE_REVALIDATED: from the cache, and the server has confirmed it (304). */
typedef enum nh_source {
    NH_SOURCE_NONE = 0,
    NH_SOURCE_MEMORY = 1,
    NH_SOURCE_DISK = 2,
    NH_SOURCE_REVALIDATED = 3,
    NH_SOURCE_NETWORK = 4
} nh_source;

#endif
