#include "aggregator/curation/quantize.h"

#include "aggregator/statistics/estimate.h"
#include <math.h>

#define COUNT_BITS 4
#define ERROR_BITS 3

uint64_t pm_quantize_count(uint64_t count)
{
    unsigned shift = 0;
    while (count >> shift >> COUNT_BITS != 0)
        shift++;
    return count >> shift << shift;
}

static double round_up(double error)
{
    int exponent;
    const double fraction = frexp(error, &exponent);
    return ldexp(ceil(ldexp(fraction, ERROR_BITS)), exponent - ERROR_BITS);
}

struct pm_lying pm_quantize_lying(struct pm_lying lying)
{
    return (struct pm_lying){(uint32_t)pm_quantize_count(lying.tokens),
                             fmin(round_up(lying.error), 1)};
}

/* most: what the value cannot be above. */
static void quantize(double *value, double *low, double *high, double most)
{
    const double half = (*high - *low) / 2;
    if (!(half > 0) || !isfinite(half))
        return;
    const double step = exp2(floor(log2(half / 2)));
    *value = fmin(round(*value / step) * step, most);
    *low = floor(*low / step) * step;
    *high = fmin(ceil(*high / step) * step, most);
}

void pm_quantize_points(enum pm_kind kind, struct pm_point_estimate *points, uint32_t space)
{
    for (uint32_t i = 0; i < space; i++) {
        points[i].calls = (uint32_t)pm_quantize_count(points[i].calls);
        points[i].sessions = (uint32_t)pm_quantize_count(points[i].sessions);
        for (unsigned m = 0; m < pm_measure_count(kind); m++) {
            struct pm_ratio *ratio = &points[i].measures[m];
            const double most = ratio->mean_high <= 1 && ratio->ratio_high <= 1 ? 1 : INFINITY;
            quantize(&ratio->mean, &ratio->mean_low, &ratio->mean_high, most);
            quantize(&ratio->ratio, &ratio->ratio_low, &ratio->ratio_high, most);
            ratio->clusters = (uint32_t)pm_quantize_count(ratio->clusters);
        }
    }
}
