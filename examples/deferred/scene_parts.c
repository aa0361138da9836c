#include "examples/deferred/scene_parts.h"
#include "examples/deferred/texture.h"

static float unit(struct pm_builder *b)
{
    return (float)pm_random_unit(&b->random);
}

float pm_build_gentle(float x, float z)
{
    return -0.06f + 0.08f * sinf(x * 0.45f) * cosf(z * 0.37f) + 0.05f * sinf(x * 1.1f + z * 0.8f);
}

float pm_build_hills(float x, float z)
{
    const float out = sqrtf(x * x + z * z);
    const float rise = out < 9.0f ? 0.0f : (out - 9.0f) * 0.17f;
    return rise * (0.9f + 0.6f * sinf(x * 0.11f + 1.0f) + 0.5f * cosf(z * 0.13f + x * 0.05f)) +
           0.35f * sinf(x * 0.35f) * cosf(z * 0.31f) + 0.12f * sinf(x * 0.9f + z * 0.7f);
}

pm_vec3 pm_build_hue(struct pm_builder *b)
{
    const float hue = unit(b) * 6.0f;
    const float r = fabsf(hue - 3.0f) - 1.0f, g = 2.0f - fabsf(hue - 2.0f),
                blue = 2.0f - fabsf(hue - 4.0f);
    const float low = 0.18f;
    return (pm_vec3){fminf(fmaxf(r, low), 1.0f), fminf(fmaxf(g, low), 1.0f),
                     fminf(fmaxf(blue, low), 1.0f)};
}

static struct pm_object *add(struct pm_builder *b, enum pm_material material, struct pm_mesh mesh,
                             pm_vec3 at, float turn, float scale)
{
    struct pm_object *object = &b->spare_object;
    if (b->scene->object_count < PM_MAX_OBJECTS)
        object = &b->scene->objects[b->scene->object_count++];
    else
        b->full = true;
    const float s = sinf(turn) * scale, c = cosf(turn) * scale;
    *object = (struct pm_object){
        .material = material,
        .mesh = mesh,
        .constants = {.rows = {{c, 0.0f, s, at.x}, {0.0f, scale, 0.0f, at.y}, {-s, 0.0f, c, at.z}},
                      .tint = {1.0f, 1.0f, 1.0f, unit(b)},
                      .detail = {0.5f, 0.0f, 0.0f, 0.0f}},
    };
    return object;
}

static void tint(struct pm_object *object, pm_vec3 color)
{
    object->constants.tint[0] = color.x;
    object->constants.tint[1] = color.y;
    object->constants.tint[2] = color.z;
}

static struct pm_light *add_light(struct pm_builder *b, enum pm_light_kind kind, pm_vec3 at,
                                  pm_vec3 color, float strength, float radius)
{
    struct pm_light *light = &b->spare_light;
    if (b->scene->light_count < PM_MAX_LIGHTS)
        light = &b->scene->lights[b->scene->light_count++];
    else
        b->full = true;
    *light = (struct pm_light){
        .kind = kind,
        .position = at,
        .direction = {0.0f, -1.0f, 0.0f},
        .color = pm_scale(color, strength),
        .radius = radius,
        .phase = unit(b) * 2.0f * PM_PI,
    };
    return light;
}

void pm_build_ground(struct pm_builder *b, float half, pm_height height, float repeats, float snow)
{
    struct pm_object *object =
        add(b, PM_MATERIAL_TERRAIN, pm_mesh_ground(&b->scene->meshes, half, 96, height),
            (pm_vec3){0.0f, 0.0f, 0.0f}, 0.0f, 1.0f);
    object->constants.detail[0] = repeats * 0.4f;
    object->constants.detail[3] = snow;
}

static void set_bricks(struct pm_object *object, float repeats)
{
    object->constants.detail[0] = repeats;
    object->constants.detail[1] = 0.025f;
}

void pm_build_box(struct pm_builder *b, enum pm_material material, pm_vec3 foot, pm_vec3 size,
                  float repeats)
{
    set_bricks(add(b, material, pm_mesh_box(&b->scene->meshes, size), foot, 0.0f, 1.0f), repeats);
}

void pm_build_wall(struct pm_builder *b, pm_vec3 foot, float turn, pm_vec3 size)
{
    set_bricks(add(b, PM_MATERIAL_BRICK, pm_mesh_box(&b->scene->meshes, size), foot, turn, 1.0f),
               0.5f);
}

void pm_build_column(struct pm_builder *b, pm_vec3 foot, float radius, float height,
                     enum pm_material material)
{
    struct pm_object *object = add(b, material, pm_mesh_cylinder(&b->scene->meshes, radius, height),
                                   foot, unit(b) * PM_PI, 1.0f);
    set_bricks(object, material == PM_MATERIAL_MARBLE ? 0.8f : 0.5f);
    if (material == PM_MATERIAL_MARBLE)
        object->constants.detail[3] = 1.0f;
    if (material == PM_MATERIAL_METAL)
        tint(object, (pm_vec3){0.62f, 0.6f, 0.58f});
}

void pm_build_ball(struct pm_builder *b, pm_vec3 centre, float radius, enum pm_material material,
                   pm_vec3 color)
{
    struct pm_mesh mesh = pm_mesh_sphere(&b->scene->meshes, radius, 0.0f, &b->random);
    tint(add(b, material, mesh, centre, unit(b) * PM_PI, 1.0f), color);
}

