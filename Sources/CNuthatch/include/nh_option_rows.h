#ifndef NH_OPTION_ROWS_H
#define NH_OPTION_ROWS_H

/* Not part of nuthatch.h: programs read these rows with nh_option_next. */

#include <stddef.h>

#include "nh_events.h"
#include "nh_options.h"
#include "nh_table.h"

/* The smallest nh_event of any program that the library supports. Events only grow. */
enum { nh_oldest_event_size = 152 };
_Static_assert(sizeof(nh_event) >= nh_oldest_event_size, "events only grow");

/* The index of the 8-byte word of nh_options that holds `size`. Code that checks that nothing else is set reads the struct by words. */
enum { nh_size_word = offsetof(nh_options, size) / 8 };

const nh_option *nh_option_rows(void);
extern const size_t nh_option_row_count;
extern const uint32_t nh_oldest_options_size;

#endif
