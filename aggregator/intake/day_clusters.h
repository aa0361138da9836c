/*
 * What one token said of a shader in one environment becomes one cluster (fold_day.h).
 *
 * Thread safety: one thread at a time.
 */
#pragma once

#include "aggregator/intake/day_order.h"
#include "base/arena.h"

/* Of one claim. Begins as zero. */
struct pm_day_clusters {
    struct pm_day_cluster *clusters;
    size_t count, allocated;
    struct pm_point_counts *points; /* of one sample, while it is looked at */
    size_t points_allocated;
};

void pm_day_clusters_finish(struct pm_day_clusters *clusters);

/* Adds a cluster: one token's samples of one environment, sorted by flags and scene. */
bool pm_day_clusters_add(struct pm_day_clusters *clusters, const struct pm_day_said *said,
                         size_t count, struct pm_error *error);
/* The cluster as one profile, whose points are the arena's. */
bool pm_day_clusters_read(struct pm_day_clusters *clusters, const struct pm_day_cluster *cluster,
                          struct pm_arena *arena, struct pm_shader_profile *out,
                          struct pm_error *error);
