#include "shader_rewrite/constants/constant_found.h"

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_exact.h"
#include "shader_rewrite/analysis/analysis_known.h"
#include "shader_rewrite/analysis/analysis_permission.h"
#include "shader_rewrite/analysis/analysis_turns.h"
#include <string.h>

struct finding {
    const struct pm_ir_module *original;
    struct pm_ir_function *before;   /* of the original */
    struct pm_ir_function *function; /* of what was made */
    struct pm_arena *arena;
    struct pm_constant_found *found;
};

static bool is_float(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = instr ? pm_scalar_type(pm_ir_type_of(instr)) : NULL;
    return type && type->opcode == SpvOpTypeFloat;
}

/* Whether it takes floats, or makes one, that a compiler may compute otherwise for what is known of
 * them; sums and products it may shorten, where one is zero. */
static bool minds(const struct pm_ir_instr *instr)
{
    if (!instr->result || !pm_exact_computes(instr))
        return false;
    bool floats = is_float(instr);
    for (uint32_t o = 0; instr->opcode == SpvOpExtInst && o < instr->operand_count; o++)
        floats = floats || is_float(pm_ir_operand_instr(instr, o));
    if (!floats)
        return false;
    return pm_known_of(instr) != PM_KNOWN_NOT
               ? !pm_exact_is(instr->opcode)
               : pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_ARITHMETIC) ||
                     !pm_exact_in_part(instr);
}

/* What was known of the same operand in the original. */
static enum pm_known known_before(const struct pm_ir_module *original,
                                  const struct pm_ir_instr *instr, uint32_t o)
{
    const struct pm_ir_instr *before = pm_ir_find(original, instr->result->id);
    if (!before || before->opcode != instr->opcode || before->operand_count != instr->operand_count)
        return PM_KNOWN_NOT;
    if (instr->opcode == SpvOpExtInst &&
        pm_ir_operand_word(&before->operands[1]) != pm_ir_operand_word(&instr->operands[1]))
        return PM_KNOWN_NOT;
    const struct pm_ir_instr *operand = pm_ir_operand_instr(before, o);
    return operand ? pm_known_of(operand) : PM_KNOWN_NOT;
}

static bool is_found(const struct pm_ir_module *original, const struct pm_ir_instr *instr,
                     uint32_t o)
{
    const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, o);
    return operand && operand->type.def && pm_known_of(operand) > known_before(original, instr, o);
}

static bool add(struct finding *f, const struct pm_ir_instr *instr, uint32_t operand)
{
    struct pm_constant_found *found = f->found;
    if ((found->count & (found->count - 1)) == 0) { /* 0, or a power of two: it is full */
        const uint32_t most = found->count ? 2 * found->count : 1;
        struct pm_constant_use *uses = pm_arena_zalloc(f->arena, most, sizeof(*uses));
        if (!uses)
            return false;
        if (found->count)
            memcpy(uses, found->uses, found->count * sizeof(*uses));
        found->uses = uses;
    }
    found->uses[found->count++] = (struct pm_constant_use){instr->result->id, operand};
    return true;
}

/* What is computed of what is hidden is not known any more. */
static bool find_operands(struct finding *f, struct pm_ir_instr *instr)
{
    const uint32_t before = f->found->count;
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (is_found(f->original, instr, o) && !add(f, instr, o))
            return false;
    if (f->found->count > before)
        instr->mark = PM_KNOWN_NOT;
    return true;
}

static bool mark(struct pm_ir_module *module, struct pm_ir_function **function,
                 struct pm_error *error)
{
    enum pm_stage stage;
    *function = pm_entry_function(module, &stage, error);
    if (!*function || !pm_analysis_require(*function, PM_ANALYSIS_LOOPS, error))
        return false;
    pm_known_mark(*function, PM_NO_LOOP);
    return true;
}

/* ---- turns ---- */

static bool is_inside(const struct pm_loops *loops, uint32_t loop, uint32_t block)
{
    return pm_loop_is_around(loops, loop, loops->loop_of[block]);
}

