/*
 * Peeling (the cooperative paper, 4.1, "Loop unrolling", where drivers unroll nothing by
 * themselves): a loop that nearly always makes n turns gets n copies of itself in front, one behind
 * the other, each of which leaves as the loop does. The loop stays behind them for who turns more
 * often. With a histogram of its turns n is what nearly all make, though many make more. What
 * counts turns is then a constant in each copy.
 *
 * All of it is in a construct of its own, a loop that never turns, so that copies may leave it from
 * anywhere:
 *
 *     W: OpLoopMerge M C; copy 1; …; copy n; the loop, whose merge block is now R; R: OpBranch M
 *     C: OpBranch W, which nothing leads to
 *
 * Some drivers compute a value that is used behind a loop again for lanes that left it, by what the
 * others read in later turns (quirks.h). That is wrong, but what the shader does there; lanes that
 * leave from a copy have the right value. So that bits stay the same, such a loop is left alone on
 * these drivers.
 */
#include "shader_rewrite/blocks/block_worth.h"
#include "shader_rewrite/blocks/peel.h"
#include "shader_rewrite/blocks/steady_loops.h"
#include "shader_rewrite/quirks/leaving_values.h"
#include "shader_rewrite/quirks/quirks.h"

static const char pass_name[] = "optimize_peel";

/* The loop behind its copies hardly ever turns, whatever was asked of it before, and what the
 * shader promised of its turns (MinIterations, IterationMultiple) is not so of those that are left.
 * And SPIRV-Tools' unroller, which SwiftShader runs, crashes where fewer turns are left than the
 * loop says. */
static void leave_rest_alone(struct pm_ir_block *header)
{
    struct pm_ir_instr *merge = pm_ir_merge(header);
    const uint32_t control = pm_ir_operand_word(&merge->operands[2]);
    if (merge->operand_count > 3)
        pm_ir_operands_remove(merge, 3, merge->operand_count - 3);
    pm_ir_operand_set_word(&merge->operands[2],
                           SpvLoopControlDontUnrollMask |
                               (control & SpvLoopControlDependencyInfiniteMask));
}

/* Whether what the loop reads decides a value behind it without an OpPhi. */
static bool reads_what_leaves(const struct pm_peel *peel, const struct pm_leaving_values *leaving,
                              const struct pm_loops *loops, uint32_t loop)
{
    const struct pm_memory memory = pm_memory_of(peel->module);
    for (uint32_t b = 0; b < peel->count; b++)
        for (const struct pm_ir_instr *i = peel->blocks[b]->body.first; i; i = i->next)
            if (i->result && pm_memory_access_of(&memory, i).reads &&
                pm_leaving_values_has(leaving, loops, i->result, loop))
                return true;
    return false;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_blocks *blocks = context;
    const uint32_t before = blocks->changes;
    const struct pm_loops *loops = pm_loops(blocks->function);
    const struct pm_steady_loop *turns = pm_steady_loops(blocks);
    const uint32_t again = PM_QUIRK_CHOOSES_AGAIN | PM_QUIRK_LOADS_AGAIN;
    const bool guards = pm_quirks_of(blocks->info->driver) & again;
    const struct pm_memory memory = pm_memory_of(module);
    struct pm_leaving_values leaving = {0};
    struct pm_uniform workgroup;
    if (!turns ||
        !pm_uniform_compute(&workgroup, PM_UNIFORM_WORKGROUP, module, &memory, blocks->function,
                            blocks->arena) ||
        (guards && !pm_leaving_values_compute(&leaving, module, blocks->function, blocks->arena))) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return PM_PASS_FAILED;
    }
    for (uint32_t l = 0; l < loops->count && !module->failed; l++) {
        struct pm_ir_block *header = pm_cfg(blocks->function)->blocks[loops->loops[l].header];
        struct pm_peel peel;
        const char *reason = turns[l].reason;
        if (turns[l].always)
            reason = pm_peel_check(&peel, blocks, &workgroup, l);
        if (turns[l].always && !reason && guards && reads_what_leaves(&peel, &leaving, loops, l))
            reason = "what it reads decides a value behind it, which the driver computes again";
        const bool done = turns[l].always && !reason;
        if (done) {
            const double copied = turns[l].always < turns[l].turns
                                      ? turns[l].always / turns[l].turns
                                      : 1; /* of all turns */
            pm_blocks_saves(blocks, PM_BLOCK_PEEL,
                            copied * pm_blocks_entries(blocks, turns[l].latch) *
                                pm_blocks_turn(blocks));
            pm_peel(&peel, turns[l].always);
            leave_rest_alone(header);
        }
        pm_blocks_decide(blocks, pass_name, header, 0, done, "copied in front",
                         reason            ? reason
                         : turns[l].steady ? "it turns equally often"
                                           : "nearly all make so many turns");
    }
    return pm_pass_result_of(true, blocks->changes != before);
}

const struct pm_pass pm_pass_optimize_peel = {
    pass_name, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS, 0, run};
