#include "aggregator/estimate.h"

#include <math.h>
#include <string.h>

/* What an unbounded ratio's floor stands for: see the header. */
#define IMAGINED 2.0
#define IMAGINED_LEAST 0.5

/* The interval of an estimate from `clusters` (effective) clusters whose values have this variance.
 */
static void interval(double clusters, double estimate, double variance, bool bounded, double *low,
                     double *high)
{
    const double t = pm_student_quantile(clusters - 1);
    if (bounded) {
        const double imagined = t * t, all = clusters + imagined;
        const double center = (clusters * estimate + imagined / 2) / all;
        const double square = (clusters * (variance + estimate * estimate) + imagined / 2) / all;
        const double half = t * sqrt(fmax(square - center * center, 0) / all);
        *low = fmax(center - half, 0);
        *high = fmin(center + half, 1);
    } else {
        const double far = fmax(estimate, IMAGINED_LEAST), all = clusters + IMAGINED;
        const double center = (clusters * estimate + IMAGINED * far) / all;
        const double error = sqrt(variance / clusters + IMAGINED * far * far / (all * all));
        const double skew = error / center;
        *low = fmax(center - t * error, 0);
        *high = center + t * error * (1 + 2.0 / 3 * t * skew + skew / (3 * t));
    }
    *low = fmin(*low, estimate);
    *high = fmax(*high, estimate);
}

struct pm_ratio pm_estimate_ratio(const struct pm_measure_sums *sums, bool bounded)
{
    struct pm_ratio out = {.mean_high = 1, .ratio_high = 1};
    if (sums->n == 0)
        return out;
    /* long double: the differences of large sums below keep half of its 64 bits. */
    const long double n = (long double)sums->n;
    const long double x = pm_wide_value(&sums->x), y = pm_wide_value(&sums->y);
    const long double xx = pm_wide_value(&sums->xx), xy = pm_wide_value(&sums->xy);
    const long double yy = pm_wide_value(&sums->yy);
    const long double mean = ldexpl(pm_wide_value(&sums->r), -PM_STATISTICS_RATIO_BITS) / n;
    const long double squares = ldexpl(pm_wide_value(&sums->rr), -2 * PM_STATISTICS_RATIO_BITS);
    const long double ratio = y / x;

    long double mean_variance = 0, ratio_variance = 0;
    const long double effective = fminl(fmaxl(x / xx * x, 1), n);
    if (sums->n > 1) {
        mean_variance = fmaxl((squares - n * mean * mean) / (n - 1), 0);
        const long double residual = fmaxl(yy - 2 * ratio * xy + ratio * ratio * xx, 0);
        ratio_variance = effective * n / (n - 1) * (residual / x / x);
    }
    out.clusters = sums->n > UINT32_MAX ? UINT32_MAX : (uint32_t)sums->n;
    out.mean = (double)mean;
    out.ratio = (double)ratio;
    interval((double)n, out.mean, (double)mean_variance, bounded, &out.mean_low, &out.mean_high);
    interval((double)effective, out.ratio, (double)ratio_variance, bounded, &out.ratio_low,
             &out.ratio_high);
    return out;
}

bool pm_estimate_is_narrow(double estimate, double low, double high, double absolute,
                           double relative)
{
    const double half = (high - low) / 2;
    return half <= absolute || half <= relative * estimate;
}

bool pm_estimate_is_share(enum pm_kind kind, unsigned measure)
{
    return kind == PM_KIND_ZERO ? measure == PM_MEASURE_ZERO
                                : kind == PM_KIND_BLOCK && measure == PM_MEASURE_UNIFORM;
}

static uint32_t clamp(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

void pm_estimate_point(const struct pm_statistics *statistics,
                       const struct pm_point_statistics *point, struct pm_point_estimate *out)
{
    memset(out, 0, sizeof(*out));
    out->calls = clamp(point->calls);
    out->sessions = clamp(point->sessions);
    const bool once = pm_statistics_is_at_most_once(statistics, point->point);
    for (unsigned i = 0; i < pm_measure_count(statistics->kind); i++) {
        const struct pm_measure_sums *sums = &point->measures[i];
        /* A block that runs at most once per invocation may still be entered by several parts of
         * one subgroup, one after the other: then the share of subgroups is above 1, and no share.
         */
        bool bounded = once || pm_estimate_is_share(statistics->kind, i);
        for (unsigned bin = PM_HISTOGRAM_ONE + 1; bin < PM_HISTOGRAM_BINS; bin++)
            bounded = bounded && sums->histogram[bin] == 0;
        out->measures[i] = pm_estimate_ratio(sums, bounded);
    }
}
