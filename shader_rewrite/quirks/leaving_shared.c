#include "shader_rewrite/quirks/leaving_shared.h"

#include "base/arena.h"
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_memory.h"

struct sharing {
    const struct pm_cfg *cfg;
    const struct pm_dominators *dominators;
    const struct pm_loops *loops;
    struct pm_memory memory;
    uint32_t loop;      /* that is looked at */
    bool *varies;       /* by id, of what is made in the loop */
    uint32_t *index_in; /* by id: the last block of which it is an index, counted by `blocks` */
    uint32_t blocks;
};

static bool is_inside(const struct sharing *s, uint32_t block)
{
    return pm_loop_is_around(s->loops, s->loop, s->loops->loop_of[block]);
}

static bool is_outside(const struct sharing *s, uint32_t block)
{
    return pm_cfg_reachable(s->cfg, block) && !is_inside(s, block);
}

/* ---- what does not depend on the loop ---- */

static bool depends(const struct sharing *s, const struct pm_ir_instr *instr)
{
    return instr->block && instr->result && is_inside(s, instr->block->index) &&
           s->varies[instr->result->id];
}

static bool depends_itself(const struct sharing *s, const struct pm_ir_instr *instr)
{
    const struct pm_memory_access access = pm_memory_access_of(&s->memory, instr);
    const struct pm_ir_instr *merge = pm_ir_merge(instr->block);
    return access.reads || access.writes || access.stops ||
           (instr->opcode == SpvOpPhi && merge && merge->opcode == SpvOpLoopMerge);
}

static void find_varying(struct sharing *s)
{
    for (uint32_t b = 0; b < s->cfg->order_count; b++) {
        const struct pm_ir_block *block = s->cfg->blocks[s->cfg->order[b]];
        if (!is_inside(s, block->index))
            continue;
        for (const struct pm_ir_instr *i = block->body.first; i; i = i->next) {
            if (!i->result)
                continue;
            bool varies = depends_itself(s, i);
            for (uint32_t o = 0; !varies && o < i->operand_count; o++) {
                const struct pm_ir_instr *operand = pm_ir_operand_instr(i, o);
                varies = operand && operand->opcode != SpvOpLabel && depends(s, operand);
            }
            s->varies[i->result->id] = varies;
        }
    }
}

/* ---- what is shared ---- */

/* The value itself; an OpPhi takes it where it comes from. */
static bool is_used_outside(const struct sharing *s, const struct pm_ir_instr *instr)
{
    for (const struct pm_ir_operand *use = instr->result->first_use; use; use = use->next_use) {
        const struct pm_ir_block *block = use->user->block;
        if (block && use->user->opcode == SpvOpPhi)
            block = pm_ir_block_of(use[1].def);
        if (block && is_outside(s, block->index))
            return true;
    }
    return false;
}

/* Whether it goes into memory that is addressed by bytes. */
static bool is_address(const struct pm_ir_instr *instr)
{
    if (instr->opcode != SpvOpAccessChain && instr->opcode != SpvOpInBoundsAccessChain &&
        instr->opcode != SpvOpPtrAccessChain)
        return false;
    switch (pm_ir_operand_word(&pm_ir_type_of(instr)->operands[0])) {
    case SpvStorageClassFunction:
    case SpvStorageClassPrivate:
    case SpvStorageClassInput:
    case SpvStorageClassOutput:
        return false;
    default:
        return true;
    }
}

static bool is_constant(const struct pm_ir_instr *instr)
{
    return instr && !instr->block;
}

/* What is multiplied to an address: constants are added to that. NULL: it is a constant. */
static const struct pm_ir_instr *root_of(const struct pm_ir_instr *index)
{
    while (index && index->opcode == SpvOpIAdd) {
        const struct pm_ir_instr *a = pm_ir_operand_instr(index, 0);
        const struct pm_ir_instr *b = pm_ir_operand_instr(index, 1);
        if (!is_constant(a) && !is_constant(b))
            break;
        index = is_constant(a) ? b : a;
    }
    return is_constant(index) ? NULL : index;
}

static void note_indices(struct sharing *s, const struct pm_ir_instr *address)
{
    for (uint32_t o = 1; o < address->operand_count; o++) {
        const struct pm_ir_instr *root = root_of(pm_ir_operand_instr(address, o));
        if (root && !depends(s, root))
            s->index_in[root->result->id] = s->blocks;
    }
}

static bool has_noted_index(const struct sharing *s, const struct pm_ir_instr *address)
{
    for (uint32_t o = 1; o < address->operand_count; o++) {
        const struct pm_ir_instr *root = root_of(pm_ir_operand_instr(address, o));
        if (root && s->index_in[root->result->id] == s->blocks)
            return true;
    }
    return false;
}

/* Whether it reads what no invocation writes, or how much there is. */
static bool reads_constant(const struct sharing *s, const struct pm_ir_instr *instr)
{
    if (instr->opcode != SpvOpLoad)
        return instr->opcode == SpvOpArrayLength;
    const struct pm_memory_access access = pm_memory_access_of(&s->memory, instr);
    return !access.reads && !access.writes && !access.stops;
}

