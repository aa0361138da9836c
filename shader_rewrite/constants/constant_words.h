/*
 * The words of push constants and uniform buffers that a function loads, and the values that hold
 * them.
 *
 * Lifetime: in the arena; valid as long as the function's loads are.
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/constants/constants.h"

/* A value, and which of its components is the word: a scalar or vector of 32-bit numbers, or a
 * matrix of them. */
struct pm_constant_read {
    struct pm_ir_instr *value;
    uint32_t component; /* of a matrix: column * 4 + row */
};

struct pm_constant_word {
    struct pm_constant_point point;
    const struct pm_constant_read *reads; /* in the function's order */
    uint32_t read_count;
    const struct pm_ir_instr *variable;
};

struct pm_constant_words {
    struct pm_constant_word *words; /* by source, set, binding and offset */
    uint32_t count;
};

/* Of the function's reachable blocks, with PM_ANALYSIS_CFG and PM_ANALYSIS_POSTDOMINATORS required.
 * false: out of memory, or PM_ERROR_LIMIT. */
bool pm_constant_words_find(const struct pm_ir_module *module,
                            const struct pm_ir_function *function, struct pm_arena *arena,
                            struct pm_constant_words *out, struct pm_error *error);

/* The word of a point; NULL: there is none. */
const struct pm_constant_word *pm_constant_words_of(const struct pm_constant_words *words,
                                                    const struct pm_constant_point *point);

/* Whether every path runs a block, unless it never ends. */
bool pm_constant_always_runs(const struct pm_ir_function *function, uint32_t block);

/* How many words a value of a read has: components of a scalar, vector or matrix. */
uint32_t pm_constant_value_words(const struct pm_ir_instr *value);
