#ifndef NH_URLS_H
#define NH_URLS_H

#include <stddef.h>
#include <stdint.h>

/** What nh_url_put writes of a URL. */
typedef enum nh_url_form {
    /** The URL with its password hidden, as messages and the log show it: "http://ann:***@example.org/". Any text will do. */
    NH_URL_REDACTED = 1,
    /** Its origin, where its user and password go: "https://example.org", without the scheme's own port. */
    NH_URL_ORIGIN = 2
} nh_url_form;

#endif
