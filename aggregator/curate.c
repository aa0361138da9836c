#include "aggregator/curate.h"

#include "aggregator/aggregator_private.h"
#include "aggregator/estimate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One (key, environment, kind) while its blobs come in. */
struct curation {
    struct pm_aggregator *aggregator;
    bool everything;
    pm_curate_observe observe; /* NULL: nobody watches */
    void *user;
    struct pm_arena *arena;
    struct pm_curated *out;
    struct pm_shader_estimates
        *shaders; /* grows; malloc'ed, and so are their points and deficits */
    size_t allocated;
    size_t bytes; /* of their encodings, at most */
    bool open;    /* the fields below are of a shader */
    struct pm_storage_key key;
    struct pm_statistics plain, all; /* without flags; with any */
    uint32_t flags;                  /* of all */
};

/* ---- rules ---- */

bool pm_aggregator_is_covered(const struct pm_aggregator *aggregator, enum pm_kind kind,
                              const struct pm_point_estimate *point)
{
    if (kind == PM_KIND_TIMING)
        return point->calls >= aggregator->pairs_for_timing &&
               point->measures[PM_MEASURE_TIME].clusters > 0;
    const bool ran = kind == PM_KIND_ZERO ? point->measures[PM_MEASURE_ZERO].clusters > 0
                                          : point->measures[PM_MEASURE_FREQUENCY].ratio > 0;
    return ran || point->sessions >= aggregator->sessions_for_never;
}

/* weight: how much the measure matters, from 0 to 1. */
static bool is_narrow(const struct pm_aggregator *aggregator, const struct pm_ratio *ratio,
                      double weight)
{
    const double absolute = aggregator->half_width_absolute,
                 relative = aggregator->half_width_relative;
    return pm_estimate_is_narrow(ratio->mean * weight, ratio->mean_low * weight,
                                 ratio->mean_high * weight, absolute, relative) &&
           pm_estimate_is_narrow(ratio->ratio * weight, ratio->ratio_low * weight,
                                 ratio->ratio_high * weight, absolute, relative);
}

/* How often the point runs at most: a share of its runs (uniform lanes, zero writes) that is off by
 * some hundredths is off by that many hundredths of this only. Without it, a block that runs in one
 * session of a thousand would hold its shader back for ever. */
static double share_weight(enum pm_kind kind, const struct pm_point_estimate *point)
{
    const unsigned runs = kind == PM_KIND_ZERO ? PM_MEASURE_WRITES : PM_MEASURE_FREQUENCY;
    return fmin(point->measures[runs].ratio_high, 1);
}

static bool is_well_known(const struct pm_aggregator *aggregator, enum pm_kind kind,
                          const struct pm_point_estimate *point)
{
    for (unsigned i = 0; i < pm_measure_count(kind); i++) {
        const double weight = pm_estimate_is_share(kind, i) ? share_weight(kind, point) : 1;
        const struct pm_ratio *measure = &point->measures[i];
        if (measure->clusters > 0 && !is_narrow(aggregator, measure, weight))
            return false;
    }
    return true;
}

/* ---- one shader ---- */

struct judged {
    const struct pm_statistics *statistics;
    struct pm_point_estimate *points; /* `space` of them */
    uint8_t *deficit;
    uint32_t covered, lacking;
};

/* Estimates every point of the space. The arrays are malloc'ed, and the caller's also after a
 * failure. */
static bool judge(const struct pm_aggregator *aggregator, const struct pm_statistics *statistics,
                  struct judged *out, struct pm_error *error)
{
    const struct pm_point_statistics none = {0};
    out->statistics = statistics;
    out->points = calloc(statistics->space, sizeof(*out->points));
    out->deficit = calloc(((size_t)statistics->space + 7) / 8, 1);
    if (!out->points || !out->deficit)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", statistics->space);
    size_t at = 0;
    for (uint32_t i = 0; i < statistics->space; i++) {
        const bool known = at < statistics->count && statistics->points[at].point == i;
        const struct pm_point_statistics *counts = known ? &statistics->points[at++] : &none;
        pm_estimate_point(statistics, counts, &out->points[i]);
        const bool covered =
            pm_aggregator_is_covered(aggregator, statistics->kind, &out->points[i]);
        out->covered += covered;
        if (!covered || (!aggregator->publish_all &&
                         !is_well_known(aggregator, statistics->kind, &out->points[i]))) {
            out->deficit[i / 8] = (uint8_t)(out->deficit[i / 8] | 1u << (i % 8));
            out->lacking++;
        }
    }
    return true;
}

static void judged_finish(struct judged *judged)
{
    free(judged->points);
    free(judged->deficit);
    memset(judged, 0, sizeof(*judged));
}

static uint64_t clamp_wide(const struct pm_wide *wide)
{
    return (wide->limbs[1] | wide->limbs[2]) != 0 ? UINT64_MAX : wide->limbs[0];
}

