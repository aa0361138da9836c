/*
 * The client's side of the aggregator: consent, upload, pull (DESIGN: A profile; Wire). Runs in piecemeal-sync and
 * `piecemeal run`, never inside a game.
 *
 * Thread safety: one thread at a time per struct pm_client; consent functions are safe across processes.
 */
#pragma once

#include "aggregator_client/spool.h"
#include "base/config.h"
#include "profile/database.h"

/* ---- consent: what `piecemeal consent` wrote ---- */
enum pm_consent { PM_CONSENT_UNASKED, PM_CONSENT_GRANTED, PM_CONSENT_REVOKED };
bool pm_consent_read(enum pm_consent *consent, struct pm_error *error);
bool pm_consent_write(enum pm_consent consent, struct pm_error *error);

/* ---- sync ---- */
struct pm_sync_report {
    size_t sessions_uploaded, sessions_waiting, sessions_damaged, shaders_uploaded;
    bool database_pulled, database_unchanged;
};

struct pm_sync_info {
    const struct pm_config *config; /* aggregator.*, consent_withheld */
    struct pm_log *log;
    const char *spool_folder; /* NULL: the default */
    const char *game;         /* whose database to pull; NULL: every game in the cache and spool */
    uint32_t deadline_seconds; /* give up retrying after; 0: 30 */
};

/* Merges each ended session into one upload whose id it keeps beside the file before it first sends, uploads it with
 * retries and exponential backoff with jitter (Retry-After is obeyed), and removes the file once it is acknowledged
 * (200, 204) or refused for good (400, 413: moved to spool/refused, with the reason beside it). Without consent or
 * without a url nothing leaves. */
bool pm_sync_upload(const struct pm_sync_info *info, struct pm_sync_report *report, struct pm_error *error);

/* Pulls the game's PGO database into the cache by ETag; what the aggregator answers is decoded before it replaces
 * the old one. */
bool pm_sync_pull(const struct pm_sync_info *info, struct pm_sync_report *report, struct pm_error *error);

/* Appends, as JSON, exactly what pm_sync_upload would send. */
bool pm_sync_dry_run(const struct pm_sync_info *info, struct pm_buffer *out, struct pm_error *error);

/* Where the layer finds a game's database: $PLACE_CACHE/databases/<safe name>.pmdb (zstd), malloc'ed. */
char *pm_database_cache_path(const char *game);

/* Decodes the cached database; *database's memory is the arena's. PM_ERROR_STATE: there is none. */
bool pm_database_cache_load(const char *game, struct pm_arena *arena, struct pm_database *database,
                            struct pm_error *error);
