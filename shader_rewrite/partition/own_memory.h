/*
 * Variables of a compute shader's own (Function, Private: mostly arrays) that lie in the memory
 * between passes (scratch.h), so that all that touches one need not be in one pass. Each word of
 * one lies there once for every invocation, as spilled values do, so that neighbouring invocations
 * are neighbours. What touches them keeps its order, and runs once.
 *
 * Units: words of 32 bits, of one invocation; a value's words are as spilled_value.h says.
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/partition/scratch.h"

struct pm_own_memory {
    uint32_t *places; /* by id of a variable: its first word, and 1; 0: it does not lie there */
    uint32_t bound;   /* of ids */
    uint32_t words;   /* of all variables; 0: there are none */
};

/* All of a function's that may: that nothing but loads and stores reaches. In the arena. false: out
 * of memory. */
bool pm_own_memory_find(const struct pm_ir_function *function, struct pm_arena *arena,
                        struct pm_own_memory *out);

static inline bool pm_own_memory_has(const struct pm_own_memory *own, const struct pm_ir_def *def)
{
    return own->words > 0 && def->id < own->bound && own->places[def->id] != 0;
}

/* Makes an instruction that loads or stores one of them do it in memory, whose words of them begin
 * at `first`. A load stays, as a copy of what was read; a store is taken out of its block. Anything
 * else is left as it is. words: room for PM_SPILLED_MOST_WORDS. */
void pm_own_memory_move(const struct pm_own_memory *own, const struct pm_scratch *scratch,
                        uint32_t first, struct pm_ir_instr *instr, struct pm_ir_def **words);

/* Takes the pointers into them away that nothing uses any more. */
void pm_own_memory_clean(const struct pm_own_memory *own, struct pm_ir_module *module);
