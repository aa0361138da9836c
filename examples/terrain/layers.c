#include "examples/terrain/layers.h"
#include "examples/common/paint.h"
#include "examples/terrain/land.h"
#include <math.h>
#include <stdlib.h>

enum { SIDE = PM_LAYER_SIDE };

/* ---- heights of materials, 0 to 1 ---- */

static float blades(float u, float v)
{
    const float bend = 0.02f * pm_noise(u, v, 16, 1);
    return 0.5f * pm_noise(u + bend, v, 128, 41) + 0.3f * pm_noise(u, v, 64, 43) +
           0.2f * pm_noise(u, v, 8, 44);
}

static float clods(float u, float v)
{
    return pm_fractal(u, v, 8, 5, 51);
}

/* Distance to the nearest of one point a cell, in cells, and that cell's random number. */
static float cells(float u, float v, uint32_t period, uint32_t salt, float *shade)
{
    const float x = u * (float)period, y = v * (float)period;
    const int ix = (int)x, iy = (int)y;
    float nearest = 4.0f;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            const uint32_t cx = (uint32_t)(ix + i + (int)period),
                           cy = (uint32_t)(iy + j + (int)period);
            const float dx = (float)(ix + i) + pm_lattice(cx, cy, period, salt) - x;
            const float dy = (float)(iy + j) + pm_lattice(cx, cy, period, salt + 1) - y;
            const float d = dx * dx + dy * dy;
            if (d < nearest) {
                nearest = d;
                *shade = pm_lattice(cx, cy, period, salt + 2);
            }
        }
    }
    return sqrtf(nearest);
}

static float pebbles(float u, float v)
{
    float shade = 0.0f;
    const float d = cells(u, v, 20, 61, &shade);
    return pm_clamp01(1.0f - d * 1.15f) * (0.5f + 0.5f * shade) + 0.12f * pm_noise(u, v, 64, 64);
}

static float cracks(float u, float v)
{
    const float crack = fabsf(pm_fractal(u, v, 6, 5, 33) - 0.48f);
    return pm_clamp01(crack * 6.0f) * (0.4f + 0.6f * pm_fractal(u, v, 4, 6, 21));
}

/* Layers of stone, one upon the other. */
static float strata(float u, float v)
{
    const float y = v * 12.0f + 1.2f * pm_fractal(u, v, 4, 4, 71);
    const float inside = y - floorf(y);
    const float edge = pm_step(0.0f, 0.18f, inside) * pm_step(1.0f, 0.9f, inside);
    return edge * (0.45f + 0.4f * pm_lattice((uint32_t)y, 3, 12, 75)) +
           0.25f * pm_fractal(u, v, 16, 3, 77);
}

static float ripples(float u, float v)
{
    const float bend = 0.6f * pm_fractal(u, v, 4, 3, 81);
    return 0.35f + 0.25f * sinf((v * 14.0f + bend * 2.0f) * 2.0f * PM_PI) * (0.4f + bend) +
           0.2f * pm_noise(u, v, 128, 83);
}

static float litter(float u, float v)
{
    float shade = 0.0f, fine = 0.0f;
    const float a = cells(u, v, 26, 91, &shade), b = cells(u, v, 44, 95, &fine);
    return fmaxf(pm_clamp01(0.8f - a) * (0.4f + 0.6f * shade), pm_clamp01(0.7f - b) * fine);
}

static float flakes(float u, float v)
{
    float shade = 0.0f;
    const float d = cells(u, v, 7, 101, &shade);
    return pm_clamp01(0.85f + 0.15f * shade - 0.35f * d * d) *
           (0.8f + 0.3f * pm_fractal(u, v, 32, 3, 105));
}

/* ---- looks ---- */

struct look {
    float (*height)(float u, float v);
    float low[3], high[3];       /* colours of the deep and the high parts */
    float bump, roughness, tint; /* tint: how much colour varies by place */
};

