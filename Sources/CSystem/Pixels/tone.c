#include "nhs_tone.h"

#include <math.h>
#include <stdlib.h>

enum { ENCODED = 4096 };

// The light of diffuse white in PQ, and the light of the brightest content that is expected, both in candela a square metre.
static const float white_light = 203, brightest_light = 1000;

struct nhs_tone {
    int is_hlg;
    int is_bt2020;                 // the primaries
    float to_bt2020[3][3];
    float to_srgb[3][3];           // from BT.2020
    float luminances[3];           // of red, green and blue
    float linear[NHS_TONE_LEVELS]; // light, 1 is diffuse white; of HLG the scene's
    float gains[NHS_TONE_LEVELS];  // for PQ in BT.2020, by the largest of the three values
    uint8_t encoded[ENCODED + 1];  // the levels of sRGB, by the square root of light
};

static double pq(double value) {
    const double m1 = 2610.0 / 16384, m2 = 2523.0 / 4096 * 128, c1 = 3424.0 / 4096, c2 = 2413.0 / 4096 * 32,
                 c3 = 2392.0 / 4096 * 32;
    double root = pow(value, 1 / m2);
    double above = root - c1;
    return 10000 * pow((above > 0 ? above : 0) / (c2 - c3 * root), 1 / m1);
}

// The light of the scene, 0 to 1.
static double hlg(double value) {
    const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * log(4 * a);
    return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12;
}

// What is left of light that is this strong. The curve is the one of SMPTE ST 2094-50 for content without a curve of its own, as
// Chromium applies it: half of the light up to diffuse white, then a parabola up to the brightest light, which becomes white.
static float gain(float light) {
    const float most = brightest_light / white_light, white = 0.5f, bend = 0.65f;
    if (light <= 1) {
        return white;
    }
    if (light >= most) {
        return 1 / light;
    }
    float middle_x = (1 - bend) + bend / white, middle_y = (1 - bend) * white + bend;
    float a = 1 - 2 * middle_x + most, b = 2 * (middle_x - 1);
    float t = (sqrtf(b * b + 4 * a * (light - 1)) - b) / (2 * a);
    return (white * (1 - t) * (1 - t) + 2 * middle_y * t * (1 - t) + t * t) / light;
}

typedef double matrix3[3][3];

static void invert(const matrix3 m, matrix3 out) {
    double det = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            out[j][i] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
    }
    for (int j = 0; j < 3; j++) {
        det += m[0][j] * out[j][0];
    }
    for (int i = 0; i < 9; i++) {
        out[i / 3][i % 3] /= det;
    }
}

// To XYZ, from the places of red, green and blue in the diagram of colours, for white of D65.
static void to_xyz(const double places[3][2], matrix3 out) {
    const double white[3] = {0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290};
    matrix3 columns, inverse;
    for (int k = 0; k < 3; k++) {
        columns[0][k] = places[k][0] / places[k][1];
        columns[1][k] = 1;
        columns[2][k] = (1 - places[k][0] - places[k][1]) / places[k][1];
    }
    invert(columns, inverse);
    for (int k = 0; k < 3; k++) {
        double scale = inverse[k][0] * white[0] + inverse[k][1] * white[1] + inverse[k][2] * white[2];
        for (int i = 0; i < 3; i++) {
            out[i][k] = columns[i][k] * scale;
        }
    }
}

static void between(const matrix3 from, const matrix3 to, float out[3][3]) {
    matrix3 back;
    invert(to, back);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                sum += back[i][k] * from[k][j];
            }
            out[i][j] = (float)sum;
        }
    }
}

static void set_primaries(nhs_tone *tone, int32_t primaries) {
    static const double srgb[3][2] = {{0.64, 0.33}, {0.30, 0.60}, {0.15, 0.06}};
    static const double bt2020[3][2] = {{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}};
    static const double p3[3][2] = {{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}};
    matrix3 from, wide, to;
    tone->is_bt2020 = primaries == 9;
    to_xyz(tone->is_bt2020 ? bt2020 : primaries == 11 || primaries == 12 ? p3 : srgb, from);
    to_xyz(bt2020, wide);
    to_xyz(srgb, to);
    between(from, wide, tone->to_bt2020);
    between(wide, to, tone->to_srgb);
    for (int i = 0; i < 3; i++) {
        tone->luminances[i] = (float)wide[1][i];
    }
}

nhs_tone *nhs_tone_new(int32_t is_hlg, int32_t primaries) {
    nhs_tone *tone = malloc(sizeof *tone);
    if (!tone) {
        return NULL;
    }
    tone->is_hlg = is_hlg;
    set_primaries(tone, primaries);
    for (int i = 0; i < NHS_TONE_LEVELS; i++) {
        double value = i / (double)(NHS_TONE_LEVELS - 1);
        tone->linear[i] = is_hlg ? (float)hlg(value) : (float)pq(value) / white_light;
        tone->gains[i] = gain(tone->linear[i]);
    }
    for (int i = 0; i <= ENCODED; i++) {
        double light = i / (double)ENCODED * i / ENCODED;
        double level = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
        tone->encoded[i] = (uint8_t)(level * 255 + 0.5);
    }
    return tone;
}

void nhs_tone_free(nhs_tone *tone) {
    free(tone);
}

static void multiply(const float m[3][3], float rgb[3]) {
    float r = rgb[0], g = rgb[1], b = rgb[2];
    for (int i = 0; i < 3; i++) {
        rgb[i] = m[i][0] * r + m[i][1] * g + m[i][2] * b;
    }
}

static float largest_of(const float rgb[3]) {
    float largest = rgb[0] > rgb[1] ? rgb[0] : rgb[1];
    return largest > rgb[2] ? largest : rgb[2];
}

void nhs_tone_row(const nhs_tone *tone, const uint16_t *const rgb[3], uint8_t *rgba, size_t count) {
    const float most = brightest_light / white_light;
    for (size_t x = 0; x < count; x++) {
        uint16_t r = rgb[0][x], g = rgb[1][x], b = rgb[2][x];
        float light[3] = {tone->linear[r], tone->linear[g], tone->linear[b]};
        float scale;
        if (tone->is_bt2020 && !tone->is_hlg) {
            uint16_t largest = r > g ? r : g;
            scale = tone->gains[largest > b ? largest : b];
        } else {
            if (!tone->is_bt2020) {
                multiply(tone->to_bt2020, light);
            }
            scale = 1;
            if (tone->is_hlg) {
                // The screen's light grows faster than the scene's.
                float luminance =
                    tone->luminances[0] * light[0] + tone->luminances[1] * light[1] + tone->luminances[2] * light[2];
                scale = most * powf(luminance > 0 ? luminance : 0, 0.2f);
            }
            scale *= gain(scale * largest_of(light));
        }
        multiply(tone->to_srgb, light);
        for (int i = 0; i < 3; i++) {
            float level = scale * light[i];
            level = level < 0 ? 0 : level > 1 ? 1 : level;
            rgba[4 * x + (size_t)i] = tone->encoded[(int)(sqrtf(level) * ENCODED + 0.5f)];
        }
        rgba[4 * x + 3] = 255;
    }
}
