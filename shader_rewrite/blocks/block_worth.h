/*
 * What the changes of this room may save, by the most favourable of estimates: that drivers do what
 * they are asked for, and did not before. It only says what is worth a compile and a trial.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/blocks/block_facts.h"

/* Finds what running each block of the profile once costs, before any pass runs. */
bool pm_blocks_cost(struct pm_blocks *blocks, struct pm_error *error);

/* How often a subgroup that enters the shader enters the block; 0 also where it is not known, and
 * never so often that sums would have no end. */
double pm_blocks_entries(const struct pm_blocks *blocks, const struct pm_ir_block *block);

/* What is saved where those that run around a block, which dominates it, do not run it and all that
 * it dominates each time. With PM_ANALYSIS_DOMINATORS required. */
double pm_blocks_skipped(const struct pm_blocks *blocks, const struct pm_ir_block *side,
                         const struct pm_ir_block *around);

/* A pass saves so many cycles of a subgroup that enters the shader; below 0: nothing. */
void pm_blocks_saves(struct pm_blocks *blocks, enum pm_block_pass pass, double cycles);
/* A turn of a loop need not be counted nor branched for. */
double pm_blocks_turn(const struct pm_blocks *blocks);

/* What the shader costs, what all passes save together (two that may save the same only once), and
 * whether that is as much as specialize_zero asks for. */
double pm_blocks_cycles(const struct pm_blocks *blocks);
double pm_blocks_saved(const struct pm_blocks *blocks);
bool pm_blocks_are_worth_it(double cycles, double saved);
