/*
 * Making room for code at the start of a block without breaking structured control flow (SPIR-V
 * specification 2.11, HAZARDS 1).
 */
#pragma once

#include "shader_rewrite/ir_builder.h"

/* Opens a block at its start, behind OpPhi and OpVariable: sets the builder to where code may be
 * added, in a block that has no terminator yet, and returns the block with the rest, to which that
 * code must lead. Whatever enters the block enters the added code once. Its label stays what
 * branches, merges and OpLoopMerge name, so constructs keep their entry; a loop header keeps its
 * OpPhi and OpLoopMerge and leads to the added code. NULL when the module failed. */
struct pm_ir_block *pm_block_open(struct pm_ir_builder *builder, struct pm_ir_block *block);
