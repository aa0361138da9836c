/*
 * How many tokens could be lying about a shader, and how far off what is published of it would then
 * be (the breakdown point of a robust estimate; Hampel, Ronchetti, Rousseeuw and Stahel, Robust
 * Statistics, section 2.2).
 *
 * A token has one cluster a day (samples.h). Of a measure with n_d clusters of weight w_d on each
 * day, t tokens that lie every day have the share m = t Σw_d / Σ w_d n_d of them. In the mean of
 * ratios they weigh m / (1 - m) times what the others do, in the ratio of sums at most B m / (1 -
 * m) times (estimate.h). What the others said is then off from what is published by at most that
 * times the larger of the estimate and 1 minus it, where the measure is bounded by 1.
 *
 * In a ratio of sums liars also change how much is believed of each of the others: without them K
 * is the cap at which F(K) / K is between (1 - m) Σw / B and (1 + (B - 1) m) Σw / B. So what is
 * published is compared with what it would be at all of these caps (pm_estimate_ratio_span), and
 * the bound above holds at each of them. (Of what is published here: where clusters of about one
 * size, which a cell has together, say different things by their size, only as near as cells are.)
 *
 * How often a loop runs has no such bound: there c of n clusters move the mean by what estimate.h
 * says.
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/statistics/ageing.h"
#include "profile/database.h"

struct pm_breakdown {
    uint32_t tokens; /* that may lie every day, and no bounded estimate is off by more than asked */
    double error;    /* by how much they are off then at most; where tokens is 0: if one lies, at
                        most 1 */
};

/* Of all bounded measures of all points that have clusters; a share of a point's own runs counts by
 * how often it runs (deficit.h). points: `space` estimates of the aged statistics, of strangers.
 * Without such a measure: UINT32_MAX tokens and no error. */
struct pm_breakdown pm_breakdown_find(const struct pm_aged *aged,
                                      const struct pm_point_estimate *points, double most_error);
