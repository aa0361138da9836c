/*
 * SPIRV-Tools' block merge puts the block that leaves a loop and the loop's merge block together,
 * where no other block leaves it: what lanes did each in its own iteration, before they left, they
 * then do behind the loop, together. That is another subgroup to subgroup operations, and drivers
 * that run lanes in step have the last iteration's values there for all of them (seen: lavapipe
 * 22.3 and SwiftShader). So such branches look like conditional ones, on the label that they go to,
 * as long as blocks are merged.
 */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"

enum { DISGUISED_OPERANDS = 3 };

static bool disguise(struct pm_ir_module *module, struct pm_ir_block *block)
{
    struct pm_ir_instr *branch = pm_ir_terminator(block);
    struct pm_ir_def *to = branch->operands[0].def;
    struct pm_ir_instr *disguised =
        pm_ir_instr_create(module, SpvOpBranchConditional, NULL, DISGUISED_OPERANDS);
    if (!disguised)
        return false;
    for (uint32_t o = 0; o < disguised->operand_count; o++)
        pm_ir_operand_set(&disguised->operands[o], to);
    pm_ir_insert(&block->body, block, branch, disguised);
    pm_ir_remove(branch);
    return true;
}

/* A loop that never comes around again is none to its lanes. */
static bool visit(struct pm_ir_module *module, const struct pm_ir_function *function)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_loops *loops = pm_loops(function);
    const struct pm_graph *flow = &cfg->flow;
    bool changed = false;
    for (uint32_t l = 0; l < loops->count; l++) {
        const struct pm_loop *loop = &loops->loops[l];
        uint32_t first = flow->predecessor_start[loop->merge];
        if (flow->predecessor_start[loop->merge + 1] != first + 1 ||
            !pm_cfg_reachable(cfg, loop->continue_target))
            continue;
        struct pm_ir_block *block = cfg->blocks[flow->predecessors[first]];
        if (pm_ir_terminator(block)->opcode == SpvOpBranch)
            changed |= disguise(module, block);
    }
    return changed;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    (void)error;
    bool changed = false;
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        changed |= f->first_block && visit(module, f);
    return pm_pass_result_of(true, changed);
}

static bool is_disguised(const struct pm_ir_instr *instr)
{
    const struct pm_ir_operand *operands = instr->operands;
    return instr->opcode == SpvOpBranchConditional && instr->operand_count == DISGUISED_OPERANDS &&
           operands[0].def == operands[1].def && operands[1].def == operands[2].def;
}

static enum pm_pass_result take_back(struct pm_ir_module *module, void *context,
                                     struct pm_error *error)
{
    (void)context;
    (void)error;
    bool changed = false;
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (const struct pm_ir_block *b = f->first_block; b; b = b->next) {
            struct pm_ir_instr *branch = pm_ir_terminator(b);
            if (!is_disguised(branch))
                continue;
            branch->opcode = SpvOpBranch;
            pm_ir_operands_remove(branch, 1, DISGUISED_OPERANDS - 1);
            changed = true;
        }
    return pm_pass_result_of(true, changed);
}

/* Neither changes where a block leads to. */
const struct pm_pass pm_pass_disguise_breaks = {"disguise breaks", PM_ANALYSIS_LOOPS,
                                                PM_ANALYSIS_ALL, run};
const struct pm_pass pm_pass_undisguise_breaks = {"undisguise breaks", 0, PM_ANALYSIS_ALL,
                                                  take_back};
