/*
 * What the pairs of a trial say (trial.h, sessions.h), and keeping it for the sessions to come
 * (profile/verdicts.h).
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/paired.h"
#include "layer/core/layer.h"
#include "profile/verdicts.h"

enum pm_outcome {
    PM_GOES_ON,
    PM_FASTER,
    PM_SLOWER,
    PM_UNDECIDED, /* for now */
};

/* Share of the pairs left out at either end (Yuen). */
#define PM_TRIAL_TRIM 0.2
enum { PM_LEAST_PAIRS = 8 /* judged first, and whenever there are twice as many */ };

/* Judges the natural logarithms of time with the variant over time without, which are sorted in
 * place; undecided when there are `most`. whole: of whole render pass instances or more, which gain
 * less than the shader does, not of its calls. *paired is filled in unless it is PM_GOES_ON. */
enum pm_outcome pm_trial_judge(double *ratios, uint32_t count, uint32_t most, bool whole,
                               struct pm_paired *paired);

/* How many pairs there will have to be for an outcome, if those to come are like those that there
 * are, which are judged as above: a power of two from PM_LEAST_PAIRS to most. */
uint32_t pm_trial_pairs_wanted(double *ratios, uint32_t count, uint32_t most, bool whole);

/* Keeps an outcome that is not PM_GOES_ON. named: key, original and environment, the rest is not
 * used. Waits for the disk. */
void pm_trial_keep(const struct pm_device *device, const struct pm_kept_variant *named,
                   enum pm_timed_kind kind, enum pm_outcome outcome, const struct pm_paired *paired,
                   uint32_t pairs);
