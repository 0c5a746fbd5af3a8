/* The functions of GSS-API (Kerberos) that the wheel's libcurl calls. They load the system's library when the first of them
   is called, so that the wheel can be used where there is no such library.

   Only the build of the wheel has the header, and needs this file. */
#if __has_include(<gssapi/gssapi.h>)
#include <dlfcn.h>
#include <gssapi/gssapi.h>
#include <pthread.h>
#include <string.h>

/* The value of MIT's library: 1.2.840.113554.1.2.1.4. It is defined here, because libcurl reads it as a variable. */
static gss_OID_desc hostbased = {10, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04"};
gss_OID GSS_C_NT_HOSTBASED_SERVICE = &hostbased;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;

static void load(void) { library = dlopen("libgssapi_krb5.so.2", RTLD_LAZY | RTLD_LOCAL); }

static void *function(const char *name) {
    pthread_once(&once, load);
    return library != NULL ? dlsym(library, name) : NULL;
}

/* Declares and defines a function that passes its call on. Without the library it returns GSS_S_UNAVAILABLE. */
#define PASS_ON(name, parameters, arguments)                        \
    OM_uint32 name parameters {                                     \
        OM_uint32(*real) parameters = NULL;                         \
        *(void **)&real = function(#name);                          \
        return real != NULL ? real arguments : GSS_S_UNAVAILABLE;   \
    }

PASS_ON(gss_init_sec_context,
        (OM_uint32 * minor, gss_cred_id_t credential, gss_ctx_id_t *context, gss_name_t target, gss_OID mechanism,
         OM_uint32 flags, OM_uint32 time, gss_channel_bindings_t bindings, gss_buffer_t input, gss_OID *actual,
         gss_buffer_t output, OM_uint32 *got_flags, OM_uint32 *got_time),
        (minor, credential, context, target, mechanism, flags, time, bindings, input, actual, output, got_flags, got_time))
PASS_ON(gss_delete_sec_context, (OM_uint32 * minor, gss_ctx_id_t *context, gss_buffer_t output), (minor, context, output))
PASS_ON(gss_import_name, (OM_uint32 * minor, gss_buffer_t input, gss_OID type, gss_name_t *name), (minor, input, type, name))
PASS_ON(gss_release_name, (OM_uint32 * minor, gss_name_t *name), (minor, name))
PASS_ON(gss_release_buffer, (OM_uint32 * minor, gss_buffer_t buffer), (minor, buffer))
PASS_ON(gss_inquire_context,
        (OM_uint32 * minor, gss_ctx_id_t context, gss_name_t *source, gss_name_t *target, OM_uint32 *lifetime,
         gss_OID *mechanism, OM_uint32 *flags, int *is_local, int *is_open),
        (minor, context, source, target, lifetime, mechanism, flags, is_local, is_open))
PASS_ON(gss_display_name, (OM_uint32 * minor, gss_name_t name, gss_buffer_t text, gss_OID *type), (minor, name, text, type))
PASS_ON(gss_wrap,
        (OM_uint32 * minor, gss_ctx_id_t context, int is_secret, gss_qop_t quality, gss_buffer_t input, int *was_secret,
         gss_buffer_t output),
        (minor, context, is_secret, quality, input, was_secret, output))
PASS_ON(gss_unwrap,
        (OM_uint32 * minor, gss_ctx_id_t context, gss_buffer_t input, gss_buffer_t output, int *was_secret,
         gss_qop_t *quality),
        (minor, context, input, output, was_secret, quality))
PASS_ON(gss_display_status,
        (OM_uint32 * minor, OM_uint32 value, int kind, gss_OID mechanism, OM_uint32 *context, gss_buffer_t text),
        (minor, value, kind, mechanism, context, text))

/* Only functions of nghttp2 that it calls in its debug builds use it. Its code can't use libc's variable in a library. */
void *nh_unused_stderr;
#endif
