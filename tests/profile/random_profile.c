#include "tests/profile/random_profile.h"
#include <stdlib.h>
#include <string.h>

static void *need(void *pointer)
{
    if (!pointer)
        abort();
    return pointer;
}

/* Small, medium and huge numbers, so that encodings of every length occur. */
static uint64_t number(struct pm_random *random, uint64_t most)
{
    uint64_t value = pm_random_next(random) >> pm_random_below(random, 56);
    return value <= most ? value : most;
}

static void fill_point(struct pm_random *random, const struct pm_shader_profile *shader,
                       struct pm_point_counts *point)
{
    point->calls = pm_random_below(random, 100);
    point->entry_lanes = number(random, UINT64_MAX / 4096);
    point->entry_subgroups = number(random, point->entry_lanes);
    bool once =
        shader->at_most_once && (shader->at_most_once[point->point / 8] >> (point->point % 8) & 1);
    uint64_t most = once ? point->entry_lanes : UINT64_MAX / 4096;
    point->counts[0] = number(random, most);
    point->counts[1] = number(random, point->counts[0]);
    if (pm_kind_counts_entries(shader->kind) || shader->kind == PM_KIND_CONSTANT)
        point->counts[2] = number(random, point->counts[0]);
    if (pm_kind_counts_entries(shader->kind) && point->counts[0] % 3 == 0) {
        const uint64_t known =
            point->counts[1] > point->counts[2] ? point->counts[1] : point->counts[2];
        point->lanes_alone = point->counts[0] - known;
    }
    if (shader->kind == PM_KIND_TIMING) {
        point->entry_subgroups = point->entry_lanes;
        if (point->entry_lanes == 0)
            point->counts[PM_TIMING_ORIGINAL] = point->counts[PM_TIMING_VARIANT] = 0;
        point->counts[PM_TIMING_SPREAD] = point->counts[PM_TIMING_ORIGINAL] / 16;
    }
}

/* The shape follows from the key, as it does for real shaders. */
static void fill_shader(struct pm_random *random, struct pm_arena *arena, uint32_t id,
                        uint32_t points, struct pm_shader_profile *shader)
{
    struct pm_random shape;
    pm_random_init(&shape, id);
    shader->key = pm_shader_key_compute("test", &id, 1);
    shader->environment.subgroup_size = 1u << pm_random_below(&shape, 8);
    shader->kind = id % 5 == 0    ? PM_KIND_ZERO
                   : id % 7 == 0  ? PM_KIND_TIMING
                   : id % 11 == 0 ? PM_KIND_CONSTANT
                   : id % 13 == 0 ? PM_KIND_TURNS
                                  : PM_KIND_BLOCK;
    if (shader->kind == PM_KIND_TIMING) {
        shader->environment.vendor_id = pm_random_below(&shape, 65536);
        shader->environment.driver_version = pm_random_below(&shape, UINT32_MAX);
        if (id % 2 != 0) /* else it is not known */
            shader->original = pm_shader_key_compute("original", &id, 1);
    } else {
        shader->flags = id % 3 == 0 ? PM_PROFILE_OCCLUDED : 0;
        shader->flags |= id % 15 == 0 ? PM_PROFILE_NO_QUADS : 0;
    }
    shader->space = shader->kind == PM_KIND_TIMING ? 1 : 1 + pm_random_below(&shape, points * 2);
    if (shader->kind == PM_KIND_ZERO && id % 2 != 0) /* else it is not known */
        shader->candidates = shader->space + pm_random_below(&shape, 1u << PM_LEFT_OUT_BITS);
    if ((pm_kind_counts_entries(shader->kind) || shader->kind == PM_KIND_ZERO) && id % 4 != 0) {
        uint8_t *bitmap = need(pm_arena_zalloc(arena, (shader->space + 7) / 8, 1));
        for (uint32_t i = 0; i < shader->space; i++)
            bitmap[i / 8] = (uint8_t)(bitmap[i / 8] | pm_random_below(&shape, 2) << (i % 8));
        shader->at_most_once = bitmap;
    }
    struct pm_point_counts *list = need(pm_arena_zalloc(arena, shader->space, sizeof(*list)));
    for (uint32_t i = 0; i < shader->space && shader->point_count < points; i++) {
        if (pm_random_below(random, 2))
            continue;
        list[shader->point_count].point = i;
        fill_point(random, shader, &list[shader->point_count++]);
    }
    shader->points = list;
}

struct pm_profile pm_random_profile(struct pm_random *random, struct pm_arena *arena,
                                    uint32_t shaders, uint32_t points)
{
    struct pm_profile profile = {
        .game = "Some Game \xC3\xA4", .scene = "", .layer_version = "0.1.0"};
    profile.day = pm_random_below(random, 30000);
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++)
        profile.upload_id[i] = (uint8_t)pm_random_next(random);
    struct pm_shader_profile *list = need(pm_arena_zalloc(arena, 2 * shaders, sizeof(*list)));
    for (uint32_t id = 0; id < 2 * shaders && profile.shader_count < shaders; id++) {
        if (pm_random_below(random, 2))
            fill_shader(random, arena, id, points, &list[profile.shader_count++]);
    }
    profile.shaders = list;
    return profile;
}

static bool same_shader(const struct pm_shader_profile *a, const struct pm_shader_profile *b)
{
    if (!pm_shader_key_equal(&a->key, &b->key) ||
        !pm_shader_key_equal(&a->original, &b->original) ||
        memcmp(&a->environment, &b->environment, sizeof(a->environment)) != 0 ||
        a->kind != b->kind || a->flags != b->flags || a->space != b->space ||
        a->candidates != b->candidates || a->point_count != b->point_count ||
        !a->at_most_once != !b->at_most_once)
        return false;
    if (a->at_most_once && memcmp(a->at_most_once, b->at_most_once, (a->space + 7) / 8) != 0)
        return false;
    return a->point_count == 0 ||
           memcmp(a->points, b->points, a->point_count * sizeof(*a->points)) == 0;
}

bool pm_same_profile(const struct pm_profile *a, const struct pm_profile *b)
{
    if (memcmp(a->upload_id, b->upload_id, PM_UPLOAD_ID_BYTES) != 0 ||
        strcmp(a->game, b->game) != 0 || strcmp(a->scene, b->scene) != 0 ||
        strcmp(a->layer_version, b->layer_version) != 0 || a->day != b->day ||
        a->shader_count != b->shader_count ||
        memcmp(a->left_alone, b->left_alone, sizeof(a->left_alone)) != 0)
        return false;
    for (size_t i = 0; i < a->shader_count; i++) {
        if (!same_shader(&a->shaders[i], &b->shaders[i]))
            return false;
    }
    return true;
}
