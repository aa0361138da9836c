/* An aggregator of its rooms' parts: made, asked to stop, ended. */
#include "aggregator/aggregator_private.h"
#include "aggregator/storage/postgres/storage_postgres.h"
#include "aggregator/storage/sqlite/storage_sqlite.h"

#include "base/clock.h"
#include <stdlib.h>

#define HALF_WIDTH_ABSOLUTE 0.05
#define HALF_WIDTH_RELATIVE 0.10
#define SESSIONS_FOR_NEVER 20
#define PAIRS_FOR_TIMING 8
#define SHADER_BYTES ((size_t)2 << 30)
#define DATABASE_HEAD_BYTES 1024 /* version, name and time */

static struct pm_coverage_rules rules_of(const struct pm_aggregator_info *info)
{
    struct pm_coverage_rules rules = {
        .half_width_absolute =
            info->half_width_absolute > 0 ? info->half_width_absolute : HALF_WIDTH_ABSOLUTE,
        .half_width_relative =
            info->half_width_relative > 0 ? info->half_width_relative : HALF_WIDTH_RELATIVE,
        .sessions_for_never = info->sessions_for_never,
        .pairs_for_timing = info->pairs_for_timing ? info->pairs_for_timing : PAIRS_FOR_TIMING,
    };
    if (rules.sessions_for_never == 0)
        rules.sessions_for_never = info->publish_all ? 1 : SESSIONS_FOR_NEVER;
    return rules;
}

static void init_curator(struct pm_aggregator *aggregator, const struct pm_aggregator_info *info)
{
    struct pm_curator *curator = &aggregator->curator;
    pthread_mutex_init(&curator->publish_mutex, NULL);
    curator->world = &aggregator->world;
    curator->folding = &aggregator->folding;
    curator->rules = rules_of(info);
    curator->publish_all = info->publish_all;
    curator->scenes = info->scenes;
    curator->half_life_days = info->half_life_days;
    curator->min_tokens = info->min_tokens;
    curator->publish_seconds = info->publish_seconds;
    curator->strangers = info->min_tokens > 1 && info->token_clusters > 0;
    curator->priors = pm_prior_pool_create();
    curator->shader_bytes = SHADER_BYTES;
    curator->database_bytes = PM_DATABASE_BYTES;
    if (info->database_bytes > DATABASE_HEAD_BYTES && info->database_bytes < PM_DATABASE_BYTES)
        curator->database_bytes = info->database_bytes;
    curator->database_bytes -= DATABASE_HEAD_BYTES;
}

static void init_rooms(struct pm_aggregator *aggregator, const struct pm_aggregator_info *info)
{
    struct pm_world *world = &aggregator->world;
    pm_world_init(world, info->storage);
    world->log = info->log;
    world->clock = info->clock;
    world->clock_user = info->clock_user;
    world->retention_days = info->retention_days;

    aggregator->sources =
        pm_sources_create(info->epoch_file, info->storage, info->token_clusters, info->log);
    aggregator->claims = pm_claims_create(world, aggregator->sources, info->min_tokens);
    pm_quarantine_init(&aggregator->quarantine, world);

    pm_folding_init(&aggregator->folding, world, &aggregator->quarantine);
    aggregator->folding.limit_bytes = info->samples_bytes;
    if (info->fold_bytes)
        aggregator->folding.sum_bytes = info->fold_bytes;
    aggregator->ingestion = (struct pm_ingestion){
        .world = world,
        .sources = aggregator->sources,
        .claims = aggregator->claims,
        .quarantine = &aggregator->quarantine,
        .folding = &aggregator->folding,
        .limits = {.max_games = info->max_games ? info->max_games : UINT32_MAX,
                   .max_scenes = info->max_scenes ? info->max_scenes : UINT32_MAX}};
    init_curator(aggregator, info);
}

struct pm_aggregator *pm_aggregator_create(const struct pm_aggregator_info *info,
                                           struct pm_error *error)
{
    struct pm_aggregator *aggregator = calloc(1, sizeof(*aggregator));
    if (!aggregator) {
        info->storage->operations->destroy(info->storage);
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for an aggregator");
        return NULL;
    }
    init_rooms(aggregator, info);
    if (!aggregator->sources || !aggregator->claims)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for an aggregator");
    else if (pm_folding_count(&aggregator->folding, error))
        return aggregator;
    pm_aggregator_destroy(aggregator);
    return NULL;
}

struct pm_storage *pm_aggregator_open_storage(const char *where, struct pm_error *error)
{
    return pm_storage_postgres_is_url(where)
               ? pm_storage_postgres_open(where, pm_statistics_merge_blobs, error)
               : pm_storage_sqlite_open(where, pm_statistics_merge_blobs, error);
}

bool pm_aggregator_is_remote(const char *where)
{
    return pm_storage_postgres_is_url(where);
}

bool pm_aggregator_hold(const char *where, int *fd, struct pm_error *error)
{
    *fd = -1;
    if (pm_aggregator_is_remote(where))
        return true;
    *fd = pm_storage_sqlite_hold(where, error);
    return *fd >= 0;
}

struct pm_aggregator *pm_aggregator_open(const char *where, const struct pm_aggregator_info *info,
                                         struct pm_error *error)
{
    struct pm_aggregator_info with = *info;
    with.storage = pm_aggregator_open_storage(where, error);
    return with.storage ? pm_aggregator_create(&with, error) : NULL;
}

void pm_aggregator_destroy(struct pm_aggregator *aggregator)
{
    struct pm_error error = {0};
    if (!aggregator)
        return;
    struct pm_world *world = &aggregator->world;
    world->storage->operations->hurry(world->storage, pm_now() + PM_SECOND);
    if (!pm_quarantine_write(&aggregator->quarantine, &error))
        pm_log_warning(world->log, "cannot write the quarantine: %s", error.message);
    pm_claims_destroy(aggregator->claims);
    pm_sources_destroy(aggregator->sources);
    pm_quarantine_finish(&aggregator->quarantine);
    pm_folding_finish(&aggregator->folding);
    pthread_mutex_destroy(&aggregator->curator.publish_mutex);
    pm_prior_pool_destroy(aggregator->curator.priors);
    pm_world_finish(world);
    free(aggregator);
}

void pm_aggregator_interrupt(struct pm_aggregator *aggregator, bool set)
{
    pm_world_interrupt(&aggregator->world, set);
}

bool pm_aggregator_is_interrupted(const struct pm_aggregator *aggregator)
{
    return pm_world_is_interrupted(&aggregator->world);
}

uint64_t pm_aggregator_disagreements(const struct pm_aggregator *aggregator)
{
    return atomic_load(&aggregator->world.disagreements);
}

uint64_t pm_aggregator_unvouched_games(const struct pm_aggregator *aggregator)
{
    return atomic_load(&aggregator->world.unvouched);
}

struct pm_storage *pm_aggregator_storage(struct pm_aggregator *aggregator)
{
    return aggregator->world.storage;
}

struct pm_curator *pm_aggregator_curator(struct pm_aggregator *aggregator)
{
    return &aggregator->curator;
}
