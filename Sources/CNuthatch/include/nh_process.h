#ifndef NH_PROCESS_H
#define NH_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/** How badly memory is wanted. */
typedef enum nh_pressure {
    /** Half of what is kept in memory is given up. */
    NH_PRESSURE_WARNING = 1,
    /** All of it, and the allocator gives back what it holds. */
    NH_PRESSURE_CRITICAL = 2
} nh_pressure;

#endif