static const struct look looks[PM_LANDS][PM_LAND_LAYERS] = {
    {
        [PM_LAYER_GREEN] =
            {blades, {0.05f, 0.075f, 0.02f}, {0.24f, 0.31f, 0.10f}, 3.0f, 0.9f, 0.5f},
        [PM_LAYER_SOIL] = {clods, {0.07f, 0.05f, 0.035f}, {0.30f, 0.23f, 0.16f}, 4.0f, 0.95f, 0.3f},
        [PM_LAYER_CLIFF] =
            {cracks, {0.10f, 0.10f, 0.105f}, {0.46f, 0.45f, 0.44f}, 6.0f, 0.8f, 0.3f},
        [PM_LAYER_STRATA] =
            {strata, {0.13f, 0.12f, 0.12f}, {0.50f, 0.47f, 0.42f}, 5.0f, 0.8f, 0.3f},
        [PM_LAYER_GRAVEL] =
            {pebbles, {0.12f, 0.115f, 0.11f}, {0.52f, 0.50f, 0.48f}, 5.0f, 0.85f, 0.2f},
        [PM_LAYER_SAND] = {pebbles, {0.16f, 0.15f, 0.12f}, {0.45f, 0.42f, 0.35f}, 3.0f, 0.7f, 0.2f},
        [PM_LAYER_FOREST] =
            {litter, {0.02f, 0.035f, 0.015f}, {0.10f, 0.17f, 0.07f}, 6.0f, 0.9f, 0.6f},
        [PM_LAYER_PALE] = {blades, {0.12f, 0.11f, 0.04f}, {0.42f, 0.37f, 0.17f}, 3.0f, 0.9f, 0.4f},
    },
    {
        [PM_LAYER_GREEN] =
            {litter, {0.10f, 0.085f, 0.04f}, {0.29f, 0.29f, 0.14f}, 5.0f, 0.9f, 0.4f},
        [PM_LAYER_SOIL] = {flakes, {0.15f, 0.07f, 0.045f}, {0.50f, 0.27f, 0.17f}, 4.0f, 0.9f, 0.2f},
        [PM_LAYER_CLIFF] =
            {cracks, {0.17f, 0.075f, 0.05f}, {0.56f, 0.28f, 0.17f}, 6.0f, 0.8f, 0.3f},
        [PM_LAYER_STRATA] =
            {strata, {0.25f, 0.10f, 0.06f}, {0.66f, 0.39f, 0.24f}, 6.0f, 0.8f, 0.5f},
        [PM_LAYER_GRAVEL] =
            {pebbles, {0.20f, 0.11f, 0.075f}, {0.58f, 0.38f, 0.27f}, 5.0f, 0.85f, 0.2f},
        [PM_LAYER_SAND] =
            {ripples, {0.34f, 0.20f, 0.12f}, {0.60f, 0.40f, 0.25f}, 3.0f, 0.85f, 0.2f},
        [PM_LAYER_FOREST] =
            {blades, {0.07f, 0.09f, 0.03f}, {0.25f, 0.30f, 0.10f}, 3.0f, 0.9f, 0.4f},
        [PM_LAYER_PALE] = {flakes, {0.34f, 0.27f, 0.20f}, {0.62f, 0.52f, 0.40f}, 3.0f, 0.8f, 0.2f},
    },
    {
        [PM_LAYER_GREEN] =
            {blades, {0.055f, 0.10f, 0.02f}, {0.25f, 0.40f, 0.10f}, 3.0f, 0.9f, 0.4f},
        [PM_LAYER_SOIL] = {clods, {0.10f, 0.06f, 0.035f}, {0.36f, 0.25f, 0.15f}, 4.0f, 0.95f, 0.3f},
        [PM_LAYER_CLIFF] =
            {cracks, {0.055f, 0.05f, 0.05f}, {0.30f, 0.28f, 0.265f}, 6.0f, 0.75f, 0.3f},
        [PM_LAYER_STRATA] =
            {strata, {0.12f, 0.10f, 0.075f}, {0.42f, 0.37f, 0.28f}, 5.0f, 0.8f, 0.4f},
        [PM_LAYER_GRAVEL] =
            {pebbles, {0.15f, 0.145f, 0.14f}, {0.60f, 0.58f, 0.54f}, 5.0f, 0.6f, 0.3f},
        [PM_LAYER_SAND] = {ripples, {0.46f, 0.38f, 0.25f}, {0.72f, 0.63f, 0.45f}, 2.0f, 0.8f, 0.1f},
        [PM_LAYER_FOREST] =
            {litter, {0.015f, 0.045f, 0.012f}, {0.09f, 0.21f, 0.05f}, 7.0f, 0.85f, 0.6f},
        [PM_LAYER_PALE] = {pebbles, {0.06f, 0.07f, 0.06f}, {0.30f, 0.32f, 0.26f}, 4.0f, 0.8f, 0.3f},
    },
};

static float height_of(const float *heights, int x, int y)
{
    return heights[((y + SIDE) % SIDE) * SIDE + (x + SIDE) % SIDE];
}

