#include "profile/database_wire.h"
#include "profile/wire.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool column_wrong(struct pm_error *error, const char *what, const char *field, size_t has,
                         size_t need)
{
    return pm_fail(error, PM_ERROR_INPUT, "%s: field %s has %zu elements where %zu are needed",
                   what, field, has, need);
}

static bool take_points(const Piecemeal__ShaderEstimates *message, const char *what,
                        struct pm_arena *arena, struct pm_shader_estimates *shader,
                        struct pm_error *error)
{
    const size_t n = message->published ? message->space : 0;
    const size_t measures = pm_measure_count((enum pm_kind)message->kind);
    if (message->n_calls != n)
        return column_wrong(error, what, "calls", message->n_calls, n);
    if (message->n_sessions != n)
        return column_wrong(error, what, "sessions", message->n_sessions, n);
    if (message->n_clusters != n * measures)
        return column_wrong(error, what, "clusters", message->n_clusters, n * measures);
    if (message->n_values != n * measures * PM_RATIO_VALUES)
        return column_wrong(error, what, "values", message->n_values,
                            n * measures * PM_RATIO_VALUES);
    if (n == 0)
        return true;
    struct pm_point_estimate *points = pm_arena_zalloc(arena, n, sizeof(*points));
    if (!points)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", what);
    const float *value = message->values;
    for (size_t i = 0; i < n; i++) {
        points[i].calls = message->calls[i];
        points[i].sessions = message->sessions[i];
        for (size_t m = 0; m < measures; m++, value += PM_RATIO_VALUES) {
            points[i].measures[m] =
                (struct pm_ratio){.mean = value[0],
                                  .mean_low = value[1],
                                  .mean_high = value[2],
                                  .ratio = value[3],
                                  .ratio_low = value[4],
                                  .ratio_high = value[5],
                                  .clusters = message->clusters[i * measures + m]};
        }
    }
    shader->points = points;
    return true;
}

static bool take_shader(const Piecemeal__ShaderEstimates *message, size_t index,
                        struct pm_arena *arena, struct pm_shader_estimates *shader,
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
    shader->published = message->published;
    shader->entry_lanes = message->entry_lanes;
    if (message->deficit.len > 0) {
        if (message->deficit.len != pm_bitmap_bytes(message->space))
            return pm_fail(error, PM_ERROR_INPUT,
                           "%s: field deficit has %zu bytes where a space of %" PRIu32 " needs %zu",
                           what, message->deficit.len, message->space,
                           pm_bitmap_bytes(message->space));
        shader->deficit = pm_arena_dup(arena, message->deficit.data, message->deficit.len);
        if (!shader->deficit)
            return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", what);
    }
    return take_points(message, what, arena, shader, error);
}

static bool take_database(const Piecemeal__Database *message, struct pm_arena *arena,
                          struct pm_database *database, struct pm_error *error)
{
    if (message->version != PM_DATABASE_VERSION)
        return pm_fail(error, PM_ERROR_INPUT, "field version is %" PRIu32 "; this program knows %u",
                       message->version, PM_DATABASE_VERSION);
    if (!pm_no_unknown_fields(&message->base, "message", error))
        return false;
    struct pm_shader_estimates *shaders =
        pm_arena_zalloc(arena, message->n_shaders, sizeof(*shaders));
    struct pm_database taken = {.game = pm_arena_strdup(arena, message->game),
                                .curated_at = message->curated_at,
                                .shaders = shaders,
                                .shader_count = message->n_shaders};
    if (!shaders || !taken.game)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < message->n_shaders; i++) {
        if (!take_shader(message->shaders[i], i, arena, &shaders[i], error))
            return false;
    }
    if (!pm_database_check(&taken, error))
        return false;
    *database = taken;
    return true;
}

bool pm_database_decode(const void *data, size_t size, struct pm_arena *arena,
                        struct pm_database *database, struct pm_error *error)
{
    if (size > PM_DATABASE_BYTES)
        return pm_fail(error, PM_ERROR_INPUT, "database: %zu bytes, more than %zu", size,
                       PM_DATABASE_BYTES);
    struct pm_bounded bounded;
    pm_bounded_init(&bounded, size);
    Piecemeal__Database *message = piecemeal__database__unpack(&bounded.allocator, size, data);
    const bool taken =
        message
            ? take_database(message, arena, database, error) || pm_fail_prefix(error, "database")
            : pm_fail(error, PM_ERROR_INPUT, "database: %zu bytes that are no PGO database", size);
    pm_bounded_finish(&bounded);
    return taken;
}
