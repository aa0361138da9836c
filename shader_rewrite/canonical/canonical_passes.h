/*
 * The passes that canonicalization runs before and between the optimizer's steps, on a module that
 * the validator accepts or that the optimizer made of one.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/canonical/canonical.h"

/* Keeps one entry point, and drops names (unless keep_names), lines (unless keep_lines), sources,
 * reflection and non-semantic instructions. What else names a dropped id is for the validator to
 * find. Context: a struct pm_selection. Fails with PM_ERROR_INPUT when there is no such entry
 * point. */
struct pm_selection {
    enum pm_stage stage;
    const char *entry_point;
    bool keep_names, keep_lines;
};
extern const struct pm_pass pm_pass_select;

/* DebugLine of NonSemantic.Shader.DebugInfo.100 becomes OpLine, before it is dropped. No context.
 */
extern const struct pm_pass pm_pass_take_lines;

/* Bounds what inlining can grow the module to: PM_ERROR_LIMIT for absurd call graphs. No context.
 */
extern const struct pm_pass pm_pass_check_growth;

/* Refuses operations on specialization constants whose operands are of other types than they take:
 * PM_ERROR_UNSUPPORTED. No context. */
extern const struct pm_pass pm_pass_check_spec_ops;

/* Turns specialization constants into constants with the given values or their defaults.
 * OpSpecConstantOp stays; its operands are constants then. Context: a struct pm_freezing. */
struct pm_freezing {
    const struct pm_spec_value *values;
    size_t count;
};
extern const struct pm_pass pm_pass_freeze;

/* Keeps the first of constants that are the same and have no decorations. No context. */
extern const struct pm_pass pm_pass_merge_constants;

/* Writes out what crashes the optimizer. No context. PM_ERROR_UNSUPPORTED where it would be too
 * much; then the optimizer may not run. */
extern const struct pm_pass pm_pass_avoid_crashes;

/* Takes a value that was cast to another type and back for itself. No context. */
extern const struct pm_pass pm_pass_fold_bitcasts;

/* Hides the returns of the entry point's function from the optimizer behind a terminator that the
 * function does not use, and takes that back. Context: a uint16_t, that opcode; 0 when all are in
 * use and nothing was hidden. */
extern const struct pm_pass pm_pass_mask_returns, pm_pass_unmask_returns;

/* Forbids the optimizer to touch any float arithmetic (HAZARDS 3), and takes that back. Context: a
 * struct pm_float_guard, which the first fills for the second. */
struct pm_float_guard {
    bool added_capability;
};
extern const struct pm_pass pm_pass_guard_floats, pm_pass_unguard_floats;

/* Keeps integer operations from the optimizer that it computes wrongly or crashes on, and gives
 * them back. No context. The first fails with PM_ERROR_UNSUPPORTED for operations on specialization
 * constants that it cannot keep from it; then the optimizer may not run. */
extern const struct pm_pass pm_pass_hide_integers, pm_pass_show_integers;

/* Keeps the optimizer from folding OpTranspose, and what is known of products' matrices from what
 * it does (analysis_transposes.h), and takes that back. Context: a bool, whether there was anything
 * to hide, which the first fills for the second. */
extern const struct pm_pass pm_pass_hide_transposes, pm_pass_show_transposes;

/* Keeps the optimizer from using a value behind a loop that was loaded in it, where the module
 * loads it again, and takes that back. Callees are inlined already. No context. */
extern const struct pm_pass pm_pass_mark_loads, pm_pass_unmark_loads;

/* Keeps the optimizer's block merge, and nothing else may run, from putting what a loop does before
 * it is left behind the loop, and takes that back. No context. */
extern const struct pm_pass pm_pass_disguise_breaks, pm_pass_undisguise_breaks;

/* Makes pointers, and what constant memory holds, again where they are used behind the loop that
 * they are made in, but by an OpPhi. No context. */
extern const struct pm_pass pm_pass_near_pointers;

/* Puts globals, decorations and the like into an order that is of the functions alone, and numbers
 * ids in it. Context: a bool that becomes true where it removes an OpTypeForwardPointer without
 * which the module may be refused; NULL: these stay. */
extern const struct pm_pass pm_pass_order;

/* Part of that: removes each OpTypeForwardPointer that the order makes needless. small: that bool
 * or NULL. PM_ERROR_MEMORY. */
bool pm_canonical_forward(struct pm_ir_module *module, bool *small, struct pm_error *error);

/* The function of the module's first entry point. NULL: none. */
struct pm_ir_function *pm_canonical_function(const struct pm_ir_module *module);
