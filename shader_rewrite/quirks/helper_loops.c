#include "shader_rewrite/quirks/helper_loops.h"

#include "base/arena.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_quads.h"
#include "shader_rewrite/analysis/analysis_uniform.h"

struct looking {
    const struct pm_loops *loops;
    struct pm_uniform uniform;
    struct pm_quads quads;
};

/* Whether one of the loops around `from`, but not around `to`, is left at different times. */
static bool leaves(const struct looking *l, uint32_t from, uint32_t to)
{
    for (uint32_t loop = l->loops->loop_of[from]; loop != PM_NO_LOOP;
         loop = l->loops->loops[loop].parent) {
        if (pm_loop_is_around(l->loops, loop, l->loops->loop_of[to]))
            return false;
        if (l->uniform.parts_in_loops[loop])
            return true;
    }
    return false;
}

/* Whether a quad needs the instruction, and it comes of such a loop: by an operand, by the way that
 * an OpPhi was come to, or through memory. */
static bool comes_of_loop(const struct looking *l, const struct pm_ir_instr *instr)
{
    if (!pm_quads_need(&l->quads, instr))
        return false;
    const bool stores = instr->opcode == SpvOpStore || instr->opcode == SpvOpCopyMemory;
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *of = pm_ir_operand_instr(instr, o);
        if (of && of->block && leaves(l, of->block->index, instr->block->index))
            return true;
    }
    for (uint32_t loop = l->loops->loop_of[instr->block->index]; stores && loop != PM_NO_LOOP;
         loop = l->loops->loops[loop].parent)
        if (l->uniform.parts_in_loops[loop])
            return true;
    return false;
}

static bool look(struct looking *l, const struct pm_ir_module *module,
                 struct pm_ir_function *function, struct pm_arena *arena, bool *has)
{
    const struct pm_memory memory = pm_memory_of(module);
    l->loops = pm_loops(function);
    if (l->loops->count == 0)
        return true;
    if (!pm_uniform_compute(&l->uniform, module, &memory, function, arena) ||
        !pm_quads_compute_needed(&l->quads, function, arena))
        return false;
    for (const struct pm_ir_block *b = function->first_block; b && !*has; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i && !*has; i = i->next)
            *has = comes_of_loop(l, i);
    return true;
}

bool pm_has_helper_loops(struct pm_ir_module *module, bool *has, struct pm_error *error)
{
    enum pm_stage stage;
    struct looking l = {0};
    *has = false;
    struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    if (!function || stage != PM_STAGE_FRAGMENT)
        return function != NULL;
    if (!pm_analysis_require(
            function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS,
            error))
        return false;
    struct pm_arena *arena = pm_arena_create(0);
    const bool done = (arena && look(&l, module, function, arena, has)) ||
                      pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_arena_destroy(arena);
    return done;
}
