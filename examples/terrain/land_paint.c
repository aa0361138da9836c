#include "examples/common/paint.h"
#include "examples/terrain/land.h"
#include <math.h>

enum { SIDE = PM_LAND_SIDE };

/* What the rules of a place look at. */
struct spot {
    float height, slope;       /* metres above the sea; 0 flat, 1 upright */
    float hollow;              /* metres below the surroundings */
    float rough, patch, grove; /* noise of three sizes, about 0 to 1 */
};

/* What they decide: weights of layers, which add up to 1, and masks. */
struct paint {
    float weights[PM_LAND_LAYERS];
    float wetness, drift;
};

/* A brush stroke: covers what was painted before by so much. */
static void cover(struct paint *paint, enum pm_land_layer layer, float amount)
{
    for (int i = 0; i < PM_LAND_LAYERS; i++)
        paint->weights[i] *= 1.0f - amount;
    paint->weights[layer] += amount;
}

static void paint_alpine(struct paint *p, const struct spot *s)
{
    cover(p, PM_LAYER_GREEN, 1.0f);
    cover(p, PM_LAYER_FOREST, pm_step(0.5f, 0.62f, s->grove) * pm_step(45.0f, 30.0f, s->height));
    cover(p, PM_LAYER_PALE, pm_step(0.56f, 0.66f, s->patch) * pm_step(10.0f, 25.0f, s->height));
    cover(p, PM_LAYER_SOIL, pm_step(0.60f, 0.68f, s->rough) * pm_step(0.1f, 0.2f, s->slope));
    cover(p, PM_LAYER_GRAVEL, pm_step(0.16f, 0.24f, s->slope + 0.15f * (s->rough - 0.5f)));
    cover(p, PM_LAYER_CLIFF, pm_step(0.26f, 0.34f, s->slope + 0.2f * (s->patch - 0.5f)));
    cover(p, PM_LAYER_STRATA, pm_step(0.36f, 0.44f, s->slope) * pm_step(0.45f, 0.55f, s->grove));
    cover(p, PM_LAYER_SAND, pm_step(1.4f, 0.5f, s->height + 2.0f * (s->rough - 0.5f)));
    p->wetness = pm_step(1.6f, 0.3f, s->height);
    p->drift = pm_step(0.9f, 2.4f, s->hollow) * pm_step(20.0f, 45.0f, s->height);
}

static void paint_canyon(struct paint *p, const struct spot *s)
{
    cover(p, PM_LAYER_SAND, 1.0f);
    cover(p, PM_LAYER_PALE, pm_step(0.54f, 0.64f, s->patch) * pm_step(3.0f, 8.0f, s->height));
    cover(p, PM_LAYER_SOIL, pm_step(0.52f, 0.6f, s->grove));
    cover(p, PM_LAYER_GREEN,
          pm_step(0.6f, 0.68f, s->rough) * pm_step(14.0f, 4.0f, s->height) *
              pm_step(0.2f, 0.1f, s->slope));
    cover(p, PM_LAYER_GRAVEL, pm_step(0.12f, 0.2f, s->slope + 0.1f * (s->rough - 0.5f)));
    cover(p, PM_LAYER_STRATA, pm_step(0.2f, 0.3f, s->slope));
    cover(p, PM_LAYER_CLIFF, pm_step(0.5f, 0.6f, s->slope + 0.3f * (s->patch - 0.5f)));
    cover(p, PM_LAYER_FOREST, pm_step(2.6f, 1.2f, s->height) * pm_step(0.4f, 0.5f, s->rough));
    p->wetness = pm_step(1.8f, 0.4f, s->height);
}

static void paint_island(struct paint *p, const struct spot *s)
{
    cover(p, PM_LAYER_GREEN, 1.0f);
    cover(p, PM_LAYER_FOREST, pm_step(0.46f, 0.56f, s->grove) * pm_step(5.0f, 9.0f, s->height));
    cover(p, PM_LAYER_SOIL, pm_step(0.58f, 0.66f, s->patch));
    cover(p, PM_LAYER_CLIFF, pm_step(0.2f, 0.28f, s->slope + 0.15f * (s->rough - 0.5f)));
    cover(p, PM_LAYER_STRATA, pm_step(0.3f, 0.36f, s->slope) * pm_step(30.0f, 45.0f, s->height));
    cover(p, PM_LAYER_SAND,
          pm_step(4.2f, 2.8f, s->height + 3.0f * (s->rough - 0.5f)) *
              pm_step(0.26f, 0.18f, s->slope));
    cover(p, PM_LAYER_GRAVEL, pm_step(0.60f, 0.68f, s->grove) * pm_step(3.5f, 2.0f, s->height));
    cover(p, PM_LAYER_PALE, pm_step(-2.5f, -5.0f, s->height) * pm_step(0.48f, 0.56f, s->patch));
    p->wetness = pm_step(1.1f, 0.2f, s->height + 0.8f * (s->patch - 0.5f)) +
                 pm_step(0.66f, 0.72f, s->rough) * pm_step(0.08f, 0.03f, s->slope);
}

