#include "profile/database_check.h"

#include "base/stop.h"
#include "profile/wire.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool take_points(const Piecemeal__ShaderEstimates *message, const char *what,
                        struct pm_arena *arena, struct pm_shader_estimates *shader,
                        struct pm_error *error)
{
    const size_t n = message->published ? message->space : 0;
    const bool plain = message->kind == PM_KIND_TIMING && message->n_clusters == n;
    const size_t measures = plain ? 1 : pm_measure_count((enum pm_kind)message->kind);
    if (!pm_column_check(what, "calls", message->n_calls, n, error) ||
        !pm_column_check(what, "sessions", message->n_sessions, n, error) ||
        !pm_column_check(what, "clusters", message->n_clusters, n * measures, error) ||
        !pm_column_check(what, "values", message->n_values, n * measures * PM_RATIO_VALUES, error))
        return false;
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

static bool take_provisional(const ProtobufCBinaryData *levels, const char *what,
                             struct pm_arena *arena, struct pm_shader_estimates *shader,
                             struct pm_error *error)
{
    if (levels->len == 0)
        return true;
    if (!pm_column_check(what, "provisional", levels->len, shader->space, error))
        return false;
    shader->provisional = pm_arena_dup(arena, levels->data, levels->len);
    return shader->provisional || pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", what);
}

static bool take_shader(const Piecemeal__ShaderEstimates *message, size_t index,
                        struct pm_arena *arena, struct pm_shader_estimates *shader,
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
    shader->as_of_day = message->as_of_day;
    shader->published = message->published;
    shader->entry_lanes = message->entry_lanes;
    shader->lying = (struct pm_lying){message->lying_tokens, message->lying_error};
    return pm_bitmap_take(&message->deficit, message->space, what, "deficit", arena,
                          &shader->deficit, error) &&
           take_provisional(&message->provisional, what, arena, shader, error) &&
           take_points(message, what, arena, shader, error);
}

struct taking {
    struct pm_arena *arena;
    struct pm_database *database;
};

static bool take_database(void *user, const ProtobufCMessage *any, struct pm_error *error)
{
    const struct taking *taking = user;
    struct pm_arena *arena = taking->arena;
    const Piecemeal__Database *message = (const Piecemeal__Database *)any;
    if (!pm_version_check(&message->base, message->version, PM_DATABASE_VERSION, error))
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
        if (!pm_stop_check(error) ||
            !take_shader(message->shaders[i], i, arena, &shaders[i], error))
            return false;
    }
    if (!pm_database_check(&taken, error))
        return false;
    *taking->database = taken;
    return true;
}

bool pm_database_decode(const void *data, size_t size, struct pm_arena *arena,
                        struct pm_database *database, struct pm_error *error)
{
    struct taking taking = {arena, database};
    static const struct pm_message_kind kind = {&piecemeal__database__descriptor, "database",
                                                "PGO database"};
    return pm_message_read(&kind, data, size, PM_DATABASE_BYTES, take_database, &taking, error);
}
