/*
 * What analysis_permission and analysis_exposed know of each value; for these two alone.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_permission.h"

/* Of struct pm_float_permission, facts. */
enum pm_float_fact {
    PM_FLOAT_EXPOSED = 1, /* to what does not permit that 0 * x is 0 */
    PM_FLOAT_NO_CONTRACTION = 2,
    PM_FLOAT_FAST_MATH = 4,     /* it has flags of its own */
    PM_FLOAT_SIGNED = 8,        /* the sign of its zero matters */
    PM_FLOAT_EXPOSED_SIGN = 16, /* to what does not permit that zeroes have no signs */
    PM_FLOAT_DECIDES = 32,      /* the sign of its zero decides a number, or may */
    PM_FLOAT_BESIDE_ZERO = 64,  /* pm_float_is_beside_zero */
};

/* Of struct pm_float_flags. */
enum pm_float_flag {
    PM_FLOAT_NO_NAN = 1,
    PM_FLOAT_NO_INFINITY = 2,
    PM_FLOAT_NO_SIGNED_ZERO = 4,
    PM_FLOAT_CONTRACTS = 8,
    PM_FLOAT_TRANSFORMS = 16, /* sums are put together otherwise */
    PM_FLOAT_PERMITS = PM_FLOAT_NO_NAN | PM_FLOAT_NO_INFINITY | PM_FLOAT_NO_SIGNED_ZERO,
    PM_FLOAT_ALL_FLAGS = PM_FLOAT_PERMITS | PM_FLOAT_CONTRACTS | PM_FLOAT_TRANSFORMS,
};

/* Index into width_flags of a float type; -1: it is none. */
int pm_float_width(const struct pm_ir_instr *type);

/* Whether it permits that zeroes have no signs. */
bool pm_float_permits_signs(const struct pm_float_permission *permission,
                            const struct pm_ir_instr *instr);

/* Whether a compiler, or what is made of the shader, may give a zero another sign there. */
bool pm_float_may_lose_signs(const struct pm_float_permission *permission,
                             const struct pm_ir_instr *instr);

/* Whether a compiler may put sums there together otherwise, with a zero of another sign for one. */
bool pm_float_may_transform(const struct pm_float_permission *permission,
                            const struct pm_ir_instr *instr);

/* Whether permission is asked for: what computes floats from floats. */
bool pm_float_is_arithmetic(const struct pm_float_permission *permission,
                            const struct pm_ir_instr *instr);

static inline bool pm_float_has(const struct pm_float_permission *p, const struct pm_ir_def *def,
                                uint8_t facts)
{
    return def->id < p->id_count && (p->facts[def->id] & facts);
}

/* Finds PM_FLOAT_EXPOSED, PM_FLOAT_EXPOSED_SIGN, PM_FLOAT_SIGNED and the rest, when the others are
 * known. false: out of memory. */
bool pm_float_find_exposed(struct pm_float_permission *permission,
                           const struct pm_ir_function *function, struct pm_arena *arena);
