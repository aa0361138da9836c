#include "shader_rewrite/quirks/leaving_values.h"

enum { MOST_DEPTH = 64 };

struct finding {
    struct pm_leaving_values *leaving;
    const struct pm_cfg *cfg;
    const struct pm_dominators *dominators;
    const struct pm_loops *loops;
    struct pm_ir_def **stack; /* whose operands are to be looked at */
    uint32_t stack_count;
    bool *stacked;    /* by id */
    uint64_t *chosen; /* by block: the loops for which its branches were looked for */
};

/* ---- loops as bits ---- */

static uint32_t depth_of(const struct pm_loops *loops, uint32_t loop)
{
    return loop == PM_NO_LOOP ? 0 : loops->loops[loop].depth;
}

static uint64_t bit_of(const struct pm_loops *loops, uint32_t loop)
{
    uint32_t depth = depth_of(loops, loop);
    return depth && depth <= MOST_DEPTH ? UINT64_C(1) << (depth - 1) : 0;
}

/* Those that are around both blocks. */
static uint64_t loops_around(const struct pm_loops *loops, const struct pm_ir_block *a,
                             const struct pm_ir_block *b)
{
    uint32_t x = loops->loop_of[a->index], y = loops->loop_of[b->index];
    while (x != y) {
        if (depth_of(loops, x) >= depth_of(loops, y))
            x = loops->loops[x].parent;
        else
            y = loops->loops[y].parent;
    }
    uint32_t depth = depth_of(loops, x);
    return depth >= MOST_DEPTH ? UINT64_MAX : (UINT64_C(1) << depth) - 1;
}

/* ---- from what comes behind a loop to what it is made of ---- */

static void add(struct finding *f, struct pm_ir_def *def, uint64_t bits)
{
    if (!(bits & ~f->leaving->loops[def->id]))
        return;
    f->leaving->loops[def->id] |= bits;
    if (!f->stacked[def->id])
        f->stack[f->stack_count++] = def;
    f->stacked[def->id] = true;
}

static bool has_one_value(const struct pm_ir_instr *phi)
{
    for (uint32_t o = 2; o < phi->operand_count; o += 2)
        if (phi->operands[o].def != phi->operands[0].def)
            return false;
    return true;
}

/* Where it is used: in an OpPhi at the end of the block that leads there, if the OpPhi has but one
 * value, which drivers put in its place, then in its own block. */
static const struct pm_ir_block *used_in(const struct pm_ir_operand *use)
{
    const struct pm_ir_instr *user = use->user;
    bool behind_edge = user->block && user->opcode == SpvOpPhi && !has_one_value(user);
    return behind_edge ? pm_ir_block_of(use[1].def) : user->block;
}

static void add_direct(struct finding *f, const struct pm_ir_instr *instr)
{
    uint64_t own = loops_around(f->loops, instr->block, instr->block), bits = 0;
    for (const struct pm_ir_operand *use = instr->result->first_use; own && use;
         use = use->next_use) {
        const struct pm_ir_block *block = used_in(use);
        if (block)
            bits |= own & ~loops_around(f->loops, instr->block, block);
    }
    add(f, instr->result, bits);
}

/* `def` decides a value of `block`, which has these bits. */
static void add_operand(struct finding *f, struct pm_ir_def *def, const struct pm_ir_block *block,
                        uint64_t bits)
{
    const struct pm_ir_instr *instr = def ? def->instr : NULL;
    if (instr && instr->block && instr->opcode != SpvOpLabel)
        add(f, def, bits & loops_around(f->loops, instr->block, block));
}

static bool is_branching(const struct pm_ir_block *block)
{
    const struct pm_ir_instr *end = pm_ir_terminator(block);
    return end->opcode == SpvOpBranchConditional || end->opcode == SpvOpSwitch;
}

/* The branches that decide by which way a block is come to: above each way up to the immediate
 * dominator, but for those whose own ways have met in between. A driver may turn them and the
 * OpPhi into a selection; not so with loops, behind them or in them. */
