/*
 * Which instructions write a value that may be zero: a float or integer scalar or vector, that is
 * neither a constant nor another name for what was written elsewhere (AZP 3.1,
 * "register-to-register moves ... simply rename").
 *
 * In AZP's terms a component of a vector is a register of its own, which SPIR-V names only where it
 * is taken out: the first OpCompositeExtract of a component stands for that register, one that the
 * first dominates is a rename.
 *
 * A cast to a float and the integer that it casts are one register too, where the integer is used
 * as nothing else: then that is the value, and it is a float.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

struct pm_values {
    uint32_t *components; /* by id: how many components the value that it is has, 1: a scalar; 0: it
                             is no such value */
    bool *disguised;      /* by id: an integer that is a float in disguise (analysis_casts.h) */
    uint32_t bound;       /* of ids */
};

/* The numbers that a module may compute with. Narrow ones that it may only load, store and convert
 * cannot be compared, nor be constants; what they are converted to is a value of its own. */
struct pm_number_types {
    bool int8, int16, int64, float16;
};
struct pm_number_types pm_number_types_of(const struct pm_ir_module *module);

/* Whether a type is a scalar or vector of such numbers. NULL is none. */
bool pm_number_types_has(const struct pm_number_types *types, const struct pm_ir_instr *type);

/* Finds those of a function's reachable blocks, with PM_ANALYSIS_CFG and PM_ANALYSIS_DOMINATORS
 * required; in the arena. false: out of memory. */
bool pm_values_find(const struct pm_ir_function *function, struct pm_arena *arena,
                    struct pm_values *out);

/* 0 for what is no such value, and for NULL. */
static inline uint32_t pm_values_components(const struct pm_values *values,
                                            const struct pm_ir_instr *instr)
{
    return instr && instr->result ? values->components[instr->result->id] : 0;
}

/* Whether a value of a function is compared as a float. */
bool pm_values_is_float_value(const struct pm_values *values, const struct pm_ir_instr *instr);

/* Of a vector or scalar type; whether what it holds is a float. NULL is none. */
bool pm_values_is_float(const struct pm_ir_instr *type);
