#include "profile/database.h"
#include "base/name.h"
#include "profile/database_wire.h"
#include "profile/wire.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Keys, environment, the small numbers and the heads of the columns. */
enum { SHADER_BYTES = 192, VARINT32_BYTES = 5 };

_Static_assert(sizeof(struct pm_ratio) >= PM_RATIO_VALUES * sizeof(double), "the six values lead");

const char *pm_kind_name(enum pm_kind kind)
{
    switch (kind) {
    case PM_KIND_BLOCK:
        return "block";
    case PM_KIND_ZERO:
        return "zero";
    case PM_KIND_TIMING:
        return "timing";
    }
    return "unknown";
}

const char *pm_measure_name(enum pm_kind kind, unsigned measure)
{
    static const char *const names[][PM_MEASURES] = {
        [PM_KIND_BLOCK] = {"frequency", "uniform", "subgroups"},
        [PM_KIND_ZERO] = {"zero", "writes"},
        [PM_KIND_TIMING] = {"time"},
    };
    return measure < pm_measure_count(kind) ? names[kind][measure] : NULL;
}

unsigned pm_measure_count(enum pm_kind kind)
{
    switch (kind) {
    case PM_KIND_BLOCK:
        return 3;
    case PM_KIND_ZERO:
        return 2;
    case PM_KIND_TIMING:
        return 1;
    }
    return 0;
}

size_t pm_shader_estimates_bytes(const struct pm_shader_estimates *shader)
{
    const size_t measures = pm_measure_count(shader->kind);
    const size_t point =
        2 * VARINT32_BYTES + measures * (VARINT32_BYTES + PM_RATIO_VALUES * sizeof(float));
    return SHADER_BYTES + (shader->deficit ? pm_bitmap_bytes(shader->space) : 0) +
           (shader->published ? shader->space * point : 0);
}

static bool fill_points(const struct pm_shader_estimates *shader, struct pm_arena *arena,
                        Piecemeal__ShaderEstimates *message)
{
    const size_t n = shader->space, measures = pm_measure_count(shader->kind);
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
    Piecemeal__Environment *environment = pm_arena_alloc(arena, sizeof(*environment));
    if (!message || !environment)
        return NULL;
    piecemeal__shader_estimates__init(message);
    pm_environment_fill(environment, &shader->environment);
    message->key = (ProtobufCBinaryData){sizeof(shader->key.bytes), (uint8_t *)shader->key.bytes};
    message->original = pm_key_bytes(&shader->original);
    message->environment = environment;
    message->kind = shader->kind;
    message->flags = shader->flags;
    message->space = shader->space;
    message->published = shader->published;
    message->entry_lanes = shader->entry_lanes;
    if (shader->deficit)
        message->deficit =
            (ProtobufCBinaryData){pm_bitmap_bytes(shader->space), (uint8_t *)shader->deficit};
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

/* Orders a shader against what is looked for; flags may be any. */
static int compare_to(const struct pm_shader_estimates *shader, const struct pm_shader_key *key,
                      const struct pm_environment *environment, enum pm_kind kind)
{
    return pm_identity_compare(&shader->key, &shader->environment, shader->kind, 0, key,
                               environment, kind, 0);
}

const struct pm_shader_estimates *pm_database_find(const struct pm_database *database,
                                                   const struct pm_shader_key *key,
                                                   const struct pm_environment *environment,
                                                   enum pm_kind kind)
{
    /* The first that is not before it: of several with different flags the one with the lowest. */
    size_t low = 0, high = database->shader_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_to(&database->shaders[middle], key, environment, kind) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == database->shader_count ||
        compare_to(&database->shaders[low], key, environment, kind) != 0)
        return NULL;
    return &database->shaders[low];
}

static bool all_finite(const struct pm_ratio *ratio)
{
    return isfinite((float)ratio->mean) && isfinite((float)ratio->mean_low) &&
           isfinite((float)ratio->mean_high) && isfinite((float)ratio->ratio) &&
           isfinite((float)ratio->ratio_low) && isfinite((float)ratio->ratio_high);
}

static bool check_shader(const struct pm_shader_estimates *shader, size_t index,
                         struct pm_error *error)
{
    const char *wrong = pm_identity_wrong(&shader->environment, shader->kind, shader->flags,
                                          shader->space, &shader->original);
    if (wrong)
        return pm_fail(error, PM_ERROR_INPUT, "shader %zu: %s", index, wrong);
    if (shader->space > pm_profile_limits_default.space)
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %zu: field space is %" PRIu32 ", more than %zu", index,
                       shader->space, pm_profile_limits_default.space);
    if (shader->deficit && !pm_bitmap_is_tidy(shader->deficit, shader->space))
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %zu: field deficit has bits outside its space of %" PRIu32, index,
                       shader->space);
    if (shader->published != (shader->points != NULL))
        return pm_fail(error, PM_ERROR_INPUT, "shader %zu: is %s, but has %s points", index,
                       shader->published ? "published" : "not published",
                       shader->published ? "no" : "the estimates of its");
    for (uint32_t i = 0; shader->points && i < shader->space; i++) {
        for (size_t m = 0; m < pm_measure_count(shader->kind); m++) {
            if (!all_finite(&shader->points[i].measures[m]))
                return pm_fail(error, PM_ERROR_INPUT,
                               "shader %zu: point %" PRIu32 ": measure %zu is not finite", index, i,
                               m);
        }
    }
    return true;
}

bool pm_database_check(const struct pm_database *database, struct pm_error *error)
{
    if (!pm_game_check(database->game, "field game", pm_profile_limits_default.name_bytes, error))
        return false;
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &database->shaders[i], *before = shader - 1;
        if (!check_shader(shader, i, error))
            return false;
        if (i > 0 && pm_identity_compare(&before->key, &before->environment, before->kind,
                                         before->flags, &shader->key, &shader->environment,
                                         shader->kind, shader->flags) >= 0)
            return pm_fail(error, PM_ERROR_INPUT, "shader %zu: is repeated or out of order", i);
    }
    return true;
}
