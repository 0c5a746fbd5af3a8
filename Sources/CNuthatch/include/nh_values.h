#ifndef NH_VALUES_H
#define NH_VALUES_H

#include <stddef.h>
#include <stdint.h>

/** Of a number in nh_options: none, off or zero, as the option's comment says. Other negative numbers are numbers. */
#define NH_NONE (-9223372036854775807 - 1)
/** Of a number in nh_options: the greatest that the option has, or no end. */
#define NH_FOREVER 9223372036854775807
/** Of a text in nh_options that may be off: an address that no text has. */
#ifdef __cplusplus
#define NH_OFF (reinterpret_cast<const char *>(static_cast<intptr_t>(-1)))
#else
#define NH_OFF ((const char *)(intptr_t)-1)
#endif

/** Yes, no, or nothing said. */
typedef enum nh_choice { NH_UNSAID = 0, NH_YES = 1, NH_NO = 2 } nh_choice;

/** A header to be sent. */
typedef struct nh_header {
    const char *name;
    const char *value;
} nh_header;

/** The box of a thumbnail: its sides, 1 to 65535. A height of 0 means a square. */
typedef struct nh_size {
    int64_t width;
    int64_t height;
} nh_size;

/** A header whose value isn't written to disk: its name, what stands before the secret, such as "Bearer " (NULL for nothing), and
 *  who knows the secret. "env:NAME" is a variable of the environment; nh_outbox_provide tells others. */
typedef struct nh_secret {
    const char *header;
    const char *prefix;
    const char *provider;
} nh_secret;

/** Where an answer came from. NH_SOURCE_REVALIDATED: from the cache, and the server says that it still holds. */
typedef enum nh_source {
    NH_SOURCE_NONE = 0,
    NH_SOURCE_MEMORY = 1,
    NH_SOURCE_DISK = 2,
    NH_SOURCE_REVALIDATED = 3,
    NH_SOURCE_NETWORK = 4
} nh_source;

#endif
