/* What the library's face is made of: one of each room's. */
#pragma once

#include "aggregator/aggregator.h"
#include "aggregator/curation/curate.h"
#include "aggregator/intake/fold.h"
#include "aggregator/intake/ingest.h"
#include "aggregator/statistics/steady.h"
#include "aggregator/trust/claims.h"
#include "aggregator/trust/quarantine.h"
#include "aggregator/trust/sources.h"

struct pm_aggregator {
    struct pm_world world;
    struct pm_sources *sources;
    struct pm_claims *claims;
    struct pm_quarantine quarantine;
    struct pm_folding folding;
    struct pm_ingestion ingestion;
    struct pm_curator curator;
    /* Of upkeep, under the world's write mutex. */
    int64_t claims_since;    /* seconds: when `claims` last began to remember */
    int64_t unvouched_since; /* seconds: when games were last counted; 0: never */
    struct pm_steady steady;
    uint32_t pruned_on;  /* the day on which nothing was left to prune */
    uint32_t settled_on; /* the day on which no marks of other days were left */
};
