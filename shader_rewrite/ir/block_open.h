/*
 * Making room for code in a block without breaking structured control flow (SPIR-V specification
 * 2.11, HAZARDS 1).
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"

/* Opens a block before `at`, one of its instructions behind OpPhi and OpVariable and not behind its
 * merge instruction: sets the builder to where code may be added, in a block that has no terminator
 * yet, and returns the block with the rest, `at` first, to which that code must lead. Whatever
 * enters the block enters the added code once. Its label stays what branches, merges and
 * OpLoopMerge name, so constructs keep their entry; a loop header keeps its OpPhi, what else stands
 * before `at`, and OpLoopMerge, and leads to the added code. NULL when the module failed.
 * A use of an OpSampledImage may end up in another block: see below. */
struct pm_ir_block *pm_block_open_at(struct pm_ir_builder *builder, struct pm_ir_block *block,
                                     struct pm_ir_instr *at);

/* At its start, behind OpPhi and OpVariable. */
struct pm_ir_block *pm_block_open(struct pm_ir_builder *builder, struct pm_ir_block *block);

/* The first place in its block where the value of an instruction can be used; for pm_block_open_at.
 */
struct pm_ir_instr *pm_block_behind(const struct pm_ir_instr *value);

/* Makes a copy of each OpSampledImage before its uses in other blocks: it must be in the block that
 * uses it. Whether there were any. */
bool pm_block_mend_sampled_images(struct pm_ir_function *function);
