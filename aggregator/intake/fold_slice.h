/*
 * Folding: samples that wait become part of their shaders' statistics, and are deleted, in one
 * transaction. What takes time, reading and summing them, is done before it begins, so that uploads
 * go on. Another process may fold the same samples: whoever then finds some of them deleted begins
 * again.
 *
 * Thread safety: one thread of a process at a time; takes the world's write mutex.
 */
#pragma once

#include "aggregator/trust/quarantine.h"

/* For pm_world_may_go_on. */
#define PM_FOLDING "while folding uploads in"

/* One part of a game, and what folding it needs. */
struct pm_fold_place {
    struct pm_world *world;
    struct pm_quarantine *quarantine; /* takes damaged rows */
    size_t sum_bytes; /* what the sums of several rows may take before they are written */
    const char *game;
    unsigned part;
};

/* Folds the oldest rows of a part without marks, up to *most bytes of them, or fewer where memory
 * is short: then *most is lowered. *bytes: how many were folded, 0 when nothing waits. */
bool pm_fold_slice(const struct pm_fold_place *place, size_t *most, uint64_t *bytes,
                   struct pm_error *error);
