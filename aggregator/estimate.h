/*
 * Estimates from statistics: the mean of ratios and the ratio of sums, each with a 95 % interval
 * (DESIGN, Contracts: Estimates; the paper's section 3.4 asks for "reasonable confidence in each
 * point's estimated value").
 *
 * The clusters are the sample: calls of one session are not independent, so their number plays no
 * part. The variance is that between clusters: for the mean the sample variance of r, for the ratio
 * of sums the linearized one, n/(n-1) Σ(y - Rx)² / (Σx)², over Kish's effective number of clusters
 * m = (Σx)²/Σx² (a three-pixel draw beside a full screen is hardly a second cluster). Quantiles are
 * Student's, with m - 1 degrees of freedom.
 *
 * Clusters of several days are weighted by their age (ageing.h), w = 2^(-age / half-life). The mean
 * of ratios is then r̄ = Σwr / Σw, its effective number of clusters Kish's k = (Σw)² / Σw², its
 * variance k/(k-1) Σw²(r - r̄)² / (Σw)²; the ratio of sums R = Σwy / Σwx, m = (Σwx)² / Σw²x², its
 * variance k/(k-1) Σw²(y - Rx)² / (Σwx)². With equal weights these are the formulas above. The
 * squared weights take the variance as each day has it (they need not be alike); what the intervals
 * speak of is the population as the weights see it.
 *
 * What was never seen is the danger: twenty equal samples have no variance, and still one session
 * in ten may be different. So some clusters are imagined beside the m seen:
 * - bounded ratios (r cannot be above 1): t²/2 at 0 and t²/2 at 1. For samples of zeros and ones
 * that is Agresti and Coull's interval, with t for z; it stays in [0, 1], and narrows as 1/n for
 * equal samples ("rule of three").
 * - unbounded ones (loop counts): the variance that two clusters far off by max(r, 1/2) would add;
 * and the upper end is moved out as Johnson's modified t (1978) does for the skewness of a gamma
 * distribution, 2 s/r, since loop counts are skewed to the right. The lower end is left where a
 * symmetric distribution has it. The price is that intervals of populations that truly vary little
 * are too wide while there are few clusters. The simulation in tests/aggregator/test_estimate.c
 * shows both.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "aggregator/ageing.h"
#include "base/paired.h"
#include "profile/database.h"

/* Both means with their intervals. Without clusters: 0, with [0, 1]. All finite. */
struct pm_ratio pm_estimate_ratio(const struct pm_measure_sums *sums, bool bounded);
struct pm_ratio pm_estimate_aged(const struct pm_aged_sums *sums, bool bounded);

/* The interval's half is at most absolute, or at most relative times the estimate. */
bool pm_estimate_is_narrow(double estimate, double low, double high, double absolute,
                           double relative);

/* Is the measure a share of the point's own runs: uniform lanes of lanes, zero writes of writes? */
bool pm_estimate_is_share(enum pm_kind kind, unsigned measure);

/* The estimates of all measures. A measure is bounded when nothing above 1 was ever seen and it is
 * a share or every upload said that the point runs at most once. */
void pm_estimate_point(const struct pm_statistics *statistics,
                       const struct pm_point_statistics *point, struct pm_point_estimate *out);
void pm_estimate_aged_point(const struct pm_aged *aged, const struct pm_aged_point *point,
                            struct pm_point_estimate *out);
