/*
 * What guards against drivers' quirks cost zero specialization (shader_rewrite/quirks): each guard
 * on by itself, all that one driver needs, and all there are, against none.
 *
 * Every point is always zero, as in the rest of opportunity.c.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "bench/cost/dumped.h"

/* Over the shaders of a folder. */
struct pm_guard_sums {
    uint32_t shaders;    /* that are specialized */
    uint32_t transforms; /* of them all */
    uint32_t points;     /* that would be taken by themselves */
    double saved;        /* cycles */
};

enum { PM_GUARD_ROWS = 10 };

/* Adds one shader to each row's sums. false: *error says why. */
bool pm_guards_look(const struct pm_dumped *shader, const struct pm_words *canonical,
                    const struct pm_zero_points *points, struct pm_guard_sums sums[PM_GUARD_ROWS],
                    struct pm_error *error);

/* A line for each row: what of the first row's, which has no guard, is lost. */
void pm_guards_print(const struct pm_guard_sums sums[PM_GUARD_ROWS]);
