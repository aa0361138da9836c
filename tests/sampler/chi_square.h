/* Pearson's chi-square test. Seeds are fixed, so a test that passes does so always; the threshold
 * is a false alarm in 10,000, and the tests check that it rejects a distribution that is slightly
 * off. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* true: the counts could come from the probabilities, which add up to 1. Every expected count must
 * be 5 or more. */
static inline bool chi_square_accepts(const uint64_t *counts, const double *probabilities,
                                      size_t bins)
{
    uint64_t total = 0;
    double statistic = 0.0;
    for (size_t i = 0; i < bins; i++)
        total += counts[i];
    for (size_t i = 0; i < bins; i++) {
        double expected = probabilities[i] * (double)total;
        double difference = (double)counts[i] - expected;
        if (expected < 5.0) {
            fprintf(stderr, "bin %zu expects only %g\n", i, expected);
            return false;
        }
        statistic += difference * difference / expected;
    }
    /* Wilson and Hilferty 1931; 3.719 is the normal quantile of 1 - 1/10,000. */
    double freedom = (double)bins - 1.0, part = 2.0 / (9.0 * freedom);
    double limit = freedom * pow(1.0 - part + 3.719 * sqrt(part), 3.0);
    if (statistic > limit)
        fprintf(stderr, "chi-square %g, limit %g with %zu bins\n", statistic, limit, bins);
    return statistic <= limit;
}

static inline bool chi_square_uniform(const uint64_t *counts, size_t bins)
{
    double probabilities[4096];
    if (bins > 4096)
        return false;
    for (size_t i = 0; i < bins; i++)
        probabilities[i] = 1.0 / (double)bins;
    return chi_square_accepts(counts, probabilities, bins);
}
