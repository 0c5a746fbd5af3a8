/* How the libcurl of this process was built. The wheel contains one of its own; elsewhere it is the system's. */
#define _GNU_SOURCE
#include "nhs_curl.h"

#include <dlfcn.h>
#include <stdio.h>

int nhs_is_inside(const void *function) {
    Dl_info own, other;
    return dladdr((const void *)nhs_is_inside, &own) != 0 && dladdr(function, &other) != 0 &&
           own.dli_fbase == other.dli_fbase;
}

int nhs_own_file(char *path, size_t size) {
    Dl_info own;
    if (dladdr((const void *)nhs_own_file, &own) == 0 || own.dli_fname == NULL) return 0;
    int length = snprintf(path, size, "%s", own.dli_fname);
    return length > 0 && (size_t)length < size;
}

int nhs_curl_knows_certificates(void) {
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    /* Older versions don't tell. They are the system's, and know its certificates. */
    return curl->age < CURLVERSION_SEVENTH || curl->cainfo != NULL || curl->capath != NULL;
}

int nhs_curl_can_negotiate(void) {
    if (!(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_SPNEGO)) return 0;
    if (!nhs_is_inside((const void *)curl_version_info)) return 1;
    /* The wheel's libcurl loads this library when it needs it (bindings/python/wheel/gssapi.c). */
    return dlopen("libgssapi_krb5.so.2", RTLD_LAZY | RTLD_LOCAL) != NULL;
}
