/*
 * Where 0 * x = 0 may be used, and where a float zero whose sign is not known may be written +0
 * (HAZARDS 7). A shader gives permission for a width, an instruction may withhold it. Permitted is
 * that a product with a zero in it is +0, whatever the other factor is, and nothing else.
 *
 * A value is exposed when its sign or its NaN could be told from its bits further on: it reaches,
 * through moves, arithmetic or variables of the shader, a bit cast, a packing, or arithmetic for
 * which there is no permission. No product that is exposed is taken for 0. A cast to an integer of
 * as many bits does not expose by itself: what is done with the integer may. Integers are exposed
 * and signed as floats are.
 *
 * A value is signed when the sign of a zero in it matters: it is exposed, or its zero comes by way
 * of moves, sums, functions that keep a sign, or variables to memory that keeps it (buffers, images
 * with floats in them, shared memory, outputs), to a divisor, or to a function that has another
 * result for the other sign. A zero of either sign that is signed stays what it was; also since on
 * a device that flushes denormals it may be one. So does the zero of an instruction that permits no
 * more than that zeroes have no signs, where that sign may decide a number, as a divisor's does;
 * with nothing but memory to see it, it is +0.
 *
 * Without permission a product with a zero is folded where the other factor is finite
 * (analysis_ranges.h): it is a zero, of a sign that may be known. It is not where a compiler may
 * lose it: SignedZeroInfNanPreserve says nothing of the functions of GLSL.std.450, nor of sums that
 * are put together otherwise. Trusted is the sign of products, though one may be distributed over
 * a sum, of converted integers and of reads of images, and that NMin and its like know a NaN.
 *
 * SPV_KHR_float_controls2 says each apart, for all instructions with a type and for one: whether
 * there are NaN, whether there are infinities, and whether zeroes have signs. 0 * x = 0 needs all
 * three, that +0 may stand for -0 only the last; so much translation layers for Direct3D allow
 * where they may. Of what is said twice, or not to be read, that is allowed which is beyond doubt.
 *
 * Facts are by id, for the ids that the module has when they are computed.
 * Thread safety: as the module.
 */
#pragma once

#include "base/config.h" /* enum pm_float_zero */
#include "shader_rewrite/analysis/analysis_ranges.h"

/* Bits of enum pm_float_flag (analysis_exposed.h). */
struct pm_float_flags {
    uint8_t allowed; /* for sure */
    uint8_t assumed; /* by a compiler, perhaps */
};

struct pm_float_permission {
    const struct pm_ir_module *module;
    enum pm_float_zero mode;
    struct pm_float_flags width_flags[3]; /* 16, 32 and 64 bits, where nothing else is said */
    bool width_preserves[3];              /* the module declares SignedZeroInfNanPreserve */
    bool width_flushes[3];                /* and DenormFlushToZero */
    struct pm_float_flags *flags;         /* by id, of those with PM_FLOAT_FAST_MATH */
    uint8_t *facts;                       /* by id; analysis_exposed.h */
    const struct pm_range *ranges;        /* by id */
    uint32_t id_count;
    uint32_t glsl; /* id of GLSL.std.450's import; 0: none */
};

/* false: out of memory. The facts live in the arena. */
bool pm_float_permission_compute(struct pm_float_permission *permission,
                                 const struct pm_ir_module *module,
                                 const struct pm_ir_function *function, enum pm_float_zero mode,
                                 struct pm_arena *arena);

/* Whether this float arithmetic instruction is given permission. */
bool pm_float_permits(const struct pm_float_permission *permission,
                      const struct pm_ir_instr *instr);

/* Whether signs of zeroes, infinities or NaN of floats of so many bits are to be kept, by what the
 * module declares for all of its instructions that say nothing else: then no more than +0 counts as
 * zero, of which more follows where 0 * x need not be 0. */
bool pm_float_keeps_signs(const struct pm_ir_module *module, uint32_t bits);

/* Whether this instruction, where a factor in it is zero, may be taken for 0 (+0) there. */
bool pm_float_takes_zero(const struct pm_float_permission *permission,
                         const struct pm_ir_instr *instr);

/* Whether +0 may be taken for -0 in what this instruction computes, whatever else it permits. */
bool pm_float_takes_plus(const struct pm_float_permission *permission,
                         const struct pm_ir_instr *instr);

/* Whether this float arithmetic instruction makes zeroes of denormals, by what the module declares;
 * so what only hands its operand on is not the same. */
bool pm_float_flushes(const struct pm_float_permission *permission,
                      const struct pm_ir_instr *instr);

/* Whether the sign of a zero in this value matters. */
bool pm_float_is_signed(const struct pm_float_permission *permission, const struct pm_ir_def *def);

/* Whether this value, where it is a float zero of either sign, or an integer with the bits of one,
 * may be written +0. */
bool pm_float_may_be_plus(const struct pm_float_permission *permission,
                          const struct pm_ir_def *def);

/* Whether every component is neither NaN nor infinite, whatever the inputs. */
bool pm_float_is_finite(const struct pm_float_permission *permission, const struct pm_ir_def *def);

/* Whether every component is a zero, whatever the inputs. */
bool pm_float_is_zero(const struct pm_float_permission *permission, const struct pm_ir_def *def);

/* Whether a sum has this value and a zero that a compiler may know, and the sum's zero a sign that
 * matters: the zero may be left out, also where -0 is +0 with it (seen: lavapipe), but not where
 * this value is a constant. So it has to stay what it was. */
bool pm_float_is_beside_zero(const struct pm_float_permission *permission,
                             const struct pm_ir_def *def);

/* The sign of every component, be it a zero's. */
enum pm_float_sign { PM_FLOAT_EITHER_SIGN, PM_FLOAT_PLUS, PM_FLOAT_MINUS };
enum pm_float_sign pm_float_sign_of(const struct pm_float_permission *permission,
                                    const struct pm_ir_def *def);

/* Whether the instruction only moves components of its operands: copies, composites, OpPhi,
 * OpSelect. */
bool pm_is_move(const struct pm_ir_instr *instr);

/* The instruction of GLSL.std.450 that this OpExtInst is (enum GLSLstd450); 0: none. */
uint32_t pm_glsl_of(const struct pm_float_permission *permission, const struct pm_ir_instr *instr);

/* The scalar type below a scalar, vector or matrix type. NULL: none of these. */
const struct pm_ir_instr *pm_scalar_type(const struct pm_ir_instr *type);
