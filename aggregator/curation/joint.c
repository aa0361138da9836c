#include "aggregator/curation/joint.h"

#include "aggregator/curation/judged_points.h"
#include "aggregator/statistics/estimate.h"
#include <math.h>
#include <stdlib.h>

/* Half of what an interval may have: as pm_is_well_known. weight: how much its measure matters. */
static double half_of(const struct pm_coverage_rules *rules, double estimate, double weight)
{
    return fmax(weight > 0 ? rules->half_width_absolute / weight : INFINITY,
                rules->half_width_relative * estimate);
}

/* Of each measure of the point, its e; returns their sum. */
static double find_errors(const struct pm_coverage_rules *rules, const struct pm_aged *aged,
                          const struct pm_aged_point *point, const struct pm_point_estimate *found,
                          double least, double errors[static PM_MEASURES])
{
    struct pm_half_widths halves[PM_MEASURES] = {{0}};
    double sum = 0;
    for (unsigned i = 0; i < pm_measure_count(aged->kind); i++) {
        const double weight =
            pm_estimate_is_share(aged->kind, i) ? pm_share_weight(aged->kind, found) : 1;
        if (found->measures[i].clusters == 0)
            continue; /* nobody measured it, or it is left out */
        halves[i] = (struct pm_half_widths){half_of(rules, found->measures[i].mean, weight),
                                            half_of(rules, found->measures[i].ratio, weight)};
    }
    pm_estimate_aged_errors(aged, point, halves, least, errors);
    for (unsigned i = 0; i < PM_MEASURES; i++) {
        errors[i] = found->measures[i].clusters == 0 ? 0 : errors[i];
        sum += errors[i];
    }
    return sum;
}

/* Leaves a measure out of all points of which its error is larger than `most`; returns how much
 * less error that is. */
static double leave_out(const struct pm_aged *aged, unsigned measure, double most,
                        double errors[][PM_MEASURES], struct pm_point_estimate *points)
{
    const struct pm_ratio none = pm_judged_points_unmeasured().measures[measure];
    double less = 0;
    for (size_t i = 0; i < aged->count; i++) {
        if (errors[i][measure] <= most)
            continue;
        less += errors[i][measure];
        errors[i][measure] = 0;
        points[aged->points[i].point].measures[measure] = none;
    }
    return less;
}

/* Of what others need not wait for as much as must be for the errors to fit: shares that need more
 * than an equal share, then subgroups, of no point or of all, and then the other shares. */
static double leave_out_subgroups(const struct pm_aged *aged, double share, double sum,
                                  double errors[][PM_MEASURES], struct pm_point_estimate *points)
{
    const struct {
        unsigned measure;
        double most;
    } order[] = {{PM_MEASURE_UNIFORM, share}, {PM_MEASURE_SUBGROUPS, 0}, {PM_MEASURE_UNIFORM, 0}};
    for (size_t i = 0; sum > PM_JOINT_SPENT && i < sizeof(order) / sizeof(order[0]); i++)
        sum -= leave_out(aged, order[i].measure, order[i].most, errors, points);
    return sum;
}

static double count_measures(const struct pm_aged *aged)
{
    double count = 0;
    for (size_t i = 0; i < aged->count * pm_measure_count(aged->kind); i++) {
        const struct pm_aged_point *point = &aged->points[i / pm_measure_count(aged->kind)];
        count += point->measures[i % pm_measure_count(aged->kind)].n > 0;
    }
    return count;
}

/* The intervals become those of the errors times `scale`; of a larger one than `most`, of that, and
 * then the point lacks samples. */
static bool spend(const struct pm_aged *aged, const struct pm_aged_point *point, double *errors,
                  double scale, double most, struct pm_point_estimate *out)
{
    const struct pm_point_estimate before = *out;
    bool lacks = false;
    for (unsigned i = 0; i < PM_MEASURES; i++) {
        lacks = lacks || errors[i] > most;
        errors[i] = fmin(errors[i] * scale, most);
    }
    pm_estimate_aged_point_at(aged, point, errors, out);
    for (unsigned i = 0; i < pm_measure_count(aged->kind); i++)
        if (before.measures[i].clusters == 0)
            out->measures[i] = before.measures[i];
    return lacks;
}

bool pm_joint_find(const struct pm_coverage_rules *rules, const struct pm_aged *aged,
                   struct pm_point_estimate *points, uint8_t *deficit, uint32_t *count,
                   struct pm_error *error)
{
    *count = 0;
    if (aged->count <= 1) /* its intervals are as they are to be */
        return true;
    const double share = PM_JOINT_SPENT / fmax(count_measures(aged), 1);
    double(*errors)[PM_MEASURES] = calloc(aged->count, sizeof(*errors));
    double sum = 0;
    if (!errors)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", aged->count);
    for (size_t i = 0; i < aged->count; i++)
        sum += find_errors(rules, aged, &aged->points[i], &points[aged->points[i].point],
                           share / PM_JOINT_SPARE, errors[i]);
    if (pm_some_counted_lanes_alone(aged))
        sum = leave_out_subgroups(aged, share, sum, errors, points);
    const bool fits = sum <= PM_JOINT_SPENT;
    for (size_t i = 0; i < aged->count; i++) {
        const uint32_t point = aged->points[i].point;
        const double scale = fits ? PM_JOINT_SPENT / sum : 1, most = fits ? 1 : share;
        if (!spend(aged, &aged->points[i], errors[i], scale, most, &points[point]))
            continue;
        deficit[point / 8] = (uint8_t)(deficit[point / 8] | 1u << (point % 8));
        ++*count;
    }
    free(errors);
    return true;
}
