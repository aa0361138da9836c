#include "aggregator/curation/judgement.h"

#include "aggregator/curation/joint.h"
#include <stdlib.h>
#include <string.h>

static bool is_lacking(const struct pm_judging *judging, enum pm_kind kind,
                       const struct pm_point_estimate *point, bool *covered)
{
    *covered = pm_is_covered(judging->rules, kind, point);
    return !*covered || (!judging->publish_all && !pm_is_well_known(judging->rules, kind, point));
}

/* What lacks where nobody has measured anything. */
static void judge_unmeasured(const struct pm_judging *judging, struct pm_judgement *out)
{
    const struct pm_point_estimate none = pm_judged_points_unmeasured();
    const uint32_t space = out->aged->space;
    bool covered;
    const bool lacking = is_lacking(judging, out->aged->kind, &none, &covered);
    out->covered = covered ? space : 0;
    out->lacking = lacking ? space : 0;
    memset(out->deficit, lacking ? 0xff : 0, ((size_t)space + 7) / 8);
    if (lacking && space % 8 != 0)
        out->deficit[space / 8] = (uint8_t)((1u << space % 8) - 1);
}

/* Whether how many subgroups enter is well known of every point that ran. */
static bool knows_subgroups(const struct pm_judging *judging, const struct pm_aged *aged,
                            const struct pm_point_estimate *points)
{
    for (size_t i = 0; i < aged->count; i++) {
        const struct pm_point_estimate *found = &points[aged->points[i].point];
        if (!pm_block_subgroups_are_known(found) ||
            !pm_is_measure_well_known(judging->rules, aged->kind, found, PM_MEASURE_SUBGROUPS))
            return false;
    }
    return true;
}

/* What is not well known and need not be waited for is as if nobody had measured it. */
static void leave_out(const struct pm_judging *judging, const struct pm_aged *aged,
                      struct pm_point_estimate *points)
{
    const struct pm_point_estimate none = pm_judged_points_unmeasured();
    const bool subgroups = knows_subgroups(judging, aged, points);
    for (size_t i = 0; i < aged->count; i++) {
        struct pm_point_estimate *found = &points[aged->points[i].point];
        if (!pm_is_measure_well_known(judging->rules, aged->kind, found, PM_MEASURE_UNIFORM))
            found->measures[PM_MEASURE_UNIFORM] = none.measures[PM_MEASURE_UNIFORM];
        if (!subgroups)
            found->measures[PM_MEASURE_SUBGROUPS] = none.measures[PM_MEASURE_SUBGROUPS];
    }
}

static void judge_point(const struct pm_judging *judging, struct pm_judgement *out, uint32_t point)
{
    const struct pm_point_estimate none = pm_judged_points_unmeasured();
    const enum pm_kind kind = out->aged->kind;
    bool covered, covered_before;
    const bool before = is_lacking(judging, kind, &none, &covered_before);
    const bool lacking = is_lacking(judging, kind, &out->points[point], &covered);
    out->covered += (uint32_t)covered - (uint32_t)covered_before;
    out->lacking += (uint32_t)lacking - (uint32_t)before;
    if (lacking != before)
        out->deficit[point / 8] = (uint8_t)(out->deficit[point / 8] ^ 1u << point % 8);
}

/* Who counts subgroups is asked for what is left out; nothing waits for it. */
static void ask_for_the_rest(struct pm_judgement *out)
{
    for (size_t i = 0; i < out->aged->count; i++) {
        const uint32_t point = out->aged->points[i].point;
        const struct pm_point_estimate *found = &out->points[point];
        if (pm_block_uniformity_is_known(found) && pm_block_subgroups_are_known(found))
            continue;
        out->deficit[point / 8] = (uint8_t)(out->deficit[point / 8] | 1u << point % 8);
        out->asks = true;
    }
}

bool pm_judge(const struct pm_judging *judging, const struct pm_series *gathered,
              struct pm_judgement *out, struct pm_error *error)
{
    const struct pm_aged *aged = &gathered->aged;
    out->statistics = &gathered->exact;
    out->aged = aged;
    out->points = pm_judged_points_take(judging->pool, aged);
    out->deficit = calloc(((size_t)aged->space + 7) / 8, 1);
    if (!out->points || !out->deficit)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", aged->space);
    judge_unmeasured(judging, out);
    const bool may_leave_out = !judging->publish_all && pm_some_counted_lanes_alone(aged);
    if (may_leave_out)
        leave_out(judging, aged, out->points);
    for (size_t i = 0; i < aged->count; i++)
        judge_point(judging, out, aged->points[i].point);
    if (out->lacking == 0 && !judging->publish_all &&
        !pm_joint_find(judging->rules, aged, out->points, out->deficit, &out->lacking, error))
        return false;
    if (may_leave_out && out->lacking == 0)
        ask_for_the_rest(out);
    return true;
}

void pm_judgement_finish(struct pm_judgement *judged, struct pm_judged_points *pool)
{
    if (judged->points)
        pm_judged_points_give_back(pool, judged->aged);
    free(judged->deficit);
    memset(judged, 0, sizeof(*judged));
}

double pm_judgement_clusters_a_day(const struct pm_judgement *judged)
{
    const struct pm_aged *aged = judged->aged;
    double most = 0;
    for (size_t i = 0; i < aged->count; i++) {
        for (unsigned j = 0; j < pm_measure_count(aged->kind); j++) {
            const struct pm_aged_measure *measure = &aged->points[i].measures[j];
            if (measure->n > 0 && (double)(measure->w / measure->days) > most)
                most = (double)(measure->w / measure->days);
        }
    }
    return most;
}

uint64_t pm_judgement_sessions(const struct pm_judgement *judged)
{
    uint64_t most = 0;
    for (size_t i = 0; i < judged->aged->count; i++) {
        const uint32_t sessions = judged->points[judged->aged->points[i].point].sessions;
        most = sessions > most ? sessions : most;
    }
    return most;
}