static void forget(struct pm_shader_estimates *shader)
{
    free((void *)shader->points);
    free((void *)shader->deficit);
    *shader = (struct pm_shader_estimates){0};
}

/* What is worth more to a game first: what was timed, since it is small, then what runs most. */
static int compare_worth(const void *a, const void *b)
{
    const struct pm_shader_estimates *left = *(struct pm_shader_estimates *const *)a;
    const struct pm_shader_estimates *right = *(struct pm_shader_estimates *const *)b;
    if ((left->kind == PM_KIND_TIMING) != (right->kind == PM_KIND_TIMING))
        return left->kind == PM_KIND_TIMING ? -1 : 1;
    if (left->entry_lanes != right->entry_lanes)
        return left->entry_lanes > right->entry_lanes ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* Keeps what fits the database, and the order of it. */
static bool trim(struct curation *curation, struct pm_error *error)
{
    struct pm_database *database = &curation->out->database;
    struct pm_shader_estimates *shaders = curation->shaders;
    struct pm_shader_estimates **order = calloc(database->shader_count + 1, sizeof(*order));
    if (!order)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu shaders",
                       database->shader_count);
    for (size_t i = 0; i < database->shader_count; i++)
        order[i] = &shaders[i];
    qsort(order, database->shader_count, sizeof(*order), compare_worth);
    curation->bytes = 0;
    for (size_t i = 0; i < database->shader_count; i++) {
        const size_t bytes = pm_shader_estimates_bytes(order[i]);
        if (curation->bytes + bytes <= curation->aggregator->database_bytes)
            curation->bytes += bytes;
        else
            forget(order[i]);
    }
    free(order);
    size_t kept = 0;
    for (size_t i = 0; i < database->shader_count; i++) {
        if (shaders[i].space > 0)
            shaders[kept++] = shaders[i];
    }
    curation->out->left_out += database->shader_count - kept;
    database->shader_count = kept;
    return true;
}

static bool show(const struct curation *curation, const struct judged *judged,
                 const struct pm_shader_estimates *shader, struct pm_error *error)
{
    struct pm_shader_estimates whole = *shader;
    if (!curation->observe)
        return true;
    whole.points = judged->points;
    whole.deficit = judged->lacking > 0 ? judged->deficit : NULL;
    const struct pm_judged shown = {&whole, judged->statistics, judged->covered, judged->lacking};
    return curation->observe(curation->user, &shown, error);
}

/* Takes the points and the deficit from *judged where it keeps them. */
static bool append(struct curation *curation, struct judged *judged, uint32_t flags,
                   struct pm_error *error)
{
    struct pm_database *database = &curation->out->database;
    if (database->shader_count == curation->allocated) {
        const size_t allocated = curation->allocated ? curation->allocated * 2 : 64;
        struct pm_shader_estimates *shaders =
            realloc(curation->shaders, allocated * sizeof(*shaders));
        if (!shaders)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu shaders", allocated);
        curation->shaders = shaders;
        curation->allocated = allocated;
    }
    const uint32_t space = judged->statistics->space;
    struct pm_shader_estimates *shader = &curation->shaders[database->shader_count];
    *shader = (struct pm_shader_estimates){
        .key = curation->key.key,
        .environment = curation->key.environment,
        .kind = curation->key.kind,
        .flags = flags,
        .space = space,
        .published = judged->lacking == 0,
        .entry_lanes = clamp_wide(&judged->statistics->entry_lanes),
    };
    if (!show(curation, judged, shader, error))
        return false;
    if (shader->published || curation->everything) {
        shader->points = judged->points;
        judged->points = NULL;
    }
    if (judged->lacking > 0) {
        shader->deficit = judged->deficit;
        judged->deficit = NULL;
    }
    database->shader_count++;
    curation->out->points += space;
    curation->out->points_covered += judged->covered;
    curation->bytes += pm_shader_estimates_bytes(shader);
    /* Twice what there is room for, so that trimming is rare and memory still bounded. */
    return curation->everything || curation->bytes <= 2 * curation->aggregator->database_bytes ||
           trim(curation, error);
}

/* Ends the shader whose blobs came in: its profiles without flags where they cover it, else also
 * those that counted occluded pixels (HAZARDS 4) or could not count some candidates (HAZARDS 2). */
static bool close_shader(struct curation *curation, struct pm_error *error)
{
    if (!curation->open)
        return true;
    curation->open = false;
    struct judged judged = {0};
    uint32_t flags = 0;
    bool done = true, chosen = false;
    if (curation->plain.space != 0) {
        done = judge(curation->aggregator, &curation->plain, &judged, error);
        chosen = done && (curation->flags == 0 || judged.covered == curation->plain.space);
    }
    if (done && !chosen) {
        judged_finish(&judged);
        flags = curation->flags;
        done = judge(curation->aggregator, &curation->all, &judged, error);
    }
    done = done && append(curation, &judged, flags, error);
    judged_finish(&judged);
    pm_statistics_finish(&curation->plain);
    pm_statistics_finish(&curation->all);
    return done;
}

