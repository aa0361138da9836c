/*
 * What is drawn: three places that look different, made from a seed. Objects stand still, so that
 * commands can be recorded once; the camera, the lights and the wind move with the frame's number,
 * at 30 frames a second.
 */
#pragma once

#include "examples/deferred/mesh.h"

enum pm_material {
    PM_MATERIAL_BRICK,
    PM_MATERIAL_METAL,
    PM_MATERIAL_FOLIAGE,
    PM_MATERIAL_TERRAIN,
    PM_MATERIAL_MARBLE,
    PM_MATERIAL_LAMP,
    PM_MATERIAL_COUNT,
};

/* As the shaders' push constants have it. */
struct pm_object_constants {
    float rows[3][4];
    float tint[4];   /* rgb, a random number */
    float detail[4]; /* texture repeats a metre, bump height, sway, and: a lamp's emission, the
                        height of snow, stone in one piece */
};

struct pm_object {
    enum pm_material material;
    struct pm_mesh mesh;
    struct pm_object_constants constants;
};

enum pm_light_kind { PM_LIGHT_POINT, PM_LIGHT_SPOT, PM_LIGHT_PICTURE };

struct pm_light {
    enum pm_light_kind kind;
    pm_vec3 position, direction;
    pm_vec3 color;
    float radius;       /* metres; no light beyond */
    float cone;         /* cosine of half the cone */
    uint32_t mask;      /* of a light that throws a picture */
    float orbit, speed; /* it circles its position: metres, radians a second */
    float swing;        /* its direction swings by so many radians */
    float phase;        /* radians */
};

/* As the shaders have it. */
struct pm_light_constants {
    float position[4], color[4], direction[4], side[4];
};

/* A spotlight that casts shadows. It stands still, so that its shadow map is drawn once. */
struct pm_spot {
    pm_vec3 position, direction;
    pm_vec3 color;
    float radius;       /* metres; no light beyond */
    float outer, inner; /* half angles of the cone, radians: dark beyond, full within */
    uint32_t mask;      /* in front of its lens */
    float masked;       /* how much of the mask is in the way, 0 to 1 */
};

enum { PM_SCENES = 3, PM_MAX_OBJECTS = 512, PM_MAX_LIGHTS = 96, PM_MAX_SPOTS = 8 };

struct pm_scene {
    struct pm_meshes meshes;
    struct pm_object objects[PM_MAX_OBJECTS];
    uint32_t object_count;
    struct pm_light lights[PM_MAX_LIGHTS];
    uint32_t light_count;
    struct pm_spot spots[PM_MAX_SPOTS];
    uint32_t spot_count;
    pm_vec3 sun_direction, sun_color; /* towards the sun */
    pm_vec3 sky_low, sky_high;
    float ambient, fog, stars;
    float shadow_half; /* metres around the origin that the shadow map covers */
    pm_vec3 camera_at;
    float camera_distance, camera_height, camera_turn, camera_speed, camera_sweep;
};

/* number < PM_SCENES. false: out of memory, or more objects or lights than fit. */
bool pm_scene_init(struct pm_scene *scene, unsigned number, uint64_t seed);
void pm_scene_finish(struct pm_scene *scene);

/* Where things are at a time in seconds. */
pm_vec3 pm_scene_eye(const struct pm_scene *scene, float time);
struct pm_light_constants pm_light_at(const struct pm_light *light, float time);

const char *pm_scene_name(unsigned number);