static void paint_layer(const struct look *look, float *heights, uint8_t *albedo, uint8_t *normal,
                        uint8_t *detail)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        heights[i] =
            look->height(((float)(i % SIDE) + 0.5f) / SIDE, ((float)(i / SIDE) + 0.5f) / SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int x = i % SIDE, y = i / SIDE;
        const float u = ((float)x + 0.5f) / SIDE, v = ((float)y + 0.5f) / SIDE;
        const float h = heights[i];
        const float around = 0.25f * (height_of(heights, x - 5, y) + height_of(heights, x + 5, y) +
                                      height_of(heights, x, y - 5) + height_of(heights, x, y + 5));
        const float dx = height_of(heights, x - 1, y) - height_of(heights, x + 1, y);
        const float dy = height_of(heights, x, y - 1) - height_of(heights, x, y + 1);
        const float place = 1.0f + look->tint * (pm_fractal(u, v, 4, 4, 111) - 0.45f);
        const float t = pm_clamp01(h * 1.15f);
        pm_paint_texel(albedo + i * 4,
                       (struct pm_texel){pm_mix(look->low[0], look->high[0], t) * place,
                                         pm_mix(look->low[1], look->high[1], t),
                                         pm_mix(look->low[2], look->high[2], t) * place, h});
        pm_paint_texel(normal + i * 4,
                       (struct pm_texel){0.5f + 0.25f * look->bump * dx,
                                         0.5f + 0.25f * look->bump * dy,
                                         look->roughness - 0.15f * h, 0.85f + 1.5f * (h - around)});
        const float a = pm_noise(u, v, 64, 121), b = pm_noise(u, v, 64, 123);
        pm_paint_texel(detail + i * 4,
                       (struct pm_texel){0.5f + 0.35f * (a - 0.5f) + 0.5f * dx,
                                         0.5f + 0.35f * (b - 0.5f) + 0.5f * dy,
                                         0.5f + 0.5f * (pm_fractal(u, v, 32, 3, 125) - 0.44f),
                                         1.0f});
    }
}

/* ---- decals ---- */

static struct pm_texel decal_at(int layer, float u, float v)
{
    const float x = u * 2.0f - 1.0f, y = v * 2.0f - 1.0f, r = sqrtf(x * x + y * y);
    const float ragged = pm_fractal(u, v, 8, 4, 131) - 0.47f;
    const float fine = pm_noise(u, v, 64, 135);
    switch (layer) {
    case 0: { /* two ruts */
        const float rut = fminf(fabsf(x - 0.42f + 0.2f * ragged), fabsf(x + 0.42f + 0.2f * ragged));
        const float tread = 0.75f + 0.25f * sinf(y * 60.0f);
        return (struct pm_texel){0.13f * tread, 0.10f * tread, 0.075f * tread,
                                 pm_step(0.2f, 0.08f, rut)};
    }
    case 1: /* a burnt place */
        return (struct pm_texel){0.03f + 0.05f * fine, 0.028f + 0.045f * fine,
                                 0.026f + 0.04f * fine, pm_step(0.95f, 0.45f, r + 0.7f * ragged)};
    case 2: { /* fallen leaves */
        float shade = 0.0f;
        const float d = cells(u, v, 22, 141, &shade);
        return (struct pm_texel){0.40f + 0.25f * shade, 0.20f + 0.12f * shade, 0.05f,
                                 pm_step(0.5f, 0.35f, d) * pm_step(0.95f, 0.5f, r) *
                                     (shade > 0.45f ? 1.0f : 0.0f)};
    }
    default: /* a path of slabs */
        return (struct pm_texel){0.34f + 0.1f * fine, 0.32f + 0.1f * fine, 0.29f + 0.1f * fine,
                                 pm_step(0.55f, 0.45f, fabsf(x)) *
                                     pm_step(0.08f, 0.14f, fmodf(v * 6.0f, 1.0f)) *
                                     pm_step(-0.1f, 0.02f, ragged + 0.1f)};
    }
}

static void paint_decal(int layer, uint8_t *out)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        pm_paint_texel(out + i * 4, decal_at(layer, ((float)(i % SIDE) + 0.5f) / SIDE,
                                             ((float)(i / SIDE) + 0.5f) / SIDE));
    pm_paint_mips(out, SIDE);
}

bool pm_layers_paint(struct pm_layer_maps *maps, unsigned place)
{
    const size_t size = pm_paint_layer_size(SIDE);
    float *heights = malloc(sizeof *heights * SIDE * SIDE);
    *maps = (struct pm_layer_maps){
        .albedo = malloc(size * PM_LAND_LAYERS),
        .normal = malloc(size * PM_LAND_LAYERS),
        .detail = malloc(size * PM_LAND_LAYERS),
        .decals = malloc(size * PM_DECAL_LAYERS),
    };
    const bool enough = heights && maps->albedo && maps->normal && maps->detail && maps->decals;
    for (size_t i = 0; enough && i < PM_LAND_LAYERS; i++) {
        uint8_t *const out[] = {maps->albedo + i * size, maps->normal + i * size,
                                maps->detail + i * size};
        paint_layer(&looks[place][i], heights, out[0], out[1], out[2]);
        for (int map = 0; map < 3; map++)
            pm_paint_mips(out[map], SIDE);
    }
    for (int i = 0; enough && i < PM_DECAL_LAYERS; i++)
        paint_decal(i, maps->decals + (size_t)i * size);
    free(heights);
    return enough;
}

void pm_layers_finish(struct pm_layer_maps *maps)
{
    free(maps->albedo);
    free(maps->normal);
    free(maps->detail);
    free(maps->decals);
    *maps = (struct pm_layer_maps){0};
}
