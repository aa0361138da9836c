/*
 * The procedural textures of the scene, the same on every machine: three arrays of square layers,
 * each with its whole mip chain, laid out as pm_gpu_image_upload wants them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { PM_TEXTURE_SIDE = 256, PM_TEXTURE_LEVELS = 9, PM_MASK_SIDE = 128 };

/* The layers; shaders use the numbers. */
enum {
    PM_ALBEDO_BRICK,
    PM_ALBEDO_PLAIN,
    PM_ALBEDO_ROCK,
    PM_ALBEDO_LEAF,
    PM_ALBEDO_GRASS,
    PM_ALBEDO_EARTH,
    PM_ALBEDO_LAYERS
};
enum { PM_SURFACE_BRICK, PM_SURFACE_METAL, PM_SURFACE_GROUND, PM_SURFACE_LAYERS };
enum { PM_MASK_WINDOW, PM_MASK_BRANCHES, PM_MASK_RINGS, PM_MASK_GRATE, PM_MASK_LAYERS };

/* RGBA8 (albedo: colour and alpha; surface: height, roughness, occlusion, a mask) and R8 without
 * mips (masks). Malloc'ed; NULL when there is no memory. */
uint8_t *pm_texture_albedo(void);
uint8_t *pm_texture_surface(void);
uint8_t *pm_texture_masks(void);
