/*
 * The aggregator as a library: takes piecemeal profiles, keeps statistics per point, curates PGO databases (paper,
 * section 3.4; DESIGN, Estimates and PGO database). `piecemeal serve` puts HTTP around it (service.h); `piecemeal run
 * --local` calls it directly.
 *
 * Thread safety: any thread; calls that write are serialized inside.
 */
#pragma once

#include "aggregator/storage.h"
#include "base/log.h"
#include "profile/database.h"

struct pm_aggregator;

struct pm_aggregator_info {
    struct pm_storage *storage; /* becomes the aggregator's */
    struct pm_log *log;
    bool publish_all;           /* --local, --dev: every covered shader whatever its intervals */
    double half_width_absolute; /* 0: 0.05 */
    double half_width_relative; /* 0: 0.10 */
    uint32_t sessions_for_never; /* entries after which a point that never ran is covered; 0: 20; 1 under
                                    publish_all */
};

struct pm_aggregator *pm_aggregator_create(const struct pm_aggregator_info *info, struct pm_error *error);
void pm_aggregator_destroy(struct pm_aggregator *aggregator);

/* Adds profiles in one durable transaction, each one cluster. results[i] says what became of each. */
enum pm_ingest_result { PM_INGEST_STORED, PM_INGEST_DUPLICATE, PM_INGEST_REFUSED };
bool pm_aggregator_ingest(struct pm_aggregator *aggregator, const struct pm_profile *const *profiles,
                          size_t count, enum pm_ingest_result *results, struct pm_error *error);

/* Computes the game's database from its statistics and publishes it (atomically, with a fresh ETag). */
bool pm_aggregator_curate(struct pm_aggregator *aggregator, const char *game, struct pm_error *error);

/* The published body (zstd) and its ETag. PM_ERROR_STATE: the game is not known. */
bool pm_aggregator_database(struct pm_aggregator *aggregator, const char *game, char etag[static 65],
                            struct pm_buffer *body, struct pm_error *error);

/* The full estimates, published or not: what `db show` prints. Memory is the arena's. */
bool pm_aggregator_estimates(struct pm_aggregator *aggregator, const char *game, struct pm_arena *arena,
                             struct pm_database *database, struct pm_error *error);

struct pm_storage *pm_aggregator_storage(struct pm_aggregator *aggregator);
