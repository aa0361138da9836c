#include "examples/common/paint.h"

float pm_lattice(uint32_t x, uint32_t y, uint32_t period, uint32_t salt)
{
    uint32_t h = (x % period) * 0x9e3779b1u ^ (y % period) * 0x85ebca77u ^ salt * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return (float)(h >> 8) / 16777216.0f;
}

float pm_noise(float u, float v, uint32_t period, uint32_t salt)
{
    const float x = u * (float)period, y = v * (float)period;
    const uint32_t ix = (uint32_t)x, iy = (uint32_t)y;
    const float fx = pm_smooth(x - (float)ix), fy = pm_smooth(y - (float)iy);
    return pm_mix(
        pm_mix(pm_lattice(ix, iy, period, salt), pm_lattice(ix + 1, iy, period, salt), fx),
        pm_mix(pm_lattice(ix, iy + 1, period, salt), pm_lattice(ix + 1, iy + 1, period, salt), fx),
        fy);
}

float pm_fractal(float u, float v, uint32_t period, int octaves, uint32_t salt)
{
    float sum = 0.0f, weight = 0.5f;
    for (int i = 0; i < octaves; i++, weight *= 0.5f)
        sum += weight * pm_noise(u, v, period << i, salt + (uint32_t)i);
    return sum;
}

size_t pm_paint_layer_size(int side)
{
    size_t size = 0;
    for (; side > 0; side /= 2)
        size += (size_t)side * (size_t)side * 4;
    return size;
}

void pm_paint_texel(uint8_t out[4], struct pm_texel texel)
{
    out[0] = pm_paint_byte(texel.r);
    out[1] = pm_paint_byte(texel.g);
    out[2] = pm_paint_byte(texel.b);
    out[3] = pm_paint_byte(texel.a);
}

/* One level from the level above, which is twice as large. */
static void halve(const uint8_t *above, uint8_t *out, int side)
{
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            for (int c = 0; c < 4; c++) {
                const uint8_t *a = above + ((y * 2 * side * 2) + x * 2) * 4 + c;
                out[(y * side + x) * 4 + c] =
                    (uint8_t)((a[0] + a[4] + a[side * 2 * 4] + a[side * 2 * 4 + 4] + 2) / 4);
            }
        }
    }
}

void pm_paint_mips(uint8_t *layer, int side)
{
    for (side /= 2; side > 0; side /= 2) {
        uint8_t *below = layer + (size_t)side * (size_t)side * 16;
        halve(layer, below, side);
        layer = below;
    }
}
