#include "nhs_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20 };

void *nhs_memory_new(size_t size) {
    if (size > SIZE_MAX - LINE) {
        return NULL;
    }
    // Vector code may read and write whole cache lines.
    size_t length = ((size ? size : 1) + LINE - 1) & ~(size_t)(LINE - 1);
    // Huge pages begin at multiples of their size.
    void *memory = NULL;
    if (posix_memalign(&memory, size < HUGE_PAGE ? LINE : HUGE_PAGE, length)) {
        return NULL;
    }
    if (size >= HUGE_PAGE) {
        // Without huge pages, the memory is as good.
        (void)madvise(memory, size & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
    }
    return memory;
}
