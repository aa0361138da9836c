/*
 * A-Z testing's part of the optimizer: pipelines for the variants of a contest (contest.h), one
 * variant at a time, and for the winner. optimize_contest.c goes from one to the next,
 * optimize_contest_arms.c builds them and lets them go, optimize_contest_told.c hears what trials
 * say, optimize_contest_enter.c has the pipelines that come.
 *
 * Thread safety: the job's thread, but for what trials call.
 */
#pragma once

#include "layer/shader/optimize_private.h"

/* ---- optimize_contest.c ---- */

/* Goes on with the next variant, or ends. */
void pm_contest_measure_next(struct pm_optimizer *optimizer, struct pm_contest *contest);
/* It is measured with the pipeline from now on, whose reference becomes the contest's. */
void pm_contest_take_pipeline(struct pm_contest *contest, struct pm_pipeline *pipeline);

/* ---- optimize_contest_arms.c ---- */

enum pm_leaves {
    PM_LEAVES_ALL,
    PM_LEAVES_BEATEN,     /* that cannot win any more */
    PM_LEAVES_UNMEASURED, /* all but the one that is measured */
};
/* Arms whose pipelines go, so that their room is for others; those that may win are built again
 * when it is their turn. What was chosen is none of them any more. */
void pm_contest_retire(struct pm_optimizer *optimizer, struct pm_contest *contest,
                       enum pm_leaves which);
/* What waits for room is not the contest any more, which stays suspended, but what comes next. */
void pm_contest_let_go(struct pm_contest *contest);
/* Contests that are idle give all their room to others. */
void pm_contests_take_from_idle(struct pm_optimizer *optimizer);
/* It goes on when there is room. Until then it takes none, and others may be open. */
void pm_contest_block(struct pm_optimizer *optimizer, struct pm_contest *contest,
                      enum pm_room room);
/* What could not be built may be another time. */
bool pm_contest_waits(const struct pm_optimizer *optimizer, const struct pm_contest *contest);

/* The arm's pipeline, built when it is not, and noted in the journal. NULL: it cannot be, or the
 * contest is blocked. */
struct pm_optimized *pm_contest_build(struct pm_optimizer *optimizer, struct pm_contest *contest,
                                      struct pm_arm *arm);
void pm_contest_measure(struct pm_optimizer *optimizer, struct pm_optimized *optimized,
                        uint32_t times);
/* What was measured is taken off the journal, but what a recording may yet run. */
void pm_contest_unnote_measured(struct pm_contest *contest);
/* One that is noted is chosen: the journal keeps it, as any variant. */
void pm_contest_note_chosen(struct pm_optimizer *optimizer, const struct pm_arm *arm);
/* The cache that is kept gets what won, by a pipeline that is made once more: all that was measured
 * has a cache of its own. */
void pm_contest_keep_winner(struct pm_optimizer *optimizer, const struct pm_contest *contest,
                            struct pm_pipeline *pipeline);

/* ---- optimize_contest_told.c ---- */

/* An arm's outcomes are the contest's. */
void pm_contest_hear(struct pm_candidate *candidate);
/* An arm was measured; one that was retired meanwhile, too, while the contest measures another. */
void pm_contest_measured(struct pm_candidate *candidate, const struct pm_anytime *seen);
