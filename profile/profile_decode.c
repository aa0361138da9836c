#include "base/name.h"
#include "profile/profile_check.h"
#include "profile/wire.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool column_wrong(struct pm_error *error, size_t index, const char *field, size_t has,
                         size_t need)
{
    return pm_fail(error, PM_ERROR_INPUT,
                   "shader %zu: field %s has %zu elements where %zu are needed", index, field, has,
                   need);
}

static bool take_columns(const Piecemeal__ShaderProfile *message, size_t index,
                         struct pm_arena *arena, struct pm_shader_profile *shader,
                         struct pm_error *error)
{
    size_t n = message->n_point;
    if (message->n_calls != n)
        return column_wrong(error, index, "calls", message->n_calls, n);
    if (message->n_entry_lanes != n)
        return column_wrong(error, index, "entry_lanes", message->n_entry_lanes, n);
    if (message->n_entry_subgroups != n)
        return column_wrong(error, index, "entry_subgroups", message->n_entry_subgroups, n);
    if (message->n_counts != n * PM_COUNTS)
        return column_wrong(error, index, "counts", message->n_counts, n * PM_COUNTS);
    struct pm_point_counts *points = pm_arena_zalloc(arena, n, sizeof(*points));
    if (!points)
        return pm_fail(error, PM_ERROR_MEMORY, "shader %zu: out of memory", index);
    for (size_t i = 0; i < n; i++) {
        points[i].point = message->point[i];
        points[i].calls = message->calls[i];
        points[i].entry_lanes = message->entry_lanes[i];
        points[i].entry_subgroups = message->entry_subgroups[i];
        memcpy(points[i].counts, message->counts + i * PM_COUNTS, sizeof(points[i].counts));
    }
    shader->points = points;
    shader->point_count = n;
    return true;
}

static bool take_shader(const Piecemeal__ShaderProfile *message, size_t index,
                        struct pm_arena *arena, struct pm_shader_profile *shader,
                        struct pm_error *error)
{
    char what[48];
    snprintf(what, sizeof(what), "shader %zu", index);
    if (!pm_no_unknown_fields(&message->base, what, error))
        return false;
    if (message->environment && !pm_no_unknown_fields(&message->environment->base, what, error))
        return false;
    if (!pm_key_take(&message->key, what, "key", &shader->key, error) ||
        !pm_key_take_optional(&message->original, what, "original", &shader->original, error))
        return false;
    shader->environment = pm_environment_of(message->environment);
    shader->kind = (enum pm_kind)message->kind;
    shader->flags = message->flags;
    shader->space = message->space;
    if (message->at_most_once.len > 0) {
        if (message->at_most_once.len != pm_bitmap_bytes(message->space))
            return pm_fail(
                error, PM_ERROR_INPUT,
                "%s: field at_most_once has %zu bytes where a space of %" PRIu32 " needs %zu", what,
                message->at_most_once.len, message->space, pm_bitmap_bytes(message->space));
        shader->at_most_once =
            pm_arena_dup(arena, message->at_most_once.data, message->at_most_once.len);
        if (!shader->at_most_once)
            return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", what);
    }
    return take_columns(message, index, arena, shader, error);
}

static bool take_profile(const Piecemeal__Profile *message, const struct pm_profile_limits *limits,
                         struct pm_arena *arena, struct pm_profile *profile, struct pm_error *error)
{
    if (message->version != PM_PROFILE_VERSION)
        return pm_fail(error, PM_ERROR_INPUT, "field version is %" PRIu32 "; this program knows %u",
                       message->version, PM_PROFILE_VERSION);
    if (!pm_no_unknown_fields(&message->base, "message", error))
        return false;
    if (message->upload_id.len != PM_UPLOAD_ID_BYTES)
        return pm_fail(error, PM_ERROR_INPUT, "field upload_id has %zu bytes, not %d",
                       message->upload_id.len, PM_UPLOAD_ID_BYTES);
    if (message->n_shaders > limits->shaders)
        return pm_fail(error, PM_ERROR_LIMIT, "field shaders has %zu elements, more than %zu",
                       message->n_shaders, limits->shaders);
    struct pm_profile taken = {0};
    memcpy(taken.upload_id, message->upload_id.data, PM_UPLOAD_ID_BYTES);
    struct pm_shader_profile *shaders =
        pm_arena_zalloc(arena, message->n_shaders, sizeof(*shaders));
    taken.game = pm_arena_strdup(arena, message->game);
    taken.scene = pm_arena_strdup(arena, message->scene);
    taken.layer_version = pm_arena_strdup(arena, message->layer_version);
    if (!shaders || !taken.game || !taken.scene || !taken.layer_version)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    /* Also for who is told below what is wrong with the rest. */
    profile->game = pm_game_check(taken.game, "game", limits->name_bytes, NULL) ? taken.game : "";
    for (size_t i = 0; i < message->n_shaders; i++) {
        if (!take_shader(message->shaders[i], i, arena, &shaders[i], error))
            return false;
    }
    taken.shaders = shaders;
    taken.shader_count = message->n_shaders;
    if (!pm_profile_check(&taken, limits, error))
        return false;
    *profile = taken;
    return true;
}

bool pm_profile_decode(const void *data, size_t size, const struct pm_profile_limits *limits,
                       struct pm_arena *arena, struct pm_profile *profile, struct pm_error *error)
{
    if (!limits)
        limits = &pm_profile_limits_default;
    if (size > limits->decompressed_bytes)
        return pm_fail(error, PM_ERROR_INPUT, "profile: %zu bytes, more than %zu", size,
                       limits->decompressed_bytes);
    struct pm_bounded bounded;
    pm_bounded_init(&bounded, size);
    Piecemeal__Profile *message = piecemeal__profile__unpack(&bounded.allocator, size, data);
    const bool taken = message ? take_profile(message, limits, arena, profile, error) ||
                                     pm_fail_prefix(error, "profile")
                               : pm_fail(error, PM_ERROR_INPUT,
                                         "profile: %zu bytes that are no piecemeal profile", size);
    pm_bounded_finish(&bounded);
    return taken;
}