/* ---- a game ---- */

static bool visit_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                       struct pm_error *error)
{
    struct curation *curation = user;
    char text[PM_SHADER_KEY_TEXT];
    if (curation->open &&
        (!pm_shader_key_equal(&curation->key.key, &key->key) ||
         memcmp(&curation->key.environment, &key->environment, sizeof(key->environment)) != 0 ||
         curation->key.kind != key->kind) &&
        !close_shader(curation, error))
        return false;
    if (!curation->open) {
        curation->open = true;
        curation->key = *key;
        curation->flags = 0;
    }
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    const bool done =
        pm_statistics_decode(blob, size, &statistics, error) &&
        pm_statistics_merge(&curation->all, &statistics, error) &&
        (key->flags != 0 || pm_statistics_merge(&curation->plain, &statistics, error));
    pm_statistics_finish(&statistics);
    curation->flags |= key->flags;
    if (done)
        return true;
    pm_shader_key_format(&key->key, text);
    return pm_fail_prefix(error, "shader %s, day %u", text, key->day);
}

/* Moves the shaders into the arena. */
static bool settle(struct curation *curation, struct pm_error *error)
{
    struct pm_database *database = &curation->out->database;
    if (!curation->everything && curation->bytes > curation->aggregator->database_bytes &&
        !trim(curation, error))
        return false;
    struct pm_shader_estimates *shaders = pm_arena_dup(
        curation->arena, curation->shaders, database->shader_count * sizeof(*curation->shaders));
    bool done = shaders && database->game;
    for (size_t i = 0; done && i < database->shader_count; i++) {
        struct pm_shader_estimates *shader = &shaders[i];
        if (shader->points)
            done = (shader->points = pm_arena_dup(curation->arena, shader->points,
                                                  shader->space * sizeof(*shader->points))) != NULL;
        if (done && shader->deficit)
            done = (shader->deficit = pm_arena_dup(curation->arena, shader->deficit,
                                                   ((size_t)shader->space + 7) / 8)) != NULL;
    }
    database->shaders = shaders;
    return done || pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database of %zu shaders",
                           database->shader_count);
}

struct wanted_game {
    const char *name;
    uint64_t uploads;
    bool found;
};

static bool visit_game(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    struct wanted_game *wanted = user;
    (void)error;
    if (strcmp(game, wanted->name) == 0) {
        wanted->found = true;
        wanted->uploads = uploads;
    }
    return true;
}

static void curation_finish(struct curation *curation)
{
    pm_statistics_finish(&curation->plain);
    pm_statistics_finish(&curation->all);
    for (size_t i = 0; i < curation->out->database.shader_count; i++)
        forget(&curation->shaders[i]);
    free(curation->shaders);
}

bool pm_curate_read(struct pm_aggregator *aggregator, const struct pm_curate_request *request,
                    struct pm_arena *arena, struct pm_curated *out, struct pm_error *error)
{
    struct pm_storage *storage = aggregator->storage;
    const char *game = request->game;
    struct wanted_game wanted = {.name = game};
    struct curation curation = {.aggregator = aggregator,
                                .everything = request->everything,
                                .observe = request->observe,
                                .user = request->user,
                                .arena = arena,
                                .out = out};
    memset(out, 0, sizeof(*out));
    if (!storage->operations->list_games(storage, visit_game, &wanted, error))
        return false;
    if (!wanted.found)
        return pm_fail(error, PM_ERROR_STATE, "the game \"%s\" is not known", game);
    out->uploads = wanted.uploads;
    out->database.game = pm_arena_strdup(arena, game);
    out->database.curated_at = (uint64_t)time(NULL);
    pm_statistics_init(&curation.plain);
    pm_statistics_init(&curation.all);

    const bool done = storage->operations->read_game(storage, request->game, request->scene,
                                                     visit_blob, &curation, error) &&
                      close_shader(&curation, error) && settle(&curation, error);
    curation_finish(&curation);
    return done;
}

bool pm_curate_read_shader(struct pm_aggregator *aggregator, const char *game,
                           const struct pm_shader_key *key, pm_curate_observe observe, void *user,
                           struct pm_error *error)
{
    struct pm_storage *storage = aggregator->storage;
    struct pm_curated curated = {0};
    struct curation curation = {
        .aggregator = aggregator, .observe = observe, .user = user, .out = &curated};
    pm_statistics_init(&curation.plain);
    pm_statistics_init(&curation.all);
    const bool done =
        storage->operations->read_shader(storage, game, key, visit_blob, &curation, error) &&
        close_shader(&curation, error);
    curation_finish(&curation);
    return done;
}
