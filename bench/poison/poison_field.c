#include "bench/poison/poison_field.h"

#include "aggregator/curation/curate.h"
#include <libpq-fe.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP 1000 /* uploads of one transaction */
#define SUBGROUP 32
#define ENOUGH (UINT64_C(1) << 50) /* lanes; more overflow what is made of them */

static int64_t clock_of(void *user)
{
    return ((const struct poison_field *)user)->now;
}

/* The schema "poison" anew; the URL of it is the arena's. NULL: it cannot be made. */
static const char *fresh_schema(struct poison_field *field, const char *url, struct pm_error *error)
{
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(
        connection, "SET client_min_messages = warning; DROP SCHEMA IF EXISTS poison CASCADE;"
                    " CREATE SCHEMA poison");
    const bool done =
        PQresultStatus(result) == PGRES_COMMAND_OK ||
        pm_fail(error, PM_ERROR_NETWORK, "no schema of its own: %s", PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
    if (!done)
        return NULL;
    const char *own = pm_arena_printf(field->arena, "%s%coptions=-csearch_path%%3Dpoison", url,
                                      strchr(url, '?') ? '&' : '?');
    if (!own)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    return own;
}

bool poison_field_open(struct poison_field *field, const char *storage, uint64_t seed,
                       uint32_t max_games, double half_width, struct pm_error *error)
{
    char path[128];
    *field = (struct poison_field){.now = INT64_C(20000) * POISON_DAY + POISON_DAY / 2};
    pm_random_init(&field->random, seed);
    field->arena = pm_arena_create(0);
    if (!field->arena)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (!pm_work_folder_create(&field->folder, error))
        return false;
    if (storage && !(storage = fresh_schema(field, storage, error)))
        return false;
    snprintf(path, sizeof(path), "%s/storage", field->folder.path);
    const struct pm_aggregator_info info = {.token_clusters = PM_TOKEN_CLUSTERS,
                                            .min_tokens = PM_MIN_TOKENS,
                                            .half_life_days = PM_HALF_LIFE_DAYS,
                                            .retention_days = PM_RETENTION_DAYS,
                                            .max_games = max_games,
                                            .half_width_absolute = half_width,
                                            .clock = clock_of,
                                            .clock_user = field};
    field->aggregator = pm_aggregator_open(storage ? storage : path, &info, error);
    return field->aggregator != NULL;
}

void poison_field_close(struct poison_field *field)
{
    pm_aggregator_destroy(field->aggregator);
    pm_arena_destroy(field->arena);
    pm_work_folder_remove(&field->folder);
    free(field->profiles);
    free(field->tokens);
}

double poison_effect(struct pm_random *random, double sigma)
{
    const double u = 1 - pm_random_unit(random), v = pm_random_unit(random);
    return exp(sigma * sqrt(-2 * log(u)) * cos(2 * acos(-1) * v) - sigma * sigma / 2);
}

static struct pm_shader_key key_of(uint8_t number)
{
    struct pm_shader_key key;
    memset(key.bytes, number, sizeof(key.bytes));
    return key;
}

static struct pm_point_counts counts_of(uint32_t point, uint64_t lanes, uint64_t first,
                                        uint64_t second, uint64_t third)
{
    return (struct pm_point_counts){.point = point,
                                    .calls = 1,
                                    .entry_lanes = lanes,
                                    .entry_subgroups = (lanes + SUBGROUP - 1) / SUBGROUP,
                                    .counts = {first, second, third}};
}

bool poison_put(struct poison_field *field, const struct poison_upload *upload,
                struct pm_error *error)
{
    if (field->count == field->allocated) {
        const size_t allocated = field->allocated ? 2 * field->allocated : 1024;
        void *profiles = reallocarray(field->profiles, allocated, sizeof(*field->profiles));
        field->profiles = profiles ? profiles : field->profiles;
        void *tokens = reallocarray(field->tokens, allocated, sizeof(*field->tokens));
        field->tokens = tokens ? tokens : field->tokens;
        if (!profiles || !tokens)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu uploads", allocated);
        field->allocated = allocated;
    }
    struct pm_profile *profile = pm_arena_zalloc(field->arena, 1, sizeof(*profile));
    struct pm_shader_profile *shaders = pm_arena_zalloc(field->arena, 2, sizeof(*shaders));
    struct pm_point_counts *points = pm_arena_zalloc(field->arena, 3, sizeof(*points));
    char *game = pm_arena_strdup(field->arena, upload->game);
    uint8_t *once = pm_arena_zalloc(field->arena, upload->points / 8 + 1, 1);
    if (!profile || !shaders || !points || !game || !once)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for an upload");
    once[0] = 3;
    const uint64_t lanes = (uint64_t)fmin(ceil(upload->size), (double)ENOUGH);
    const uint64_t zeros = (uint64_t)((double)lanes * fmin(upload->zero, 1));
    const uint64_t run = (uint64_t)((double)lanes * upload->block);
    const uint64_t subgroups = run / SUBGROUP + (run % SUBGROUP != 0);
    points[0] = counts_of(0, lanes * SUBGROUP, lanes, zeros, 0);
    points[1] = counts_of(0, lanes, run, run / 2, subgroups);
    points[2] = counts_of(1, lanes, lanes, lanes, (lanes + SUBGROUP - 1) / SUBGROUP);
    shaders[0] = (struct pm_shader_profile){.key = key_of(1),
                                            .environment = {.subgroup_size = SUBGROUP},
                                            .kind = PM_KIND_ZERO,
                                            .space = 1,
                                            .points = &points[0],
                                            .point_count = 1};
    shaders[1] = (struct pm_shader_profile){.key = key_of(2),
                                            .environment = {.subgroup_size = SUBGROUP},
                                            .kind = PM_KIND_BLOCK,
                                            .space = upload->points,
                                            .at_most_once = upload->leaves_out_once ? NULL : once,
                                            .points = &points[1],
                                            .point_count = POISON_BLOCKS};
    *profile = (struct pm_profile){.game = game,
                                   .scene = "",
                                   .layer_version = "poison",
                                   .shaders = shaders,
                                   .shader_count = 2};
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++)
        profile->upload_id[i] = (uint8_t)pm_random_next(&field->random);
    field->profiles[field->count] = profile;
    struct pm_ingest_source *token = &field->tokens[field->count++];
    memset(token, 0, sizeof(*token));
    const uint64_t digest[2] = {pm_random_mix(upload->token), upload->token};
    memcpy(token->digest, digest, sizeof(token->digest));
    return true;
}

