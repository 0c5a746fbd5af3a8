#ifndef NH_HANDLES_H
#define NH_HANDLES_H

/* Handles. Each is a number in the form of a pointer, never an address. The library can check a released or invalid handle without
 * touching memory; every function then returns NH_INVALID. */

/** A cache: a directory of stored answers, and the network client that fills it. Created by nh_open, ended by nh_close. */
typedef struct nh_cache nh_cache;
/** A description of a request. Created by nh_request_create, freed by nh_request_free. */
typedef struct nh_request nh_request;
/** A submitted request. From nh_submit, until nh_ticket_release. */
typedef struct nh_ticket nh_ticket;
/** An answer with its bytes. From nh_get or an event, until nh_response_release. */
typedef struct nh_response nh_response;
/** A base URL and options that its requests share. From nh_site_open, until nh_site_close. */
typedef struct nh_site nh_site;
/** A decoded picture. From nh_thumbnail, nh_response_image or an event, until nh_image_release. */
typedef struct nh_image nh_image;
/** Facts about a request in the outbox. From nh_outbox_next or an event, until nh_frozen_release. */
typedef struct nh_frozen nh_frozen;

#endif
