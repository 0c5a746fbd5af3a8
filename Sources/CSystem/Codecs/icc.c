#include "nhs_icc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lcms2.h>
#include <lcms2_plugin.h>

struct nhs_icc {
    cmsContext context;
    cmsHTRANSFORM transform;
    int pixels;
    size_t held;          // bytes that Little CMS has allocated
    size_t most;          // the most bytes that it may allocate
    bool is_short;        // an allocation failed for lack of memory, so Little CMS's result says nothing about the profile
    uint8_t gray[256][3]; // gray needs only a table
};

// A profile of a few bytes can make Little CMS allocate tables of half a gigabyte, so the memory is limited. Every
// block is preceded by its size.
enum { PREFIX = 16, MOST_HELD = NHS_ICC_MOST_HELD };

static void *on_malloc(cmsContext context, cmsUInt32Number count) {
    nhs_icc *icc = cmsGetContextUserData(context);
    if (!icc || count > MOST_HELD || icc->held + count > MOST_HELD) {
        return NULL;
    }
    if (icc->held + count > icc->most) {
        icc->is_short = true;
        return NULL;
    }
    size_t size = count;
    uint8_t *memory = malloc(size + PREFIX);
    if (!memory) {
        icc->is_short = true;
        return NULL;
    }
    memcpy(memory, &size, sizeof size);
    icc->held += size;
    return memory + PREFIX;
}

static void on_free(cmsContext context, void *memory) {
    nhs_icc *icc = cmsGetContextUserData(context);
    if (!memory) {
        return;
    }
    uint8_t *block = (uint8_t *)memory - PREFIX;
    size_t size;
    memcpy(&size, block, sizeof size);
    if (icc) {
        icc->held -= size;
    }
    free(block);
}

static void *on_realloc(cmsContext context, void *memory, cmsUInt32Number count) {
    void *grown = on_malloc(context, count);
    if (grown && memory) {
        size_t size;
        memcpy(&size, (uint8_t *)memory - PREFIX, sizeof size);
        memcpy(grown, memory, size < count ? size : count);
        on_free(context, memory);
    }
    return grown;
}

static cmsContext make_context(nhs_icc *icc) {
    cmsPluginMemHandler memory = {
        .base = {.Magic = cmsPluginMagicNumber, .ExpectedVersion = 2060, .Type = cmsPluginMemHandlerSig},
        .MallocPtr = on_malloc,
        .FreePtr = on_free,
        .ReallocPtr = on_realloc,
    };
    return cmsCreateContext(&memory, icc);
}

static void on_message(cmsContext context, cmsUInt32Number code, const char *text) {
    (void)context;
    (void)code;
    (void)text;
}

static bool is_near(const cmsCIEXYZ *color, double x, double y, double z) {
    return color && fabs(color->X - x) < 0.002 && fabs(color->Y - y) < 0.002 && fabs(color->Z - z) < 0.002;
}

