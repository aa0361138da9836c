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

/* What one try at a part leaves for the next. Begins as {.most = …}. */
struct pm_fold_tries {
    size_t most;        /* bytes of rows at once; lowered where memory is short */
    uint32_t conflicts; /* with other writers */
    bool careful;       /* each row is looked at as a whole: something of one cannot be */
    bool again;         /* nothing of the last was kept, and the next may succeed */
};

/* Folds the oldest rows of a part without marks, up to tries->most bytes of them, in one try, whose
 * transaction is that of the part's lease where this process has it. *bytes: how many were folded,
 * 0 when nothing waits, and where it is to be tried again. */
bool pm_fold_slice(const struct pm_fold_place *place, struct pm_fold_tries *tries, uint64_t *bytes,
                   struct pm_error *error);
