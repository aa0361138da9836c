#include "examples/deferred/scene.h"
#include "examples/deferred/scene_parts.h"
#include "examples/deferred/texture.h"

/* A walled court at night: brick, polished tiles, a metal knot, lamps of many colours, projectors
 * on the walls. */
static void build_courtyard(struct pm_builder *b)
{
    struct pm_scene *scene = b->scene;
    pm_build_ground(b, 30.0f, pm_build_gentle, 1.6f, 100.0f);
    pm_build_box(b, PM_MATERIAL_MARBLE, (pm_vec3){0.0f, -0.02f, 0.0f},
                 (pm_vec3){14.0f, 0.1f, 14.0f}, 1.0f);
    for (int side = 0; side < 4; side++) {
        const float turn = (float)side * PM_PI * 0.5f;
        const float x = sinf(turn), z = cosf(turn);
        pm_build_wall(b, (pm_vec3){x * 11.0f, -0.3f, z * 11.0f}, turn,
                      (pm_vec3){22.0f, 4.2f, 0.6f});
        pm_build_wall(b, (pm_vec3){x * 11.0f, 3.9f, z * 11.0f}, turn,
                      (pm_vec3){22.6f, 0.35f, 0.9f});
        for (int i = -1; i <= 1; i++) {
            const pm_vec3 foot = {x * 7.0f + z * (float)i * 4.5f, 0.0f,
                                  z * 7.0f - x * (float)i * 4.5f};
            pm_build_column(b, foot, 0.35f, 3.4f, i == 0 ? PM_MATERIAL_METAL : PM_MATERIAL_BRICK);
            pm_build_lamp(b, (pm_vec3){foot.x, 3.85f, foot.z}, pm_build_hue(b), 4.5f, 7.5f);
        }
        const float corner = turn + PM_PI * 0.25f;
        pm_build_tree(b, (pm_vec3){sinf(corner) * 11.8f, 0.0f, cosf(corner) * 11.8f}, 1.0f);
        pm_build_projector(b, (pm_vec3){x * 2.0f, 3.2f, z * 2.0f}, (pm_vec3){x, -0.08f, z}, 18.0f,
                           (uint32_t)side % PM_MASK_LAYERS);
        for (int i = 0; i < 3; i++) {
            const float t = turn + (float)pm_random_unit(&b->random) * 1.2f - 0.6f;
            pm_build_bush(b, (pm_vec3){sinf(t) * 9.3f, 0.0f, cosf(t) * 9.3f}, 0.7f);
        }
    }
    pm_build_column(b, (pm_vec3){0.0f, 0.0f, 0.0f}, 1.3f, 0.8f, PM_MATERIAL_BRICK);
    pm_build_knot(b, (pm_vec3){0.0f, 2.2f, 0.0f}, 1.15f, (pm_vec3){0.95f, 0.72f, 0.38f});
    for (int i = 0; i < 6; i++) {
        const float turn = (float)i * PM_PI / 3.0f + 0.4f;
        pm_build_ball(b, (pm_vec3){sinf(turn) * 4.2f, 0.62f, cosf(turn) * 4.2f}, 0.55f,
                      PM_MATERIAL_METAL, (pm_vec3){0.75f, 0.77f, 0.8f});
        pm_build_spot(b, (pm_vec3){sinf(turn) * 4.2f, 3.4f, cosf(turn) * 4.2f},
                      (pm_vec3){0.0f, -1.0f, 0.0f}, pm_build_hue(b), 14.0f, 6.0f);
    }
    pm_build_fireflies(b, 18, 9.0f, 1.2f);
    for (int i = 0; i < 6; i++) {
        const float turn = (float)i * PM_PI / 3.0f + 0.2f, x = sinf(turn), z = cosf(turn);
        struct pm_spot *spot = pm_build_spotlight(
            b, (pm_vec3){x * 10.2f, 4.6f, z * 10.2f}, (pm_vec3){-x * 1.5f, 0.8f, -z * 1.5f},
            i & 1 ? (pm_vec3){1.0f, 0.86f, 0.66f} : (pm_vec3){0.55f, 0.72f, 1.0f}, 110.0f, 0.30f);
        spot->mask = PM_MASK_RINGS;
        spot->masked = i % 3 == 0 ? 0.8f : 0.0f;
    }
    scene->sun_direction = (pm_vec3){0.5f, 0.75f, -0.4f};
    scene->sun_color = (pm_vec3){0.10f, 0.13f, 0.20f};
    scene->sky_low = (pm_vec3){0.035f, 0.045f, 0.075f};
    scene->sky_high = (pm_vec3){0.006f, 0.009f, 0.022f};
    scene->ambient = 0.7f;
    scene->fog = 0.004f;
    scene->stars = 1.0f;
    scene->shadow_half = 16.0f;
    scene->camera_at = (pm_vec3){0.0f, 1.5f, 0.0f};
    scene->camera_distance = 9.4f;
    scene->camera_height = 3.1f;
    scene->camera_turn = 0.35f;
    scene->camera_speed = 0.25f;
}

