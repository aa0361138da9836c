#include "profile/profile_check.h"
#include "profile/wire.h"
#include <string.h>

/* Turns a shader's points into columns, which the message then points to. */
static bool fill_columns(const struct pm_shader_profile *shader, struct pm_arena *arena,
                         Piecemeal__ShaderProfile *message)
{
    size_t n = shader->point_count;
    if (n == 0)
        return true;
    message->point = pm_arena_zalloc(arena, n, sizeof(*message->point));
    message->calls = pm_arena_zalloc(arena, n, sizeof(*message->calls));
    message->entry_lanes = pm_arena_zalloc(arena, n, sizeof(*message->entry_lanes));
    message->entry_subgroups = pm_arena_zalloc(arena, n, sizeof(*message->entry_subgroups));
    message->counts = pm_arena_zalloc(arena, n, PM_COUNTS * sizeof(*message->counts));
    message->lanes_alone = pm_arena_zalloc(arena, n, sizeof(*message->lanes_alone));
    if (!message->point || !message->calls || !message->entry_lanes || !message->entry_subgroups ||
        !message->counts || !message->lanes_alone)
        return false;
    message->n_point = message->n_calls = message->n_entry_lanes = message->n_entry_subgroups = n;
    message->n_counts = n * PM_COUNTS;
    for (size_t i = 0; i < n; i++) {
        const struct pm_point_counts *point = &shader->points[i];
        message->point[i] = point->point;
        message->calls[i] = point->calls;
        message->entry_lanes[i] = point->entry_lanes;
        message->entry_subgroups[i] = point->entry_subgroups;
        memcpy(message->counts + i * PM_COUNTS, point->counts, sizeof(point->counts));
        message->lanes_alone[i] = point->lanes_alone;
        /* Nobody before can read it, so it is there only where it says something. */
        message->n_lanes_alone = point->lanes_alone > 0 ? n : message->n_lanes_alone;
    }
    return true;
}

static Piecemeal__ShaderProfile *fill_shader(const struct pm_shader_profile *shader,
                                             struct pm_arena *arena)
{
    Piecemeal__ShaderProfile *message = pm_arena_alloc(arena, sizeof(*message));
    Piecemeal__Environment *environment = pm_environment_pack(&shader->environment, arena);
    if (!message || !environment)
        return NULL;
    piecemeal__shader_profile__init(message);
    message->key = pm_bytes_pack(shader->key.bytes, sizeof(shader->key.bytes));
    message->original = pm_original_pack(&shader->original);
    message->environment = environment;
    message->kind = shader->kind;
    message->flags = shader->flags;
    message->space = shader->space;
    message->candidates = shader->candidates;
    if (shader->at_most_once)
        message->at_most_once = pm_bytes_pack(shader->at_most_once, pm_bitmap_bytes(shader->space));
    return fill_columns(shader, arena, message) ? message : NULL;
}

static bool fill_profile(const struct pm_profile *profile, struct pm_arena *arena,
                         Piecemeal__Profile *message)
{
    piecemeal__profile__init(message);
    message->version = PM_PROFILE_VERSION;
    message->upload_id = pm_bytes_pack(profile->upload_id, PM_UPLOAD_ID_BYTES);
    message->game = (char *)profile->game;
    message->scene = (char *)profile->scene;
    message->layer_version = (char *)profile->layer_version;
    message->day = profile->day;
    message->shaders = pm_arena_zalloc(arena, profile->shader_count, sizeof(*message->shaders));
    if (!message->shaders)
        return false;
    for (size_t i = 0; i < profile->shader_count; i++) {
        message->shaders[i] = fill_shader(&profile->shaders[i], arena);
        if (!message->shaders[i])
            return false;
    }
    message->n_shaders = profile->shader_count;
    /* Nobody before can read it, so it is there only where it says something. */
    for (size_t i = 0; i < PM_LEFT_ALONE_WHYS; i++)
        message->n_left_alone = profile->left_alone[i] > 0 ? i + 1 : message->n_left_alone;
    message->left_alone = pm_arena_dup(arena, profile->left_alone, sizeof(profile->left_alone));
    return message->left_alone != NULL;
}

bool pm_profile_encode(const struct pm_profile *profile, struct pm_buffer *out,
                       struct pm_error *error)
{
    if (!pm_profile_check(profile, &pm_profile_limits_default, error))
        return pm_fail_prefix(error, "profile");
    struct pm_arena *arena = pm_arena_create(0);
    Piecemeal__Profile message;
    const bool encoded =
        arena && fill_profile(profile, arena, &message)
            ? pm_message_append(&message.base, out->cap - out->size, "profile", out, error)
            : pm_fail(error, PM_ERROR_MEMORY, "out of memory for encoding a profile");
    pm_arena_destroy(arena);
    return encoded;
}
