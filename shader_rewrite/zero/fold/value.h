/*
 * What may be known of a value: the lattice that zeroes are propagated on (AZP 3.3.2, "Constant
 * propagation").
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/zero/candidates/candidates.h"

enum pm_zero_kind {
    PM_ZERO_UNSET,    /* not reached yet: whatever suits (only while propagating) */
    PM_ZERO_ANY_SIGN, /* a float that is +0 or -0; an integer that has the bits of one */
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
    bool plus_zero;         /* it equals `same` + 0.0: where that is -0 it is +0 */
};

/* What a definition outside every region is: known if a constant, or one that is cast. */
struct pm_zero_value pm_zero_value_global(const struct pm_ir_def *def);

/* Components of a value of this type, as in pm_zero_value; all of this kind. */
struct pm_zero_value pm_zero_value_all(const struct pm_ir_instr *type, enum pm_zero_kind kind);

static inline bool pm_zero_is_known(struct pm_zero_scalar scalar)
{
    return scalar.kind == PM_ZERO_CONSTANT;
}

bool pm_zero_scalar_is_zero(struct pm_zero_scalar scalar);

/* What is known of a component that is one or the other; PM_ZERO_UNSET is neither. type: scalar, of
 * both; NULL: another. Integers may have the bits of floats. */
struct pm_zero_scalar pm_zero_value_meet(struct pm_zero_scalar a, struct pm_zero_scalar b,
                                         const struct pm_ir_instr *type);

/* Whether it is a float zero of either sign. width: bits. */
bool pm_zero_fold_is_zero(struct pm_zero_scalar scalar, uint32_t width);

/* Whether all components are zero (of either sign: no integer is, of which no more is known). */
bool pm_zero_value_is_zero(const struct pm_zero_value *value);

/* Whether a value of the type has a component for each of its scalars. */
bool pm_zero_is_plain(const struct pm_ir_instr *type);

/* Bits of a scalar type; of a boolean 1. */
uint32_t pm_zero_width_of(const struct pm_ir_instr *scalar);

static inline uint64_t pm_zero_mask_of(uint32_t width)
{
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

/* What a value is another name for; itself where none is known. */
static inline struct pm_ir_def *pm_zero_value_name(const struct pm_zero_value *value,
                                                   struct pm_ir_def *def)
{
    return value->same && !value->plus_zero ? value->same : def;
}

static inline struct pm_zero_scalar pm_zero_constant(uint64_t bits)
{
    return (struct pm_zero_scalar){PM_ZERO_CONSTANT, bits};
}