static float at(const struct pm_land *land, int i, int j)
{
    i = i < 0 ? 0 : i >= SIDE ? SIDE - 1 : i;
    j = j < 0 ? 0 : j >= SIDE ? SIDE - 1 : j;
    return land->heights[j * SIDE + i];
}

static pm_vec3 normal_at(const struct pm_land *land, int i, int j)
{
    const float span = 2.0f * land->side / SIDE;
    return pm_normalize((pm_vec3){at(land, i - 1, j) - at(land, i + 1, j), span,
                                  at(land, i, j - 1) - at(land, i, j + 1)});
}

static struct spot spot_at(const struct pm_land *land, int i, int j, uint32_t salt)
{
    const float u = ((float)i + 0.5f) / SIDE, v = ((float)j + 0.5f) / SIDE;
    float around = 0.0f;
    for (int k = 0; k < 8; k++)
        around += at(land, i + (k % 3 - 1) * 4, j + (k / 3 - 1) * 4) / 8.0f;
    return (struct spot){
        .height = at(land, i, j) - land->sea,
        .slope = 1.0f - normal_at(land, i, j).y,
        .hollow = around - at(land, i, j),
        .rough = pm_fractal(u, v, 64, 3, salt + 100),
        .patch = pm_fractal(u, v, 24, 4, salt + 110),
        .grove = pm_fractal(u, v, 9, 5, salt + 120),
    };
}

/* What an editor saves: faint traces are dropped, so that few layers meet at a place. */
static void save_weights(struct pm_land *land, int texel, const struct paint *paint)
{
    float kept[PM_LAND_LAYERS], total = 0.0f;
    for (int i = 0; i < PM_LAND_LAYERS; i++) {
        kept[i] = paint->weights[i] < 0.03f ? 0.0f : paint->weights[i];
        total += kept[i];
    }
    for (int i = 0; i < 4; i++) {
        land->splat_low[texel * 4 + i] = pm_paint_byte(kept[i] / total);
        land->splat_high[texel * 4 + i] = pm_paint_byte(kept[i + 4] / total);
    }
}

/* How much of the sun is seen: the ray's least clearance over its distance, for a soft border. */
static float sun_seen(const struct pm_land *land, float x, float z)
{
    const pm_vec3 d = land->sun_direction;
    const float start = pm_land_height(land, x, z) + 0.4f;
    float seen = 1.0f;
    for (float t = 4.0f; t < 320.0f && seen > 0.0f; t *= 1.16f) {
        const float clear = start + d.y * t - pm_land_height(land, x + d.x * t, z + d.z * t);
        seen = fminf(seen, 0.5f + 14.0f * clear / t);
    }
    return pm_clamp01(seen);
}

/* How much of the sky is seen, by the horizon in eight directions. */
static float sky_seen(const struct pm_land *land, float x, float z)
{
    static const float turns[8][2] = {{1.0f, 0.0f},  {0.7f, 0.7f},   {0.0f, 1.0f},  {-0.7f, 0.7f},
                                      {-1.0f, 0.0f}, {-0.7f, -0.7f}, {0.0f, -1.0f}, {0.7f, -0.7f}};
    const float start = pm_land_height(land, x, z);
    float sum = 0.0f;
    for (int i = 0; i < 8; i++) {
        float horizon = 0.0f;
        for (float t = 5.0f; t < 90.0f; t *= 1.9f)
            horizon =
                fmaxf(horizon,
                      (pm_land_height(land, x + turns[i][0] * t, z + turns[i][1] * t) - start) / t);
        sum += 1.0f / (1.0f + horizon * horizon);
    }
    return sum / 8.0f;
}

void pm_land_paint(struct pm_land *land, unsigned number, uint32_t salt)
{
    static void (*const rules[PM_LANDS])(struct paint *, const struct spot *) = {
        paint_alpine, paint_canyon, paint_island};
    for (int j = 0; j < SIDE; j++) {
        for (int i = 0; i < SIDE; i++) {
            const int texel = j * SIDE + i;
            const float x = (((float)i + 0.5f) / SIDE - 0.5f) * land->side;
            const float z = (((float)j + 0.5f) / SIDE - 0.5f) * land->side;
            const struct spot spot = spot_at(land, i, j, salt);
            struct paint paint = {0};
            rules[number](&paint, &spot);
            save_weights(land, texel, &paint);
            const pm_vec3 normal = normal_at(land, i, j);
            pm_paint_texel(land->surface + texel * 4,
                           (struct pm_texel){normal.x * 0.5f + 0.5f, normal.z * 0.5f + 0.5f,
                                             sun_seen(land, x, z), sky_seen(land, x, z)});
            pm_paint_texel(land->mask + texel * 4,
                           (struct pm_texel){paint.wetness, paint.drift, spot.patch,
                                             spot.height / 32.0f + 0.5f});
        }
    }
}