/* Adds the constants of an instruction, all or those that the original has not there; *told:
 * whether it has one. */
static bool find_constants(struct finding *f, const struct pm_ir_instr *instr, bool all, bool *told)
{
    for (uint32_t o = 0; instr && instr->result && o < instr->operand_count; o++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, o);
        if (!operand || !pm_ir_opcode_is(operand->opcode, PM_IR_OP_CONSTANT) ||
            (!all && known_before(f->original, instr, o) == PM_KNOWN_CONSTANT))
            continue;
        *told = true;
        if (!add(f, instr, o))
            return false;
    }
    return true;
}

/* Whether a loop has lost its other ways out, as a return in a branch that is gone: then a compiler
 * may know its turns that did not, though what counts them is as it was. */
static bool is_left_one_way(const struct finding *f, uint32_t loop)
{
    const uint32_t header = pm_loops(f->function)->loops[loop].header;
    const uint32_t label = pm_cfg(f->function)->blocks[header]->label->result->id;
    const struct pm_loops *before = pm_loops(f->before);
    if (pm_loop_ways_out(f->function, loop) > 1)
        return false;
    for (uint32_t l = 0; l < before->count; l++)
        if (pm_cfg(f->before)->blocks[before->loops[l].header]->label->result->id == label)
            return pm_loop_ways_out(f->before, l) > 1;
    return true;
}

/* By what a compiler could count a loop's turns: where it begins, and what it ends by. */
static bool find_counted(struct finding *f, uint32_t loop, bool *told)
{
    const bool all = is_left_one_way(f, loop);
    const struct pm_cfg *cfg = pm_cfg(f->function);
    const struct pm_loops *loops = pm_loops(f->function);
    const struct pm_ir_block *header = cfg->blocks[loops->loops[loop].header];
    for (const struct pm_ir_instr *i = header->body.first; i && i->opcode == SpvOpPhi; i = i->next)
        if (!is_float(i) && !find_constants(f, i, all, told))
            return false;
    for (uint32_t b = 0; b < cfg->count; b++) {
        const struct pm_ir_instr *end = pm_ir_terminator(cfg->blocks[b]);
        if (!is_inside(loops, loop, b) || end->opcode != SpvOpBranchConditional)
            continue;
        const uint32_t first = cfg->flow.successor_start[b];
        const bool leaves = !is_inside(loops, loop, cfg->flow.successors[first]) ||
                            !is_inside(loops, loop, cfg->flow.successors[first + 1]);
        const struct pm_ir_instr *condition = pm_ir_operand_instr(end, 0);
        if (leaves && condition->opcode != SpvOpPhi && !find_constants(f, condition, all, told))
            return false;
    }
    return true;
}

/* Loops of which nobody must be told how often they turn. */
static bool find_turns(struct finding *f)
{
    for (uint32_t l = 0; l < pm_loops(f->function)->count; l++) {
        const uint32_t before = f->found->count;
        bool told = false;
        if (!find_counted(f, l, &told))
            return false;
        if (told && !pm_loop_is_risky(f->function, l))
            f->found->count = before;
    }
    return true;
}

static bool compare(struct finding *f, struct pm_ir_module *original, struct pm_ir_module *made,
                    struct pm_error *error)
{
    if (!mark(original, &f->before, error) || !mark(made, &f->function, error))
        return false;
    for (const struct pm_ir_block *b = f->function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (minds(i) && !find_operands(f, i))
                return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    return find_turns(f) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

bool pm_constant_find(const uint32_t *words, size_t count, const struct pm_words *made,
                      struct pm_arena *arena, struct pm_constant_found *found,
                      struct pm_error *error)
{
    struct pm_ir_module *original = pm_ir_parse(words, count, error);
    struct pm_ir_module *module = original ? pm_ir_parse(made->data, made->count, error) : NULL;
    struct finding f = {.original = original, .arena = arena, .found = found};
    const bool ok = module && compare(&f, original, module, error);
    pm_ir_module_destroy(module);
    pm_ir_module_destroy(original);
    return ok;
}
