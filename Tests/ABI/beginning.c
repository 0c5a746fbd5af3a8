/* Forks just after a cache was opened, while the library's threads do things for the first time. Data under their locks must be
   consistent in the child, which doesn't have these threads. Swift makes the metadata of a type under such locks at its first use. */
#include "checks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* Counts locks that other threads hold, and makes these threads hold them longer than they would. */
static int held, is_slow;

static pthread_t opener;

static __thread const pthread_mutex_t *own[64];

static __thread int count;

typedef int act(pthread_mutex_t *);

typedef int wait_for(pthread_cond_t *, pthread_mutex_t *);

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static act *real;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    int code = real(mutex);
    if (!__atomic_load_n(&is_slow, __ATOMIC_SEQ_CST) || pthread_equal(pthread_self(), opener) || count == 64) return code;
    own[count++] = mutex;
    __atomic_fetch_add(&held, 1, __ATOMIC_SEQ_CST);
    /* Any length would do: the longer, the more forks come meanwhile. */
    usleep(300);
    return code;
}

static void forget(const pthread_mutex_t *mutex) {
    for (int i = count - 1; i >= 0; i--) {
        if (own[i] != mutex) continue;
        own[i] = own[--count];
        __atomic_fetch_sub(&held, 1, __ATOMIC_SEQ_CST);
        return;
    }
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    static act *real;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    forget(mutex);
    return real(mutex);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    static wait_for *real;
    if (real == NULL) *(void **)&real = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
    forget(mutex);
    return real(condition, mutex);
}

int main(int arguments, char **argument) {
    if (arguments < 2) return 2;
    opener = pthread_self();
    __atomic_store_n(&is_slow, 1, __ATOMIC_SEQ_CST);
    nh_cache *cache = open_cache(NULL);
    nh_ticket *tickets[8];
    for (int i = 0; i < 8; i++) {
        char path[64];
        nh_request *request = NULL;
        snprintf(path, sizeof path, "/png/%d/20", 20 + i);
        nh_request_create(url_of(argument[1], path), &request);
        SET(request, .size = 10);
        if (nh_submit_request(cache, request, &tickets[i]) != NH_OK) return 2;
        nh_request_free(request);
    }
    int rounds = 0, caught = 0, open = 8;
    while (open > 0 && rounds < 2000) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) _exit(__atomic_load_n(&held, __ATOMIC_SEQ_CST) != 0);
        caught += waitpid(child, &status, 0) != child || status != 0;
        rounds++;
        open = 0;
        for (int i = 0; i < 8; i++) {
            nh_ticket_status state = NH_TICKET_DONE;
            open += nh_ticket_state(tickets[i], &state) == NH_OK && state != NH_TICKET_DONE;
        }
    }
    printf("%d of %d forks\n", caught, rounds);
    CHECK("no fork happens while a thread of the library holds a lock", caught == 0);
    for (int i = 0; i < 8; i++) {
        nh_event event;
        while (nh_wait(tickets[i], -1, &event, sizeof event) == NH_OK && !event.is_final) nh_event_clear(&event);
        CHECK("the child's request ends well", event.code == NH_OK && event.image_count == 1);
        nh_event_clear(&event);
        nh_ticket_release(tickets[i]);
    }
    CHECK("close", nh_close(cache, 2000) == NH_OK);
    return failures != 0;
}