static void add_branches(struct finding *f, const struct pm_ir_block *block, uint64_t bits)
{
    const struct pm_graph *g = &f->cfg->flow;
    uint32_t b = block->index, above = f->dominators->parent[b], loop = f->loops->loop_of[b];
    if (above == PM_NO_BLOCK || !(bits & ~f->chosen[b]))
        return;
    f->chosen[b] |= bits;
    for (uint32_t p = g->predecessor_start[b]; p < g->predecessor_start[b + 1]; p++) {
        uint32_t at = g->predecessors[p], last = PM_NO_BLOCK;
        while (at != PM_NO_BLOCK) {
            const struct pm_ir_block *from = f->cfg->blocks[at];
            const struct pm_ir_instr *end = pm_ir_terminator(from), *merge = pm_ir_merge(from);
            bool met = merge && pm_ir_block_of(merge->operands[0].def)->index == last;
            if (is_branching(from) && !met && f->loops->loop_of[at] == loop)
                add_operand(f, end->operands[0].def, block, bits);
            last = at;
            at = at == above ? PM_NO_BLOCK : f->dominators->parent[at];
        }
    }
}

static void add_operands(struct finding *f, const struct pm_ir_instr *instr)
{
    uint64_t bits = f->leaving->loops[instr->result->id];
    if (instr->opcode != SpvOpPhi) {
        for (uint32_t o = 0; o < instr->operand_count; o++)
            add_operand(f, instr->operands[o].def, instr->block, bits);
        return;
    }
    const struct pm_ir_instr *merge = pm_ir_merge(instr->block);
    if (merge && merge->opcode == SpvOpLoopMerge) /* of lanes that left the loop it stays */
        bits &= ~bit_of(f->loops, f->loops->loop_of[instr->block->index]);
    else
        add_branches(f, instr->block, bits);
    for (uint32_t o = 0; o < instr->operand_count; o += 2)
        add_operand(f, instr->operands[o].def, instr->block, bits);
}

bool pm_leaving_values_compute(struct pm_leaving_values *leaving, const struct pm_ir_module *module,
                               const struct pm_ir_function *function, struct pm_arena *arena)
{
    *leaving = (struct pm_leaving_values){0};
    struct finding f = {leaving, pm_cfg(function), pm_dominators(function), pm_loops(function)};
    if (!f.loops->count)
        return true;
    leaving->loops = pm_arena_zalloc(arena, module->bound, sizeof(uint64_t));
    f.stack = pm_arena_zalloc(arena, module->bound, sizeof(*f.stack));
    f.stacked = pm_arena_zalloc(arena, module->bound, sizeof(bool));
    f.chosen = pm_arena_zalloc(arena, f.cfg->count, sizeof(uint64_t));
    if (!leaving->loops || !f.stack || !f.stacked || !f.chosen)
        return false;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->result)
                add_direct(&f, i);
    while (f.stack_count) {
        const struct pm_ir_def *def = f.stack[--f.stack_count];
        f.stacked[def->id] = false;
        add_operands(&f, def->instr);
    }
    return true;
}

bool pm_leaving_values_has(const struct pm_leaving_values *leaving, const struct pm_loops *loops,
                           const struct pm_ir_def *def, uint32_t loop)
{
    return depth_of(loops, loop) > MOST_DEPTH ||
           (leaving->loops && leaving->loops[def->id] & bit_of(loops, loop));
}

bool pm_leaving_values_chosen_by(const struct pm_leaving_values *leaving,
                                 const struct pm_loops *loops, const struct pm_ir_block *header)
{
    const struct pm_ir_def *condition = pm_ir_terminator(header)->operands[0].def;
    for (uint32_t loop = loops->loop_of[header->index]; loop != PM_NO_LOOP;
         loop = loops->loops[loop].parent)
        if (pm_leaving_values_has(leaving, loops, condition, loop))
            return true;
    return false;
}

bool pm_leaving_values_chosen(const struct pm_leaving_values *leaving,
                              const struct pm_ir_function *function)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        if (is_branching(b) && pm_leaving_values_chosen_by(leaving, pm_loops(function), b))
            return true;
    }
    return false;
}
