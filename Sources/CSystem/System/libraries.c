#define _GNU_SOURCE
#include "nhs_libraries.h"

#include "nhs_curl.h"

#include <dav1d/dav1d.h>
#include <dlfcn.h>
#include <isa-l.h>
#include <lcms2.h>
#include <openssl/crypto.h>
#include <png.h>
#include <stdio.h>
#include <webp/decode.h>
#include <xxhash.h>
#include <zlib.h>

/* jpeglib.h needs FILE and size_t first. */
#include <jpeglib.h>

static void put(char *version, const char *text) { snprintf(version, nhs_version_size, "%s", text); }

static void put_numbers(char *version, int major, int minor, int patch) {
    snprintf(version, nhs_version_size, "%d.%d.%d", major, minor, patch);
}

/* libpng and libcurl use zlib, not this library, so it isn't linked with it. Asks the one that is loaded. */
static int put_zlib(char *version) {
    void *zlib = dlopen("libz.so.1", RTLD_LAZY | RTLD_NOLOAD);
    const char *(*ask)(void) = NULL;
    if (zlib != NULL) *(void **)&ask = dlsym(zlib, "zlibVersion");
    put(version, ask != NULL ? ask() : ZLIB_VERSION);
    if (zlib != NULL) dlclose(zlib);
    return ask != NULL;
}

/* What a libcurl that is linked in uses; nothing is known of the system's. */
static const char *inside_of_curl(size_t place, char *version) {
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    if (!nhs_is_inside((const void *)curl_version_info)) return NULL;
    const char *versions[] = {curl->nghttp2_version, curl->libidn};
    static const char *const names[] = {"nghttp2", "libidn2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (versions[i] == NULL) continue;
        if (place-- > 0) continue;
        put(version, versions[i]);
        return names[i];
    }
    return NULL;
}

const char *nhs_library_at(size_t place, char version[nhs_version_size], int *is_inside, int *is_told) {
    int number;
    *is_inside = 0;
    *is_told = 1;
    switch (place) {
    case 0:
        put(version, curl_version_info(CURLVERSION_NOW)->version);
        *is_inside = nhs_is_inside((const void *)curl_version_info);
        return "libcurl";
    case 1:
        put(version, OpenSSL_version(OPENSSL_VERSION_STRING));
        *is_inside = nhs_is_inside((const void *)OpenSSL_version);
        return "OpenSSL";
    case 2: put(version, png_get_libpng_ver(NULL)); return "libpng";
    case 3:
        /* 2.14 is 2140. */
        number = cmsGetEncodedCMMversion();
        snprintf(version, nhs_version_size, "%d.%d", number / 1000, number % 1000 / 10);
        return "Little CMS";
    case 4: *is_told = put_zlib(version); return "zlib";
    case 5:
        /* A byte for each part. */
        number = WebPGetDecoderVersion();
        put_numbers(version, number >> 16, number >> 8 & 255, number & 255);
        return "libwebp";
    case 6: put(version, dav1d_version()); return "dav1d";
    default: *is_told = 0;
    }
    switch (place) {
    case 7:
        number = LIBJPEG_TURBO_VERSION_NUMBER;
        put_numbers(version, number / 1000000, number / 1000 % 1000, number % 1000);
        return "libjpeg-turbo";
    case 8: put_numbers(version, ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION); return "ISA-L";
    case 9:
        put_numbers(version, XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE);
        *is_inside = 1;
        return "xxHash";
    default:
        *is_inside = 1;
        *is_told = 1;
        return inside_of_curl(place - 10, version);
    }
}

/* libcurl tells the names itself since 7.87; the bits are older. */
static const struct {
    int bit;
    const char *name;
} features[] = {
    {CURL_VERSION_ALTSVC, "alt-svc"},
    {CURL_VERSION_ASYNCHDNS, "AsynchDNS"},
    {CURL_VERSION_BROTLI, "brotli"},
    {CURL_VERSION_GSASL, "gsasl"},
    {CURL_VERSION_GSSAPI, "GSS-API"},
    {CURL_VERSION_HSTS, "HSTS"},
    {CURL_VERSION_HTTP2, "HTTP2"},
    {CURL_VERSION_HTTP3, "HTTP3"},
    {CURL_VERSION_HTTPS_PROXY, "HTTPS-proxy"},
    {CURL_VERSION_IDN, "IDN"},
    {CURL_VERSION_IPV6, "IPv6"},
    {CURL_VERSION_KERBEROS5, "Kerberos"},
    {CURL_VERSION_LARGEFILE, "Largefile"},
    {CURL_VERSION_LIBZ, "libz"},
    {CURL_VERSION_MULTI_SSL, "MultiSSL"},
    {CURL_VERSION_NTLM, "NTLM"},
    {CURL_VERSION_PSL, "PSL"},
    {CURL_VERSION_SPNEGO, "SPNEGO"},
    {CURL_VERSION_SSL, "SSL"},
    {CURL_VERSION_THREADSAFE, "threadsafe"},
    {CURL_VERSION_TLSAUTH_SRP, "TLS-SRP"},
    {CURL_VERSION_UNIX_SOCKETS, "UnixSockets"},
    {CURL_VERSION_ZSTD, "zstd"},
};

const char *nhs_curl_feature(size_t place) {
    if (place >= sizeof features / sizeof *features) return NULL;
    return curl_version_info(CURLVERSION_NOW)->features & features[place].bit ? features[place].name : "";
}
