/*
 * Peeling (the cooperative paper, 4.1, "Loop unrolling", where drivers unroll nothing by
 * themselves): a loop that nearly always makes n turns gets n copies of itself in front, one behind
 * the other, each of which leaves as the loop does. The loop stays behind them for who turns more
 * often. What counts turns is then a constant in each copy.
 *
 * All of it is in a construct of its own, a loop that never turns, so that copies may leave it from
 * anywhere:
 *
 *     W: OpLoopMerge M C; copy 1; …; copy n; the loop, whose merge block is now R; R: OpBranch M
 *     C: OpBranch W, which nothing leads to
 */
#include "shader_rewrite/blocks/block_worth.h"
#include "shader_rewrite/blocks/peel.h"
#include "shader_rewrite/blocks/steady_loops.h"

static const char pass_name[] = "optimize_peel";

/* The loop behind its copies hardly ever turns, whatever was asked of it before. And SPIRV-Tools'
 * unroller, which SwiftShader runs, crashes where fewer turns are left than the loop says. */
static void leave_rest_alone(struct pm_ir_block *header)
{
    struct pm_ir_instr *merge = pm_ir_merge(header);
    const uint32_t count = SpvLoopControlPeelCountMask | SpvLoopControlPartialCountMask;
    const uint32_t ours = SpvLoopControlUnrollMask | SpvLoopControlDontUnrollMask | count;
    const uint32_t control = pm_ir_operand_word(&merge->operands[2]);
    if (control & ~ours)
        return;
    if (control & count)
        pm_ir_operands_remove(merge, 3, merge->operand_count - 3);
    pm_ir_operand_set_word(&merge->operands[2], SpvLoopControlDontUnrollMask);
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_blocks *blocks = context;
    const uint32_t before = blocks->changes;
    const struct pm_loops *loops = pm_loops(blocks->function);
    const struct pm_steady_loop *turns = pm_steady_loops(blocks);
    if (!turns) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return PM_PASS_FAILED;
    }
    for (uint32_t l = 0; l < loops->count && !module->failed; l++) {
        struct pm_ir_block *header = pm_cfg(blocks->function)->blocks[loops->loops[l].header];
        struct pm_peel peel;
        const char *reason = turns[l].reason;
        if (turns[l].steady)
            reason = pm_peel_check(&peel, blocks, l);
        const bool done = turns[l].steady && !reason;
        if (done) {
            pm_blocks_saves(blocks, PM_BLOCK_PEEL,
                            pm_blocks_entries(blocks, turns[l].latch) * pm_blocks_turn(blocks));
            pm_peel(&peel, turns[l].steady);
            leave_rest_alone(header);
        }
        pm_blocks_decide(blocks, pass_name, header, 0, done, "copied in front",
                         reason ? reason : "it turns equally often");
    }
    return pm_pass_result_of(true, blocks->changes != before);
}

const struct pm_pass pm_pass_optimize_peel = {pass_name, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS,
                                              0, run};
