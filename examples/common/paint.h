/*
 * Procedural textures: noise, and RGBA8 texels with their mip chain as pm_gpu_image_upload wants
 * them. Coordinates are 0 to 1 over the texture unless said otherwise; the same on every machine.
 *
 * Thread safety: no state.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pm_texel {
    float r, g, b, a; /* 0 to 1; beyond is clamped when written */
};

static inline float pm_smooth(float t)
{
    return t * t * (3.0f - 2.0f * t);
}

static inline float pm_mix(float a, float b, float t)
{
    return a + (b - a) * t;
}

static inline float pm_clamp01(float x)
{
    return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x;
}

/* 0 at low, 1 at high, smooth between; low may be above high. */
static inline float pm_step(float low, float high, float x)
{
    return pm_smooth(pm_clamp01((x - low) / (high - low)));
}

static inline uint8_t pm_paint_byte(float x)
{
    return (uint8_t)(pm_clamp01(x) * 255.0f + 0.5f);
}

/* A random number in [0, 1) of a cell. */
float pm_lattice(uint32_t x, uint32_t y, uint32_t period, uint32_t salt);
/* Value noise, 0 to 1, that repeats after `period` cells over the unit square; u, v >= 0. */
float pm_noise(float u, float v, uint32_t period, uint32_t salt);
/* Octaves of it, halved from 0.5 on. */
float pm_fractal(float u, float v, uint32_t period, int octaves, uint32_t salt);

/* Bytes of a square layer with its whole mip chain; side is a power of two. */
size_t pm_paint_layer_size(int side);
void pm_paint_texel(uint8_t out[4], struct pm_texel texel);
/* Fills the levels behind the largest from it. */
void pm_paint_mips(uint8_t *layer, int side);
