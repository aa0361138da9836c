#include "aggregator/aggregator_private.h"

#include "aggregator/storage/sqlite/storage_sqlite.h"
#include "base/clock.h"
#include <stdlib.h>
#include <time.h>

#define HALF_WIDTH_ABSOLUTE 0.05
#define HALF_WIDTH_RELATIVE 0.10
#define SESSIONS_FOR_NEVER 20
#define PAIRS_FOR_TIMING 8
#define DATABASE_HEAD_BYTES 1024 /* version, name and time */
#define SECONDS_A_DAY 86400
#define HURRY_SECONDS 2

struct pm_aggregator *pm_aggregator_create(const struct pm_aggregator_info *info,
                                           struct pm_error *error)
{
    struct pm_aggregator *aggregator = calloc(1, sizeof(*aggregator));
    if (!aggregator) {
        info->storage->operations->destroy(info->storage);
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for an aggregator");
        return NULL;
    }
    pthread_mutex_init(&aggregator->write_mutex, NULL);
    pthread_mutex_init(&aggregator->waiting.mutex, NULL);
    pthread_mutex_init(&aggregator->fold_mutex, NULL);
    pthread_mutex_init(&aggregator->publish_mutex, NULL);
    aggregator->storage = info->storage;
    aggregator->half_life_days = info->half_life_days;
    aggregator->retention_days = info->retention_days;
    aggregator->token_clusters = info->token_clusters;
    aggregator->min_tokens = info->min_tokens;
    aggregator->clock = info->clock;
    aggregator->clock_user = info->clock_user;
    aggregator->sources = pm_sources_create(info->epoch_file, info->token_clusters, info->log);
    aggregator->claims = pm_claims_create();
    if (!aggregator->sources || !aggregator->claims) {
        pm_aggregator_destroy(aggregator);
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for an aggregator");
        return NULL;
    }
    aggregator->log = info->log;
    aggregator->samples_limit = info->samples_bytes;
    aggregator->publish_all = info->publish_all;
    aggregator->half_width_absolute =
        info->half_width_absolute > 0 ? info->half_width_absolute : HALF_WIDTH_ABSOLUTE;
    aggregator->half_width_relative =
        info->half_width_relative > 0 ? info->half_width_relative : HALF_WIDTH_RELATIVE;
    aggregator->sessions_for_never = info->sessions_for_never;
    if (aggregator->sessions_for_never == 0)
        aggregator->sessions_for_never = info->publish_all ? 1 : SESSIONS_FOR_NEVER;
    aggregator->scenes = info->scenes;
    aggregator->max_games = info->max_games ? info->max_games : UINT32_MAX;
    aggregator->max_scenes = info->max_scenes ? info->max_scenes : UINT32_MAX;
    aggregator->database_bytes = PM_DATABASE_BYTES;
    if (info->database_bytes > DATABASE_HEAD_BYTES && info->database_bytes < PM_DATABASE_BYTES)
        aggregator->database_bytes = info->database_bytes;
    aggregator->database_bytes -= DATABASE_HEAD_BYTES;
    aggregator->pairs_for_timing =
        info->pairs_for_timing ? info->pairs_for_timing : PAIRS_FOR_TIMING;
    if (pm_fold_init(aggregator, info->fold_bytes, error))
        return aggregator;
    pm_aggregator_destroy(aggregator);
    return NULL;
}

struct pm_aggregator *pm_aggregator_open(const char *path, const struct pm_aggregator_info *info,
                                         struct pm_error *error)
{
    struct pm_aggregator_info with = *info;
    with.storage = pm_storage_sqlite_open(path, pm_statistics_merge_blobs, error);
    return with.storage ? pm_aggregator_create(&with, error) : NULL;
}

void pm_aggregator_interrupt(struct pm_aggregator *aggregator, bool set)
{
    struct pm_storage *storage = aggregator->storage;
    atomic_store(&aggregator->interrupted, set);
    storage->operations->hurry(storage, set ? pm_now() + HURRY_SECONDS * PM_SECOND : INT64_MAX);
}

bool pm_aggregator_is_interrupted(const struct pm_aggregator *aggregator)
{
    return atomic_load(&aggregator->interrupted);
}

void pm_aggregator_destroy(struct pm_aggregator *aggregator)
{
    struct pm_error error = {0};
    if (!aggregator)
        return;
    aggregator->storage->operations->hurry(aggregator->storage, pm_now() + PM_SECOND);
    if (aggregator->claims && !pm_quarantine_write(aggregator, &error))
        pm_log_warning(aggregator->log, "cannot write the quarantine: %s", error.message);
    pm_sources_destroy(aggregator->sources);
    pm_claims_destroy(aggregator->claims);
    pm_quarantine_finish(&aggregator->waiting);
    aggregator->storage->operations->destroy(aggregator->storage);
    pthread_mutex_destroy(&aggregator->write_mutex);
    pthread_mutex_destroy(&aggregator->fold_mutex);
    pthread_mutex_destroy(&aggregator->publish_mutex);
    free(aggregator);
}

int64_t pm_aggregator_now(const struct pm_aggregator *aggregator)
{
    return aggregator->clock ? aggregator->clock(aggregator->clock_user) : (int64_t)time(NULL);
}

uint32_t pm_aggregator_today(const struct pm_aggregator *aggregator)
{
    const int64_t now = pm_aggregator_now(aggregator);
    return now < 0 ? 0 : (uint32_t)(now / SECONDS_A_DAY);
}

bool pm_aggregator_database(struct pm_aggregator *aggregator, const char *game,
                            char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                            struct pm_error *error)
{
    const struct pm_publication publication = {.game = game, .scene = ""};
    return pm_aggregator_publication(aggregator, &publication, etag, body, error);
}

bool pm_aggregator_publication(struct pm_aggregator *aggregator,
                               const struct pm_publication *publication,
                               char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                               struct pm_error *error)
{
    struct pm_storage *storage = aggregator->storage;
    return storage->operations->get_database(storage, publication->game, publication->scene,
                                             publication->previous, etag, body, error);
}

struct pm_storage *pm_aggregator_storage(struct pm_aggregator *aggregator)
{
    return aggregator->storage;
}
