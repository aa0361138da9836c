/*
 * What waits of one day under its marks (samples.h), as the deltas that it becomes once the day has
 * ended; what becomes of it is in fold_day.h.
 *
 * Thread safety: as fold_slice.h.
 */
#pragma once

#include "aggregator/intake/damaged.h"
#include "aggregator/intake/fold_deltas.h"
#include "aggregator/intake/fold_slice.h"

/* What a day's part becomes, and what it was made of. Begins with pm_day_sum_init. */
struct pm_day_sum {
    struct pm_arena *arena; /* of the strings of `deltas` and of damaged rows */
    struct pm_deltas deltas;
    size_t sum_bytes;      /* that `deltas` may take */
    struct pm_buffer rows; /* uint64_t each */
    struct pm_damaged damaged;
};

void pm_day_sum_init(struct pm_day_sum *sum, size_t sum_bytes);
void pm_day_sum_finish(struct pm_day_sum *sum);

/* Reads place->part, which has marks. key: only of this shader; NULL: all. The memory it takes is
 * bounded however much there is, but for what waits of one shader: then it is read several times.
 * PM_ERROR_MEMORY: also where it becomes more than sum_bytes. */
bool pm_day_sum_read(struct pm_day_sum *sum, const struct pm_fold_place *place,
                     const struct pm_shader_key *key, struct pm_error *error);

/* Forgets what was read, and begins again. */
void pm_day_sum_begin_again(struct pm_day_sum *sum, size_t sum_bytes);

/* The same of all shaders, in a transaction, into which each class of them is written and then
 * forgotten: for what becomes more than can be kept. careful: each row is looked at as a whole,
 * since something of one cannot be read (then PM_ERROR_INPUT without). *disagreements: of what was
 * written. */
bool pm_day_sum_write(struct pm_day_sum *sum, const struct pm_fold_place *place, bool careful,
                      uint64_t *disagreements, struct pm_error *error);
