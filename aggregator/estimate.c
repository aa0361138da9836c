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

struct pm_ratio pm_estimate_aged(const struct pm_aged_sums *sums, bool bounded)
{
    struct pm_ratio out = {.mean_high = 1, .ratio_high = 1};
    if (sums->n == 0)
        return out;
    /* long double: the differences of large sums below keep half of its 64 bits. */
    const long double n = (long double)sums->n;
    const long double equal = fminl(fmaxl(sums->w / sums->ww * sums->w, 1), n);
    const long double effective = fminl(fmaxl(sums->x / sums->wwxx * sums->x, 1), n);
    const long double mean = sums->r / sums->w, ratio = sums->y / sums->x;

    /* Both times the clusters that `interval` divides them by. */
    long double mean_variance = 0, ratio_variance = 0;
    if (equal > 1) {
        const long double spread =
            fmaxl(sums->wwrr - 2 * mean * sums->wwr + mean * mean * sums->ww, 0);
        const long double residual =
            fmaxl(sums->wwyy - 2 * ratio * sums->wwxy + ratio * ratio * sums->wwxx, 0);
        mean_variance = equal * equal / (equal - 1) * (spread / sums->w / sums->w);
        ratio_variance = effective * equal / (equal - 1) * (residual / sums->x / sums->x);
    }
    out.clusters = sums->n > UINT32_MAX ? UINT32_MAX : (uint32_t)sums->n;
    out.mean = (double)mean;
    out.ratio = (double)ratio;
    interval((double)equal, out.mean, (double)mean_variance, bounded, &out.mean_low,
             &out.mean_high);
    interval((double)effective, out.ratio, (double)ratio_variance, bounded, &out.ratio_low,
             &out.ratio_high);
    return out;
}

struct pm_ratio pm_estimate_ratio(const struct pm_measure_sums *sums, bool bounded)
{
    struct pm_aged_sums aged;
    pm_aged_of(sums, &aged);
    return pm_estimate_aged(&aged, bounded);
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

/* A block that runs at most once per invocation may still be entered by several parts of one
 * subgroup, one after the other: then the share of subgroups is above 1, and no share. */
static bool is_bounded(enum pm_kind kind, unsigned measure, bool once,
                       const struct pm_aged_sums *sums)
{
    return (once || pm_estimate_is_share(kind, measure)) && !sums->above_one;
}

void pm_estimate_aged_point(const struct pm_aged *aged, const struct pm_aged_point *point,
                            struct pm_point_estimate *out)
{
    memset(out, 0, sizeof(*out));
    out->calls = clamp(point->calls);
    out->sessions = clamp(point->sessions);
    const bool once = pm_aged_is_at_most_once(aged, point->point);
    for (unsigned i = 0; i < pm_measure_count(aged->kind); i++)
        out->measures[i] = pm_estimate_aged(&point->measures[i],
                                            is_bounded(aged->kind, i, once, &point->measures[i]));
}

void pm_estimate_point(const struct pm_statistics *statistics,
                       const struct pm_point_statistics *point, struct pm_point_estimate *out)
{
    memset(out, 0, sizeof(*out));
    out->calls = clamp(point->calls);
    out->sessions = clamp(point->sessions);
    const bool once = pm_statistics_is_at_most_once(statistics, point->point);
    for (unsigned i = 0; i < pm_measure_count(statistics->kind); i++) {
        struct pm_aged_sums sums;
        pm_aged_of(&point->measures[i], &sums);
        out->measures[i] = pm_estimate_aged(&sums, is_bounded(statistics->kind, i, once, &sums));
    }
}
