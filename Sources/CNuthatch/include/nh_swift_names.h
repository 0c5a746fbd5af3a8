#ifndef NH_SWIFT_NAMES_H
#define NH_SWIFT_NAMES_H

/* Not part of nuthatch.h. Swift prints a pointer to an incomplete struct as `void *`, but keeps the name of a typedef; `make header`
 * turns each of these back into the typed pointer. */

#include "nh_handles.h"

typedef nh_cache *nh_cache_ref;
typedef nh_request *nh_request_ref;
typedef nh_ticket *nh_ticket_ref;
typedef nh_response *nh_response_ref;
typedef nh_site *nh_site_ref;
typedef nh_image *nh_image_ref;
typedef nh_frozen *nh_frozen_ref;

#endif
