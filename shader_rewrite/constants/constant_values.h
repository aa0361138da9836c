/*
 * What is known of a function's values where some of its words are: for pm_zero_region_whole.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/constants/constant_words.h"
#include "shader_rewrite/zero/fold/value.h"

/* A word that is known. */
struct pm_constant_known_word {
    const struct pm_constant_word *word;
    uint32_t bits;
};

struct pm_constant_values {
    const struct pm_zero_value **known; /* by id; NULL: nothing is known of it */
    struct pm_zero_value *values;       /* by id */
    uint8_t *zeroes;                    /* by id: of a matrix, how many words are known to be +0 */
    uint32_t id_count;
};

/* Of no word yet. In the arena; false: out of memory. */
bool pm_constant_values_init(struct pm_constant_values *values, const struct pm_ir_module *module,
                             struct pm_arena *arena);

/* Adds what a word says of the values that hold it; each word once. */
void pm_constant_values_add(struct pm_constant_values *values,
                            const struct pm_constant_known_word *known);

/* Takes that back, once for each word that was added, before one is added again. */
void pm_constant_values_remove(struct pm_constant_values *values,
                               const struct pm_constant_known_word *known);
