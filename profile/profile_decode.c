#include "base/name.h"
#include "profile/profile_check.h"
#include "profile/wire.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool take_columns(const Piecemeal__ShaderProfile *message, const char *what,
                         struct pm_arena *arena, struct pm_shader_profile *shader,
                         struct pm_error *error)
{
    size_t n = message->n_point;
    if (!pm_column_check(what, "calls", message->n_calls, n, error) ||
        !pm_column_check(what, "entry_lanes", message->n_entry_lanes, n, error) ||
        !pm_column_check(what, "entry_subgroups", message->n_entry_subgroups, n, error) ||
        !pm_column_check(what, "counts", message->n_counts, n * PM_COUNTS, error) ||
        (message->n_lanes_alone > 0 &&
         !pm_column_check(what, "lanes_alone", message->n_lanes_alone, n, error)))
        return false;
    struct pm_point_counts *points = pm_arena_zalloc(arena, n, sizeof(*points));
    if (!points)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", what);
    for (size_t i = 0; i < n; i++) {
        points[i].point = message->point[i];
        points[i].calls = message->calls[i];
        points[i].entry_lanes = message->entry_lanes[i];
        points[i].entry_subgroups = message->entry_subgroups[i];
        memcpy(points[i].counts, message->counts + i * PM_COUNTS, sizeof(points[i].counts));
        points[i].lanes_alone = message->n_lanes_alone > 0 ? message->lanes_alone[i] : 0;
    }
    shader->points = points;
    shader->point_count = n;
    return true;
}

static bool take_shader(const Piecemeal__ShaderProfile *message, size_t index,
                        struct pm_arena *arena, struct pm_shader_profile *shader,
                        struct pm_error *error)
{
    const struct pm_wire_shader from = {&message->base, message->environment, &message->key,
                                        &message->original};
    char what[48];
    snprintf(what, sizeof(what), "shader %zu", index);
    if (!pm_wire_shader_take(&from, what, &shader->key, &shader->environment, &shader->original,
                             error))
        return false;
    shader->kind = (enum pm_kind)message->kind;
    shader->flags = message->flags;
    shader->space = message->space;
    shader->candidates = message->candidates;
    return pm_bitmap_take(&message->at_most_once, message->space, what, "at_most_once", arena,
                          &shader->at_most_once, error) &&
           take_columns(message, what, arena, shader, error);
}

/* What is read, and by which limits. */
struct taking {
    const struct pm_profile_limits *limits;
    struct pm_arena *arena;
    struct pm_profile *profile;
};

static bool take_profile(void *user, const ProtobufCMessage *any, struct pm_error *error)
{
    const struct taking *taking = user;
    const struct pm_profile_limits *limits = taking->limits;
    struct pm_arena *arena = taking->arena;
    struct pm_profile *profile = taking->profile;
    const Piecemeal__Profile *message = (const Piecemeal__Profile *)any;
    if (!pm_version_check(&message->base, message->version, PM_PROFILE_VERSION, error))
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
    taken.day = message->day;
    if (message->n_left_alone > PM_LEFT_ALONE_WHYS)
        return pm_fail(error, PM_ERROR_INPUT,
                       "field left_alone has %zu elements; this version knows %d reasons",
                       message->n_left_alone, PM_LEFT_ALONE_WHYS);
    for (size_t i = 0; i < message->n_left_alone; i++)
        taken.left_alone[i] = message->left_alone[i];
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
    struct taking taking = {limits, arena, profile};
    static const struct pm_message_kind kind = {&piecemeal__profile__descriptor, "profile",
                                                "piecemeal profile"};
    return pm_message_read(&kind, data, size, limits->decompressed_bytes, take_profile, &taking,
                           error);
}
