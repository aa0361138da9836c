/*
 * The optimizer's inside: optimize.c has it, optimize_at_once.c the part about what earlier
 * sessions proved, optimize_contest_private.h those about A-Z testing, with what all need
 * (optimizer.h).
 */
#pragma once

#include "layer/shader/contest.h"
#include "layer/shader/optimize_build.h"

/* ---- optimize_contest_enter.c ---- */

/* A pipeline takes part in its shader's contest, or gets its winner: of the original, where there
 * is nothing else for it; or where its specialized variant is proven, of what recipes make of that.
 * false: later, when there is room. */
bool pm_optimizer_enter_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline);
bool pm_optimizer_enter_over(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline);

/* ---- optimize_contest_told.c ---- */

/* The game has destroyed a pipeline; any thread. */
void pm_optimizer_leave_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline);

/* ---- optimize_contest.c ---- */

/* Goes on with the contests that are due; on the job's thread. */
void pm_optimizer_go_on(struct pm_optimizer *optimizer);