/* Hills in the evening sun: trees, rocks, snow on the tops, a brick tower, pylons. */
static void build_valley(struct pm_builder *b)
{
    struct pm_scene *scene = b->scene;
    pm_build_ground(b, 60.0f, pm_build_hills, 0.7f, 6.5f);
    for (int i = 0; i < 34; i++) {
        const float turn = (float)i * 2.399f, out = 9.5f + 4.9f * sqrtf((float)i);
        const float x = sinf(turn) * out, z = cosf(turn) * out;
        const float y = pm_build_hills(x, z);
        if (y > 6.0f)
            pm_build_rock(b, (pm_vec3){x, y, z}, 1.8f);
        else
            pm_build_tree(b, (pm_vec3){x, y - 0.1f, z},
                          0.8f + 0.6f * (float)pm_random_unit(&b->random));
    }
    for (int i = 0; i < 22; i++) {
        const float turn = (float)i * 1.71f, out = 4.0f + 1.3f * (float)i;
        const float x = sinf(turn) * out, z = cosf(turn) * out, y = pm_build_hills(x, z);
        if (i % 3 == 0)
            pm_build_rock(b, (pm_vec3){x, y, z}, 0.5f + 0.8f * (float)pm_random_unit(&b->random));
        else
            pm_build_bush(b, (pm_vec3){x, y, z}, 0.8f);
    }
    const float ground = pm_build_hills(0.0f, 0.0f) - 0.4f;
    pm_build_column(b, (pm_vec3){0.0f, ground, 0.0f}, 2.1f, 7.0f, PM_MATERIAL_BRICK);
    pm_build_column(b, (pm_vec3){0.0f, ground + 7.0f, 0.0f}, 2.5f, 0.7f, PM_MATERIAL_BRICK);
    for (int i = 0; i < 8; i++) {
        const float turn = (float)i * PM_PI / 4.0f;
        pm_build_lamp(b, (pm_vec3){sinf(turn) * 2.6f, ground + 6.5f, cosf(turn) * 2.6f},
                      (pm_vec3){1.0f, 0.62f, 0.28f}, 7.0f, 9.0f);
        const float x = sinf(turn) * 13.0f, z = cosf(turn) * 13.0f, y = pm_build_hills(x, z);
        pm_build_column(b, (pm_vec3){x, y - 0.3f, z}, 0.12f, 3.4f, PM_MATERIAL_METAL);
        pm_build_lamp(b, (pm_vec3){x, y + 3.25f, z}, pm_build_hue(b), 6.0f, 8.0f);
        pm_build_spot(b, (pm_vec3){x, y + 3.0f, z}, (pm_vec3){0.0f, -1.0f, 0.0f},
                      (pm_vec3){1.0f, 0.8f, 0.5f}, 16.0f, 9.0f);
    }
    for (uint32_t i = 0; i < 4; i++)
        pm_build_projector(b, (pm_vec3){0.0f, ground + 7.9f, 0.0f},
                           (pm_vec3){sinf((float)i * 1.57f), -0.35f, cosf((float)i * 1.57f)}, 30.0f,
                           (i + 2) % PM_MASK_LAYERS);
    pm_build_fireflies(b, 20, 14.0f, 2.0f);
    for (int i = 0; i < 7; i++) {
        const float turn = (float)i * PM_PI * 2.0f / 7.0f + 0.3f;
        const float x = sinf(turn), z = cosf(turn);
        struct pm_spot *spot = pm_build_spotlight(
            b, (pm_vec3){x * 2.7f, ground + 8.4f, z * 2.7f},
            (pm_vec3){x * 14.0f, pm_build_hills(x * 14.0f, z * 14.0f), z * 14.0f},
            (pm_vec3){1.0f, 0.9f, 0.72f}, 420.0f, 0.26f);
        spot->mask = PM_MASK_BRANCHES;
        spot->masked = i & 1 ? 0.0f : 0.7f;
    }
    scene->sun_direction = (pm_vec3){-0.75f, 0.38f, 0.42f};
    scene->sun_color = (pm_vec3){3.3f, 2.0f, 1.05f};
    scene->sky_low = (pm_vec3){0.75f, 0.45f, 0.28f};
    scene->sky_high = (pm_vec3){0.13f, 0.22f, 0.45f};
    scene->ambient = 0.5f;
    scene->fog = 0.0045f;
    scene->shadow_half = 34.0f;
    scene->camera_at = (pm_vec3){0.0f, 3.5f, 0.0f};
    scene->camera_distance = 18.0f;
    scene->camera_height = 6.5f;
    scene->camera_turn = 4.05f;
    scene->camera_speed = 0.12f;
}

