/*
 * The parts of canonicalization that are done on the words, before and between the optimizer's
 * steps. All take a module that the validator accepts (or that the optimizer made of one) and
 * change it in place or into a new one.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "shader_rewrite/canonical/canonical.h"

#define PM_SPIRV_HEADER_WORDS 5

/* One instruction while walking: `for (struct pm_walk w = pm_walk_begin(m); pm_walk_next(&w);)`. */
struct pm_walk {
    const uint32_t *words; /* the module */
    size_t count;
    size_t at; /* offset of the instruction in words */
    uint32_t opcode;
    uint32_t length; /* words, at least 1 */
};
struct pm_walk pm_walk_begin(const struct pm_words *module);
bool pm_walk_next(struct pm_walk *walk);

/* The ids of the result and its type, 0 where the opcode has none. */
void pm_walk_result(const struct pm_walk *walk, uint32_t *type, uint32_t *result);

/* Lets a step change the module as IR. */
struct pm_ir_module;
bool pm_words_change(struct pm_words *module,
                     bool (*change)(struct pm_ir_module *module, struct pm_error *error),
                     struct pm_error *error);

/* Whether debug instructions come behind one of these. */
bool pm_words_is_preamble(uint32_t opcode);

/* Keeps one entry point, and drops names (unless keep_names), lines, sources, reflection and
 * non-semantic instructions. *function is the entry point's function. Fails with PM_ERROR_INPUT
 * when there is no such entry point. */
bool pm_words_select(struct pm_words *module, enum pm_stage stage, const char *entry_point,
                     bool keep_names, uint32_t *function, struct pm_error *error);

/* Turns specialization constants into constants with the given values or their defaults.
 * OpSpecConstantOp stays; its operands are constants then. */
bool pm_words_freeze(struct pm_words *module, const struct pm_spec_value *values, size_t count,
                     struct pm_error *error);

/* Bounds what inlining can grow the module to: PM_ERROR_LIMIT for absurd call graphs. */
bool pm_words_check_growth(const struct pm_words *module, uint32_t entry_function,
                           struct pm_error *error);

/* The function of the module's only entry point. */
uint32_t pm_words_entry_function(const struct pm_words *module);

/* Hides the returns of a function from the optimizer behind a terminator that it does not use;
 * *mask is that opcode, 0 when all are in use and nothing was hidden. pm_words_unmask_returns takes
 * it back. */
void pm_words_mask_returns(struct pm_words *module, uint32_t function, uint32_t *mask);
void pm_words_unmask_returns(struct pm_words *module, uint32_t function, uint32_t mask);

/* Forbids the optimizer to touch any float arithmetic (HAZARDS 3), and takes that back. */
struct pm_float_guard {
    bool added_capability;
};
bool pm_words_guard_floats(struct pm_words *module, struct pm_float_guard *guard,
                           struct pm_error *error);
bool pm_words_unguard_floats(struct pm_words *module, const struct pm_float_guard *guard,
                             struct pm_error *error);

/* Keeps the optimizer from using a value behind a loop that was loaded in it, where the module loads
 * it again, and takes that back. Callees are inlined already. */
bool pm_words_mark_loads(struct pm_words *module, struct pm_error *error);
void pm_words_unmark_loads(struct pm_words *module);

/* Keeps the optimizer's block merge, and nothing else may run, from putting what a loop does before
 * it is left behind the loop, and takes that back. */
bool pm_words_disguise_breaks(struct pm_words *module, struct pm_error *error);
void pm_words_undisguise_breaks(struct pm_words *module);

/* Whether there is another function than the entry point's. */
bool pm_words_has_callees(const struct pm_words *module);
