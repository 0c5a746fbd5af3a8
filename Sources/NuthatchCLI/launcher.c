/* The program `nuthatch`, and with NUTHATCH_DECODER defined `nuthatch-decoder`. Their code is in libnuthatch.so.1, so this only
   finds that library and calls it. Scripts/place compiles it, because SwiftPM would link it with the Swift runtime. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define LIBRARY "libnuthatch.so.1"
#ifdef NUTHATCH_DECODER
#define PROGRAM "nuthatch-decoder"
#define ENTRY "nhs_run_decoder"
#else
#define PROGRAM "nuthatch"
#define ENTRY "nhs_run_command"
#endif

/* As when the loader can't start a program. */
enum { NOT_STARTED = 127 };

/* Seen from the program's folder: a wheel or a checkout has the library beside the program, an installation in PREFIX/lib, or
   in a LIBDIR with a folder for programs. */
static const char *const folders[] = {
    "",
    "../",
    "../lib/",
    "../lib64/",
#if defined __x86_64__
    "../lib/x86_64-linux-gnu/",
#elif defined __aarch64__
    "../lib/aarch64-linux-gnu/",
#endif
};

/* Writes the folder of this program. Returns 0 if it can't be known. */
static int own_folder(char folder[PATH_MAX]) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0) {
        path[length] = 0;
    } else {
        /* /proc isn't mounted. */
        const char *started = (const char *)getauxval(AT_EXECFN);
        if (started == NULL || realpath(started, path) == NULL) return 0;
    }
    char *end = strrchr(path, '/');
    if (end == NULL) return 0;
    *end = 0;
    strcpy(folder, path);
    return 1;
}

/* Returns the path of the library, or its name if only the loader can find it. */
static const char *library_path(char path[PATH_MAX]) {
    char folder[PATH_MAX];
    /* With more rights than its user has, the program must not load from a folder that the user may have chosen. */
    if (getauxval(AT_SECURE) || !own_folder(folder)) return LIBRARY;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int length = snprintf(path, PATH_MAX, "%s/%s" LIBRARY, folder, folders[i]);
        if (length > 0 && length < PATH_MAX && access(path, F_OK) == 0) return path;
    }
    return LIBRARY;
}

int main(int count, char **values) {
    char path[PATH_MAX];
    const char *found = library_path(path);
    void *library = dlopen(found, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr,
                PROGRAM ": the library of this command can't be loaded: %s. Install the command and " LIBRARY
                " of one version, both from the same package or by the same 'make install'.\n",
                dlerror());
        return NOT_STARTED;
    }
    int (*run)(int, char **) = NULL;
    *(void **)&run = dlsym(library, ENTRY);
    if (run == NULL) {
        fprintf(stderr,
                PROGRAM ": %s is of another version than this command. Install both of one version, from the same "
                "package or by the same 'make install'.\n",
                found);
        return NOT_STARTED;
    }
    exit(run(count, values));
}
