#include "shader_rewrite/instrument_blocks.h"

/* The rest of a loop header branched two ways as part of the header; on its own such a branch must
 * be a selection, unless one way leaves or continues the loop. Where its ways meet is not known, so
 * the selection ends in a block that nothing reaches: both ways end by leaving the construct for
 * the loop's continue target or merge block anyway. */
static void close_selection(struct pm_ir_builder *b, struct pm_ir_block *header,
                            const struct pm_ir_instr *loop_merge, struct pm_ir_block *rest)
{
    struct pm_ir_instr *end = pm_ir_terminator(rest);
    if (end->opcode != SpvOpBranchConditional)
        return;
    for (uint32_t i = 1; i <= 2; i++) {
        const struct pm_ir_def *to = end->operands[i].def;
        if (to == loop_merge->operands[0].def || to == loop_merge->operands[1].def ||
            to == header->label->result)
            return;
    }
    struct pm_ir_block *never = pm_ir_block_create(b->module, rest);
    struct pm_ir_builder at_end = {b->module, rest, end};
    pm_ir_build_selection_merge(&at_end, never);
    struct pm_ir_builder inside = {b->module, never, NULL};
    pm_ir_build_instr(&inside, SpvOpUnreachable, NULL, NULL, 0);
}

struct pm_ir_block *pm_block_open(struct pm_ir_builder *b, struct pm_ir_block *block)
{
    struct pm_ir_instr *merge = pm_ir_merge(block);
    struct pm_ir_instr *start = pm_ir_block_start(block);
    struct pm_ir_block *rest = pm_ir_block_split(b->module, block, start);
    b->block = block;
    b->before = NULL;
    if (!rest || !merge || merge->opcode != SpvOpLoopMerge)
        return rest;

    /* A loop header must end in OpLoopMerge: the added code goes into a block of its own behind it.
     */
    struct pm_ir_block *added = pm_ir_block_create(b->module, block);
    if (!added)
        return NULL;
    pm_ir_detach(merge);
    pm_ir_insert(&block->body, block, NULL, merge);
    pm_ir_build_branch(b, added);
    /* A header that is its own continue target is no longer the block with the back edge; what
     * follows it is. */
    if (merge->operands[1].def == block->label->result)
        pm_ir_operand_set(&merge->operands[1], added->label->result);
    close_selection(b, block, merge, rest);
    b->block = added;
    return rest;
}
