/*
 * One instruction being folded, and what its parts share: for fold.c and the fold_* files below it.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_permission.h"
#include "shader_rewrite/zero/fold/value.h"

/* Looks up operands. */
struct pm_zero_lookup {
    const struct pm_float_permission *permission;
    /* The driver computes exp(0), exp2(0), cos(0), pow(x, 0), sqrt(1) and inversesqrt(1) as 1,
     * log(1) and log2(1) as 0, and a quotient that is a float exactly as that. */
    bool exact_ones;
    struct pm_zero_value (*value)(const void *user, struct pm_ir_def *def);
    const void *user;
};

/* What pm_zero_fold looks at: operands, known for their components. */
struct pm_zero_folding {
    const struct pm_zero_lookup *lookup;
    const struct pm_ir_instr *instr;
    bool permitted; /* 0 * x may be taken for +0 */
    bool plus; /* +0 may be taken for -0, which decides no number; it is where `permitted` is */
    uint32_t width; /* bits of the operands' scalar type (the last operand's) */
    struct pm_zero_value operands[4];
    struct pm_ir_def *defs[4];
    uint32_t count;
    struct pm_zero_value out; /* begins as unknown in every component */
};

/* Says that the result is operand `index`, where the types agree. */
void pm_zero_fold_same(struct pm_zero_folding *f, uint32_t index);
/* Whether every component is known to be this. */
bool pm_zero_fold_all_are(const struct pm_zero_value *value, uint64_t bits);
/* Says that it is operand `index` plus these zeroes, a component each, as far as permitted: -0
 * changes nothing, +0 the sign of a zero. */
void pm_zero_fold_same_plus(struct pm_zero_folding *f, uint32_t index,
                            const struct pm_zero_value *zeroes);
/* Likewise without permission, of what is no sum in SPIR-V: it is one where all are +0. */
void pm_zero_fold_sum_with(struct pm_zero_folding *f, uint32_t index,
                           const struct pm_zero_value *zeroes);
/* Whether the driver's exact_ones hold of the operands: of 32-bit floats it was seen. */
bool pm_zero_fold_has_exact_ones(const struct pm_zero_folding *f);
/* Sets component i. */
void pm_zero_fold_set(struct pm_zero_folding *f, uint32_t i, uint64_t bits);
/* A float as a number. false: not known, a denormal, which a device may flush, or of a width that
 * is not read. */
bool pm_zero_fold_number(struct pm_zero_scalar scalar, uint32_t width, double *number);
/* The zero product of two components, as far as permitted; false: it is none. a_def and b_def:
 * whose components. */
bool pm_zero_fold_product(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                          const struct pm_ir_def *a_def, struct pm_zero_scalar b,
                          const struct pm_ir_def *b_def, struct pm_zero_scalar *product);
/* The sum of two components where it is exact, as far as permitted. */
struct pm_zero_scalar pm_zero_fold_sum(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                                       struct pm_zero_scalar b);

/* What keeps a zero and its sign makes of a component; unknown where that is none. to: bits of the
 * result's scalar type. */
struct pm_zero_scalar pm_zero_fold_kept(const struct pm_zero_folding *f,
                                        struct pm_zero_scalar scalar, uint32_t to);

/* The bits of a 32-bit float, where the number is one exactly, and an ordinary one; else false. */
bool pm_zero_fold_single(double number, uint64_t *bits);

/* ---- the files of these names: what they know of the instruction ---- */

void pm_zero_fold_move(struct pm_zero_folding *f);
void pm_zero_fold_integer(struct pm_zero_folding *f);
void pm_zero_fold_compare(struct pm_zero_folding *f);
void pm_zero_fold_glsl(struct pm_zero_folding *f, uint32_t glsl);
void pm_zero_fold_glsl_integer(struct pm_zero_folding *f, uint32_t glsl);
