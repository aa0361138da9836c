/*
 * Where 0 * x = 0 may be used, and where a float zero whose sign is not known may be written +0
 * (HAZARDS 7). The sign of a zero and the difference between 0 * infinity and 0 are one permission:
 * a shader gives it for a width, an instruction may withhold it.
 *
 * A value is exposed when its sign or its NaN could be told from its bits further on: it reaches,
 * through moves, arithmetic or variables of the shader, a bit cast, a packing, or arithmetic for
 * which there is no permission. An exposed value is never replaced.
 *
 * Facts are by id, for the ids that the module has when they are computed.
 * Thread safety: as the module.
 */
#pragma once

#include "base/config.h" /* enum pm_float_zero */
#include "shader_rewrite/ir/ir_module.h"

struct pm_float_permission {
    const struct pm_ir_module *module;
    enum pm_float_zero mode;
    bool width_permits[3]; /* 16, 32 and 64 bits */
    uint8_t *facts;        /* by id; analysis_permission.c */
    uint32_t id_count;
    uint32_t glsl; /* id of GLSL.std.450's import; 0: none */
};

/* false: out of memory. The facts live in the arena. */
bool pm_float_permission_compute(struct pm_float_permission *permission,
                                 const struct pm_ir_module *module,
                                 const struct pm_ir_function *function, enum pm_float_zero mode,
                                 struct pm_arena *arena);

/* Whether this float arithmetic instruction may take 0 * x for 0 and ignore the sign of zeroes. */
bool pm_float_permits(const struct pm_float_permission *permission,
                      const struct pm_ir_instr *instr);

/* Whether this value, where it is a float zero of either sign, may be written +0. */
bool pm_float_may_be_plus(const struct pm_float_permission *permission,
                          const struct pm_ir_def *def);

/* Whether every component is neither NaN nor infinite, whatever the inputs. */
bool pm_float_is_finite(const struct pm_float_permission *permission, const struct pm_ir_def *def);

/* Whether the instruction only moves components of its operands: copies, composites, OpPhi,
 * OpSelect. */
bool pm_is_move(const struct pm_ir_instr *instr);

/* The instruction of GLSL.std.450 that this OpExtInst is (enum GLSLstd450); 0: none. */
uint32_t pm_glsl_of(const struct pm_float_permission *permission, const struct pm_ir_instr *instr);

/* The scalar type below a scalar, vector or matrix type. NULL: none of these. */
const struct pm_ir_instr *pm_scalar_type(const struct pm_ir_instr *type);
