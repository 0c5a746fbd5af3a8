#ifndef NH_PROCESS_H
#define NH_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/** How urgently memory is needed. */
typedef enum nh_pressure {
    /** Half of the memory of the caches is freed. */
    NH_PRESSURE_WARNING = 1,
    /** All of it is freed, and the allocator returns its unused memory to the system. */
    NH_PRESSURE_CRITICAL = 2
} nh_pressure;

#endif
