#ifndef NH_URLS_H
#define NH_URLS_H

#include <stddef.h>
#include <stdint.h>

/** The form in which nh_url_put writes a URL. */
typedef enum nh_url_form {
    /** The URL with its password hidden, as in messages and in the log: "http://ann:***@example.org/". Any text is accepted. */
    NH_URL_REDACTED = 1,
    /** Its origin, to which its user and password are sent: "https://example.org", without the scheme's default port. */
    NH_URL_ORIGIN = 2
} nh_url_form;

#endif
