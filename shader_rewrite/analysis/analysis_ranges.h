/*
 * Which numbers a float can be, whatever the inputs: forward interval arithmetic, outward by a unit
 * in the last place for each rounding, so that it holds for each way to round, with and without
 * contraction, and where denormals are flushed. What is read from memory, from textures or from
 * other stages may be anything, but for images whose format the shader says.
 *
 * GLSL.std.450: of NaN FMin, FMax, FClamp and the like are not defined, NMin, NMax and NClamp are;
 * of two zeroes each of these may be either.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Of each component: NaN, or from low to high, -0 among the zeroes or not. An integer has that of
 * the float with its bits. */
struct pm_range {
    double low, high;
    bool nan, minus_zero;
};

struct pm_float_permission;

/* By id, for the function and the constants that the module has now, with permission->glsl known;
 * in the arena. NULL: out of memory. */
const struct pm_range *pm_ranges_find(const struct pm_float_permission *permission,
                                      const struct pm_ir_function *function,
                                      struct pm_arena *arena);

/* What any value may be. */
struct pm_range pm_range_any(void);

static inline bool pm_range_has_zero(struct pm_range r)
{
    return r.low <= 0 && r.high >= 0;
}
