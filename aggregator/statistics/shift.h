/*
 * Has a game changed so that what was counted before says nothing of it any more? A patch of the
 * game, or new settings, move the daily means of points. Days come in order; of each point and
 * measure the last PM_SHIFT_DAYS on which the shader has any are held against all those before,
 * weighted by their age (ageing.h). It is a shift when, for one measure of one point,
 * - the mean of ratios over these days is off by PM_SHIFT_LEAST at least, or by
 *   PM_SHIFT_LEAST_RELATIVE of the mean before where that is more: smaller ones ageing follows;
 * - each of the days lies beyond all those before, on that side, by half as much: so no weekend is
 *   a shift, and no week after it;
 * - and chance does it once in PM_SHIFT_ERROR of all shaders over all of a retention: Student's t
 *   of the difference at an error that is divided by the measures, points and days that are looked
 *   at (Bonferroni), each mean's variance being that between clusters, and a little more, since few
 *   may be alike by chance. Players who come on many days come on both sides, and what they have
 *   in common takes nothing from the difference; so here all clusters may count (unlike in
 *   estimate.h).
 * Then nothing before the first of these days counts any longer, of no point of the shader: what
 * moved one has moved others by less than can be told. Means of ratios are looked at, in which no
 * cluster weighs more than another: so c of n tokens move them by c / n of a share, and whoever
 * brings a shift about has no more of what is left than by lying every day.
 *
 * Thread safety: a struct belongs to one thread at a time.
 */
#pragma once

#include "aggregator/statistics/statistics.h"

#define PM_SHIFT_DAYS 3u
#define PM_SHIFT_LEAST 0.05
#define PM_SHIFT_LEAST_RELATIVE 0.10
#define PM_SHIFT_ERROR 0.05
#define PM_SHIFT_LOOKS 60   /* days that a retention has */
#define PM_SHIFT_CLUSTERS 3 /* that a day must have of a measure */

struct pm_shift_row;

struct pm_shift {
    uint32_t half_life; /* days; 0: all days weigh the same */
    uint32_t space;     /* 0: nothing was added yet */
    unsigned measures;
    struct pm_shift_row *rows; /* of each point and measure that was seen, ascending */
    size_t row_count;
    bool has_before;               /* there are days before the last ones */
    uint32_t newest;               /* day of them */
    uint32_t dates[PM_SHIFT_DAYS]; /* the last days, the oldest first */
    unsigned count;                /* of these */
};

/* Begins as {.half_life}. */
void pm_shift_finish(struct pm_shift *shift);

/* Adds what was counted on a day, which is not before the one added last; several of one day are
 * one. false: out of memory. */
bool pm_shift_add(struct pm_shift *shift, const struct pm_statistics *statistics, uint32_t day,
                  struct pm_error *error);

/* Once a day is there in full: has it shifted? *since: then the first day that counts, and all
 * before it is forgotten. */
bool pm_shift_find(struct pm_shift *shift, uint32_t *since);
