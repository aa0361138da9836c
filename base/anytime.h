/*
 * A confidence sequence: an interval for what logarithms of ratios centre on that may be looked at
 * after each of them, and stopped by at any time, and still is wrong in one case of 1 / alpha at
 * most over the whole sequence. It asks no more of them than that each is as likely above the
 * centre as below it by the same, given those before. Where two ways of doing the same are tried in
 * an order drawn by lot, that is so by the lot alone if they take the same time, whatever drifts.
 *
 * For such x, exp(l (x - c) - l² (x - c)² / 2) is 1 on average or less (de la Peña, "A General
 * Class of Exponential Inequalities for Martingales and Ratios", 1999), and so is the product of
 * many; and so is the mixture over a normal l (Robbins' method of mixtures), which has a closed
 * form. By Ville's inequality it reaches 1 / alpha in one case of 1 / alpha at most. The interval
 * is of the centres for which it has not.
 *
 * What lies far out is clipped, evenly on both sides of no difference, so that a few calls in which
 * something else ran do not decide.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stdbool.h>

/* Natural logarithms of ratios are clipped to this, either way: 28 %. */
#define PM_ANYTIME_CLIP 0.25

/* What is kept of the observations, which may be summed over several. */
struct pm_anytime {
    double count, sum, squares; /* of the clipped logarithms */
};

void pm_anytime_add(struct pm_anytime *seen, double log_ratio);
/* Those of another sequence that followed, or went beside. */
void pm_anytime_merge(struct pm_anytime *seen, const struct pm_anytime *others);

/* Their mean; 0 of nothing. */
double pm_anytime_mean(const struct pm_anytime *seen);

/* The interval, in logarithms; at first all that clipped ones can centre on. alpha: above 0, below
 * 1. */
struct pm_anytime_interval {
    double low, high;
};
struct pm_anytime_interval pm_anytime_interval(const struct pm_anytime *seen, double alpha);
/* Whether a centre lies outside of it, found out more cheaply. */
bool pm_anytime_excludes(const struct pm_anytime *seen, double centre, double alpha);
