/*
 * Estimates from statistics: the mean of ratios and the ratio of sums, each with a 95 % interval
 * (DESIGN, Contracts: Estimates; the paper's section 3.4 asks for "reasonable confidence in each
 * point's estimated value").
 *
 * The clusters are the sample: calls of one session are not independent, so their number plays no
 * part. The variance is that between clusters: for the mean the sample variance of r, for the ratio
 * of sums the linearized one, n/(n-1) Σx²(r - R)² / (Σx)², over Kish's effective number of clusters
 * m = (Σx)²/Σx² (a three-pixel draw beside a full screen is hardly a second cluster). Quantiles are
 * Student's, with m - 1 degrees of freedom.
 *
 * How large x is, and in a loop r, is what an upload says. So that no client can own the ratio of
 * sums, no cluster weighs more in it than B times the average one: instead of x it weighs v =
 * min(x, K), where K = B Σv / n. c of n clusters then have at most B c/n of it, whatever they
 * claim; of the mean of ratios they have c/n. B is 16, and 3 where uploads come from strangers
 * (pm_aged, strangers): so a third of the clusters is where the ratio of sums breaks down. Where
 * that leaves sizes as they are, v is x. Else those that are larger than K count for less than
 * they ought to, and the estimate is off by (share of x that is above K) times (what r is there
 * minus what it is elsewhere). In the same way no r is above B times the mean of what is left of r,
 * or 16 where that is more: so c clusters move the mean of ratios of a loop by at most 4 B c/n of
 * itself or 64 c/n. (Four times, since of r the cells know within that how large one is.)
 *
 * A stranger's cluster is a player's day (samples.h), and no token can be told on another day. So
 * the same players may have come on all of them, and what they have in common does not grow less by
 * their coming again. It is taken that they did, whoever came on a day with fewer clusters also
 * on those with more: with n_d clusters of weight w_d on each day, no more than
 * (Σwₙ)² / (Σ w_d √n_d)² of them are independent (Kish's number of players, as min(n_d, n_e) is at
 * most √(n_d n_e); equal days: as many as came on one).
 *
 * Clusters of several days are weighted by their age (ageing.h), w = 2^(-age / half-life). The mean
 * of ratios is then r̄ = Σwr / Σw, its effective number of clusters Kish's k = (Σw)² / Σw², its
 * variance k/(k-1) Σw²(r - r̄)² / (Σw)²; the ratio of sums R = Σwvr / Σwv, m = (Σwv)² / Σw²v², its
 * variance k/(k-1) Σw²v²(r - R)² / (Σwv)², and K = 16 Σwv / Σw. With equal weights these are the
 * formulas above. In one cell x² and (r - R)² are taken as independent. The squared weights take
 * the variance as each day has it (they need not be alike); what the intervals speak of is the
 * population as the weights see it.
 *
 * What was never seen is the danger: twenty equal samples have no variance, and still one session
 * in ten may be different. So some clusters are imagined beside the m seen:
 * - bounded ratios (r cannot be above 1): t²/2 at 0 and t²/2 at 1. For samples of zeros and ones
 * that is Agresti and Coull's interval, with t for z; it stays in [0, 1], and narrows as 1/n for
 * equal samples ("rule of three").
 * - unbounded ones (loop counts): the variance that two clusters far off by max(r, 1/2) would add;
 * and the upper end is moved out as Johnson's modified t (1978) does for the skewness of a
 * log-normal distribution, 3 s/r, since loop counts are skewed to the right: times what unequal
 * weights u (w, or wv) add to that of their mean, Σu Σu³ / (Σu²)². The lower end is left where a
 * symmetric distribution has it. The price is that intervals of populations that truly vary little
 * are too wide while there are few clusters. The simulation in
 * tests/aggregator/statistics/test_estimate.c shows both.
 *
 * A point is published when its intervals are first narrow (aggregator.h), which makes them those
 * of a sequential sample (Chow and Robbins 1965): what is narrow by chance stops first. The smaller
 * variance that a skewed population shows where its mean comes out too low is what costs coverage
 * then, and what the above allows for; `population published` (bench) measures it.
 *
 * A shader is published when all of its points' intervals are narrow at the same time, and whoever
 * reads them reads all: what they are to hold together is the caller's (curation/joint.h), by the
 * error that each of them may have.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "aggregator/statistics/ageing.h"
#include "base/paired.h"
#include "profile/database.h"

/* How many times the average one cluster is believed to be at most; a stranger's. */
#define PM_ESTIMATE_BELIEVED 16
#define PM_ESTIMATE_STRANGERS_BELIEVED 3

/* How often an interval may miss. */
#define PM_ESTIMATE_ERROR 0.05

/* What is known of a measure's clusters beside its cells. */
struct pm_estimate_basis {
    uint64_t clusters;  /* in them, each counted once */
    double independent; /* at most so many are; INFINITY: all may be */
    bool bounded;       /* r cannot be above 1 */
    bool strangers;     /* as in struct pm_aged */
    double error;       /* of the interval; 0: PM_ESTIMATE_ERROR */
};

/* Both means of one measure's cells, ascending, with their intervals. Without cells: 0, with
 * [0, 1]. All finite. */
struct pm_ratio pm_estimate_cells(const struct pm_aged_cell *cells, size_t count,
                                  const struct pm_estimate_basis *basis);

/* The interval's half is at most absolute, or at most relative times the estimate. */
bool pm_estimate_is_narrow(double estimate, double low, double high, double absolute,
                           double relative);

/* Is the measure a share of the point's own runs: uniform lanes of lanes, zero writes of writes? */
bool pm_estimate_is_share(enum pm_kind kind, unsigned measure);

/* Is the measure bounded by 1, as below? */
bool pm_estimate_is_bounded(const struct pm_aged *aged, const struct pm_aged_point *point,
                            unsigned measure);

/* The estimates of all measures. A measure is bounded when nothing above 1 was ever seen and it is
 * a share or every upload said that the point runs at most once. */
void pm_estimate_aged_point(const struct pm_aged *aged, const struct pm_aged_point *point,
                            struct pm_point_estimate *out);

/* The same with intervals of these errors, one a measure. */
void pm_estimate_aged_point_at(const struct pm_aged *aged, const struct pm_aged_point *point,
                               const double errors[static PM_MEASURES],
                               struct pm_point_estimate *out);

/* Of each measure the least error, `least` at least, at which both of its intervals still are as
 * narrow as this: half of them. 0: nothing was measured. */
struct pm_half_widths {
    double mean, ratio;
};
void pm_estimate_aged_errors(const struct pm_aged *aged, const struct pm_aged_point *point,
                             const struct pm_half_widths halves[static PM_MEASURES], double least,
                             double errors[static PM_MEASURES]);

/* Between which values the ratio of sums of a measure is, by how much of each cluster is believed:
 * if this share of the clusters, whosever they are, had not come, K would be another for all the
 * others, up to what F(K) / K = (1 + (B - 1) share) Σw / B and (1 - share) Σw / B ask for, where
 * F(K) = Σw min(x, K). share: 0 to 1. The measure has clusters. */
struct pm_ratio_span {
    double low, high;
};
struct pm_ratio_span pm_estimate_ratio_span(const struct pm_aged *aged,
                                            const struct pm_aged_point *point, unsigned measure,
                                            double share);

/* pm_estimate_aged_point of one statistics, every cluster weighing the same. */
void pm_estimate_point(const struct pm_statistics *statistics,
                       const struct pm_point_statistics *point, struct pm_point_estimate *out);
