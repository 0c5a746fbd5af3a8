#define _GNU_SOURCE
#include "SlowDisk.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { FOLDERS = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int known;
static struct {
    char path[PATH_MAX];
    int is_held, waiting, error;
} folders[FOLDERS];

/* Under the lock; -1 when it isn't known. */
static int place_of(const char *folder) {
    for (int place = 0; place < FOLDERS; place++)
        if (strcmp(folders[place].path, folder) == 0) return place;
    return -1;
}

void slow_disk_hold(const char *folder) {
    pthread_mutex_lock(&lock);
    int place = place_of(folder);
    if (place < 0) {
        place = place_of("");
        snprintf(folders[place].path, PATH_MAX, "%s", folder);
        __atomic_add_fetch(&known, 1, __ATOMIC_RELEASE);
    }
    folders[place].is_held = 1;
    folders[place].error = 0;
    pthread_mutex_unlock(&lock);
}

int slow_disk_waiting(const char *folder) {
    pthread_mutex_lock(&lock);
    int place = place_of(folder), waiting = place < 0 ? 0 : folders[place].waiting;
    pthread_mutex_unlock(&lock);
    return waiting;
}

void slow_disk_release(const char *folder, int error) {
    pthread_mutex_lock(&lock);
    int place = place_of(folder);
    if (place >= 0) {
        folders[place].is_held = 0;
        folders[place].error = error;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void slow_disk_forget(const char *folder) {
    pthread_mutex_lock(&lock);
    int place = place_of(folder);
    if (place >= 0) {
        while (folders[place].waiting > 0) pthread_cond_wait(&changed, &lock);
        memset(&folders[place], 0, sizeof folders[place]);
        __atomic_sub_fetch(&known, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

/* Waits if the path is below a folder that is held. The number of the error that the call is to have, or 0. */
static int wait_for(const char *path) {
    int error = 0;
    pthread_mutex_lock(&lock);
    for (int place = 0; place < FOLDERS; place++) {
        size_t length = strlen(folders[place].path);
        if (length == 0 || strncmp(path, folders[place].path, length) != 0) continue;
        if (path[length] != 0 && path[length] != '/') continue;
        folders[place].waiting++;
        while (folders[place].is_held) pthread_cond_wait(&changed, &lock);
        folders[place].waiting--;
        error = folders[place].error;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static int wait_for_file(int fd) {
    if (__atomic_load_n(&known, __ATOMIC_ACQUIRE) == 0) return 0;
    char name[32], path[PATH_MAX];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return wait_for(path);
}

/* Calls what the test's own function stands before. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    int error = wait_for_file(fd);
    if (error == 0) return NEXT(pwrite)(fd, bytes, count, offset);
    errno = error;
    return -1;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    int error = wait_for_file(fd);
    if (error == 0) return NEXT(write)(fd, bytes, count);
    errno = error;
    return -1;
}

ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
    int error = wait_for_file(fd);
    if (error == 0) return NEXT(pread)(fd, bytes, count, offset);
    errno = error;
    return -1;
}

int inotify_add_watch(int fd, const char *path, unsigned mask) {
    int error = __atomic_load_n(&known, __ATOMIC_ACQUIRE) ? wait_for(path) : 0;
    if (error == 0) return NEXT(inotify_add_watch)(fd, path, mask);
    errno = error;
    return -1;
}
