/* Unrolling control (the cooperative paper, 4.1): drivers are asked to leave loops alone that
 * hardly any subgroup turns in, and to unroll those that always turn equally often. */
#include "shader_rewrite/analysis/analysis_turns.h"
#include "shader_rewrite/blocks/block_worth.h"
#include "shader_rewrite/blocks/steady_loops.h"
#include "shader_rewrite/quirks/quirks.h"

static const char pass_name[] = "optimize_unroll";

enum { VERSION_1_4 = 0x10400 }; /* which has PartialCount */

static bool set_control(struct pm_ir_module *module, struct pm_ir_instr *merge, uint32_t control,
                        uint32_t count)
{
    const bool counted = control & SpvLoopControlPartialCountMask;
    if (pm_ir_operand_word(&merge->operands[2]) == control)
        return false;
    pm_ir_operand_set_word(&merge->operands[2], control);
    if (counted && pm_ir_operands_insert(module, merge, 3, 1))
        pm_ir_operand_set_word(&merge->operands[3], count);
    return true;
}

/* How the driver would unroll it wrongly; NULL: it would not. */
static const char *unrolled_wrongly(const struct pm_blocks *blocks, uint32_t loop)
{
    const struct pm_memory memory = pm_memory_of(blocks->module);
    const uint32_t quirks = pm_quirks_of(blocks->info->driver);
    if ((quirks & PM_QUIRK_UNROLLS_SHORT) &&
        pm_loop_needs_last_test(blocks->function, &memory, loop))
        return "the driver would leave out its last test, which is needed";
    if ((quirks & PM_QUIRK_UNROLLS_INEXACT) && pm_loop_needs_exactness(blocks->function, loop))
        return "the driver would not keep what is NoContraction";
    return NULL;
}

static void decide(struct pm_blocks *blocks, uint32_t loop, const struct pm_steady_loop *turns)
{
    struct pm_ir_block *header =
        pm_cfg(blocks->function)->blocks[pm_loops(blocks->function)->loops[loop].header];
    struct pm_ir_instr *merge = pm_ir_merge(header);
    const bool newer = blocks->module->version >= VERSION_1_4;
    const char *what = "None", *reason = turns->reason;
    uint32_t control = 0;
    if (turns->rare) {
        what = "DontUnroll";
        control = SpvLoopControlDontUnrollMask;
    } else if (turns->always && !turns->steady) {
        reason = "it often turns oftener than is nearly always made";
    } else if (turns->steady && unrolled_wrongly(blocks, loop)) {
        reason = unrolled_wrongly(blocks, loop);
    } else if (turns->steady) {
        what = newer ? "Unroll, PartialCount" : "Unroll";
        reason = "it turns equally often";
        control = SpvLoopControlUnrollMask | (newer ? SpvLoopControlPartialCountMask : 0);
    }
    const bool says = control && merge->operand_count > 3;
    const bool done =
        control && !says && set_control(blocks->module, merge, control, turns->steady);
    if (done && turns->steady)
        pm_blocks_saves(blocks, PM_BLOCK_UNROLL,
                        pm_blocks_entries(blocks, turns->latch) * pm_blocks_turn(blocks));
    pm_blocks_decide(blocks, pass_name, header, 0, done, what,
                     done || !control ? reason : "the shader says so, or more, itself");
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_blocks *blocks = context;
    const uint32_t before = blocks->changes;
    const struct pm_loops *loops = pm_loops(blocks->function);
    const struct pm_steady_loop *turns = pm_steady_loops(blocks);
    (void)module;
    if (!turns) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return PM_PASS_FAILED;
    }
    for (uint32_t l = 0; l < loops->count; l++)
        decide(blocks, l, &turns[l]);
    return pm_pass_result_of(true, blocks->changes != before);
}

const struct pm_pass pm_pass_optimize_unroll = {
    pass_name, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, PM_ANALYSIS_ALL, run};
