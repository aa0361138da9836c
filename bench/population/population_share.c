#include "bench/population/population_share.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* P(X <= hits) of a binomial, from the nearer tail's sum in logarithms. */
static double binomial_below(uint64_t hits, uint64_t of, double share)
{
    double sum = 0;
    if (share <= 0)
        return 1;
    if (share >= 1)
        return hits == of;
    for (uint64_t k = 0; k <= hits; k++) {
        const double n = (double)of, x = (double)k;
        sum += exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(share) +
                   (n - x) * log1p(-share));
    }
    return fmin(sum, 1);
}

void pm_population_share(uint64_t hits, uint64_t of, double *low, double *high)
{
    double bounds[2];
    for (int end = 0; end < 2; end++) {
        double below = 0, above = 1;
        for (int i = 0; i < 50; i++) {
            const double share = (below + above) / 2;
            /* Low: P(X >= hits) = 0.025; high: P(X <= hits) = 0.025. */
            const bool up = end == 0 ? hits == 0 || 1 - binomial_below(hits - 1, of, share) < 0.025
                                     : binomial_below(hits, of, share) > 0.025;
            if (up && (end == 1 || hits > 0))
                below = share;
            else
                above = share;
        }
        bounds[end] = (below + above) / 2;
    }
    *low = hits == 0 ? 0 : bounds[0];
    *high = hits == of ? 1 : bounds[1];
}

void pm_population_print_share(uint64_t hits, uint64_t of)
{
    double low, high;
    if (of == 0) {
        printf(" | –");
        return;
    }
    pm_population_share(hits, of, &low, &high);
    printf(" | %.2f (%.2f–%.2f)", 100.0 * (double)hits / (double)of, 100 * low, 100 * high);
}
