/*
 * Which candidates are worth estimating (AZP 3.3.1): those that are zero often enough and whose
 * zero does not merely follow from another candidate's.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/choose/implied.h"

#define PM_ZERO_FOLLOWS_NONE UINT32_MAX

enum pm_zero_filtered {
    PM_ZERO_KEPT,
    PM_ZERO_NOT_KNOWN, /* no P(zero) */
    PM_ZERO_RARE,      /* P(zero) below the threshold */
    PM_ZERO_FOLLOWS,   /* a zero-propagator of a candidate that is zero at least as often */
};

/* Fills in results[i], and in follows[i] which candidate i follows from, for every candidate.
 * The arena is for its own use.
 * false: out of memory. */
bool pm_zero_filter(const struct pm_ir_module *module, const struct pm_float_permission *permission,
                    const struct pm_zero_points *points, const double *zero, double threshold,
                    enum pm_zero_filtered *results, uint32_t *follows, struct pm_arena *arena);
