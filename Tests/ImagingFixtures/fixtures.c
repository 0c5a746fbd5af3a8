#include "ImagingFixtures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <lcms2.h>
#include <png.h>
#include <webp/decode.h>
#include <webp/encode.h>
#include <zlib.h>

uint8_t *nht_jpeg(const nht_jpeg_options *o, const uint8_t *samples, size_t *size) {
    static const J_COLOR_SPACE given[] = {JCS_GRAYSCALE, JCS_RGB, JCS_RGB, JCS_CMYK, JCS_CMYK};
    static const J_COLOR_SPACE stored[] = {JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK, JCS_YCCK};
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *out = NULL;
    unsigned long count = 0;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out, &count);
    c.image_width = (JDIMENSION)o->width;
    c.image_height = (JDIMENSION)o->height;
    c.input_components = o->color == NHT_GRAY ? 1 : o->color >= NHT_CMYK ? 4 : 3;
    c.in_color_space = given[o->color];
    jpeg_set_defaults(&c);
    jpeg_set_colorspace(&c, stored[o->color]);
    jpeg_set_quality(&c, o->quality, TRUE);
    for (int i = 0; i < c.num_components; i++) {
        c.comp_info[i].h_samp_factor = c.comp_info[i].v_samp_factor = 1;
    }
    c.comp_info[0].h_samp_factor = o->horizontal;
    c.comp_info[0].v_samp_factor = o->vertical;
    if (o->color == NHT_YCCK) {
        c.comp_info[3].h_samp_factor = o->horizontal;
        c.comp_info[3].v_samp_factor = o->vertical;
    }
    c.arith_code = o->is_arithmetic;
    c.restart_in_rows = o->restart_rows;
    c.write_Adobe_marker = o->write_adobe;
    jpeg_scan_info scans[4];
    if (o->is_progressive) {
        jpeg_simple_progression(&c);
    } else if (o->separate_scans) {
        for (int i = 0; i < c.num_components; i++) {
            scans[i] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {i}, .Ss = 0, .Se = 63};
        }
        c.scan_info = scans;
        c.num_scans = c.num_components;
    }
    jpeg_start_compress(&c, TRUE);
    size_t row_bytes = (size_t)o->width * (size_t)c.input_components;
    for (int32_t y = 0; y < o->height; y++) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(samples + (size_t)y * row_bytes);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    *size = count;
    return out;
}

typedef struct {
    uint8_t *bytes;
    size_t count, room;
} sink;

static void on_write(png_structp png, png_bytep bytes, size_t count) {
    sink *s = png_get_io_ptr(png);
    if (s->count + count > s->room) {
        s->room = (s->count + count) * 2;
        s->bytes = realloc(s->bytes, s->room);
    }
    memcpy(s->bytes + s->count, bytes, count);
    s->count += count;
}

static void on_flush(png_structp png) {
    (void)png;
}

