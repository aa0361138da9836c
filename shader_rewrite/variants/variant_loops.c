/*
 * SPIRV-Tools' unrolling takes the loops that ask for it (Unroll), and of these those that it can
 * count. It bounds nothing, what it copies loses its decorations, it leaves out the last test of a
 * loop that it unrolls whole, and it unrolls only one loop in part at a time (the second one ends
 * in an exception). So here is decided which loops may ask.
 */
#include "shader_rewrite/analysis/analysis_turns.h"
#include "shader_rewrite/ir/ir_walk.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variant_passes.h"

/* Instructions in all copies of one loop, and in one that is copied a few times. */
enum { MOST_COPIED = 4096, MOST_BODY = 512 };

/* What the values of a loop may not lose. */
static bool has_lasting_decoration(const struct pm_ir_instr *instr)
{
    const struct pm_ir_def *def = instr->result;
    for (const struct pm_ir_operand *use = def && def->decorated ? def->first_use : NULL; use;
         use = use->next_use) {
        if (use->user->opcode == SpvOpDecorate &&
            pm_ir_operand_word(&use->user->operands[1]) != SpvDecorationRelaxedPrecision)
            return true;
    }
    return false;
}

static bool may_be_copied(const struct pm_ir_function *function, uint32_t loop)
{
    const struct pm_loops *loops = pm_loops(function);
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        const uint32_t of = loops->loop_of[b->index];
        if (!pm_loop_is_around(loops, loop, of))
            continue;
        if (of != loop)
            return false; /* not an innermost one */
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (has_lasting_decoration(i) || i->opcode == SpvOpVariable ||
                i->opcode == SpvOpControlBarrier)
                return false;
    }
    return true;
}

static struct pm_ir_operand *control_of(const struct pm_ir_function *function, uint32_t loop)
{
    return &pm_ir_merge(pm_cfg(function)->blocks[pm_loops(function)->loops[loop].header])
                ->operands[2];
}

/* Into so many copies; else, 0, whole, when these are at most `most`. What is left over of turns
 * that are no multiple of the copies SPIRV-Tools puts into a second loop, which may name values
 * that are not there (seen). */
static bool may_ask(const struct pm_ir_function *function, const struct pm_memory *memory,
                    uint32_t loop, uint32_t part, uint32_t most)
{
    /* It says no, or something else, which the loop would lose. */
    if (pm_ir_operand_word(control_of(function, loop)) & ~(uint32_t)SpvLoopControlUnrollMask)
        return false;
    const uint32_t turns = pm_loop_turns(function, loop), size = pm_loop_size(function, loop);
    const bool fits = part > 0 ? turns > part && turns % part == 0 && size <= MOST_BODY
                               : turns > 1 && turns <= most && turns * size <= MOST_COPIED &&
                                     !pm_loop_needs_last_test(function, memory, loop);
    return fits && may_be_copied(function, loop) && !pm_loop_is_risky(function, loop);
}

static enum pm_pass_result mark(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    const uint32_t argument = *(const uint32_t *)context;
    const uint32_t part = PM_UNROLLED_PART(argument), most = part > 0 ? 0 : argument;
    const struct pm_memory memory = pm_memory_of(module);
    const struct pm_ir_function *function = pm_variant_function(module);
    bool changed = false, asked = false;
    for (uint32_t l = 0; function && l < pm_loops(function)->count; l++) {
        struct pm_ir_operand *control = control_of(function, l);
        const uint32_t was = pm_ir_operand_word(control);
        const bool asks = !(asked && part > 0) && may_ask(function, &memory, l, part, most);
        asked |= asks;
        if (asks)
            pm_ir_operand_set_word(control, SpvLoopControlUnrollMask);
        else if (was == SpvLoopControlUnrollMask)
            pm_ir_operand_set_word(control, SpvLoopControlMaskNone);
        changed |= pm_ir_operand_word(control) != was;
    }
    return pm_pass_result_of(true, changed);
}

/* A loop that could not be unrolled asks for nothing, and what was unrolled in part says so. */
static enum pm_pass_result unmark(struct pm_ir_module *module, void *context,
                                  struct pm_error *error)
{
    (void)context;
    (void)error;
    bool changed = false;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        if (walk.instr->opcode != SpvOpLoopMerge)
            continue;
        struct pm_ir_operand *control = &walk.instr->operands[2];
        if (pm_ir_operand_word(control) != SpvLoopControlUnrollMask)
            continue;
        pm_ir_operand_set_word(control, SpvLoopControlMaskNone);
        changed = true;
    }
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_mark_loops = {
    "mark loops", PM_ANALYSIS_LOOPS | PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_CFG, PM_ANALYSIS_ALL,
    mark};
const struct pm_pass pm_pass_unmark_loops = {"unmark loops", 0, PM_ANALYSIS_ALL, unmark};
