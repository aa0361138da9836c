#include "examples/deferred/texture.h"
#include "examples/common/paint.h"
#include <math.h>
#include <stdlib.h>

#define SIDE PM_TEXTURE_SIDE

typedef struct pm_texel (*paint)(float u, float v);

struct brick {
    float height, shade;
    int column, row;
};

/* Eight courses of four bricks, every second one shifted by half a brick. */
static struct brick brick_at(float u, float v)
{
    const float y = v * 8.0f;
    const int row = (int)y;
    const float x = u * 4.0f + (row & 1 ? 0.5f : 0.0f);
    const int column = (int)x % 4;
    const float inside_x = x - floorf(x), inside_y = y - (float)row;
    const float edge_x = fminf(inside_x, 1.0f - inside_x) / 4.0f;
    const float edge_y = fminf(inside_y, 1.0f - inside_y) / 8.0f;
    const float ragged = 0.004f * (pm_noise(u, v, 64, 3) - 0.5f);
    const float rise = pm_clamp01((fminf(edge_x, edge_y) + ragged - 0.006f) / 0.012f);
    return (struct brick){
        .height = pm_smooth(rise) * (0.75f + 0.25f * pm_fractal(u, v, 16, 3, 5)),
        .shade = pm_lattice((uint32_t)column, (uint32_t)row, 64, 11),
        .column = column,
        .row = row,
    };
}

static struct pm_texel paint_brick(float u, float v)
{
    const struct brick brick = brick_at(u, v);
    const float grain = 0.7f + 0.6f * pm_fractal(u, v, 32, 3, 7);
    if (brick.height < 0.3f)
        return (struct pm_texel){0.27f * grain, 0.25f * grain, 0.23f * grain, 1.0f};
    const float warm = 0.6f + 0.5f * brick.shade;
    return (struct pm_texel){0.46f * warm * grain, 0.17f * warm * grain, 0.10f * warm * grain,
                             1.0f};
}

static struct pm_texel paint_plain(float u, float v)
{
    const float grain = 0.8f + 0.2f * pm_fractal(u, v, 32, 3, 9);
    return (struct pm_texel){grain, grain, grain, 1.0f};
}

static struct pm_texel paint_rock(float u, float v)
{
    const float layer = pm_fractal(u, v, 4, 5, 21),
                crack = fabsf(pm_fractal(u, v, 8, 4, 33) - 0.47f);
    const float tone = (0.16f + 0.3f * layer) * (crack < 0.02f ? 0.5f : 1.0f);
    return (struct pm_texel){tone * 1.05f, tone, tone * 0.92f, 1.0f};
}

/* Several pointed leaves on a twig; transparent between them. */
static struct pm_texel paint_leaf(float u, float v)
{
    struct pm_texel out = {0.05f, 0.12f, 0.02f, 0.0f};
    if (fabsf(u - 0.5f - 0.04f * sinf(v * 9.0f)) < 0.012f)
        out = (struct pm_texel){0.10f, 0.07f, 0.03f, 1.0f};
    for (int i = 0; i < 9; i++) {
        const float side = i & 1 ? 1.0f : -1.0f;
        const float turn = side * (0.55f + 0.12f * (float)(i % 3)) + (i == 8 ? -0.6f : 0.0f);
        const float x = u - 0.5f, y = v - 0.08f - 0.09f * (float)i;
        const float along = x * sinf(turn) + y * cosf(turn),
                    across = x * cosf(turn) - y * sinf(turn);
        const float t = along / 0.42f;
        if (t <= 0.0f || t >= 1.0f || fabsf(across) > 0.085f * sinf(3.14159265f * powf(t, 0.7f)))
            continue;
        const float tone = 0.7f + 0.5f * pm_lattice((uint32_t)i, 1, 64, 77) - 0.8f * fabsf(across);
        const float vein = fabsf(across) < 0.006f ? 1.35f : 1.0f;
        out =
            (struct pm_texel){0.10f * tone * vein, 0.27f * tone * vein, 0.05f * tone * vein, 1.0f};
    }
    return out;
}

static struct pm_texel paint_grass(float u, float v)
{
    const float blades = pm_noise(u + 0.02f * pm_noise(u, v, 16, 1), v, 128, 41) * 0.6f +
                         0.4f * pm_noise(u, v, 64, 43);
    const float patch = pm_fractal(u, v, 4, 3, 45);
    const float tone = 0.45f + 0.9f * blades;
    return (struct pm_texel){(0.09f + 0.09f * patch) * tone, (0.17f + 0.04f * patch) * tone,
                             0.045f * tone, 1.0f};
}

