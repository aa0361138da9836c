#include "profile/database_check.h"
#include "profile/wire.h"

static bool fill_points(const struct pm_shader_estimates *shader, struct pm_arena *arena,
                        Piecemeal__ShaderEstimates *message)
{
    const size_t n = shader->space, measures = pm_measures_written(shader);
    message->calls = pm_arena_zalloc(arena, n, sizeof(*message->calls));
    message->sessions = pm_arena_zalloc(arena, n, sizeof(*message->sessions));
    message->clusters = pm_arena_zalloc(arena, n, measures * sizeof(*message->clusters));
    message->values =
        pm_arena_zalloc(arena, n, measures * PM_RATIO_VALUES * sizeof(*message->values));
    if (!message->calls || !message->sessions || !message->clusters || !message->values)
        return false;
    message->n_calls = message->n_sessions = n;
    message->n_clusters = n * measures;
    message->n_values = n * measures * PM_RATIO_VALUES;
    float *value = message->values;
    for (size_t i = 0; i < n; i++) {
        const struct pm_point_estimate *point = &shader->points[i];
        message->calls[i] = point->calls;
        message->sessions[i] = point->sessions;
        for (size_t m = 0; m < measures; m++) {
            const struct pm_ratio *ratio = &point->measures[m];
            message->clusters[i * measures + m] = ratio->clusters;
            *value++ = (float)ratio->mean;
            *value++ = (float)ratio->mean_low;
            *value++ = (float)ratio->mean_high;
            *value++ = (float)ratio->ratio;
            *value++ = (float)ratio->ratio_low;
            *value++ = (float)ratio->ratio_high;
        }
    }
    return true;
}

static Piecemeal__ShaderEstimates *fill_shader(const struct pm_shader_estimates *shader,
                                               struct pm_arena *arena)
{
    Piecemeal__ShaderEstimates *message = pm_arena_alloc(arena, sizeof(*message));
    Piecemeal__Environment *environment = pm_environment_pack(&shader->environment, arena);
    if (!message || !environment)
        return NULL;
    piecemeal__shader_estimates__init(message);
    message->key = pm_bytes_pack(shader->key.bytes, sizeof(shader->key.bytes));
    message->original = pm_original_pack(&shader->original);
    message->environment = environment;
    message->kind = shader->kind;
    message->flags = shader->flags;
    message->space = shader->space;
    message->candidates = shader->candidates;
    message->as_of_day = shader->as_of_day;
    message->published = shader->published;
    message->entry_lanes = shader->entry_lanes;
    message->lying_tokens = shader->lying.tokens;
    message->lying_error = (float)shader->lying.error;
    if (shader->deficit)
        message->deficit = pm_bytes_pack(shader->deficit, pm_bitmap_bytes(shader->space));
    if (shader->provisional)
        message->provisional = pm_bytes_pack(shader->provisional, shader->space);
    if (shader->published && !fill_points(shader, arena, message))
        return NULL;
    return message;
}

static bool fill_database(const struct pm_database *database, struct pm_arena *arena,
                          Piecemeal__Database *message)
{
    piecemeal__database__init(message);
    message->version = PM_DATABASE_VERSION;
    message->game = (char *)database->game;
    message->curated_at = database->curated_at;
    message->shaders = pm_arena_zalloc(arena, database->shader_count, sizeof(*message->shaders));
    if (!message->shaders)
        return false;
    for (size_t i = 0; i < database->shader_count; i++) {
        message->shaders[i] = fill_shader(&database->shaders[i], arena);
        if (!message->shaders[i])
            return false;
    }
    message->n_shaders = database->shader_count;
    return true;
}

bool pm_database_encode(const struct pm_database *database, struct pm_buffer *out,
                        struct pm_error *error)
{
    if (!pm_database_check(database, error))
        return pm_fail_prefix(error, "database");
    struct pm_arena *arena = pm_arena_create((size_t)1 << 30);
    Piecemeal__Database message;
    const bool encoded =
        arena && fill_database(database, arena, &message)
            ? pm_message_append(&message.base, PM_DATABASE_BYTES, "database", out, error)
            : pm_fail(error, PM_ERROR_MEMORY, "out of memory for encoding a database");
    pm_arena_destroy(arena);
    return encoded;
}
