#ifndef NH_HANDLES_H
#define NH_HANDLES_H

/*
 * Handles. Each is a number in the shape of a pointer, never an address: a released or foreign one is found out
 * without touching memory, and every function answers it with NH_INVALID.
 */

/** A cache: a directory, and the way to the network behind it. From nh_open, to nh_close. */
typedef struct nh_cache nh_cache;
/** What to fetch, under construction. From nh_request_create, to nh_request_free. */
typedef struct nh_request nh_request;
/** A request under way. From nh_submit, to nh_ticket_release. */
typedef struct nh_ticket nh_ticket;
/** An answer with its bytes. From nh_get or an event, to nh_response_release. */
typedef struct nh_response nh_response;
/** A base URL with what its requests have in common. From nh_site_open, to nh_site_close. */
typedef struct nh_site nh_site;
/** A decoded picture. From nh_thumbnail, nh_response_image or an event, to nh_image_release. */
typedef struct nh_image nh_image;
/** What is known of a request in the outbox. From nh_outbox_next or an event, to nh_frozen_release. */
typedef struct nh_frozen nh_frozen;

#endif
