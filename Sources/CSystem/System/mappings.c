#define _GNU_SOURCE
#include "nhs_mapping.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The thread sanitizer takes a lock for an atomic operation and for mmap. If such an operation fails, its thread
 * already holds that lock when the signal is handled. So the handler runs without the sanitizer.
 */
#ifdef __clang__
#define UNWATCHED __attribute__((disable_sanitizer_instrumentation))
#else
#define UNWATCHED
#endif

/*
 * The table of mappings. The SIGBUS handler reads it at any moment, in any thread, and so does a child that was forked
 * while another thread wrote: so it has no lock. Slots are taken and freed by atomic stores, in chunks that are never
 * freed.
 */
typedef struct slot {
    /* The beginning of the mapping; 0 for a free slot, 1 while it is being filled. */
    uintptr_t begin;
    size_t length;
    int protection;
    /* The number of failed accesses. */
    uint32_t broken;
} slot;

enum { free_slot = 0, taken_slot = 1, chunk_size = 128 };

typedef struct chunk {
    struct chunk *next;
    /* The approximate number of taken slots, so that full chunks aren't searched. */
    uint32_t taken;
    slot slots[chunk_size];
} chunk;

static chunk first_chunk;
uint64_t nhs_failed_touch_count;

static struct sigaction previous;
static size_t page_size;
static pthread_once_t installing = PTHREAD_ONCE_INIT;

static slot *take_slot(void) {
    for (chunk *at = &first_chunk;;) {
        if (__atomic_load_n(&at->taken, __ATOMIC_RELAXED) < chunk_size) {
            for (int i = 0; i < chunk_size; i++) {
                uintptr_t expected = free_slot;
                if (__atomic_load_n(&at->slots[i].begin, __ATOMIC_RELAXED) == free_slot &&
                    __atomic_compare_exchange_n(&at->slots[i].begin, &expected, taken_slot, 0, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED)) {
                    __atomic_fetch_add(&at->taken, 1, __ATOMIC_RELAXED);
                    return &at->slots[i];
                }
            }
        }
        chunk *next = __atomic_load_n(&at->next, __ATOMIC_ACQUIRE);
        if (!next) {
            chunk *made = calloc(1, sizeof *made);
            if (!made) return NULL;
            if (__atomic_compare_exchange_n(&at->next, &next, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                next = made;
            else
                free(made);
        }
        at = next;
    }
}

static void give_back(slot *own) {
    for (chunk *at = &first_chunk; at; at = __atomic_load_n(&at->next, __ATOMIC_ACQUIRE)) {
        if (own >= at->slots && own < at->slots + chunk_size) __atomic_fetch_sub(&at->taken, 1, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&own->begin, free_slot, __ATOMIC_RELEASE);
}

/* Returns whether an access to this address can be repeated: the address is in one of these mappings, and zeros were
   mapped there. */
UNWATCHED static int mend(uintptr_t address) {
    for (chunk *at = &first_chunk; at; at = __atomic_load_n(&at->next, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < chunk_size; i++) {
            slot *own = &at->slots[i];
            uintptr_t begin = __atomic_load_n(&own->begin, __ATOMIC_ACQUIRE);
            if (begin <= taken_slot || address < begin) continue;
            size_t length = __atomic_load_n(&own->length, __ATOMIC_RELAXED);
            int protection = __atomic_load_n(&own->protection, __ATOMIC_RELAXED);
            if (address - begin >= length) continue;
            /* Set this first: a reader that sees a zero then sees this, too. */
            if (__atomic_add_fetch(&own->broken, 1, __ATOMIC_SEQ_CST) == 0)
                __atomic_store_n(&own->broken, 1, __ATOMIC_SEQ_CST);
            __atomic_fetch_add(&nhs_failed_touch_count, 1, __ATOMIC_SEQ_CST);
            int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
            uintptr_t page = address & ~(uintptr_t)(page_size - 1);
            if (!(protection & PROT_WRITE) && syscall(SYS_mmap, page, page_size, protection, flags, -1, 0) != -1) return 1;
            return syscall(SYS_mmap, begin, length, protection, flags, -1, 0) != -1;
        }
    }
    return 0;
}

/* Does what would happen without this handler. */
UNWATCHED static void pass_on(int number, siginfo_t *info, void *context) {
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler == SIG_IGN && info->si_code <= 0) {
        /* A process sent the signal, and it is ignored. */
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
    } else {
        struct sigaction usual = {.sa_handler = SIG_DFL};
        sigaction(number, &usual, NULL);
        /* A failed access is repeated when this returns; a signal that was sent must be sent again. */
        if (info->si_code <= 0) raise(number);
    }
}

UNWATCHED static void handle(int number, siginfo_t *info, void *context) {
    int problem = errno;
    /* Codes above 0 come from the kernel and have an address. Repeating a misaligned access would fail forever. */
    if (info->si_code <= 0 || info->si_code == BUS_ADRALN || !mend((uintptr_t)info->si_addr))
        pass_on(number, info, context);
    errno = problem;
}

static void install(void) {
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, NULL, &previous) != 0) return;
    struct sigaction own = {.sa_mask = previous.sa_mask};
    own.sa_sigaction = handle;
    /* Use the signal stack if the thread has one: its own stack may be small, as in some other languages. */
    own.sa_flags = SA_SIGINFO | SA_ONSTACK | (previous.sa_flags & (SA_NODEFER | SA_RESTART));
    sigaction(SIGBUS, &own, NULL);
}

int nhs_map_file(int fd, int64_t offset, size_t length, nhs_map_access access, nhs_mapping *made) {
    pthread_once(&installing, install);
    slot *own = take_slot();
    if (!own) return -ENOMEM;
    int protection = access == NHS_MAP_READ ? PROT_READ : PROT_READ | PROT_WRITE;
    int flags = (access == NHS_MAP_PRIVATE ? MAP_PRIVATE : MAP_SHARED) | (fd < 0 ? MAP_ANONYMOUS : 0);
    void *base = mmap(NULL, length, protection, flags, fd, (off_t)offset);
    if (base == MAP_FAILED) {
        int problem = errno;
        give_back(own);
        return -problem;
    }
    __atomic_store_n(&own->length, (length + page_size - 1) & ~(page_size - 1), __ATOMIC_RELAXED);
    __atomic_store_n(&own->protection, protection, __ATOMIC_RELAXED);
    __atomic_store_n(&own->broken, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&own->begin, (uintptr_t)base, __ATOMIC_RELEASE);
    *made = (nhs_mapping){.base = base, .length = length, .broken = &own->broken};
    return 0;
}

static slot *slot_of(const nhs_mapping *mapping) {
    return (slot *)((char *)(uintptr_t)mapping->broken - offsetof(slot, broken));
}

int nhs_map_again(const nhs_mapping *mapping, int fd, int64_t offset) {
    slot *own = slot_of(mapping);
    uint32_t failed = __atomic_load_n(&own->broken, __ATOMIC_SEQ_CST);
    if (mmap(mapping->base, mapping->length, own->protection, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) == MAP_FAILED)
        return -errno;
    /* Only now: until here the mapping may have been zeros. Not if another access has failed since. */
    __atomic_compare_exchange_n(&own->broken, &failed, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return 0;
}

void nhs_unmap_file(const nhs_mapping *mapping) {
    slot *own = slot_of(mapping);
    /* Free the slot first: another thread may get the addresses right after munmap. */
    give_back(own);
    munmap(mapping->base, mapping->length);
}
