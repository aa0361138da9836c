/*
 * The intervals of a shader's points, taken together. A shader is published once all of them are
 * narrow, and a reader sees all of them: of 30 points with intervals that each miss once in 20
 * times, some interval misses in three shaders of four. So what is published is simultaneous:
 * in PM_JOINT_ERROR of the shaders at most some interval of some point misses (Bonferroni's bound,
 * weighted; Rosenthal and Rubin 1983).
 *
 * The error is shared out by need. Of each measure of each point the least error e at which its
 * intervals still are as narrow as asked for tells what it takes (its two means go wrong together,
 * being of the same clusters, and count once). A shader may be published where the sum of e, each
 * at least 1 / PM_JOINT_SPARE of an equal share, is no more than the error in all; then each
 * measure's intervals have its e, scaled up to spend all of it. So what is known far better than is
 * asked for, as most is, costs the rest nearly nothing, and every interval stays narrow. Else the
 * points that need more than an equal share lack samples. One point alone is as it was.
 *
 * The sum is looked at again and again, and what is small by chance is published first. So a little
 * less is spent than there is; `population joint` (bench) measures what is held.
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/curation/deficit.h"
#include "aggregator/statistics/ageing.h"

#define PM_JOINT_ERROR 0.05
#define PM_JOINT_SPENT 0.03
#define PM_JOINT_SPARE 8

/* points: `space` estimates of the shader, each covered and well known by itself; their intervals
 * become those above. deficit: a bit for each point, of which those that lack samples are set;
 * *count: how many. */
bool pm_joint_find(const struct pm_coverage_rules *rules, const struct pm_aged *aged,
                   struct pm_point_estimate *points, uint8_t *deficit, uint32_t *count,
                   struct pm_error *error);
