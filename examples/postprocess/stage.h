/*
 * The three scenes that the post-process chain works on: balls and boxes, some of which move, a
 * camera, light, and the chain's own settings. Lengths are metres.
 *
 * Thread safety: no state.
 */
#pragma once

#include "examples/common/vector.h"
#include <stdint.h>

enum { PM_STAGES = 3, PM_BALLS = 8, PM_BOXES = 12, PM_SHAPES = PM_BALLS + PM_BOXES };

/* As scene.comp has it. */
struct pm_shape_constants {
    float place[4];     /* centre, a ball's radius */
    float before[4];    /* centre in the frame before, emission */
    float half_size[4]; /* of a box; roughness */
    float color[4];     /* rgb, metal */
    float turn[4];      /* of a box about the vertical: sine, cosine */
};

struct pm_shape {
    struct pm_shape_constants constants;
    float orbit, hop, speed, phase; /* metres, metres, radians a second, radians */
};

struct pm_stage {
    struct pm_shape balls[PM_BALLS], boxes[PM_BOXES]; /* not all need be used */
    uint32_t ball_count, box_count;
    pm_vec3 sun_direction, sun_color; /* towards the sun */
    pm_vec3 sky_low, sky_high;
    float ambient, exposure, sun_in_sky, wet;
    float bloom[4], focus[4]; /* as the shaders have them */
    pm_vec3 camera_at;
    float camera_distance, camera_height, camera_turn, camera_sweep;
};

/* number < PM_STAGES */
void pm_stage_init(struct pm_stage *stage, unsigned number, uint64_t seed);

/* The balls, then the boxes, at a time in seconds, with where they were at another. */
void pm_stage_shapes(const struct pm_stage *stage, float time, float before,
                     struct pm_shape_constants out[PM_SHAPES]);
pm_vec3 pm_stage_eye(const struct pm_stage *stage, float time);
