#include "tools/common/estimates.h"
#include "aggregator_client/disk/database_cache.h"
#include "base/file.h"
#include "tools/common/sentence.h"
#include "tools/common/tool.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct games {
    struct pm_buffer names; /* ", "-separated */
    char *only;
    size_t count;
};

static bool note_game(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    struct games *games = user;
    (void)uploads;
    if (games->count++ == 0)
        games->only = strdup(game);
    return (pm_buffer_append_string(&games->names, games->count > 1 ? ", " : "") &&
            pm_buffer_append_string(&games->names, game)) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

char *pm_tool_only_game(struct pm_storage *storage, const char *path, struct pm_error *error)
{
    struct games games = {0};
    pm_buffer_init(&games.names, 65536);
    bool ok = storage->operations->list_games(storage, note_game, &games, error);
    if (ok && games.count == 0)
        ok = pm_fail(error, PM_ERROR_STATE, "%s: no game has sent anything yet", path);
    else if (ok && games.count > 1)
        ok = pm_fail(error, PM_ERROR_INPUT, "%s has several games, name one with --game: %s", path,
                     (const char *)games.names.data);
    pm_buffer_finish(&games.names);
    if (!ok) {
        free(games.only);
        games.only = NULL;
    }
    return games.only;
}

struct pm_aggregator *pm_tool_open_storage(const char *path, const struct pm_aggregator_info *info,
                                           struct pm_error *error)
{
    char *local = path ? NULL : pm_tool_local_storage();
    const char *name = path ? path : local;
    struct pm_aggregator *aggregator = NULL;
    if (!name)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    else if (!pm_aggregator_is_remote(name) && access(name, R_OK) != 0)
        pm_fail(error, PM_ERROR_STATE, "%s: there is no aggregator database", name);
    else
        aggregator = pm_aggregator_open(name, info, error);
    free(local);
    return aggregator;
}

/* What of it is published: what the storage's published database has, which the API serves. Where
 * none was ever published, what is covered. */
static bool mark_published(struct pm_estimates *estimates, const char *scene,
                           struct pm_error *error)
{
    char etag[PM_ETAG_TEXT];
    struct pm_database published, *database = &estimates->database;
    struct pm_buffer body, plain;
    struct pm_error why = {0};
    const struct pm_publication publication = {.game = database->game, .scene = scene ? scene : ""};
    pm_buffer_init(&body, 2 * PM_DATABASE_BYTES);
    pm_buffer_init(&plain, PM_DATABASE_BYTES);
    const bool known =
        pm_aggregator_publication(estimates->aggregator, &publication, etag, &body, &why);
    bool done = known || why.code == PM_ERROR_STATE;
    if (known)
        done = pm_decompress(body.data, body.size, &plain, &why) &&
               pm_database_decode(plain.data, plain.size, estimates->arena, &published, &why);
    struct pm_shader_estimates *shaders =
        known && done ? pm_arena_dup(estimates->arena, database->shaders,
                                     database->shader_count * sizeof(*shaders))
                      : NULL;
    for (size_t i = 0; shaders && i < database->shader_count; i++) {
        const struct pm_shader_estimates *found =
            pm_database_find(&published, &shaders[i].key, &shaders[i].environment, shaders[i].kind);
        shaders[i].published = found && found->published;
    }
    if (shaders)
        database->shaders = shaders;
    else if (known && done)
        done = pm_fail(&why, PM_ERROR_MEMORY, "out of memory");
    if (!done && error)
        *error = why;
    pm_buffer_finish(&body);
    pm_buffer_finish(&plain);
    return done;
}

/* The game that ran here last, where the storage knows it; malloc'ed. */
static char *latest_game(struct pm_storage *storage)
{
    struct pm_session_status status;
    bool known = false;
    uint64_t uploads = 0;
    return pm_sentence_of(NULL, 0, &status) &&
                   storage->operations->find_game(storage, status.game, &known, &uploads, NULL) &&
                   known
               ? strdup(status.game)
               : NULL;
}

static bool load_storage(const char *path, const struct pm_estimates_source *source,
                         struct pm_estimates *estimates, struct pm_error *error)
{
    const struct pm_aggregator_info info = {.publish_all = true,
                                            .half_life_days = PM_HALF_LIFE_DAYS,
                                            .retention_days = PM_RETENTION_DAYS};
    estimates->aggregator = pm_tool_open_storage(path, &info, error);
    if (!estimates->aggregator)
        return false;
    const char *game = source->game;
    struct pm_storage *storage = pm_aggregator_storage(estimates->aggregator);
    char *only = !game && source->latest && !source->storage ? latest_game(storage) : NULL;
    if (!game && !only)
        only = pm_tool_only_game(storage, path, error);
    if (!game && !only)
        return false;
    const char *name = pm_arena_strdup(estimates->arena, game ? game : only);
    free(only);
    if (!name)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    return pm_aggregator_estimates(estimates->aggregator, name, source->scene, estimates->arena,
                                   &estimates->database, error) &&
           mark_published(estimates, source->scene, error);
}

static bool load_body(const char *path, struct pm_estimates *estimates, struct pm_error *error)
{
    struct pm_buffer body, plain;
    pm_buffer_init(&body, 2 * PM_DATABASE_BYTES);
    pm_buffer_init(&plain, PM_DATABASE_BYTES);
    bool ok =
        pm_file_read(path, &body, error) && pm_decompress(body.data, body.size, &plain, error) &&
        pm_database_decode(plain.data, plain.size, estimates->arena, &estimates->database, error);
    pm_buffer_finish(&body);
    pm_buffer_finish(&plain);
    return ok;
}

bool pm_estimates_load(const struct pm_estimates_source *source, struct pm_estimates *estimates,
                       struct pm_error *error)
{
    if (source->scene && source->database)
        return pm_fail(error, PM_ERROR_INPUT,
                       "a database that was pulled does not tell scenes apart");
    *estimates = (struct pm_estimates){.arena = pm_arena_create((size_t)2 << 30)};
    if (!estimates->arena)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    char *found = NULL;
    bool body = source->database != NULL;
    const char *path = body ? source->database : source->storage;
    if (!path) {
        path = found = pm_tool_local_storage();
        if (found && access(found, R_OK) != 0 && source->game) {
            free(found);
            path = found = pm_database_cache_path(source->game);
            body = true;
            if (found && access(found, R_OK) != 0) {
                pm_fail(error, PM_ERROR_STATE,
                        "nothing is known of %s here: no local aggregator, and no %s", source->game,
                        found);
                free(found);
                pm_estimates_finish(estimates);
                return false;
            }
        }
    }
    bool ok = (path && (estimates->origin = pm_arena_strdup(estimates->arena, path))) ||
              pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    ok = ok &&
         (body ? load_body(path, estimates, error) : load_storage(path, source, estimates, error));
    free(found);
    if (!ok)
        pm_estimates_finish(estimates);
    return ok;
}

void pm_estimates_finish(struct pm_estimates *estimates)
{
    pm_aggregator_destroy(estimates->aggregator);
    pm_arena_destroy(estimates->arena);
    *estimates = (struct pm_estimates){0};
}

static int compare_calls(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

bool pm_estimates_coverage(const struct pm_shader_estimates *shader, struct pm_coverage *coverage)
{
    *coverage = (struct pm_coverage){.points = shader->space};
    if (!shader->points || shader->space == 0)
        return true;
    uint32_t *calls = malloc(shader->space * sizeof(*calls));
    if (!calls)
        return false;
    for (uint32_t i = 0; i < shader->space; i++) {
        calls[i] = shader->points[i].calls;
        /* How often a candidate is written or a word loaded is known before what it is then. */
        const unsigned runs = shader->kind == PM_KIND_ZERO       ? PM_MEASURE_WRITES
                              : shader->kind == PM_KIND_CONSTANT ? PM_MEASURE_LOADS
                                                                 : 0;
        coverage->covered += shader->points[i].measures[runs].clusters > 0;
    }
    qsort(calls, shader->space, sizeof(*calls), compare_calls);
    coverage->calls_least = calls[0];
    coverage->calls_median = calls[shader->space / 2];
    coverage->calls_most = calls[shader->space - 1];
    free(calls);
    return true;
}

const struct pm_shader_estimates *pm_estimates_next_timing(const struct pm_database *database,
                                                           const struct pm_shader_estimates *shader,
                                                           const struct pm_shader_estimates *behind)
{
    const struct pm_shader_estimates *timing = behind ? behind + 1 : database->shaders;
    for (; timing < database->shaders + database->shader_count; timing++) {
        if (timing->kind == PM_KIND_TIMING &&
            timing->environment.subgroup_size == shader->environment.subgroup_size &&
            pm_shader_key_equal(&timing->original, &shader->key))
            return timing;
    }
    return NULL;
}

void pm_estimates_describe_timing(const struct pm_shader_estimates *timing,
                                  char text[static PM_TIMING_TEXT])
{
    const struct pm_environment *environment = &timing->environment;
    const struct pm_ratio *time =
        timing->points ? &timing->points[0].measures[PM_MEASURE_TIME] : NULL;
    const struct pm_ratio *spread = time ? time + PM_MEASURE_SPREAD : NULL;
    char measured[80] = "not measured enough yet", within[40] = "";
    if (time && time->clusters > 0)
        snprintf(measured, sizeof(measured), "time %.3f [%.3f, %.3f] of the original's", time->mean,
                 time->mean_low, time->mean_high);
    if (spread && spread->clusters > 0)
        snprintf(within, sizeof(within), ", a trial to ±%.3f", spread->mean);
    snprintf(text, PM_TIMING_TEXT, "%s%s on vendor %#x, device %#x, driver %u version %#x",
             measured, within, environment->vendor_id, environment->device_id,
             environment->driver_id, environment->driver_version);
}

const char *pm_measure_title(enum pm_kind kind, unsigned measure)
{
    static const char *const titles[][PM_MEASURES] = {
        [PM_KIND_BLOCK] = {"FREQ", "UNIFORM", "SUBGROUPS"},
        [PM_KIND_ZERO] = {"P(zero)", "WRITES"},
        [PM_KIND_TIMING] = {"TIME", "SPREAD"},
        [PM_KIND_CONSTANT] = {"P(same)", "P(zero)", "LOADS"},
        [PM_KIND_TURNS] = {"FREQ", "UNIFORM", "SUBGROUPS"},
    };
    return measure < pm_measure_count(kind) ? titles[kind][measure] : "?";
}
