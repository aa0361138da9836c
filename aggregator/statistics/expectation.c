#include "aggregator/statistics/expectation.h"

#include <math.h>
#include <stdlib.h>

#define EULER_GAMMA 0.57721566490153286061

/* Of b points drawn from n, `missing` of which have no sample, `fresh` are among these, with the
 * hypergeometric distribution; how likely fresh + 1 is over how likely fresh is. */
static double step(uint32_t n, uint32_t b, uint32_t missing, uint32_t fresh)
{
    return (double)(missing - fresh) * (b - fresh) /
           ((fresh + 1.0) * ((double)n - missing - b + fresh + 1));
}

/* Expected samples with so many points missing; left[m]: with fewer. The probabilities are taken
 * relative to that of the mode, where none is too small for a double. */
static double chain_link(uint32_t n, uint32_t b, uint32_t missing, const double *left)
{
    const uint32_t least = b > n - missing ? b - (n - missing) : 0;
    const uint32_t most = b < missing ? b : missing;
    const uint32_t mode = (uint32_t)(((uint64_t)b + 1) * ((uint64_t)missing + 1) / (n + 2ull));
    const uint32_t start = mode < least ? least : mode > most ? most : mode;
    double total = 0, sum = 0, none = 0, p = 1;
    for (uint32_t fresh = start; fresh <= most; fresh++) {
        total += p;
        if (fresh == 0)
            none = p;
        else
            sum += p * left[missing - fresh];
        p *= step(n, b, missing, fresh);
    }
    p = 1;
    for (uint32_t fresh = start; fresh > least; fresh--) {
        p /= step(n, b, missing, fresh - 1);
        total += p;
        if (fresh == 1)
            none = p;
        else
            sum += p * left[missing - fresh + 1];
    }
    return (total + sum) / (total - none);
}

static double chain(uint32_t n, uint32_t b, double *left)
{
    left[0] = 0;
    for (uint32_t missing = 1; missing <= n; missing++)
        left[missing] = chain_link(n, b, missing, left);
    return left[n];
}

double pm_expected_samples(uint32_t n, uint32_t b)
{
    double left[PM_EXPECTATION_EXACT + 1];
    if (n == 0 || b == 0)
        return 0;
    if (b >= n)
        return 1;
    /* A point has no sample after t with probability (1 - b/n)^t, and for many points these are as
     * good as independent: the largest of n geometric times. */
    return n <= PM_EXPECTATION_EXACT ? chain(n, b, left)
                                     : (log(n) + EULER_GAMMA) / -log1p(-(double)b / n) + 0.5;
}

double pm_expected_share(uint32_t n, uint32_t b, double samples)
{
    if (n == 0 || b == 0 || samples <= 0)
        return 0;
    if (b >= n)
        return samples < 1 ? samples : 1;
    return -expm1(samples * log1p(-(double)b / n));
}
