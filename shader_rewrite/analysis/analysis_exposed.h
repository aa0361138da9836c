/*
 * What analysis_permission and analysis_exposed know of each value; for these two alone.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_permission.h"

/* Of struct pm_float_permission, facts. */
enum pm_float_fact {
    PM_FLOAT_EXPOSED = 1,
    PM_FLOAT_NO_CONTRACTION = 2,
    PM_FLOAT_FAST_MATH = 4,
    PM_FLOAT_FAST_MATH_PERMITS = 8,
    PM_FLOAT_CONTRACTS = 16,
    PM_FLOAT_SIGNED = 32, /* the sign of its zero matters */
};

/* Index into width_permits of a float type; -1: it is none. */
int pm_float_width(const struct pm_ir_instr *type);

/* Whether permission is asked for: what computes floats from floats. */
bool pm_float_is_arithmetic(const struct pm_float_permission *permission,
                            const struct pm_ir_instr *instr);

static inline bool pm_float_has(const struct pm_float_permission *p, const struct pm_ir_def *def,
                                uint8_t facts)
{
    return def->id < p->id_count && (p->facts[def->id] & facts);
}

/* Finds PM_FLOAT_EXPOSED and PM_FLOAT_SIGNED, when the others are known. false: out of memory. */
bool pm_float_find_exposed(struct pm_float_permission *permission,
                           const struct pm_ir_function *function, struct pm_arena *arena);
