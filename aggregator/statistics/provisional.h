/*
 * What a few clusters say of a share (how often a value is zero), before there are enough for an
 * estimate: empirical Bayes. A point's share is taken as drawn from a beta distribution, of which
 * each cluster is one draw, as in a beta-binomial. The distribution is fitted to all points of the
 * kind by moments (Kleinman 1973, "Proportions with extraneous variance", weights n): with r_i of
 * n_i clusters, p = Σnr / Σn, S = Σn(r - p)² and k points,
 * γ = (S - p(1-p)(k - 1)) / (p(1-p)(Σn - Σn²/Σn - (k - 1))), which is 1 / (strength + 1). Its mean
 * is then moved to where the shader's other points are, each of which counts n / (n + strength),
 * and the kind's mean as four. Of a point with n clusters of mean r the posterior is
 * Beta(strength m + n r, strength (1 - m) + n (1 - r)).
 *
 * A cluster's share may lie between 0 and 1; it then varies less than a draw, and the fit errs to
 * the side of a stronger prior. So no prior is as strong as more than eight clusters.
 *
 * It is advice about what is worth a trial, and nothing else goes by it. Thread safety: no state.
 */
#pragma once

#include "profile/database.h"

/* Of one point: the mean of its clusters' ratios. */
struct pm_evidence {
    uint8_t share;    /* in 255ths */
    uint8_t clusters; /* 255: as many or more */
};

/* Sums over points. Zero-initialized: none. */
struct pm_prior_moments {
    double points, clusters, squares; /* k, Σn, Σn² */
    double shares, share_squares;     /* Σnr, Σnr² */
};

/* Beta(strength mean, strength (1 - mean)). */
struct pm_prior {
    double mean;     /* within (0, 1) */
    double strength; /* clusters that it is worth */
};

struct pm_evidence pm_evidence_of(const struct pm_ratio *ratio);

void pm_prior_add(struct pm_prior_moments *moments, const struct pm_evidence *points, size_t count);
/* Adds what another sum says, as if it were of no more than `most` points. */
void pm_prior_merge(struct pm_prior_moments *moments, const struct pm_prior_moments *other,
                    double most);
/* Without points: mean 1/2, strength 1. */
struct pm_prior pm_prior_fit(const struct pm_prior_moments *moments);

/* One level (enum pm_provisional) a point of a shader: likely where the share is above 1/2 by more
 * than the posterior's standard deviation, unlikely where it is below by more than that, else
 * unknown; also where the point has fewer clusters than `least`, or none. False: all are unknown.
 */
bool pm_provisional_find(const struct pm_evidence *points, uint32_t count,
                         const struct pm_prior *prior, uint32_t least, uint8_t *levels);
