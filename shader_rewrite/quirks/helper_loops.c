#include "shader_rewrite/quirks/helper_loops.h"

#include "base/arena.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_quads.h"
#include "shader_rewrite/analysis/analysis_uniform.h"

/* What a helper invocation may have wrong, and where it may be or not be for that. */
struct wrong {
    const struct pm_ir_function *function;
    const struct pm_loops *loops;
    struct pm_uniform uniform;
    bool *values; /* by id; of a variable: what is in it */
    bool *blocks; /* by block: which way leads there is decided by such a value */
    bool *joined; /* by block: such ways join there */
    bool any, changed;
};

/* Whether lanes may leave a loop at different times that is around one block, but not another. */
static bool leaves(const struct wrong *w, uint32_t from, uint32_t to)
{
    for (uint32_t loop = w->loops->loop_of[from]; loop != PM_NO_LOOP;
         loop = w->loops->loops[loop].parent) {
        if (pm_loop_is_around(w->loops, loop, w->loops->loop_of[to]))
            return false;
        if (w->uniform.parts_in_loops[loop])
            return true;
    }
    return false;
}

static bool parts_around(const struct wrong *w, uint32_t block)
{
    for (uint32_t loop = w->loops->loop_of[block]; loop != PM_NO_LOOP;
         loop = w->loops->loops[loop].parent)
        if (w->uniform.parts_in_loops[loop])
            return true;
    return false;
}

static void set(struct wrong *w, bool *flag)
{
    w->changed |= !*flag;
    *flag = w->any = true;
}

/* By an operand, or of an OpPhi by the way that it was come to. */
static bool has_wrong_operand(const struct wrong *w, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *of = pm_ir_operand_instr(instr, o);
        if (!of || (of->opcode == SpvOpLabel && instr->opcode != SpvOpPhi))
            continue;
        if ((of->result && w->values[of->result->id]) ||
            (of->block && leaves(w, of->block->index, instr->block->index)))
            return true;
    }
    return instr->opcode == SpvOpPhi && w->joined[instr->block->index];
}

/* Whoever goes another way at a block's end does so until the ways join. */
static void part_ways(struct wrong *w, uint32_t block)
{
    const struct pm_cfg *cfg = pm_cfg(w->function);
    const uint32_t join = pm_postdominators(w->function)->parent[block];
    const bool joins = join < cfg->count;
    const uint32_t from = cfg->order_of[block], to = joins ? cfg->order_of[join] : UINT32_MAX;
    for (uint32_t b = 0; b < cfg->count; b++) {
        bool within = cfg->order_of[b] > from && cfg->order_of[b] < to;
        /* What is behind a loop may come before its body in reverse post order. */
        for (uint32_t loop = w->loops->loop_of[block]; !within && loop != PM_NO_LOOP;
             loop = w->loops->loops[loop].parent)
            within = pm_loop_is_around(w->loops, loop, w->loops->loop_of[b]) &&
                     !(joins && pm_loop_is_around(w->loops, loop, w->loops->loop_of[join]));
        if (within && pm_cfg_reachable(cfg, b)) {
            set(w, &w->blocks[b]);
            set(w, &w->joined[b]);
        }
    }
    if (joins)
        set(w, &w->joined[join]);
}

static void look_at(struct wrong *w, const struct pm_ir_instr *instr)
{
    const uint32_t block = instr->block->index;
    const bool wrong = has_wrong_operand(w, instr);
    if (instr->opcode == SpvOpStore || instr->opcode == SpvOpCopyMemory) {
        const struct pm_ir_instr *variable = pm_ir_variable_of(pm_ir_operand_instr(instr, 0));
        if (variable && (wrong || w->blocks[block] || parts_around(w, block)))
            set(w, &w->values[variable->result->id]);
    } else if (wrong && instr->result) {
        set(w, &w->values[instr->result->id]);
    } else if (wrong && pm_ir_terminator(instr->block) == instr) {
        part_ways(w, block);
    }
}

/* Whether the quad's lanes look at such a value, or one of them may be missing for it. */
static bool is_read(const struct wrong *w)
{
    for (const struct pm_ir_block *b = w->function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if ((pm_quads_read(i) || i->opcode == SpvOpGroupNonUniformQuadBroadcast ||
                 i->opcode == SpvOpGroupNonUniformQuadSwap) &&
                (has_wrong_operand(w, i) || w->blocks[b->index] ||
                 (i->opcode == SpvOpFunctionCall && w->any)))
                return true;
    return false;
}

static bool look(struct wrong *w, const struct pm_ir_module *module, struct pm_arena *arena,
                 bool *has)
{
    const struct pm_memory memory = pm_memory_of(module);
    const uint32_t count = pm_cfg(w->function)->count;
    w->loops = pm_loops(w->function);
    w->values = pm_arena_zalloc(arena, module->bound, sizeof *w->values);
    w->blocks = pm_arena_zalloc(arena, count, sizeof *w->blocks);
    w->joined = pm_arena_zalloc(arena, count, sizeof *w->joined);
    if (!w->values || !w->blocks || !w->joined ||
        !pm_uniform_compute(&w->uniform, PM_UNIFORM_WORKGROUP, module, &memory, w->function, arena))
        return false;
    do {
        w->changed = false;
        for (const struct pm_ir_block *b = w->function->first_block; b; b = b->next)
            for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
                look_at(w, i);
    } while (w->changed);
    *has = is_read(w);
    return true;
}

bool pm_has_helper_loops(struct pm_ir_module *module, bool *has, struct pm_error *error)
{
    enum pm_stage stage;
    *has = false;
    struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    if (!function || stage != PM_STAGE_FRAGMENT)
        return function != NULL;
    if (!pm_analysis_require(
            function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS,
            error))
        return false;
    struct wrong w = {.function = function};
    if (pm_loops(function)->count == 0)
        return true;
    struct pm_arena *arena = pm_arena_create(0);
    const bool done =
        (arena && look(&w, module, arena, has)) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_arena_destroy(arena);
    return done;
}
