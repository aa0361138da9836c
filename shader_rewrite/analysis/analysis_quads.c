#include "shader_rewrite/analysis/analysis_quads.h"

/* Whether lanes end in a block while others may go on: in a construct, since nothing is behind what
 * is in none. */
static bool ends_lane(const struct pm_ir_function *function, uint32_t block)
{
    uint16_t opcode = pm_ir_terminator(pm_cfg(function)->blocks[block])->opcode;
    return (opcode == SpvOpKill || opcode == SpvOpTerminateInvocation || opcode == SpvOpReturn) &&
           pm_structure(function)->innermost[block] != PM_NO_CONSTRUCT;
}

bool pm_quads_read(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpFunctionCall ||
           (instr->opcode == SpvOpExtInst && !pm_ir_is_glsl(instr)) ||
           pm_ir_opcode_is(instr->opcode, PM_IR_OP_DERIVATIVE | PM_IR_OP_IMPLICIT_LOD);
}

/* ---- lanes that end ---- */

static bool has_kill(const struct pm_ir_function *function)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        uint16_t opcode = pm_ir_terminator(b)->opcode;
        if (opcode == SpvOpKill || opcode == SpvOpTerminateInvocation)
            return true;
    }
    return false;
}

static bool others_kill(const struct pm_ir_function *function)
{
    for (const struct pm_ir_function *f = function->module->first_function; f; f = f->next)
        if (f != function && has_kill(f))
            return true;
    return false;
}

static bool has_call(const struct pm_ir_block *block)
{
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
        if (i->opcode == SpvOpFunctionCall)
            return true;
    return false;
}

/* Lanes end in a block, or in what it calls; `behind` comes first of what may be behind it. */
static void add_end(struct pm_quads *q, const struct pm_ir_function *function, uint32_t block,
                    uint32_t behind)
{
    const struct pm_loops *loops = pm_loops(function);
    uint32_t loop = loops->loop_of[block];
    for (; loop != PM_NO_LOOP; loop = loops->loops[loop].parent) {
        /* What is behind a loop may come before its body in reverse post order. */
        uint32_t header = pm_cfg(function)->order_of[loops->loops[loop].header];
        behind = behind < header ? behind : header;
        q->ends_in_loop[loop] = true;
    }
    q->first_behind = q->first_behind < behind ? q->first_behind : behind;
}

static void find_ends(struct pm_quads *q, const struct pm_ir_function *function)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const bool calls_kill = others_kill(function);
    q->first_behind = UINT32_MAX;
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!pm_cfg_reachable(cfg, b))
            continue;
        if (calls_kill && has_call(cfg->blocks[b]))
            add_end(q, function, b, cfg->order_of[b]);
        if (!ends_lane(function, b))
            continue;
        /* Nothing follows such a block, so neither the order nor the loops tell where it is:
         * its dominator's do. */
        uint32_t above = pm_dominators(function)->parent[b];
        if (above == PM_NO_BLOCK)
            above = b;
        add_end(q, function, above, cfg->order_of[above] + 1);
    }
}

bool pm_quads_ended(const struct pm_quads *q, const struct pm_ir_function *function, uint32_t block)
{
    const struct pm_loops *loops = pm_loops(function);
    if (!q->needed)
        return false;
    for (uint32_t loop = loops->loop_of[block]; loop != PM_NO_LOOP;
         loop = loops->loops[loop].parent)
        if (q->ends_in_loop[loop])
            return true;
    return pm_cfg(function)->order_of[block] >= q->first_behind;
}

/* ---- what is needed ---- */

struct needing {
    struct pm_quads *q;
    struct pm_ir_def **work; /* each id once at most */
    uint32_t count;
};

static void need(struct needing *n, struct pm_ir_def *def)
{
    if (!def || !def->instr || def->id >= n->q->bound || n->q->needed[def->id])
        return;
    n->q->needed[def->id] = true;
    n->work[n->count++] = def;
}

static void need_operands(struct needing *n, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        struct pm_ir_def *def = instr->operands[o].def;
        if (def && !pm_ir_block_of(def))
            need(n, def);
    }
}

/* A pointer that is read: what is written through it, or through others into the same memory. */
static void need_stores(struct needing *n, const struct pm_ir_def *pointer)
{
    for (const struct pm_ir_operand *use = pointer->first_use; use; use = use->next_use) {
        struct pm_ir_instr *user = use->user;
        if (!user->block)
            continue;
        if (user->opcode == SpvOpStore || user->opcode == SpvOpCopyMemory)
            need_operands(n, user);
        else if (user->result && pm_ir_type_of(user)->opcode == SpvOpTypePointer)
            need(n, user->result);
    }
}

/* What any function may read. */
static void need_shared(struct needing *n, const struct pm_ir_module *module)
{
    const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first;
    for (; i; i = i->next) {
        const uint32_t class =
            i->opcode == SpvOpVariable ? pm_ir_operand_word(&i->operands[0]) : UINT32_MAX;
        if (class == SpvStorageClassPrivate || class == SpvStorageClassOutput)
            need(n, i->result);
    }
}

static void find_needed(struct needing *n, const struct pm_ir_function *function)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (pm_quads_read(i)) {
                need_operands(n, i);
                if (i->opcode == SpvOpFunctionCall)
                    need_shared(n, function->module);
            }
    while (n->count) {
        const struct pm_ir_def *def = n->work[--n->count];
        const struct pm_ir_instr *type = pm_ir_type_of(def->instr);
        if (type && type->opcode == SpvOpTypePointer)
            need_stores(n, def);
        need_operands(n, def->instr);
    }
}

bool pm_quads_need(const struct pm_quads *q, const struct pm_ir_instr *instr)
{
    if (pm_quads_read(instr))
        return true;
    if (instr->opcode == SpvOpStore || instr->opcode == SpvOpCopyMemory) {
        const struct pm_ir_def *pointer = instr->operands[0].def;
        return pointer->id < q->bound && q->needed[pointer->id];
    }
    return instr->result && instr->result->id < q->bound && q->needed[instr->result->id];
}

bool pm_quads_compute(struct pm_quads *q, const struct pm_ir_function *function,
                      struct pm_arena *arena)
{
    *q = (struct pm_quads){.bound = function->module->bound};
    q->ends_in_loop = pm_arena_zalloc(arena, pm_loops(function)->count + 1u, sizeof(bool));
    if (!q->ends_in_loop)
        return false;
    find_ends(q, function);
    if (q->first_behind == UINT32_MAX)
        return true;
    q->needed = pm_arena_zalloc(arena, q->bound, sizeof(bool));
    struct needing n = {.q = q};
    n.work = pm_arena_zalloc(arena, q->bound, sizeof(struct pm_ir_def *));
    if (!q->needed || !n.work)
        return false;
    find_needed(&n, function);
    return true;
}
