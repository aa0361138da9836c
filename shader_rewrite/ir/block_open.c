#include "shader_rewrite/ir/block_open.h"

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

struct pm_ir_block *pm_block_open_at(struct pm_ir_builder *b, struct pm_ir_block *block,
                                     struct pm_ir_instr *at)
{
    struct pm_ir_instr *merge = pm_ir_merge(block);
    struct pm_ir_block *rest = pm_ir_block_split(b->module, block, at);
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

struct pm_ir_block *pm_block_open(struct pm_ir_builder *b, struct pm_ir_block *block)
{
    return pm_block_open_at(b, block, pm_ir_block_start(block));
}

struct pm_ir_instr *pm_block_behind(const struct pm_ir_instr *value)
{
    return value->opcode == SpvOpPhi ? pm_ir_block_start(value->block) : value->next;
}

/* A copy of an instruction with its decorations, before another one. NULL when the module failed.
 */
static struct pm_ir_instr *copy_before(struct pm_ir_module *module, const struct pm_ir_instr *instr,
                                       struct pm_ir_instr *before)
{
    struct pm_ir_instr *copy =
        pm_ir_instr_create(module, instr->opcode, instr->type.def, instr->operand_count);
    if (!copy)
        return NULL;
    for (uint32_t i = 0; i < instr->operand_count; i++)
        pm_ir_operand_set(&copy->operands[i], instr->operands[i].def);
    pm_ir_insert(&before->block->body, before->block, before, copy);
    for (const struct pm_ir_operand *use = instr->result->first_use; use; use = use->next_use)
        if (use->user->opcode == SpvOpDecorate && use->user->operand_count == 2)
            pm_ir_decorate(module, copy->result,
                           (SpvDecoration)pm_ir_operand_word(&use->user->operands[1]), NULL, 0);
    return copy;
}

static bool mend(struct pm_ir_module *module, struct pm_ir_instr *sampled)
{
    bool mended = false;
    for (struct pm_ir_operand *use = sampled->result->first_use, *next; use; use = next) {
        next = use->next_use;
        if (!use->user->block || use->user->block == sampled->block)
            continue;
        const struct pm_ir_instr *copy = copy_before(module, sampled, use->user);
        if (copy)
            pm_ir_operand_set(use, copy->result);
        mended |= copy != NULL;
    }
    return mended;
}

bool pm_block_mend_sampled_images(struct pm_ir_function *function)
{
    bool mended = false;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->opcode == SpvOpSampledImage && i->result)
                mended |= mend(function->module, i);
    return mended;
}
