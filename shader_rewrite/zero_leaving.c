#include "shader_rewrite/zero_leaving.h"

enum { MOST_DEPTH = 64 };

struct finding {
    struct pm_zero_leaving *leaving;
    const struct pm_loops *loops;
    struct pm_ir_def **stack; /* whose operands are to be looked at */
    uint32_t stack_count;
    bool *stacked; /* by id */
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

static void add_direct(struct finding *f, const struct pm_ir_instr *instr)
{
    uint64_t own = loops_around(f->loops, instr->block, instr->block), bits = 0;
    for (const struct pm_ir_operand *use = instr->result->first_use; own && use;
         use = use->next_use) {
        const struct pm_ir_block *block = use->user->block;
        if (block && use->user->opcode != SpvOpPhi)
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
    for (uint32_t o = 0; o < instr->operand_count; o += 2)
        add_operand(f, instr->operands[o].def, instr->block, bits);
}

bool pm_zero_leaving_compute(struct pm_zero_leaving *leaving, const struct pm_ir_module *module,
                             const struct pm_ir_function *function, struct pm_arena *arena)
{
    *leaving = (struct pm_zero_leaving){0};
    struct finding f = {leaving, pm_loops(function)};
    if (!f.loops->count)
        return true;
    leaving->loops = pm_arena_zalloc(arena, module->bound, sizeof(uint64_t));
    f.stack = pm_arena_zalloc(arena, module->bound, sizeof(*f.stack));
    f.stacked = pm_arena_zalloc(arena, module->bound, sizeof(bool));
    if (!leaving->loops || !f.stack || !f.stacked)
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

bool pm_zero_leaving_has(const struct pm_zero_leaving *leaving, const struct pm_loops *loops,
                         const struct pm_ir_def *def, uint32_t loop)
{
    return depth_of(loops, loop) > MOST_DEPTH ||
           (leaving->loops && leaving->loops[def->id] & bit_of(loops, loop));
}