static bool is_same(const struct pm_ir_instr *a, const struct pm_ir_instr *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->opcode != b->opcode || a->operand_count != b->operand_count ||
        a->opcode == SpvOpVariable || !a->block || !b->block)
        return false;
    for (uint32_t o = 0; o < a->operand_count; o++) {
        const struct pm_ir_operand *x = &a->operands[o], *y = &b->operands[o];
        if (x->def != y->def &&
            !(is_address(a) && o == 0 && x->def && y->def && is_same(x->def->instr, y->def->instr)))
            return false;
        if (!x->def && pm_ir_operand_word(x) != pm_ir_operand_word(y))
            return false;
    }
    return true;
}

/* By what is read, where pointers are made again. */
static bool reads_same(const struct sharing *s, const struct pm_ir_instr *a,
                       const struct pm_ir_instr *b)
{
    return a->opcode == b->opcode && reads_constant(s, b) &&
           is_same(pm_ir_operand_instr(a, 0), pm_ir_operand_instr(b, 0)) &&
           (a->opcode == SpvOpLoad ||
            pm_ir_operand_word(&a->operands[1]) == pm_ir_operand_word(&b->operands[1]));
}

static bool is_read_outside(const struct sharing *s, const struct pm_ir_instr *load,
                            const struct pm_ir_block *outside)
{
    for (const struct pm_ir_instr *i = outside->body.first; i; i = i->next)
        if (i->opcode == load->opcode && reads_same(s, load, i))
            return true;
    return false;
}

static bool shares_with(const struct sharing *s, const struct pm_ir_block *block,
                        const struct pm_ir_block *outside)
{
    for (const struct pm_ir_instr *i = outside->body.first; i; i = i->next)
        if (is_address(i) && has_noted_index(s, i))
            return true;
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
        if (reads_constant(s, i) && !depends(s, i) && is_read_outside(s, i, outside))
            return true;
    return false;
}

static bool shares(struct sharing *s, const struct pm_ir_block *block)
{
    s->blocks++;
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next) {
        if (i->result && !depends(s, i) && is_used_outside(s, i))
            return true;
        if (is_address(i))
            note_indices(s, i);
    }
    for (uint32_t b = 0; b < s->cfg->count; b++)
        if (is_outside(s, b) && pm_dominates(s->dominators, block->index, b) &&
            shares_with(s, block, s->cfg->blocks[b]))
            return true;
    return false;
}

/* Whether each turn that another one follows comes through it. */
static bool is_in_each_turn(const struct sharing *s, uint32_t block)
{
    const struct pm_graph *flow = &s->cfg->flow;
    const uint32_t header = s->loops->loops[s->loop].header;
    bool any = false;
    for (uint32_t p = flow->predecessor_start[header]; p < flow->predecessor_start[header + 1];
         p++) {
        const uint32_t from = flow->predecessors[p];
        if (!pm_cfg_reachable(s->cfg, from) || !is_inside(s, from))
            continue;
        if (!pm_dominates(s->dominators, block, from))
            return false;
        any = true;
    }
    return any;
}

/* Whether what is behind the loop is only come to through it, and other turns are not. */
static bool leads_out(const struct sharing *s, uint32_t block)
{
    if (!pm_cfg_reachable(s->cfg, block) || !is_inside(s, block) || is_in_each_turn(s, block))
        return false;
    for (uint32_t b = 0; b < s->cfg->count; b++)
        if (is_outside(s, b) && pm_dominates(s->dominators, block, b))
            return true;
    return false;
}

static bool look(struct sharing *s)
{
    for (s->loop = 0; s->loop < s->loops->count; s->loop++) {
        find_varying(s);
        for (uint32_t b = 0; b < s->cfg->count; b++)
            if (leads_out(s, b) && shares(s, s->cfg->blocks[b]))
                return true;
    }
    return false;
}

bool pm_has_leaving_shared(struct pm_ir_module *module, bool *has, struct pm_error *error)
{
    enum pm_stage stage;
    *has = false;
    struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    if (!function ||
        !pm_analysis_require(function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, error))
        return false;
    struct pm_arena *arena = pm_arena_create(0);
    struct sharing s = {.cfg = pm_cfg(function),
                        .dominators = pm_dominators(function),
                        .loops = pm_loops(function),
                        .memory = pm_memory_of(module)};
    s.varies = arena ? pm_arena_zalloc(arena, module->bound, sizeof *s.varies) : NULL;
    s.index_in = arena ? pm_arena_zalloc(arena, module->bound, sizeof *s.index_in) : NULL;
    const bool done =
        (s.varies && s.index_in) || pm_fail(error, PM_ERROR_MEMORY, "out of memory for its loops");
    *has = done && look(&s);
    pm_arena_destroy(arena);
    return done;
}
