/*
 * Moving arithmetic to where it is computed less often. What moves is plain arithmetic that reads
 * no memory and no other lane and cannot trap (analysis_motion.h), so that lanes that would not
 * have come to it may compute it too.
 */
#include "shader_rewrite/analysis/analysis_motion.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variant_passes.h"

struct hoisting {
    struct pm_ir_function *function;
    struct pm_memory memory;
    struct pm_float_permission permission;
    bool changed;
};

static bool may_move(const struct hoisting *h, const struct pm_ir_instr *instr)
{
    return instr->opcode != SpvOpPhi && pm_motion_may_be_earlier(&h->memory, &h->permission, instr);
}

static void move_before_end(struct hoisting *h, struct pm_ir_instr *instr,
                            struct pm_ir_block *block)
{
    struct pm_ir_instr *merge = pm_ir_merge(block);
    pm_ir_detach(instr);
    pm_ir_insert(&block->body, block, merge ? merge : pm_ir_terminator(block), instr);
    h->changed = true;
}

/* ---- loops ---- */

/* The one block that leads into a loop. NULL: there are several. */
static struct pm_ir_block *entry_of(const struct pm_ir_function *function, uint32_t loop)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_loops *loops = pm_loops(function);
    const uint32_t header = loops->loops[loop].header;
    struct pm_ir_block *found = NULL;
    for (uint32_t p = cfg->flow.predecessor_start[header];
         p < cfg->flow.predecessor_start[header + 1]; p++) {
        const uint32_t from = cfg->flow.predecessors[p];
        if (pm_loop_is_around(loops, loop, loops->loop_of[from]))
            continue;
        if (found)
            return NULL;
        found = cfg->blocks[from];
    }
    return found;
}

static bool is_invariant(const struct hoisting *h, uint32_t loop, const struct pm_ir_instr *instr)
{
    const struct pm_loops *loops = pm_loops(h->function);
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, o);
        if (operand && operand->block &&
            pm_loop_is_around(loops, loop, loops->loop_of[operand->block->index]))
            return false;
    }
    return true;
}

/* In the order of dominance, so that what is needed has moved before. */
static void hoist_out_of(struct hoisting *h, uint32_t loop)
{
    const struct pm_cfg *cfg = pm_cfg(h->function);
    const struct pm_loops *loops = pm_loops(h->function);
    struct pm_ir_block *entry = entry_of(h->function, loop);
    for (uint32_t o = 0; entry && o < cfg->order_count; o++) {
        const struct pm_ir_block *block = cfg->blocks[cfg->order[o]];
        if (!pm_loop_is_around(loops, loop, loops->loop_of[block->index]))
            continue;
        for (struct pm_ir_instr *i = block->body.first, *next; i; i = next) {
            next = i->next;
            if (may_move(h, i) && is_invariant(h, loop, i))
                move_before_end(h, i, entry);
        }
    }
}

/* ---- both sides of a selection ---- */

static bool is_same(const struct pm_ir_instr *a, const struct pm_ir_instr *b)
{
    if (a->opcode != b->opcode || a->type.def != b->type.def ||
        a->operand_count != b->operand_count || a->result->decorated || b->result->decorated)
        return false;
    for (uint32_t o = 0; o < a->operand_count; o++) {
        const struct pm_ir_operand *x = &a->operands[o], *y = &b->operands[o];
        if (x->def != y->def || x->word_count != y->word_count || x->word_count != 1 ||
            pm_ir_operand_word(x) != pm_ir_operand_word(y))
            return false;
    }
    return true;
}

static bool has_one_way_in(const struct pm_ir_function *function, const struct pm_ir_block *block)
{
    const struct pm_graph *flow = &pm_cfg(function)->flow;
    return flow->predecessor_start[block->index + 1] - flow->predecessor_start[block->index] == 1;
}

static bool is_ready(const struct pm_ir_instr *instr, const struct pm_ir_block *yes)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, o);
        if (operand && operand->block == yes)
            return false;
    }
    return true;
}

static void join_sides(struct hoisting *h, struct pm_ir_block *block)
{
    const struct pm_ir_instr *end = pm_ir_terminator(block);
    if (end->opcode != SpvOpBranchConditional || !pm_ir_merge(block) ||
        pm_ir_merge(block)->opcode != SpvOpSelectionMerge)
        return;
    const struct pm_ir_block *yes = pm_ir_block_of(end->operands[1].def);
    const struct pm_ir_block *no = pm_ir_block_of(end->operands[2].def);
    if (yes == no || !has_one_way_in(h->function, yes) || !has_one_way_in(h->function, no))
        return;
    for (struct pm_ir_instr *i = yes->body.first, *next; i; i = next) {
        next = i->next;
        if (!may_move(h, i) || !is_ready(i, yes))
            continue;
        for (struct pm_ir_instr *other = no->body.first; other; other = other->next) {
            if (!other->result || !may_move(h, other) || !is_same(i, other))
                continue;
            move_before_end(h, i, block);
            pm_ir_replace_uses(other->result, i->result);
            pm_ir_remove(other);
            break;
        }
    }
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct hoisting h = {.function = pm_variant_function(module), .memory = pm_memory_of(module)};
    if (!h.function)
        return PM_PASS_UNCHANGED;
    if (!pm_float_permission_compute(&h.permission, module, h.function, PM_FLOAT_ZERO_NEVER,
                                     module->arena))
        return pm_pass_result_of(pm_fail(error, PM_ERROR_MEMORY, "out of memory to hoist"), false);
    if (*(const uint32_t *)context)
        for (struct pm_ir_block *b = h.function->first_block; b; b = b->next)
            join_sides(&h, b);
    /* Inner loops first, so that what does not change in several leaves them all. */
    for (uint32_t l = pm_loops(h.function)->count; l-- > 0;)
        hoist_out_of(&h, l);
    return pm_pass_result_of(true, h.changed);
}

const struct pm_pass pm_pass_hoist = {"hoist", PM_ANALYSIS_LOOPS | PM_ANALYSIS_CFG, PM_ANALYSIS_ALL,
                                      run};