/* A hall of columns by day: sun through the open side, polished floor, projectors for windows,
 * metal vessels. */
static void build_hall(struct pm_builder *b)
{
    struct pm_scene *scene = b->scene;
    pm_build_ground(b, 40.0f, pm_build_gentle, 1.2f, 100.0f);
    pm_build_box(b, PM_MATERIAL_MARBLE, (pm_vec3){0.0f, -0.02f, 0.0f},
                 (pm_vec3){13.0f, 0.1f, 30.0f}, 0.8f);
    pm_build_wall(b, (pm_vec3){6.5f, -0.3f, 0.0f}, PM_PI * 0.5f, (pm_vec3){30.0f, 6.3f, 0.6f});
    pm_build_wall(b, (pm_vec3){0.0f, -0.3f, -15.0f}, 0.0f, (pm_vec3){13.0f, 6.3f, 0.6f});
    pm_build_box(b, PM_MATERIAL_BRICK, (pm_vec3){0.0f, 5.8f, 0.0f}, (pm_vec3){13.6f, 0.4f, 30.0f},
                 0.5f);
    for (int i = -3; i <= 3; i++) {
        const float z = (float)i * 4.0f;
        pm_build_column(b, (pm_vec3){-3.6f, 0.0f, z}, 0.42f, 5.8f, PM_MATERIAL_MARBLE);
        pm_build_column(b, (pm_vec3){3.6f, 0.0f, z}, 0.42f, 5.8f, PM_MATERIAL_MARBLE);
        pm_build_column(b, (pm_vec3){-6.3f, 0.0f, z}, 0.42f, 5.8f, PM_MATERIAL_BRICK);
        pm_build_lamp(b, (pm_vec3){3.6f, 3.3f, z + 0.75f}, (pm_vec3){1.0f, 0.55f, 0.22f}, 2.6f,
                      6.0f);
        pm_build_spot(b, (pm_vec3){0.0f, 5.6f, z + 2.0f}, (pm_vec3){0.0f, -1.0f, 0.0f},
                      pm_build_hue(b), 16.0f, 8.5f);
        pm_build_projector(b, (pm_vec3){-4.5f, 5.2f, z + 2.0f}, (pm_vec3){1.0f, -0.35f, 0.0f},
                           15.0f, PM_MASK_WINDOW);
        const pm_vec3 plinth = {5.3f, 0.0f, z + 2.0f};
        pm_build_box(b, PM_MATERIAL_BRICK, plinth, (pm_vec3){0.9f, 1.0f, 0.9f}, 0.5f);
        if (i & 1)
            pm_build_knot(b, (pm_vec3){plinth.x, 1.6f, plinth.z}, 0.5f,
                          (pm_vec3){0.95f, 0.60f, 0.45f});
        else
            pm_build_ball(b, (pm_vec3){plinth.x, 1.5f, plinth.z}, 0.5f, PM_MATERIAL_METAL,
                          (pm_vec3){0.9f, 0.8f, 0.5f});
        pm_build_bush(b, (pm_vec3){-7.6f, 0.0f, z + 2.0f}, 0.9f);
        pm_build_tree(b, (pm_vec3){-13.0f - (float)((i * i) % 3), 0.0f, z + 1.0f}, 1.1f);
    }
    pm_build_fireflies(b, 10, 5.0f, 2.0f);
    for (int i = -3; i <= 3; i++) {
        const float z = (float)i * 4.0f + 2.0f;
        struct pm_spot *spot =
            pm_build_spotlight(b, (pm_vec3){1.2f, 5.5f, z - 1.4f}, (pm_vec3){5.3f, 1.2f, z},
                               (pm_vec3){1.0f, 0.94f, 0.84f}, 90.0f, 0.32f);
        spot->mask = PM_MASK_WINDOW;
        spot->masked = i == 0 ? 0.6f : 0.0f;
    }
    scene->sun_direction = (pm_vec3){-0.72f, 0.55f, 0.25f};
    scene->sun_color = (pm_vec3){3.4f, 3.0f, 2.4f};
    scene->sky_low = (pm_vec3){0.55f, 0.65f, 0.75f};
    scene->sky_high = (pm_vec3){0.20f, 0.36f, 0.68f};
    scene->ambient = 0.22f;
    scene->fog = 0.003f;
    scene->shadow_half = 20.0f;
    scene->camera_at = (pm_vec3){0.3f, 2.0f, -6.0f};
    scene->camera_distance = 17.0f;
    scene->camera_height = 2.4f;
    scene->camera_turn = -0.06f;
    scene->camera_sweep = 0.13f;
    scene->camera_speed = 0.5f;
}

