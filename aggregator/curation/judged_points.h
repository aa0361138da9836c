/*
 * Estimates of a shader's points, in memory that the next shader uses again. A space costs an
 * uploader nothing, and points that nobody measured are all alike: so no more is written than was
 * measured, however large the space is.
 *
 * Thread safety: a struct belongs to one thread at a time.
 */
#pragma once

#include "aggregator/statistics/ageing.h"
#include "profile/database.h"

/* Begins as {0}. */
struct pm_judged_points {
    struct pm_point_estimate *points; /* `count` of them, of points that nobody measured */
    uint32_t count;
};

void pm_judged_points_finish(struct pm_judged_points *all);

/* Of a point that nobody measured; also measures that a kind has not are 0 within [0, 1]. */
struct pm_point_estimate pm_judged_points_unmeasured(void);

/* The estimates of all points of aged->space, until pm_judged_points_give_back, which is called
 * before anything else is taken. NULL: out of memory. */
struct pm_point_estimate *pm_judged_points_take(struct pm_judged_points *all,
                                                const struct pm_aged *aged);
void pm_judged_points_give_back(struct pm_judged_points *all, const struct pm_aged *aged);

/* What was taken, malloc'ed, in which measures that the kind has not are 0. NULL: out of memory. */
struct pm_point_estimate *pm_judged_points_copy(const struct pm_judged_points *all,
                                                const struct pm_aged *aged);