// Returns whether it has sRGB's colorants and curve, as most profiles do, and no table that overrides them.
static bool is_srgb(cmsHPROFILE profile) {
    if (cmsIsTag(profile, cmsSigAToB0Tag) || cmsIsTag(profile, cmsSigDToB0Tag) ||
        !is_near(cmsReadTag(profile, cmsSigRedColorantTag), 0.4361, 0.2225, 0.0139) ||
        !is_near(cmsReadTag(profile, cmsSigGreenColorantTag), 0.3851, 0.7169, 0.0971) ||
        !is_near(cmsReadTag(profile, cmsSigBlueColorantTag), 0.1431, 0.0606, 0.7141)) {
        return false;
    }
    static const cmsTagSignature curves[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    for (int c = 0; c < 3; c++) {
        const cmsToneCurve *curve = cmsReadTag(profile, curves[c]);
        if (!curve) {
            return false;
        }
        for (int i = 1; i < 16; i++) {
            double x = i / 16.0;
            double y = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
            // Compare results: a level is 1/255, and the curve is steep here.
            double back = pow(fmax(cmsEvalToneCurveFloat(curve, (float)x), 0), 1 / 2.4);
            if (fabs(back - pow(y, 1 / 2.4)) > 0.003) {
                return false;
            }
        }
    }
    return true;
}

static cmsUInt32Number format_of(int pixels) {
    switch (pixels) {
    case NHS_ICC_GRAY: return TYPE_GRAY_8;
    case NHS_ICC_RGB: return TYPE_RGBA_8;
    case NHS_ICC_CMYK: return TYPE_CMYK_8;
    default: return TYPE_CMYK_8_REV;
    }
}

static cmsColorSpaceSignature space_of(int pixels) {
    return pixels == NHS_ICC_GRAY  ? cmsSigGrayData
           : pixels == NHS_ICC_RGB ? cmsSigRgbData
                                   : cmsSigCmykData;
}

static int prepare(nhs_icc *icc, const void *bytes, size_t count) {
    cmsHPROFILE profile = cmsOpenProfileFromMemTHR(icc->context, bytes, (cmsUInt32Number)count);
    if (!profile) {
        return NHS_ICC_UNUSABLE;
    }
    if (cmsGetColorSpace(profile) != space_of(icc->pixels)) {
        cmsCloseProfile(profile);
        return NHS_ICC_UNUSABLE;
    }
    if (icc->pixels == NHS_ICC_RGB && is_srgb(profile)) {
        cmsCloseProfile(profile);
        return NHS_ICC_IS_SRGB;
    }
    cmsHPROFILE srgb = cmsCreate_sRGBProfileTHR(icc->context);
    if (srgb) {
        cmsUInt32Number to = icc->pixels == NHS_ICC_GRAY ? TYPE_RGB_8 : TYPE_RGBA_8;
        cmsUInt32Number flags = icc->pixels == NHS_ICC_RGB ? cmsFLAGS_COPY_ALPHA : 0;
        icc->transform = cmsCreateTransformTHR(icc->context, profile, format_of(icc->pixels), srgb, to,
                                               INTENT_PERCEPTUAL, flags);
        cmsCloseProfile(srgb);
    }
    cmsCloseProfile(profile);
    if (!icc->transform) {
        return NHS_ICC_UNUSABLE;
    }
    if (icc->pixels == NHS_ICC_GRAY) {
        uint8_t levels[256];
        for (int i = 0; i < 256; i++) {
            levels[i] = (uint8_t)i;
        }
        cmsDoTransform(icc->transform, levels, icc->gray, 256);
        int most = 0;
        for (int i = 0; i < 256; i++) {
            for (int c = 0; c < 3; c++) {
                int difference = abs(icc->gray[i][c] - i);
                most = difference > most ? difference : most;
            }
        }
        return most == 0 ? NHS_ICC_IS_SRGB : NHS_ICC_READY;
    }
    return NHS_ICC_READY;
}

nhs_icc *nhs_icc_open(const void *profile, size_t count, int pixels, size_t most, int *status) {
    *status = NHS_ICC_NO_MEMORY;
    if (count < 128 || count > 0x7FFFFFFF) {
        *status = NHS_ICC_UNUSABLE;
        return NULL;
    }
    nhs_icc *icc = calloc(1, sizeof *icc);
    if (!icc) {
        return NULL;
    }
    icc->pixels = pixels;
    icc->most = most;
    // Use a separate context: the library's default one is shared and prints messages.
    icc->context = make_context(icc);
    if (icc->context) {
        cmsSetLogErrorHandlerTHR(icc->context, on_message);
        *status = prepare(icc, profile, count);
    }
    if (icc->is_short) {
        *status = NHS_ICC_NO_MEMORY;
    }
    if (*status != NHS_ICC_READY) {
        nhs_icc_free(icc);
        return NULL;
    }
    return icc;
}

void nhs_icc_free(nhs_icc *icc) {
    if (!icc) {
        return;
    }
    if (icc->transform) {
        cmsDeleteTransform(icc->transform);
    }
    if (icc->context) {
        cmsDeleteContext(icc->context);
    }
    free(icc);
}

void nhs_icc_convert(const nhs_icc *icc, uint8_t *pixels, size_t count) {
    if (icc->pixels == NHS_ICC_GRAY) {
        for (size_t i = 0; i < count; i++) {
            memcpy(pixels + 4 * i, icc->gray[pixels[4 * i]], 3);
        }
        return;
    }
    enum { STEP = 1 << 20 };
    for (size_t i = 0; i < count; i += STEP) {
        size_t now = count - i < STEP ? count - i : STEP;
        cmsDoTransform(icc->transform, pixels + 4 * i, pixels + 4 * i, (cmsUInt32Number)now);
        if (icc->pixels != NHS_ICC_RGB) {
            for (size_t k = i; k < i + now; k++) {
                pixels[4 * k + 3] = 255;
            }
        }
    }
}
