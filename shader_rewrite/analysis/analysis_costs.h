/*
 * What instructions cost, in cycles of one subgroup, for the estimates of AZP (3.3.2, equations 5
 * and 6). Only ratios matter much: a saving must be above 25 cycles and above a share of the
 * region.
 *
 * The figures are throughput, not latency, of one instruction on all lanes of a subgroup; those
 * "per component" are for each scalar of the result. Where they come from is beside them, in
 * analysis_costs.c.
 *
 * Thread safety: constant data; any thread.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_permission.h"

enum pm_cost_class {
    PM_COST_FREE,           /* phis, names of components, pointers: no instruction of its own */
    PM_COST_MOVE,           /* composites, selections; per component */
    PM_COST_ALU,            /* per component; matrix products and dots: per multiplication */
    PM_COST_DIVIDE,         /* per component */
    PM_COST_TRANSCENDENTAL, /* per component */
    PM_COST_ROOT,           /* square roots; per component, but one for a length */
    PM_COST_DERIVATIVE,     /* per component */
    PM_COST_SAMPLE,         /* filtered image reads */
    PM_COST_FETCH,          /* unfiltered image reads */
    PM_COST_INTERPOLATE,    /* loads of inputs; per component */
    PM_COST_UNIFORM,        /* loads of uniforms and push constants */
    PM_COST_LOCAL,          /* loads and stores of the shader's own variables; per component */
    PM_COST_LOAD,           /* of memory */
    PM_COST_STORE,
    PM_COST_ATOMIC,
    PM_COST_BRANCH, /* a branch two ways; one way is free */
    PM_COST_CHECK,  /* comparison, vote and branch of a zero check */
    PM_COST_QUAD,   /* what asking the quad adds to it */
    PM_COST_CLASSES,
};

struct pm_costs {
    uint32_t vendor; /* VkPhysicalDeviceProperties::vendorID; 0: any other */
    double cycles[PM_COST_CLASSES];
};

/* The costs of a vendor's devices. Never NULL. */
const struct pm_costs *pm_costs_of(uint32_t vendor);

/* All that pm_costs_of may return, by number. The points of a shader rest on them (points.h): other
 * numbers are another recipe. */
enum { PM_COST_TABLES = 3 };
const struct pm_costs *pm_costs_table(uint32_t index);

enum pm_cost_class pm_cost_class(const struct pm_float_permission *permission,
                                 const struct pm_ir_instr *instr);

/* Cycles of one execution. */
double pm_costs_instr(const struct pm_costs *costs, const struct pm_float_permission *permission,
                      const struct pm_ir_instr *instr);

/* Whether it is one of equation 6's memory operations. */
bool pm_cost_is_memory(enum pm_cost_class class);
