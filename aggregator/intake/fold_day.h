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

#include "aggregator/intake/fold_slice.h"

/* Folds the part, whose day has ended, in one try, as pm_fold_slice. What becomes more than
 * place->sum_bytes is summed while it is written, and uploads wait meanwhile. */
bool pm_fold_day(const struct pm_fold_place *place, struct pm_fold_tries *tries,
                 struct pm_error *error);
