/*
 * The passes of ours that recipes are made of (recipes.c). The context of each is a uint32_t, its
 * argument.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/pass.h"

/* variant_schedule.c: puts the instructions of each block into another order. */
enum pm_schedule {
    PM_SCHEDULE_LATE,     /* each value right before its first use */
    PM_SCHEDULE_PRESSURE, /* likewise, and of operands first that which needs the most registers */
    PM_SCHEDULE_BREADTH,  /* what waits for the least comes first */
    PM_SCHEDULE_CRITICAL, /* what the most waits for comes first */
    PM_SCHEDULE_LOADS,    /* loads and samples, and what they need, come first */
};
extern const struct pm_pass pm_pass_schedule;

/* variant_controls.c: what the driver is told of selections and loops. */
enum pm_controls {
    PM_CONTROLS_FLATTEN,            /* selections without side effects and loops in them */
    PM_CONTROLS_FLATTEN_SMALL,      /* likewise, of a few instructions */
    PM_CONTROLS_DONT_FLATTEN,       /* selections */
    PM_CONTROLS_DONT_FLATTEN_LARGE, /* likewise, of more than a few instructions */
    PM_CONTROLS_UNROLL,             /* loops whose turns are known, and few */
    PM_CONTROLS_DONT_UNROLL,        /* loops */
};
extern const struct pm_pass pm_pass_controls;

/* variant_loops.c: before and after a pass of SPIRV-Tools' that unrolls what asks for it. The first
 * has exactly those innermost loops ask for it that turn a known number of times, at most
 * `argument`, and that it is safe for; or with PM_UNROLL_PART the first of them that can be
 * unrolled in part, into so many copies, and was not yet. The second takes that back. */
#define PM_UNROLL_PART(copies) ((uint32_t)(copies) << 16)
#define PM_UNROLLED_PART(argument) ((argument) >> 16)
extern const struct pm_pass pm_pass_mark_loops, pm_pass_unmark_loops;

/* variant_limits.c: modules that SPIRV-Tools' passes over loads do not get wrong. */
bool pm_loads_may_sink(const struct pm_ir_module *module);      /* --code-sink */
bool pm_loads_may_be_parted(const struct pm_ir_module *module); /* --reduce-load-size */

/* variant_hoist.c: arithmetic whose operands do not change in a loop, out of the loop; argument 1:
 * also out of selections, where both sides compute the same. */
extern const struct pm_pass pm_pass_hoist;

/* variant_scalars.c: arithmetic on vectors, component by component; argument 1: but for floats that
 * are not NoContraction. */
extern const struct pm_pass pm_pass_scalarize;

/* variant_strength.c: cheaper operations with the same bits. */
extern const struct pm_pass pm_pass_strength;

/* variant_loads.c. */
enum pm_loads {
    PM_LOADS_WHOLE,  /* one load of a vector for several of its components */
    PM_LOADS_REPEAT, /* what nothing changes is loaded again in each block that uses it */
};
extern const struct pm_pass pm_pass_loads;
