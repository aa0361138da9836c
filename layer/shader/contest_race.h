/*
 * Which variants a contest measures by what others found (profile/races.h; docs/statistics.md,
 * Races of variants): the one that has won, by itself; or some that are drawn by the shares that
 * the race asks for; or, where nothing is known, all. What lost for sure is not among those that
 * are drawn.
 *
 * What depends on more than the shader and the recipe takes no part in races: what is made by a
 * profile of blocks, since a machine's may be its own, and is older or newer than another's; or of
 * a specialized module. So that what no race speaks of takes nothing from what it asks for, a few
 * of the former are drawn beside that.
 *
 * One machine of twenty, by its lot (optimize.doubt_share), measures all for itself, and of the
 * others one in five goes on with the race though something has won: so that a lie dies, and what
 * is better is found. Nothing is bound by it: a contest ends with this machine's own trial, whoever
 * chose what takes part (HAZARDS 24).
 *
 * Thread safety: as contest.h.
 */
#pragma once

#include "layer/shader/contest.h"
#include "profile/races.h"

enum {
    PM_CONTEST_DRAWN = 8, /* variants of a session's contest, by the race */
    PM_CONTEST_ALONE = 2, /* and beside them of those that are in no race */
};
#define PM_CONTEST_EXPLORE 0.25 /* of machines, with those that doubt */

/* Has the variants take part, of a contest that begins. sizes: the subgroup sizes that its
 * pipelines may require, as bits. May make some of their modules. */
void pm_contest_field(struct pm_contest *contest, struct pm_device *device,
                      const struct pm_environment *environment, uint32_t sizes);

/* The rank of a variant among a contest's (base/halving.h), which is above 0. */
uint32_t pm_contest_rank(const struct pm_variant_choice *choice);

/* An arm's point among those of its race; 0: it has none. */
uint32_t pm_contest_point(const struct pm_arm *arm);
