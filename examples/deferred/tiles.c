#include "examples/deferred/renderer.h"

static pm_vec3 to_view(const pm_mat4 *m, const float p[4])
{
    return (pm_vec3){
        m->m[0] * p[0] + m->m[4] * p[1] + m->m[8] * p[2] + m->m[12],
        m->m[1] * p[0] + m->m[5] * p[1] + m->m[9] * p[2] + m->m[13],
        m->m[2] * p[0] + m->m[6] * p[1] + m->m[10] * p[2] + m->m[14],
    };
}

/* Whether a sphere reaches the slab between the planes through the eye that cut the view at slopes
 * low and high. `across` is the sphere's coordinate along the slopes' axis, `depth` its distance in
 * front of the eye. */
static bool reaches(float across, float depth, float radius, float low, float high)
{
    const float outside_low = (low * depth - across) / sqrtf(1.0f + low * low);
    const float outside_high = (across - high * depth) / sqrtf(1.0f + high * high);
    return outside_low < radius && outside_high < radius;
}

void pm_tiles_fill(uint32_t *tiles, const struct pm_light_constants *lights, uint32_t light_count,
                   const pm_mat4 *view, float tangent_x, float tangent_y)
{
    for (uint32_t tile = 0; tile < PM_TILES; tile++)
        tiles[tile * PM_TILE_WORDS] = 0;
    for (uint32_t i = 0; i < light_count; i++) {
        const pm_vec3 p = to_view(view, lights[i].position);
        const float radius = lights[i].position[3];
        if (-p.z < -radius)
            continue;
        for (uint32_t tile = 0; tile < PM_TILES; tile++) {
            const float x = (float)(tile % PM_TILES_X), y = (float)(tile / PM_TILES_X);
            const float left = tangent_x * (2.0f * x / PM_TILES_X - 1.0f);
            const float right = tangent_x * (2.0f * (x + 1.0f) / PM_TILES_X - 1.0f);
            const float top = tangent_y * (2.0f * y / PM_TILES_Y - 1.0f);
            const float bottom = tangent_y * (2.0f * (y + 1.0f) / PM_TILES_Y - 1.0f);
            if (!reaches(p.x, -p.z, radius, left, right) ||
                !reaches(-p.y, -p.z, radius, top, bottom))
                continue;
            uint32_t *list = tiles + tile * PM_TILE_WORDS;
            list[++list[0]] = i;
        }
    }
}