static struct pm_texel paint_earth(float u, float v)
{
    const float tone = 0.5f + 0.8f * pm_fractal(u, v, 8, 5, 51);
    const float stone = pm_noise(u, v, 32, 55) > 0.82f ? 1.6f : 1.0f;
    return (struct pm_texel){0.17f * tone * stone, 0.115f * tone * stone, 0.07f * tone * stone,
                             1.0f};
}

static struct pm_texel surface_brick(float u, float v)
{
    const struct brick brick = brick_at(u, v);
    return (struct pm_texel){brick.height, 0.75f + 0.2f * pm_noise(u, v, 64, 61),
                             0.55f + 0.45f * pm_clamp01(brick.height * 1.6f), brick.shade};
}

static struct pm_texel surface_metal(float u, float v)
{
    return (struct pm_texel){pm_noise(u, v, 32, 65), pm_fractal(u, v, 16, 3, 67), 1.0f,
                             pm_fractal(u, v, 4, 5, 69)};
}

static struct pm_texel surface_ground(float u, float v)
{
    const float height = pm_fractal(u, v, 16, 4, 71);
    return (struct pm_texel){height, 0.9f, 0.6f + 0.4f * height, pm_noise(u, v, 8, 73)};
}

static uint8_t *paint_layers(const paint *painters, int count)
{
    const size_t layer_size = pm_paint_layer_size(SIDE);
    uint8_t *all = malloc(layer_size * (size_t)count);
    if (!all)
        return NULL;
    for (int layer = 0; layer < count; layer++) {
        uint8_t *out = all + layer_size * (size_t)layer;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                pm_paint_texel(out + (y * SIDE + x) * 4,
                               painters[layer](((float)x + 0.5f) / SIDE, ((float)y + 0.5f) / SIDE));
        pm_paint_mips(out, SIDE);
    }
    return all;
}

uint8_t *pm_texture_albedo(void)
{
    static const paint painters[PM_ALBEDO_LAYERS] = {
        [PM_ALBEDO_BRICK] = paint_brick, [PM_ALBEDO_PLAIN] = paint_plain,
        [PM_ALBEDO_ROCK] = paint_rock,   [PM_ALBEDO_LEAF] = paint_leaf,
        [PM_ALBEDO_GRASS] = paint_grass, [PM_ALBEDO_EARTH] = paint_earth,
    };
    return paint_layers(painters, PM_ALBEDO_LAYERS);
}

uint8_t *pm_texture_surface(void)
{
    static const paint painters[PM_SURFACE_LAYERS] = {
        [PM_SURFACE_BRICK] = surface_brick,
        [PM_SURFACE_METAL] = surface_metal,
        [PM_SURFACE_GROUND] = surface_ground,
    };
    return paint_layers(painters, PM_SURFACE_LAYERS);
}

/* What of a light passes, 0 to 1, with the centre at 0 and the cone's border at distance 1. */
static float mask_at(int layer, float x, float y)
{
    const float r = sqrtf(x * x + y * y);
    switch (layer) {
    case PM_MASK_WINDOW: {
        if (fabsf(x) > 0.62f || fabsf(y) > 0.62f)
            return 0.0f;
        const float bar_x = fmodf(x + 0.62f, 0.413f), bar_y = fmodf(y + 0.62f, 0.413f);
        return bar_x < 0.06f || bar_y < 0.06f ? 0.0f : 1.0f;
    }
    case PM_MASK_BRANCHES:
        return pm_fractal(x * 0.5f + 0.5f, y * 0.5f + 0.5f, 8, 3, 81) > 0.47f ? 1.0f : 0.0f;
    case PM_MASK_RINGS:
        return r < 0.92f && fmodf(r * 4.0f, 1.0f) > 0.35f ? 1.0f : 0.0f;
    default:
        return fmodf((x + 2.0f) * 5.0f, 1.0f) > 0.5f ? 1.0f : 0.0f;
    }
}

uint8_t *pm_texture_masks(void)
{
    enum { M = PM_MASK_SIDE };
    uint8_t *all = malloc((size_t)M * M * PM_MASK_LAYERS);
    if (!all)
        return NULL;
    for (int layer = 0; layer < PM_MASK_LAYERS; layer++) {
        for (int i = 0; i < M * M; i++) {
            float sum = 0.0f;
            for (int tap = 0; tap < 4; tap++) {
                const float x =
                    ((float)(i % M) + 0.25f + 0.5f * (float)(tap & 1)) / M * 2.0f - 1.0f;
                const float y =
                    ((float)(i / M) + 0.25f + 0.5f * (float)(tap >> 1)) / M * 2.0f - 1.0f;
                sum += mask_at(layer, x, y) * 0.25f;
            }
            all[layer * M * M + i] = pm_paint_byte(sum);
        }
    }
    return all;
}
