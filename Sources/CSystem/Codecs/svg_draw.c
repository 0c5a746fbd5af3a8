#include "nhs_svg.h"

#include "find_function.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The few functions that are needed, as the stable ABIs of the libraries have them. So a build needs none of their headers,
   and a machine needs them only if it has SVGs. */
typedef struct g_error {
    uint32_t domain;
    int code;
    char *message;
} g_error;
typedef struct rectangle {
    double x, y, width, height;
} rectangle;
enum { argb32 = 0 };

static struct {
    void *(*new_from_data)(const uint8_t *, size_t, g_error **);
    int (*render_document)(void *, void *, const rectangle *, g_error **);
    int (*set_stylesheet)(void *, const uint8_t *, size_t, g_error **);
    void (*set_dpi)(void *, double);
    void (*unref)(void *);
    void (*error_free)(g_error *);
    void *(*surface_for_data)(unsigned char *, int, int, int, int);
    int (*surface_status)(void *);
    void (*surface_flush)(void *);
    void (*surface_destroy)(void *);
    void *(*create)(void *);
    void (*scale)(void *, double, double);
    void (*translate)(void *, double, double);
    int (*status)(void *);
    void (*destroy)(void *);
} calls;
static bool is_loaded;

static bool find_all(void) {
    void *rsvg = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
    void *cairo = rsvg ? dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL) : NULL;
    void *gobject = cairo ? dlopen("libgobject-2.0.so.0", RTLD_NOW | RTLD_LOCAL) : NULL;
    void *glib = gobject ? dlopen("libglib-2.0.so.0", RTLD_NOW | RTLD_LOCAL) : NULL;
    return glib && find(&calls.new_from_data, rsvg, "rsvg_handle_new_from_data") &&
        find(&calls.render_document, rsvg, "rsvg_handle_render_document") &&
        find(&calls.set_stylesheet, rsvg, "rsvg_handle_set_stylesheet") &&
        find(&calls.set_dpi, rsvg, "rsvg_handle_set_dpi") && find(&calls.unref, gobject, "g_object_unref") &&
        find(&calls.error_free, glib, "g_error_free") &&
        find(&calls.surface_for_data, cairo, "cairo_image_surface_create_for_data") &&
        find(&calls.surface_status, cairo, "cairo_surface_status") &&
        find(&calls.surface_flush, cairo, "cairo_surface_flush") &&
        find(&calls.surface_destroy, cairo, "cairo_surface_destroy") && find(&calls.create, cairo, "cairo_create") &&
        find(&calls.scale, cairo, "cairo_scale") && find(&calls.translate, cairo, "cairo_translate") &&
        find(&calls.status, cairo, "cairo_status") && find(&calls.destroy, cairo, "cairo_destroy");
}

int nhs_svg_is_loaded(void) { return is_loaded; }

int nhs_svg_load(void) {
    /* Text, and pictures of the formats that are usual within SVGs: the libraries then have read their own files. For the one that
       doesn't say its format, they are those that find it. */
    static const char first[] =
        "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='8' height='8'>"
        "<text font-size='4' y='6'>Aa</text><text font-family='serif' y='6'>a</text>"
        "<text font-family='monospace' y='6'>a</text>"
        "<image width='1' height='1' xlink:href='data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklE"
        "QVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='/>"
        "<image width='1' height='1' xlink:href='data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA"
        "7'/>"
        "<image width='1' height='1' xlink:href='data:;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'/>"
        "<image width='1' height='1' xlink:href='data:image/svg+xml;base64,PHN2ZyB4bWxucz0naHR0cDovL3d3dy53My5vcmcv"
        "MjAwMC9zdmcnIHdpZHRoPScxJyBoZWlnaHQ9JzEnLz4='/></svg>";
    uint8_t pixels[8 * 8 * 4];
    nhs_fault fault;
    const nhs_svg_view view = {8, 8, 0, 0, 8, 8, 8, 8};
    if (!find_all()) return 0;
    is_loaded = true;
    (void)nhs_svg_draw(first, sizeof first - 1, &view, pixels, &fault);
    return 1;
}

static int fail(nhs_fault *fault, int kind, const char *format, const char *text) {
    fault->kind = kind;
    fault->offset = -1;
    snprintf(fault->message, sizeof fault->message, format, text);
    return NHS_FAILED;
}

static int fail_by(nhs_fault *fault, g_error *error) {
    const char *text = error && error->message ? error->message : "unknown";
    /* So librsvg names cairo's error. */
    int kind = strstr(text, "NoMemory") ? NHS_FAULT_OUT_OF_MEMORY : NHS_FAULT_CORRUPT;
    int result = fail(fault, kind, "the SVG can't be drawn: %s", text);
    if (error) calls.error_free(error);
    return result;
}

