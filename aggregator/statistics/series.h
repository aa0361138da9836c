/*
 * What days say of a shader, put together: as it was counted, and weighted by age (ageing.h); where
 * it has shifted (shift.h), from the day of the last shift on.
 *
 * Thread safety: no state but what the caller holds.
 */
#pragma once

#include "aggregator/statistics/ageing.h"

/* The encoded statistics of one day, flags and scene. */
struct pm_series_blob {
    uint32_t day, flags;
    const void *data;
    size_t size;
};

struct pm_series {
    struct pm_statistics exact; /* of all days */
    struct pm_aged aged;        /* of those that count */
};

void pm_series_init(struct pm_series *series);
/* Empty again; the caller's word on strangers (struct pm_aged) stays. */
void pm_series_finish(struct pm_series *series);

/* blobs: of one shader, environment and kind, in any order; they are sorted by day. plain: from
 * those without flags; all: from all, and empty where none has flags, since that would be plain.
 * *since: the first day that counts, where it has shifted; else 0. *bad: which blob it failed by;
 * `count`: none. */
bool pm_series_read(struct pm_series_blob *blobs, size_t count, uint32_t half_life,
                    struct pm_series *plain, struct pm_series *all, uint32_t *since, size_t *bad,
                    struct pm_error *error);
