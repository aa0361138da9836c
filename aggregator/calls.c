/* The calls of aggregator.h that lead straight into a room. */
#include "aggregator/aggregator_private.h"
#include "aggregator/curation/publish.h"
#include "aggregator/intake/rehearse.h"

/* ---- intake ---- */

bool pm_aggregator_ingest(struct pm_aggregator *aggregator,
                          const struct pm_profile *const *profiles, size_t count,
                          struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    return pm_ingest_profiles(&aggregator->ingestion, profiles, NULL, count, outcomes, error);
}

bool pm_aggregator_ingest_from(struct pm_aggregator *aggregator,
                               const struct pm_profile *const *profiles,
                               const struct pm_ingest_source *const *sources, size_t count,
                               struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    return pm_ingest_profiles(&aggregator->ingestion, profiles, sources, count, outcomes, error);
}

struct pm_prepared *pm_aggregator_prepare(struct pm_aggregator *aggregator,
                                          const struct pm_profile *profile, struct pm_error *error)
{
    return pm_ingest_prepare(&aggregator->quarantine, profile, error);
}

bool pm_aggregator_ingest_prepared(struct pm_aggregator *aggregator,
                                   struct pm_prepared *const *prepared,
                                   const struct pm_ingest_source *const *sources, size_t count,
                                   struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    return pm_ingest_prepared(&aggregator->ingestion, prepared, sources, count, outcomes, error);
}

bool pm_aggregator_rehearse(struct pm_aggregator *aggregator, struct pm_error *error)
{
    return pm_rehearse(&aggregator->world, error);
}

bool pm_aggregator_fold(struct pm_aggregator *aggregator, const char *game, struct pm_error *error)
{
    return pm_fold(&aggregator->folding, game, error);
}

bool pm_aggregator_fold_some(struct pm_aggregator *aggregator, struct pm_error *error)
{
    return pm_fold_some(&aggregator->folding, error);
}

/* ---- trust ---- */

void pm_aggregator_quarantine_add(struct pm_aggregator *aggregator, const char *game,
                                  const char *reason, const void *body, size_t body_size)
{
    pm_quarantine_add(&aggregator->quarantine, game, reason, body, body_size);
}

bool pm_aggregator_quarantine(struct pm_aggregator *aggregator, const char *game,
                              pm_visit_quarantined visit, void *user, struct pm_error *error)
{
    return pm_quarantine_show(&aggregator->quarantine, game, visit, user, error);
}

/* ---- curation ---- */

bool pm_aggregator_curate(struct pm_aggregator *aggregator, const char *game,
                          struct pm_error *error)
{
    return pm_curate_publish(&aggregator->curator, game, NULL, NULL, NULL, error);
}

bool pm_aggregator_estimates(struct pm_aggregator *aggregator, const char *game, const char *scene,
                             struct pm_arena *arena, struct pm_database *database,
                             struct pm_error *error)
{
    const struct pm_curate_request request = {.game = game, .scene = scene, .everything = true};
    struct pm_curated curated;
    if (!pm_curate_read(&aggregator->curator, &request, arena, &curated, error))
        return false;
    *database = curated.database;
    return true;
}

bool pm_aggregator_is_covered(const struct pm_aggregator *aggregator, enum pm_kind kind,
                              const struct pm_point_estimate *point)
{
    return pm_is_covered(&aggregator->curator.rules, kind, point);
}

bool pm_aggregator_is_well_known(const struct pm_aggregator *aggregator, enum pm_kind kind,
                                 const struct pm_point_estimate *point)
{
    return pm_is_well_known(&aggregator->curator.rules, kind, point);
}

/* ---- storage ---- */

bool pm_aggregator_publication(struct pm_aggregator *aggregator,
                               const struct pm_publication *publication,
                               char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                               struct pm_error *error)
{
    struct pm_storage *storage = aggregator->world.storage;
    return storage->operations->get_database(storage, publication->game, publication->scene,
                                             publication->previous, etag, body, error);
}

bool pm_aggregator_database(struct pm_aggregator *aggregator, const char *game,
                            char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                            struct pm_error *error)
{
    const struct pm_publication publication = {.game = game, .scene = ""};
    return pm_aggregator_publication(aggregator, &publication, etag, body, error);
}
