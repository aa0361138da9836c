/*
 * SPIRV-Tools' block merge puts the block that leaves a loop and the loop's merge block together,
 * where no other block leaves it: what lanes did each in its own iteration, before they left, they
 * then do behind the loop, together. That is another subgroup to subgroup operations, and drivers
 * that run lanes in step have the last iteration's values there for all of them (seen: lavapipe
 * 22.3 and SwiftShader). So such branches look like conditional ones, on the label that they go to,
 * as long as blocks are merged.
 */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/canonical/canonical_words.h"
#include "shader_rewrite/ir/ir_builder.h"

#include <string.h>

enum { BRANCH_WORDS = 2, DISGUISED_WORDS = 4 };

static void disguise(struct pm_ir_module *module, struct pm_ir_block *block)
{
    struct pm_ir_instr *branch = pm_ir_terminator(block);
    struct pm_ir_def *to = branch->operands[0].def;
    struct pm_ir_instr *disguised =
        pm_ir_instr_create(module, SpvOpBranchConditional, NULL, DISGUISED_WORDS - 1);
    if (!disguised)
        return;
    for (uint32_t o = 0; o < disguised->operand_count; o++)
        pm_ir_operand_set(&disguised->operands[o], to);
    pm_ir_insert(&block->body, block, branch, disguised);
    pm_ir_remove(branch);
}

/* A loop that never comes around again is none to its lanes. */
static void visit(struct pm_ir_module *module, const struct pm_ir_function *function)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_loops *loops = pm_loops(function);
    const struct pm_graph *flow = &cfg->flow;
    for (uint32_t l = 0; l < loops->count; l++) {
        const struct pm_loop *loop = &loops->loops[l];
        uint32_t first = flow->predecessor_start[loop->merge];
        if (flow->predecessor_start[loop->merge + 1] != first + 1 ||
            !pm_cfg_reachable(cfg, loop->continue_target))
            continue;
        struct pm_ir_block *block = cfg->blocks[flow->predecessors[first]];
        if (pm_ir_terminator(block)->opcode == SpvOpBranch)
            disguise(module, block);
    }
}

static bool disguise_module(struct pm_ir_module *module, struct pm_error *error)
{
    for (struct pm_ir_function *f = module->first_function; f; f = f->next) {
        if (!f->first_block)
            continue;
        if (!pm_analysis_require(f, PM_ANALYSIS_LOOPS, error))
            return false;
        visit(module, f);
    }
    return true;
}

bool pm_words_disguise_breaks(struct pm_words *module, struct pm_error *error)
{
    return pm_words_change(module, disguise_module, error);
}

static bool is_disguised(const struct pm_walk *walk)
{
    const uint32_t *operands = walk->words + walk->at + 1;
    return walk->opcode == SpvOpBranchConditional && walk->length == DISGUISED_WORDS &&
           operands[0] == operands[1] && operands[1] == operands[2];
}

void pm_words_undisguise_breaks(struct pm_words *module)
{
    size_t kept = PM_SPIRV_HEADER_WORDS;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        bool disguised = is_disguised(&walk);
        uint32_t length = disguised ? BRANCH_WORDS : walk.length;
        memmove(module->data + kept, module->data + walk.at, length * sizeof(uint32_t));
        if (disguised)
            module->data[kept] = BRANCH_WORDS << SpvWordCountShift | SpvOpBranch;
        kept += length;
    }
    module->count = kept;
}
