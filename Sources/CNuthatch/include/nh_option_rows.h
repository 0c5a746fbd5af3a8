#ifndef NH_OPTION_ROWS_H
#define NH_OPTION_ROWS_H

/* Not part of nuthatch.h: nh_option_next gives these. */

#include <stddef.h>

#include "nh_events.h"
#include "nh_options.h"
#include "nh_table.h"

/* The smallest nh_event of any program that the library serves. Events only grow. */
enum { nh_oldest_event_size = 152 };
_Static_assert(sizeof(nh_event) >= nh_oldest_event_size, "events only grow");

/* In which word of nh_options `size` is: what says nothing else is read by it. */
enum { nh_size_word = offsetof(nh_options, size) / 8 };

const nh_option *nh_option_rows(void);
extern const size_t nh_option_row_count;
extern const uint32_t nh_oldest_options_size;

#endif