void pm_build_rock(struct pm_builder *b, pm_vec3 foot, float radius)
{
    struct pm_mesh mesh = pm_mesh_sphere(&b->scene->meshes, radius, 0.22f, &b->random);
    struct pm_object *object = add(b, PM_MATERIAL_TERRAIN, mesh, foot, unit(b) * PM_PI, 1.0f);
    object->constants.detail[3] = 100.0f;
    tint(object, (pm_vec3){0.9f, 0.88f, 0.85f});
}

void pm_build_knot(struct pm_builder *b, pm_vec3 centre, float radius, pm_vec3 color)
{
    struct pm_mesh mesh = pm_mesh_knot(&b->scene->meshes, radius, radius * 0.17f);
    tint(add(b, PM_MATERIAL_METAL, mesh, centre, 0.0f, 1.0f), color);
}

void pm_build_tree(struct pm_builder *b, pm_vec3 foot, float size)
{
    struct pm_meshes *meshes = &b->scene->meshes;
    const float turn = unit(b) * 2.0f * PM_PI, height = 2.6f + unit(b);
    struct pm_object *trunk =
        add(b, PM_MATERIAL_TERRAIN, pm_mesh_cylinder(meshes, 0.16f, height), foot, turn, size);
    trunk->constants.detail[3] = 100.0f;
    tint(trunk, (pm_vec3){0.55f, 0.42f, 0.3f});
    struct pm_mesh crown = pm_mesh_leaves(meshes, (pm_vec3){0.0f, height + 0.3f, 0.0f},
                                          (pm_vec3){1.5f, 1.25f, 1.5f}, 1.05f, 110, &b->random);
    struct pm_object *leaves = add(b, PM_MATERIAL_FOLIAGE, crown, foot, turn, size);
    leaves->constants.detail[0] = 1.0f;
    leaves->constants.detail[2] = 0.005f;
    tint(leaves, (pm_vec3){0.85f + 0.4f * unit(b), 0.9f + 0.2f * unit(b), 0.9f});
}

void pm_build_bush(struct pm_builder *b, pm_vec3 foot, float size)
{
    struct pm_mesh mesh = pm_mesh_leaves(&b->scene->meshes, (pm_vec3){0.0f, 0.45f, 0.0f},
                                         (pm_vec3){0.75f, 0.55f, 0.75f}, 0.8f, 40, &b->random);
    struct pm_object *object = add(b, PM_MATERIAL_FOLIAGE, mesh, foot, unit(b) * PM_PI, size);
    object->constants.detail[0] = 1.0f;
    object->constants.detail[2] = 0.03f;
    tint(object, (pm_vec3){0.9f, 1.0f, 0.8f});
}

void pm_build_lamp(struct pm_builder *b, pm_vec3 at, pm_vec3 color, float strength, float radius)
{
    struct pm_mesh mesh = pm_mesh_sphere(&b->scene->meshes, 0.14f, 0.0f, &b->random);
    struct pm_object *object = add(b, PM_MATERIAL_LAMP, mesh, at, 0.0f, 1.0f);
    object->constants.detail[3] = 0.45f;
    tint(object, color);
    add_light(b, PM_LIGHT_POINT, at, color, strength, radius);
}

void pm_build_spot(struct pm_builder *b, pm_vec3 at, pm_vec3 direction, pm_vec3 color,
                   float strength, float radius)
{
    struct pm_light *light = add_light(b, PM_LIGHT_SPOT, at, color, strength, radius);
    light->direction = pm_normalize(direction);
    light->cone = 0.86f;
}

void pm_build_projector(struct pm_builder *b, pm_vec3 at, pm_vec3 direction, float radius,
                        uint32_t mask)
{
    struct pm_light *light =
        add_light(b, PM_LIGHT_PICTURE, at, (pm_vec3){1.0f, 0.93f, 0.8f}, 60.0f, radius);
    light->direction = pm_normalize(direction);
    light->cone = 0.88f;
    light->mask = mask;
    light->swing = 0.25f;
    light->speed = 0.6f;
}

struct pm_spot *pm_build_spotlight(struct pm_builder *b, pm_vec3 at, pm_vec3 target, pm_vec3 color,
                                   float strength, float half)
{
    struct pm_spot *spot = &b->spare_spot;
    if (b->scene->spot_count < PM_MAX_SPOTS)
        spot = &b->scene->spots[b->scene->spot_count++];
    else
        b->full = true;
    const pm_vec3 way = pm_sub(target, at);
    *spot = (struct pm_spot){
        .position = at,
        .direction = pm_normalize(way),
        .color = pm_scale(color, strength),
        .radius = 1.8f * sqrtf(pm_dot(way, way)),
        .outer = half,
        .inner = half * 0.7f,
    };
    return spot;
}

void pm_build_fireflies(struct pm_builder *b, uint32_t count, float out, float height)
{
    for (uint32_t i = 0; i < count; i++) {
        const float turn = unit(b) * 2.0f * PM_PI, away = out * sqrtf(unit(b));
        struct pm_light *light =
            add_light(b, PM_LIGHT_POINT,
                      (pm_vec3){sinf(turn) * away, height * (0.5f + unit(b)), cosf(turn) * away},
                      pm_build_hue(b), 1.6f, 3.2f);
        light->orbit = 0.6f + unit(b);
        light->speed = 0.5f + unit(b);
    }
}