bool poison_send(struct poison_field *field, size_t first, uint64_t *refused,
                 struct pm_error *error)
{
    bool done = true;
    *refused = 0;
    for (size_t at = 0; done && at < field->count; at += GROUP) {
        const struct pm_ingest_source *sources[GROUP];
        struct pm_ingest_outcome outcomes[GROUP];
        const size_t left = field->count - at, size = left < GROUP ? left : GROUP;
        for (size_t i = 0; i < size; i++)
            sources[i] = &field->tokens[at + i];
        done = pm_aggregator_ingest_from(field->aggregator, field->profiles + at, sources, size,
                                         outcomes, error);
        for (size_t i = 0; done && i < size; i++)
            *refused += at + i >= first && outcomes[i].result != PM_INGEST_STORED;
    }
    field->count = 0;
    pm_arena_destroy(field->arena);
    field->arena = pm_arena_create(0);
    return done && (field->arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
}

bool poison_look(struct poison_field *field, const char *game, struct poison_found *found,
                 struct pm_error *error)
{
    struct pm_database database;
    struct pm_arena *arena = pm_arena_create(0);
    const bool done =
        (arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
        pm_aggregator_estimates(field->aggregator, game, NULL, arena, &database, error);
    *found = (struct poison_found){0};
    for (size_t i = 0; done && i < database.shader_count; i++) {
        const struct pm_shader_estimates *shader = &database.shaders[i];
        if (shader->kind == PM_KIND_ZERO) {
            found->zero_known = true;
            found->zero = shader->points[0].measures[PM_MEASURE_ZERO];
            found->zero_published = shader->published;
        } else {
            found->block_known = true;
            found->block = shader->points[0].measures[PM_MEASURE_FREQUENCY];
            found->block_published = shader->published;
            found->points = shader->space;
        }
    }
    pm_arena_destroy(arena);
    return done;
}

static bool see_bounds(void *user, const struct pm_judged *judged, struct pm_error *error)
{
    struct poison_bounds *bounds = user;
    const struct pm_point_estimate *point = &judged->shader->points[0];
    (void)error;
    if (judged->shader->kind == PM_KIND_ZERO) {
        bounds->zero = point->measures[PM_MEASURE_ZERO];
        bounds->zero_lying = judged->breakdown;
    } else {
        bounds->block = point->measures[PM_MEASURE_FREQUENCY];
        bounds->block_lying = judged->breakdown;
    }
    return true;
}

bool poison_look_at_bounds(struct poison_field *field, const char *game,
                           struct poison_bounds *bounds, struct pm_error *error)
{
    struct pm_curator *curator = pm_aggregator_curator(field->aggregator);
    const struct pm_shader_key keys[] = {key_of(1), key_of(2)};
    *bounds = (struct poison_bounds){0};
    return pm_aggregator_fold(field->aggregator, game, error) &&
           pm_curate_read_shader(curator, game, &keys[0], see_bounds, bounds, error) &&
           pm_curate_read_shader(curator, game, &keys[1], see_bounds, bounds, error);
}
