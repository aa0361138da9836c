#include "shader_rewrite/zero/region/continue_targets.h"

#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/ir/block_open.h"

/* Whether a block ends the loop that `merge` makes: it has the branch back to the header. */
static bool has_back_edge(const struct pm_ir_block *block, const struct pm_ir_def *header)
{
    const struct pm_ir_instr *end = pm_ir_terminator(block);
    for (uint32_t o = 0; o < end->operand_count; o++)
        if (end->operands[o].def == header)
            return true;
    return false;
}

/* How many branches enter a block; the same block's twice count twice. */
static uint32_t branches_to(const struct pm_ir_def *label)
{
    uint32_t count = 0;
    for (const struct pm_ir_operand *use = label->first_use; use; use = use->next_use)
        count += pm_ir_opcode_is_terminator(use->user->opcode);
    return count;
}

/* Whether a branch to a continue target, which is to be an ordinary block then, needs a merge
 * instruction that it has not: one of two ways, where neither is a break. */
static bool needs_merge(const struct pm_ir_def *label, const struct pm_ir_def *loop_merge)
{
    for (const struct pm_ir_operand *use = label->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *branch = use->user;
        if (!pm_ir_opcode_is_terminator(branch->opcode) || branch->opcode == SpvOpBranch)
            continue;
        const struct pm_ir_instr *merge = pm_ir_merge(branch->block);
        const bool breaks =
            branch->opcode == SpvOpBranchConditional &&
            (branch->operands[1].def == loop_merge || branch->operands[2].def == loop_merge);
        if (!breaks && !(merge && merge->opcode == SpvOpSelectionMerge))
            return true;
    }
    return false;
}

static bool part(struct pm_ir_module *module, struct pm_ir_block *header)
{
    struct pm_ir_instr *merge = pm_ir_merge(header);
    if (!merge || merge->opcode != SpvOpLoopMerge)
        return false;
    struct pm_ir_def *label = header->label->result;
    struct pm_ir_block *body = pm_ir_block_of(merge->operands[1].def);
    if (!body || !has_back_edge(body, label) ||
        pm_ir_merge(body) != (body == header ? merge : NULL))
        return false;
    if (body == header) {
        /* The header keeps its OpPhi and OpLoopMerge; the rest is the body. */
        struct pm_ir_builder b = {.module = module};
        body = pm_block_open(&b, header);
        pm_ir_build_branch(&b, body);
        if (!body)
            return true;
    } else if (branches_to(body->label->result) != 1 ||
               needs_merge(body->label->result, merge->operands[0].def)) {
        return false; /* something continues: it is no body */
    }
    struct pm_ir_block *end = pm_ir_block_split(module, body, pm_ir_terminator(body));
    struct pm_ir_builder b = {module, body, NULL};
    pm_ir_build_branch(&b, end);
    if (end)
        pm_ir_operand_set(&merge->operands[1], end->label->result);
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    const struct pm_ir_function *function = context;
    bool changed = false;
    for (struct pm_ir_block *b = function->first_block; b && !module->failed; b = b->next)
        changed |= part(module, b);
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_part_continue_targets = {"part continue targets", 0, 0, run};
