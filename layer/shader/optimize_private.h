/*
 * The optimizer's inside: optimize.c has it, optimize_contest.c the part about A-Z testing,
 * with what both need (optimizer.h).
 */
#pragma once

#include "layer/shader/contest.h"
#include "layer/shader/optimize.h"
#include "layer/shader/optimizer.h"

/* ---- optimize.c ---- */

/* Builds a pipeline with a specialized shader that may run anywhere. NULL: see *error. */
struct pm_optimized *pm_optimizer_build(struct pm_optimizer *optimizer,
                                        struct pm_pipeline *pipeline,
                                        const struct pm_specialized_shader *shader,
                                        struct pm_error *error);
/* The pipeline's variant from now on: proven, or to be tried. */
void pm_optimizer_publish(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                          struct pm_optimized *optimized);
/* Its verdict. */
const char *pm_optimizer_decide(struct pm_candidate *candidate, bool faster);
/* Has the job look for what is to be done; any thread. */
void pm_optimizer_wake(struct pm_optimizer *optimizer);

/* ---- optimize_contest.c ---- */

/* A pipeline for which there is nothing else takes part in its shader's contest, or gets its
 * winner. false: later, when there is room. */
bool pm_optimizer_enter_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline);

/* The game has destroyed a pipeline; any thread. */
void pm_optimizer_leave_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline);

/* Goes on with the contests that are due; on the job's thread. */
void pm_optimizer_go_on(struct pm_optimizer *optimizer);
