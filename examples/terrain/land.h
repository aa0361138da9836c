/*
 * The land: a square height field with what is painted on it, one of three places made from a
 * seed: an alpine valley, a desert canyon, an island. Everything but the heights is what a level
 * editor would have baked into textures: weights of the ground's layers, wetness, drifts of snow,
 * normals, how much of the sun and the sky is seen.
 *
 * Lengths are metres; x and z are 0 in the middle of the land. Texels are rows along x.
 */
#pragma once

#include "examples/common/vector.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    PM_LAND_SIDE = 256,  /* texels of the maps */
    PM_LAND_CELLS = 128, /* of the mesh, along a side */
    PM_LAND_CHUNKS = 8,  /* along a side; each is one draw */
    PM_LAND_DECALS = 8,
    PM_LAND_LAYERS = 8,
    PM_LANDS = 3,
};

/* Layers of the ground, in the order of the splat maps. Those of cliffs are mapped from three
 * sides. What each looks like depends on the place. */
enum pm_land_layer {
    PM_LAYER_GREEN,
    PM_LAYER_SOIL,
    PM_LAYER_CLIFF,
    PM_LAYER_STRATA,
    PM_LAYER_GRAVEL,
    PM_LAYER_SAND,
    PM_LAYER_FOREST,
    PM_LAYER_PALE,
};

enum pm_land_camera {
    PM_CAMERA_AHEAD,   /* around the middle, looking ahead */
    PM_CAMERA_INWARDS, /* around the middle, looking to it */
    PM_CAMERA_RIVER,   /* to and fro above the canyon's river, looking down it */
};

/* As the shaders have it. */
struct pm_decal {
    float place[4];  /* world to decal, row by row */
    float centre[4]; /* xyz, layer */
    float look[4];   /* strength, roughness, bump, 1 / height at which it fades */
};

struct pm_land {
    float side;                       /* of the whole land */
    float sea, snow_line;             /* heights */
    float snow, wetness;              /* weather, 0 to 1 */
    float swell;                      /* how high the water goes, 0 to 1 */
    float wind[2];                    /* clouds */
    pm_vec3 sun_direction, sun_color; /* towards the sun */
    pm_vec3 sky_low, sky_high;
    float fog, clouds, exposure;
    enum pm_land_camera camera;
    float camera_radius[2]; /* of its way, along x and z */
    float camera_height, camera_pitch, camera_turn, camera_speed;
    struct pm_decal decals[PM_LAND_DECALS];

    float heights[PM_LAND_SIDE * PM_LAND_SIDE];
    /* RGBA8 of the maps, as land.frag names them */
    uint8_t surface[PM_LAND_SIDE * PM_LAND_SIDE * 4];
    uint8_t splat_low[PM_LAND_SIDE * PM_LAND_SIDE * 4];
    uint8_t splat_high[PM_LAND_SIDE * PM_LAND_SIDE * 4];
    uint8_t mask[PM_LAND_SIDE * PM_LAND_SIDE * 4];
};

/* number < PM_LANDS */
void pm_land_init(struct pm_land *land, unsigned number, uint64_t seed);

/* Between texels, linearly; beyond the border the border's. */
float pm_land_height(const struct pm_land *land, float x, float z);

/* The camera at a time in seconds. */
void pm_land_camera(const struct pm_land *land, float time, pm_vec3 *eye, pm_vec3 *at);

/* ---- parts of init ---- */

/* Fills the maps from the heights and the place's own rules. */
void pm_land_paint(struct pm_land *land, unsigned number, uint32_t salt);
