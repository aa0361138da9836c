/*
 * Copies of values, to be looked at in the values' place: a copy always has the same bits, but no
 * compiler can tell.
 *
 * A driver may fold float arithmetic inexactly where nothing is `precise`, and whether it does can
 * depend on what else uses a value (Mesa's nir_opt_algebraic, "is_used_once"). So a value that is
 * looked at may be computed otherwise than in the original, and with it the picture. The copy is
 * computed by copies of all the float arithmetic that the value is made of, up to where that
 * starts: loads, inputs, OpPhi, what is read from textures or from other lanes, derivatives,
 * integers, and what is `precise`, which no driver folds. There the bits are mixed (exclusive or)
 * with a zero that comes of where the shader runs, so that no compiler finds the copy to be the
 * value once more. Each instruction is copied once at most, directly behind itself, whatever number
 * of values need it.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/instrument/instrument_counters.h"

struct pm_counted_copies {
    const struct pm_counting *counting;
    struct pm_ir_function *function;
    bool *wanted;               /* by id: it is to be copied */
    struct pm_ir_def **copies;  /* by id; NULL: none */
    struct pm_ir_instr **slice; /* what one value needs; for _want */
    uint32_t id_count;
    uint32_t left;              /* so many instructions may still be copied */
    struct pm_ir_instr *start;  /* where the function began */
    struct pm_ir_def *zeros[4]; /* uint scalar and vectors; NULL until needed */
};

/* Of the function's ids as they are now. false: out of memory. */
bool pm_counted_copies_init(struct pm_counted_copies *copies, const struct pm_counting *counting,
                            struct pm_ir_function *function);

/* Asks for the copy of a value; not heeded where it needs too many instructions. */
void pm_counted_copies_want(struct pm_counted_copies *copies, struct pm_ir_instr *value);

/* Makes what was asked for; once, before blocks are split. */
void pm_counted_copies_build(struct pm_counted_copies *copies);

/* The copy of a value, in its block behind it; the value itself where there is none. */
struct pm_ir_def *pm_counted_copy_of(const struct pm_counted_copies *copies,
                                     struct pm_ir_def *value);
