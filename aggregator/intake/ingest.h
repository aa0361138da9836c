/*
 * Taking profiles in: one transaction for many. It writes the upload ids, what each says of its
 * shaders' numbers of points, scenes and originals (claims.h), and rows of samples; folding brings
 * these into the statistics later.
 *
 * Thread safety: any thread, once the struct is filled; transactions take turns by the world's
 * write mutex.
 */
#pragma once

#include "aggregator/intake/fold.h"
#include "aggregator/intake/ingest_group.h"
#include "aggregator/intake/outcome.h"
#include "aggregator/intake/prepare.h"
#include "aggregator/trust/claims.h"

/* What taking in needs; the pointers stay their owner's and live longer. */
struct pm_ingestion {
    struct pm_world *world;
    struct pm_sources *sources;
    struct pm_claims *claims;
    struct pm_quarantine *quarantine;
    struct pm_folding *folding;
    struct pm_ingest_limits limits; /* under the write mutex */
};

/* As pm_aggregator_ingest_prepared, and as pm_aggregator_ingest_from. */
bool pm_ingest_prepared(struct pm_ingestion *ingestion, struct pm_prepared *const *prepared,
                        const struct pm_ingest_source *const *sources, size_t count,
                        struct pm_ingest_outcome *outcomes, struct pm_error *error);
bool pm_ingest_profiles(struct pm_ingestion *ingestion, const struct pm_profile *const *profiles,
                        const struct pm_ingest_source *const *sources, size_t count,
                        struct pm_ingest_outcome *outcomes, struct pm_error *error);
