/*
 * Which candidates are zero whenever another is: what a filter may skip, and what need not be
 * measured where the other offers no more.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_permission.h"
#include "shader_rewrite/zero/candidates/candidates.h"

/* Candidates by their value. */
struct pm_zero_index {
    const struct pm_ir_module *module;
    const struct pm_float_permission *permission;
    const struct pm_zero_points *points;
    uint32_t *first; /* by id, below `bound`: its first candidate, and from there on all of it;
                        points' count: none */
    uint32_t bound;
};

/* In the arena, for as long as the points stay. false: out of memory. */
bool pm_zero_index_init(struct pm_zero_index *index, const struct pm_ir_module *module,
                        const struct pm_float_permission *permission,
                        const struct pm_zero_points *points, struct pm_arena *arena);

/* The candidate that is a value's leading components; the points' count: none. */
uint32_t pm_zero_index_find(const struct pm_zero_index *index, uint32_t id, uint32_t components);

/* Components of an instruction's result. */
uint32_t pm_zero_index_width(const struct pm_ir_instr *instr);

/* Whether an instruction is zero, component by component, where operand `operand` is. */
bool pm_zero_propagates(const struct pm_float_permission *permission,
                        const struct pm_ir_instr *instr, uint32_t operand);

/* Calls `with` for candidates of the same block that are zero whenever candidate i is: parts of it,
 * what it is made of where that shows, and what is a product of it. Some of them twice. */
void pm_zero_implied(const struct pm_zero_index *index, uint32_t i,
                     void (*with)(void *user, uint32_t implied), void *user);
