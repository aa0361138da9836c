/*
 * What one instruction computes when some components of its operands are known (AZP 3.3.2,
 * "Constant propagation"): zeroes through multiplications, sums with zero, comparisons, selections,
 * conversions. Only what every driver computes to the same bits is folded: functions of
 * GLSL.std.450 that may be approximated only where they are zero, other arithmetic only where it is
 * exact.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_permission.h"
#include "shader_rewrite/points/points.h"

enum pm_zero_kind {
    PM_ZERO_UNSET,    /* not reached yet: whatever suits (only while propagating) */
    PM_ZERO_ANY_SIGN, /* a float that is +0 or -0 */
    PM_ZERO_CONSTANT, /* exactly these bits; booleans are 0 and 1 */
    PM_ZERO_UNKNOWN,
};

struct pm_zero_scalar {
    enum pm_zero_kind kind;
    uint64_t bits; /* PM_ZERO_CONSTANT; above the type's width 0 */
};

/* What is known of a value: of each component of a scalar or vector; of a matrix whether all of it
 * is zero (one component that stands for all); of anything else nothing. */
struct pm_zero_value {
    uint32_t components;
    struct pm_zero_scalar c[PM_ZERO_ELEMENTS];
    struct pm_ir_def *same; /* it equals this value, of the same type; NULL: none known */
};

/* Looks up operands. */
struct pm_zero_lookup {
    const struct pm_zero_permission *permission;
    struct pm_zero_value (*value)(const void *user, struct pm_ir_def *def);
    const void *user;
};

/* What a definition outside every region is: known if a constant. */
struct pm_zero_value pm_zero_value_global(const struct pm_ir_def *def);

/* Components of a value of this type, as in pm_zero_value; all of this kind. */
struct pm_zero_value pm_zero_value_all(const struct pm_ir_instr *type, enum pm_zero_kind kind);

bool pm_zero_scalar_is_zero(struct pm_zero_scalar scalar);

/* Whether all components are zero (of either sign). */
bool pm_zero_value_is_zero(const struct pm_zero_value *value);

/* The result of an instruction that has one; OpPhi is never known. */
struct pm_zero_value pm_zero_fold(const struct pm_zero_lookup *lookup,
                                  const struct pm_ir_instr *instr);

/* ---- the parts: fold_moves.c, fold_integer.c and fold_glsl.c ---- */

/* What pm_zero_fold looks at: operands, known for their components. */
struct pm_zero_folding {
    const struct pm_zero_lookup *lookup;
    const struct pm_ir_instr *instr;
    bool permitted;
    uint32_t width; /* bits of the operands' scalar type (the last operand's) */
    struct pm_zero_value operands[4];
    struct pm_ir_def *defs[4];
    uint32_t count;
    struct pm_zero_value out; /* begins as unknown in every component */
};

/* Says that the result is operand `index`, where the types agree. */
void pm_zero_fold_same(struct pm_zero_folding *f, uint32_t index);
/* Sets component i. */
void pm_zero_fold_set(struct pm_zero_folding *f, uint32_t i, uint64_t bits);
/* A float as a number. false: not known or not a width that is read. */
bool pm_zero_fold_number(struct pm_zero_scalar scalar, uint32_t width, double *number);
/* The zero product of two components, as far as permitted. a_def and b_def: whose components. */
bool pm_zero_fold_product(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                          const struct pm_ir_def *a_def, struct pm_zero_scalar b,
                          const struct pm_ir_def *b_def);
/* The sum of two components where it is exact. */
struct pm_zero_scalar pm_zero_fold_sum(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                                       struct pm_zero_scalar b);

/* Whether a value of the type has a component for each of its scalars. */
bool pm_zero_is_plain(const struct pm_ir_instr *type);

void pm_zero_fold_move(struct pm_zero_folding *f);
void pm_zero_fold_integer(struct pm_zero_folding *f);
void pm_zero_fold_compare(struct pm_zero_folding *f);
void pm_zero_fold_glsl(struct pm_zero_folding *f, uint32_t glsl);