static const struct {
    const char *name;
    void (*build)(struct pm_builder *);
} places[PM_SCENES] = {
    {"courtyard", build_courtyard}, {"valley", build_valley}, {"hall", build_hall}};

const char *pm_scene_name(unsigned number)
{
    return places[number].name;
}

bool pm_scene_init(struct pm_scene *scene, unsigned number, uint64_t seed)
{
    *scene = (struct pm_scene){0};
    struct pm_builder builder = {.scene = scene};
    pm_random_init(&builder.random, seed);
    places[number].build(&builder);
    scene->sun_direction = pm_normalize(scene->sun_direction);
    return !scene->meshes.failed && !builder.full;
}

void pm_scene_finish(struct pm_scene *scene)
{
    pm_meshes_finish(&scene->meshes);
}

pm_vec3 pm_scene_eye(const struct pm_scene *scene, float time)
{
    const float turn =
        scene->camera_sweep > 0.0f
            ? scene->camera_turn + scene->camera_sweep * sinf(time * scene->camera_speed)
            : scene->camera_turn + time * scene->camera_speed;
    return (pm_vec3){scene->camera_at.x + sinf(turn) * scene->camera_distance,
                     scene->camera_height + 0.2f * sinf(time * 0.7f),
                     scene->camera_at.z + cosf(turn) * scene->camera_distance};
}

struct pm_light_constants pm_light_at(const struct pm_light *light, float time)
{
    const float turn = light->phase + time * light->speed;
    const pm_vec3 p = {light->position.x + light->orbit * sinf(turn),
                       light->position.y + 0.3f * light->orbit * sinf(turn * 1.7f),
                       light->position.z + light->orbit * cosf(turn * 0.9f)};
    const float swing = light->swing * sinf(turn);
    const pm_vec3 d = light->direction;
    const pm_vec3 direction = {d.x * cosf(swing) + d.z * sinf(swing), d.y,
                               d.z * cosf(swing) - d.x * sinf(swing)};
    const pm_vec3 pole =
        fabsf(direction.y) > 0.9f ? (pm_vec3){1.0f, 0.0f, 0.0f} : (pm_vec3){0.0f, 1.0f, 0.0f};
    const pm_vec3 side = pm_normalize(pm_cross(direction, pole));
    return (struct pm_light_constants){
        {p.x, p.y, p.z, light->radius},
        {light->color.x, light->color.y, light->color.z, (float)light->kind},
        {direction.x, direction.y, direction.z, light->cone},
        {side.x, side.y, side.z, (float)light->mask},
    };
}