/* Returns the offset of a place that libxml2 tells: it counts lines and characters from 1. */
static size_t offset_of(int line, int column, const uint8_t *bytes, size_t count) {
    bool is_wide = count >= 2 && (bytes[0] == 0xFF || bytes[0] == 0xFE) && (bytes[0] ^ bytes[1]) == 1;
    size_t at = is_wide ? 2 : 0;
    while (line > 1 && at < count) line -= bytes[at++] == '\n';
    if (is_wide) at += at & 1;
    while (column > 1 && at < count) {
        at += is_wide ? 2 : 1;
        while (!is_wide && at < count && (bytes[at] & 0xC0) == 0x80) at++;
        column--;
    }
    return at < count ? at : count;
}

/* Text that isn't well-formed. */
static int fail_to_read(nhs_fault *fault, g_error *error, const uint8_t *bytes, size_t count) {
    enum { extra_content = 5, tag_mismatch = 76 };
    int code, line, column, length = 0;
    const char *message = error && error->message ? error->message : "";
    const char *text = strstr(message, " code "), *other = strstr(message, " code=");
    int found = text ? sscanf(text, " code %d on line %d column %d of data: %n", &code, &line, &column, &length)
        : other      ? sscanf(other, " code=%d (%*d) in %*[^:]:%d:%d: %n", &code, &line, &column, &length)
                     : 0;
    if (found < 3) return fail_by(fault, error);
    size_t offset = offset_of(line, column, bytes, count);
    /* A text that was cut off fails at its end, or at a character that is cut. What has the other form is read to its end. */
    bool is_cut = text && count - offset <= 3 && code != extra_content &&
        (code != tag_mismatch || bytes[count - 1] != '>');
    if (!text) text = other;
    fault->kind = is_cut ? NHS_FAULT_TRUNCATED : NHS_FAULT_CORRUPT;
    fault->offset = (int64_t)(is_cut ? count : offset);
    snprintf(fault->message, sizeof fault->message, "%s in line %d: %.*s",
             is_cut ? "the SVG ends too early," : "the SVG isn't well-formed", line, (int)strcspn(text + length, "\n"),
             text + length);
    calls.error_free(error);
    return NHS_FAILED;
}

/* From premultiplied, native-endian ARGB. */
static void straighten(uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++, pixels += 4) {
        uint32_t value;
        memcpy(&value, pixels, 4);
        uint32_t alpha = value >> 24;
        for (int channel = 0; channel < 3; channel++) {
            uint32_t part = value >> (16 - 8 * channel) & 255;
            uint32_t straight = alpha == 0 ? 0 : (part * 255 + alpha / 2) / alpha;
            pixels[channel] = (uint8_t)(straight > 255 ? 255 : straight);
        }
        pixels[3] = (uint8_t)alpha;
    }
}

static int draw(void *handle, void *surface, const nhs_svg_view *view, nhs_fault *fault) {
    const rectangle whole = {0, 0, view->width, view->height};
    g_error *error = NULL;
    void *context = calls.create(surface);
    int status = calls.status(context);
    if (status == 0) {
        calls.scale(context, view->columns / view->part_width, view->rows / view->part_height);
        calls.translate(context, -view->x, -view->y);
        if (!calls.render_document(handle, context, &whole, &error)) {
            calls.destroy(context);
            return fail_by(fault, error);
        }
        status = calls.status(context);
    }
    calls.destroy(context);
    if (status != 0) return fail(fault, NHS_FAULT_OUT_OF_MEMORY, "%s", "there is no memory to draw the SVG");
    return NHS_OK;
}

int nhs_svg_draw(const void *bytes, size_t count, const nhs_svg_view *view, uint8_t *pixels, nhs_fault *fault) {
    /* Browsers begin with this size of text; librsvg with 12. */
    static const char style[] = ":root:not([font-size]) { font-size: 16px }";
    if (!is_loaded) return fail(fault, NHS_FAULT_UNSUPPORTED, "%s", "librsvg isn't loaded");
    g_error *error = NULL;
    void *handle = calls.new_from_data(bytes, count, &error);
    if (!handle) return fail_to_read(fault, error, bytes, count);
    calls.set_dpi(handle, 96);
    (void)calls.set_stylesheet(handle, (const uint8_t *)style, sizeof style - 1, NULL);
    memset(pixels, 0, (size_t)view->columns * (size_t)view->rows * 4);
    void *surface = calls.surface_for_data(pixels, argb32, view->columns, view->rows, view->columns * 4);
    int result = calls.surface_status(surface) == 0
        ? draw(handle, surface, view, fault)
        : fail(fault, NHS_FAULT_TOO_MANY_PIXELS, "%s", "librsvg draws at most 32767 pixels a side");
    calls.surface_flush(surface);
    calls.surface_destroy(surface);
    calls.unref(handle);
    if (result == NHS_OK) straighten(pixels, (size_t)view->columns * (size_t)view->rows);
    return result;
}
