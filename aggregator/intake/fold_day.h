/*
 * What came with tokens on one day, once the day has ended: all that one token said of a shader
 * becomes one cluster, since calls of one player are not independent, and none weighs more by
 * uploading more often. What a token said of several scenes of it, or with several flags, counts
 * for the one that had most calls. Each token has one vote for what the shader is (votes.h), and
 * what says otherwise is left out.
 *
 * Until then the samples wait under their marks (samples.h), and whoever reads the game's
 * statistics sees what they would become (fold_read.h).
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

/* Folds the part, whose day has ended, in one try, as pm_fold_slice. What becomes more than
 * place->sum_bytes is summed while it is written, and uploads wait meanwhile. */
bool pm_fold_day(const struct pm_fold_place *place, struct pm_fold_tries *tries,
                 struct pm_error *error);
