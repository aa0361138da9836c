/*
 * The parts that scenes are built of. Each appends objects, with their meshes and lights, to the
 * builder's scene; more than fit sets `full`, and what does not fit is left out. Lengths are
 * metres; directions need no length.
 */
#pragma once

#include "examples/deferred/scene.h"

struct pm_builder {
    struct pm_scene *scene;
    struct pm_random random;
    bool full;
    struct pm_object spare_object; /* take what does not fit */
    struct pm_light spare_light;
    struct pm_spot spare_spot;
};

float pm_build_gentle(float x, float z);
float pm_build_hills(float x, float z);
/* A bright random colour. */
pm_vec3 pm_build_hue(struct pm_builder *b);

void pm_build_ground(struct pm_builder *b, float half, pm_height height, float repeats, float snow);
void pm_build_box(struct pm_builder *b, enum pm_material material, pm_vec3 foot, pm_vec3 size,
                  float repeats);
/* turn: about the vertical, radians */
void pm_build_wall(struct pm_builder *b, pm_vec3 foot, float turn, pm_vec3 size);
void pm_build_column(struct pm_builder *b, pm_vec3 foot, float radius, float height,
                     enum pm_material material);
void pm_build_ball(struct pm_builder *b, pm_vec3 centre, float radius, enum pm_material material,
                   pm_vec3 tint);
void pm_build_rock(struct pm_builder *b, pm_vec3 foot, float radius);
void pm_build_knot(struct pm_builder *b, pm_vec3 centre, float radius, pm_vec3 tint);
void pm_build_tree(struct pm_builder *b, pm_vec3 foot, float size);
void pm_build_bush(struct pm_builder *b, pm_vec3 foot, float size);

/* A glowing ball with a point light. */
void pm_build_lamp(struct pm_builder *b, pm_vec3 at, pm_vec3 color, float strength, float radius);
void pm_build_spot(struct pm_builder *b, pm_vec3 at, pm_vec3 direction, pm_vec3 color,
                   float strength, float radius);
/* A spot that throws a picture through a mask. */
void pm_build_projector(struct pm_builder *b, pm_vec3 at, pm_vec3 direction, float radius,
                        uint32_t mask);
/* A spotlight with a shadow, pointed at `target`. half: of the cone, radians */
struct pm_spot *pm_build_spotlight(struct pm_builder *b, pm_vec3 at, pm_vec3 target, pm_vec3 color,
                                   float strength, float half);
/* Small lights that wander within `out` metres of the origin. */
void pm_build_fireflies(struct pm_builder *b, uint32_t count, float out, float height);
