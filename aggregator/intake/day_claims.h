/*
 * What is claimed of shaders on a day becomes deltas, by clusters and votes (fold_day.h).
 *
 * Thread safety: one thread at a time.
 */
#pragma once

#include "aggregator/intake/day_clusters.h"
#include "aggregator/intake/fold_deltas.h"

struct pm_day_claims {
    struct pm_world *world; /* which says whether to go on */
    const char *game;
    uint32_t date;
    struct pm_arena *arena;    /* of the deltas' strings */
    struct pm_deltas *deltas;  /* which samples become */
    struct pm_day_clusters of; /* the claim that is summed */
};

/* Sorts all samples that there are of some shaders, and adds their deltas. */
bool pm_day_claims_sum(struct pm_day_claims *claims, struct pm_day_said *said, size_t count,
                       struct pm_error *error);
