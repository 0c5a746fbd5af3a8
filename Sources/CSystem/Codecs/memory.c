#include "nhs_memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, PAGE = 4096, HUGE_PAGE = 2 << 20, MOST_KEPT = 32 << 20 };

// malloc gives a large piece back to the kernel, unless an earlier one was as large when it was freed. An aligned piece
// needs more than it is when it is freed, so that each picture would get new pages, which the kernel clears. So free a
// piece that is large enough.
static void have_kept(size_t length) {
    static _Atomic size_t largest = 0;
    size_t known = atomic_load_explicit(&largest, memory_order_relaxed);
    if (length <= known || length > MOST_KEPT - HUGE_PAGE - 2 * PAGE) {
        return;
    }
    atomic_store_explicit(&largest, length, memory_order_relaxed);
    // Without `volatile`, the compiler leaves both calls out.
    void *volatile piece = malloc(length + HUGE_PAGE + PAGE);
    free(piece);
}

void *nhs_memory_new(size_t size) {
    if (size > SIZE_MAX - LINE) {
        return NULL;
    }
    // Vector code may read and write whole cache lines.
    size_t length = ((size ? size : 1) + LINE - 1) & ~(size_t)(LINE - 1);
    if (size >= HUGE_PAGE) {
        have_kept(length);
    }
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
