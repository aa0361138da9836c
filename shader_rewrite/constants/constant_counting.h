/*
 * The code that counts what words are, in the tables that constants.h describes. Many words at one
 * place share it: their bits are put into an array, and one loop goes over that, since what costs a
 * driver's compiler is code, above all atomics and branches.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/constants/constants.h"
#include "shader_rewrite/instrument/instrument_counters.h"

struct pm_constant_counting {
    const struct pm_counting *counters;
    struct pm_ir_function *function;
    struct pm_ir_def *array; /* of the function; NULL: not needed yet */
};

/* A word, and the first unit of its table in a slot. */
struct pm_constant_counted {
    struct pm_ir_def *bits; /* a 32-bit unsigned */
    uint32_t unit;
};

/* Counts each of the words once, in a slot. The builder, which is at the end of a block, ends in
 * another one. */
void pm_constant_count(struct pm_constant_counting *counting, struct pm_ir_builder *builder,
                       struct pm_counting_slot slot, const struct pm_constant_counted *words,
                       uint32_t count);
