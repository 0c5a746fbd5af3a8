// WebP by libwebp: lossy, or lossless with exactly these pixels.
#include "encode_bytes.h"

#include <webp/encode.h>

static int on_write(const uint8_t *bytes, size_t count, const WebPPicture *picture) {
    return nhs_encoded_append(picture->custom_ptr, bytes, count);
}

static int configured(WebPConfig *config, int quality, int lossless_level) {
    if (lossless_level < 0) return WebPConfigPreset(config, WEBP_PRESET_DEFAULT, (float)quality);
    if (!WebPConfigInit(config) || !WebPConfigLosslessPreset(config, lossless_level)) return 0;
    // Keep the colours of invisible pixels.
    config->exact = 1;
    return 1;
}

static void fail(nhs_encoded *out, WebPEncodingError error) {
    // If our own code failed first, its message says more.
    if (out->status != NHS_ENCODE_OK) return;
    switch (error) {
    case VP8_ENC_ERROR_OUT_OF_MEMORY:
    case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
        nhs_encoded_fail(out, NHS_ENCODE_NO_MEMORY, "no memory for the WebP encoder");
        break;
    case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
    case VP8_ENC_ERROR_PARTITION_OVERFLOW:
    case VP8_ENC_ERROR_FILE_TOO_BIG:
        nhs_encoded_fail(out, NHS_ENCODE_REFUSED, "the picture is too large for a WebP of this quality");
        break;
    default:
        nhs_encoded_fail(out, NHS_ENCODE_REFUSED, "libwebp can't encode the picture");
    }
}

int nhs_encode_webp(nhs_encoded *out, nhs_pixels pixels, int quality, int lossless_level, int opaque) {
    if (pixels.width == 0 || pixels.height == 0 || pixels.width > WEBP_MAX_DIMENSION ||
        pixels.height > WEBP_MAX_DIMENSION) {
        return nhs_encoded_fail(out, NHS_ENCODE_REFUSED, "a WebP has 1 to 16383 pixels a side");
    }
    WebPConfig config;
    WebPPicture picture;
    if (!configured(&config, quality, lossless_level) || !WebPPictureInit(&picture)) {
        return nhs_encoded_fail(out, NHS_ENCODE_REFUSED, "libwebp has another version than its header");
    }
    picture.use_argb = lossless_level >= 0;
    picture.width = (int)pixels.width;
    picture.height = (int)pixels.height;
    picture.writer = on_write;
    picture.custom_ptr = out;
    int stride = (int)(pixels.width * 4);
    int is_done = opaque ? WebPPictureImportRGBX(&picture, pixels.rgba, stride)
                         : WebPPictureImportRGBA(&picture, pixels.rgba, stride);
    is_done = is_done && WebPEncode(&config, &picture);
    if (!is_done) fail(out, picture.error_code);
    WebPPictureFree(&picture);
    return out->status;
}