uint8_t *nht_png(const nht_png_options *o, const uint8_t *samples, size_t *size) {
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    sink s = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &s, on_write, on_flush);
    png_set_IHDR(png, info, (png_uint_32)o->width, (png_uint_32)o->height, o->depth, o->color_type,
                 o->is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    png_set_compression_level(png, o->level);
    // A window of 32 KiB whatever the size, as most encoders write.
    png_set_option(png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
    if (o->filters) {
        png_set_filter(png, 0, o->filters);
    }
    if (o->idat_bytes) {
        png_set_compression_buffer_size(png, (size_t)o->idat_bytes);
    }
    if (o->gamma) {
        png_set_gAMA_fixed(png, info, o->gamma);
    }
    png_color colors[256];
    if (o->color_type == PNG_COLOR_TYPE_PALETTE) {
        for (int i = 0; i < 256; i++) {
            colors[i] = (png_color){(png_byte)i, (png_byte)(255 - i), (png_byte)(i * 7)};
        }
        png_set_PLTE(png, info, colors, 1 << o->depth);
    }
    if (o->has_trns) {
        png_byte alphas[] = {0, 50, 100, 150};
        png_color_16 color = {0, 1, 2, 3, 1};
        png_set_tRNS(png, info, alphas, o->depth == 1 ? 2 : 4, &color);
    }
    if (o->profile) {
        png_set_iCCP(png, info, "profile", 0, o->profile, (png_uint_32)o->profile_bytes);
    }
    png_write_info(png, info);
    size_t row_bytes = ((size_t)o->width * (size_t)(channels[o->color_type] * o->depth) + 7) / 8;
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (int32_t y = 0; y < o->height; y++) {
            png_write_row(png, samples + (size_t)y * row_bytes);
        }
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    *size = s.count;
    return s.bytes;
}

uint8_t *nht_webp(const nht_webp_options *o, const uint8_t *samples, size_t *size) {
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriter writer;
    if (!WebPConfigInit(&config) || !WebPPictureInit(&picture)) {
        abort();
    }
    config.lossless = o->is_lossless;
    config.exact = o->is_lossless;
    config.quality = (float)o->quality;
    config.method = o->method;
    config.partitions = o->partitions;
    config.alpha_compression = !o->keeps_alpha_raw;
    picture.use_argb = o->is_lossless;
    picture.width = o->width;
    picture.height = o->height;
    int is_read = o->has_alpha ? WebPPictureImportRGBA(&picture, samples, o->width * 4)
                               : WebPPictureImportRGBX(&picture, samples, o->width * 4);
    WebPMemoryWriterInit(&writer);
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    if (!is_read || !WebPEncode(&config, &picture)) {
        abort();
    }
    uint8_t *bytes = malloc(writer.size);
    memcpy(bytes, writer.mem, writer.size);
    *size = writer.size;
    WebPMemoryWriterClear(&writer);
    WebPPictureFree(&picture);
    return bytes;
}

uint8_t *nht_webp_pixels(const uint8_t *bytes, size_t size, int32_t *width, int32_t *height) {
    uint8_t *pixels = WebPDecodeRGBA(bytes, size, width, height);
    if (!pixels) {
        return NULL;
    }
    size_t count = (size_t)*width * (size_t)*height * 4;
    uint8_t *copy = malloc(count);
    memcpy(copy, pixels, count);
    WebPFree(pixels);
    return copy;
}

// Ink as a printer's profile describes it, roughly: Lab for the corners of the CMYK cube.
static cmsInt32Number ink(const cmsUInt16Number in[], cmsUInt16Number out[], void *cargo) {
    (void)cargo;
    double c = in[0] / 65535.0, m = in[1] / 65535.0, y = in[2] / 65535.0, k = in[3] / 65535.0;
    cmsCIELab lab = {
        .L = (100 - 38 * c - 50 * m - 8 * y + 15 * c * m) * (1 - 0.85 * k),
        .a = (-36 * c + 72 * m - 4 * y) * (1 - k),
        .b = (-46 * c - 4 * m + 88 * y) * (1 - k),
    };
    cmsFloat2LabEncoded(out, &lab);
    return TRUE;
}

static cmsHPROFILE ink_profile(void) {
    cmsHPROFILE profile = cmsCreateProfilePlaceholder(NULL);
    cmsSetProfileVersion(profile, 4.2);
    cmsSetDeviceClass(profile, cmsSigOutputClass);
    cmsSetColorSpace(profile, cmsSigCmykData);
    cmsSetPCS(profile, cmsSigLabData);
    cmsPipeline *pipeline = cmsPipelineAlloc(NULL, 4, 3);
    cmsStage *table = cmsStageAllocCLut16bit(NULL, 5, 4, 3, NULL);
    cmsStageSampleCLut16bit(table, ink, NULL, 0);
    cmsPipelineInsertStage(pipeline, cmsAT_BEGIN, cmsStageAllocToneCurves(NULL, 4, NULL));
    cmsPipelineInsertStage(pipeline, cmsAT_END, table);
    cmsPipelineInsertStage(pipeline, cmsAT_END, cmsStageAllocToneCurves(NULL, 3, NULL));
    cmsWriteTag(profile, cmsSigAToB0Tag, pipeline);
    cmsPipelineFree(pipeline);
    return profile;
}

static cmsHPROFILE rgb_profile(double xr, double yr, double xg, double yg, double xb, double yb, double gamma) {
    cmsCIExyY white = {0.3127, 0.3290, 1};
    cmsCIExyYTRIPLE primaries = {{xr, yr, 1}, {xg, yg, 1}, {xb, yb, 1}};
    double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsToneCurve *curve = gamma > 0 ? cmsBuildGamma(NULL, gamma) : cmsBuildParametricToneCurve(NULL, 4, srgb);
    cmsToneCurve *curves[] = {curve, curve, curve};
    cmsHPROFILE profile = cmsCreateRGBProfile(&white, &primaries, curves);
    cmsFreeToneCurve(curve);
    return profile;
}

uint8_t *nht_profile(int kind, size_t *size) {
    cmsHPROFILE profile = NULL;
    switch (kind) {
    case NHT_SRGB: profile = rgb_profile(0.64, 0.33, 0.30, 0.60, 0.15, 0.06, 0); break;
    case NHT_ADOBE_RGB: profile = rgb_profile(0.64, 0.33, 0.21, 0.71, 0.15, 0.06, 563 / 256.0); break;
    case NHT_DISPLAY_P3: profile = rgb_profile(0.68, 0.32, 0.265, 0.69, 0.15, 0.06, 0); break;
    case NHT_INK: profile = ink_profile(); break;
    default: {
        cmsToneCurve *curve = cmsBuildGamma(NULL, 1.8);
        profile = cmsCreateGrayProfile(cmsD50_xyY(), curve);
        cmsFreeToneCurve(curve);
    }
    }
    cmsUInt32Number count = 0;
    cmsSaveProfileToMem(profile, NULL, &count);
    uint8_t *bytes = malloc(count);
    cmsSaveProfileToMem(profile, bytes, &count);
    cmsCloseProfile(profile);
    *size = count;
    return bytes;
}

void nht_convert(const uint8_t *profile, size_t size, const uint8_t *from, int channels, uint8_t *rgb, size_t count) {
    cmsHPROFILE source = cmsOpenProfileFromMem(profile, (cmsUInt32Number)size);
    cmsHPROFILE srgb = cmsCreate_sRGBProfile();
    cmsUInt32Number format = channels == 1 ? TYPE_GRAY_8 : channels == 3 ? TYPE_RGB_8 : TYPE_CMYK_8;
    cmsHTRANSFORM transform = cmsCreateTransform(source, format, srgb, TYPE_RGB_8, INTENT_PERCEPTUAL,
                                                 cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE);
    cmsDoTransform(transform, from, rgb, (cmsUInt32Number)count);
    cmsDeleteTransform(transform);
    cmsCloseProfile(source);
    cmsCloseProfile(srgb);
}

uint8_t *nht_zlib(const uint8_t *bytes, size_t count, size_t *size) {
    uLongf room = compressBound(count);
    uint8_t *out = malloc(room);
    compress2(out, &room, bytes, count, 9);
    *size = room;
    return out;
}
