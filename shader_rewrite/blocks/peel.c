#include "shader_rewrite/blocks/peel.h"

#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/analysis/analysis_turns.h"
#include "shader_rewrite/ir/ir_builder.h"

/* ---- may it be ---- */

static bool may_meet(const struct pm_ir_instr *type)
{
    while (type && (type->opcode == SpvOpTypeVector || type->opcode == SpvOpTypeMatrix))
        type = pm_ir_operand_instr(type, 0);
    return type && (type->opcode == SpvOpTypeInt || type->opcode == SpvOpTypeFloat ||
                    type->opcode == SpvOpTypeBool);
}

static bool is_inside(const struct pm_peel *p, const struct pm_ir_block *block)
{
    return p->inside[block->index];
}

/* Where a use is: of an OpPhi where its value comes from. */
static const struct pm_ir_block *place_of(const struct pm_ir_operand *use)
{
    return use->user->opcode == SpvOpPhi ? pm_ir_block_of(use[1].def) : use->user->block;
}

static bool is_used_behind(const struct pm_peel *p, const struct pm_ir_instr *instr)
{
    for (const struct pm_ir_operand *use = instr->result->first_use; use; use = use->next_use)
        if (use->user->block && !is_inside(p, place_of(use)))
            return true;
    return false;
}

/* A barrier of the workgroup to which all of it comes in each turn, whatever was measured: so it
 * does in each copy. */
static bool is_met_by_all(const struct pm_uniform *workgroup, const struct pm_ir_instr *i)
{
    return i->opcode == SpvOpControlBarrier && pm_uniform_is_whole(workgroup, i->block);
}

static const char *check_instr(const struct pm_peel *p, const struct pm_memory *memory,
                               const struct pm_uniform *workgroup, const struct pm_ir_instr *i)
{
    if (is_met_by_all(workgroup, i))
        return NULL;
    if (pm_ir_opcode_is_terminator(i->opcode) || i->opcode == SpvOpSelectionMerge ||
        i->opcode == SpvOpLoopMerge)
        return NULL;
    if (pm_reads_other_lanes(i) || pm_memory_access_of(memory, i).stops)
        return "lanes do something together in it";
    if (i->result && is_used_behind(p, i) && !may_meet(pm_ir_type_of(i)))
        return "what is no number is used behind it";
    return NULL;
}

/* Every way out leads to the merge block, where all that is used behind the loop is at hand. */
static const char *check_exits(const struct pm_peel *p)
{
    const struct pm_graph *g = &p->cfg->flow;
    const uint32_t merge = p->merge->index;
    uint32_t exits = 0;
    for (uint32_t i = g->predecessor_start[merge]; i < g->predecessor_start[merge + 1]; i++) {
        exits++;
        if (!p->inside[g->predecessors[i]])
            return "its merge block is come to from elsewhere";
        for (uint32_t b = 0; b < p->count; b++)
            for (const struct pm_ir_instr *v = p->blocks[b]->body.first; v; v = v->next)
                if (v->result && is_used_behind(p, v) &&
                    !pm_dominates(p->dominators, p->blocks[b]->index, g->predecessors[i]))
                    return "a value behind it is not made on every way out";
    }
    return exits ? NULL : "nothing leaves it";
}

/* What follows a copy is where its latch leads to, so it must be come to by a plain way alone. */
static const char *check_latch(const struct pm_peel *p, const struct pm_blocks *blocks,
                               uint32_t loop)
{
    const struct pm_graph *g = &p->cfg->flow;
    const uint32_t latch = p->latch->index;
    if (p->latch != pm_loop_latch(blocks->function, loop))
        return "its continue construct is of several blocks";
    if (pm_ir_merge(p->latch) && p->latch != p->header)
        return "its latch selects";
    if (p->latch == p->header)
        return NULL;
    if (g->predecessor_start[latch + 1] - g->predecessor_start[latch] != 1)
        return "several ways lead to its latch";
    const struct pm_ir_block *before = p->cfg->blocks[g->predecessors[g->predecessor_start[latch]]];
    const struct pm_structure *s = pm_structure(blocks->function);
    const uint32_t construct = s->innermost[before->index];
    const bool plain = pm_ir_terminator(before)->opcode == SpvOpBranch &&
                       construct != PM_NO_CONSTRUCT &&
                       s->constructs[construct].kind == PM_CONSTRUCT_LOOP &&
                       s->constructs[construct].header == p->header->index;
    return plain ? NULL : "its latch is come to out of a selection";
}

/* The header leads on, or out. */
static const char *check_header(const struct pm_peel *p)
{
    const struct pm_ir_instr *end = pm_ir_terminator(p->header);
    for (const struct pm_ir_operand *use = p->header->label->result->first_use; use;
         use = use->next_use)
        if (use->user->opcode == SpvOpSelectionMerge || use->user->opcode == SpvOpSwitch ||
            (use->user->opcode == SpvOpLoopMerge && use->user->block != p->header))
            return "a construct ends where it begins";
    if (end->opcode == SpvOpBranch)
        return NULL;
    if (end->opcode != SpvOpBranchConditional)
        return "its header selects";
    const struct pm_ir_def *merge = p->merge->label->result;
    return (end->operands[1].def == merge) != (end->operands[2].def == merge)
               ? NULL
               : "its header selects";
}

static bool find_blocks(struct pm_peel *p, const struct pm_loops *loops, uint32_t loop)
{
    p->inside = pm_arena_zalloc(p->arena, p->cfg->count, sizeof(*p->inside));
    p->blocks = pm_arena_zalloc(p->arena, p->cfg->count, sizeof(struct pm_ir_block *));
    if (!p->inside || !p->blocks) {
        p->module->failed = true;
        return false;
    }
    for (uint32_t b = 0; b < p->cfg->count; b++)
        if (loops->loop_of[b] != PM_NO_LOOP && pm_loop_is_around(loops, loop, loops->loop_of[b])) {
            p->inside[b] = true;
            p->blocks[p->count++] = p->cfg->blocks[b];
        }
    return p->count > 0 && p->blocks[0] == p->header;
}

const char *pm_peel_check(struct pm_peel *p, const struct pm_blocks *blocks,
                          const struct pm_uniform *workgroup, uint32_t loop)
{
    const struct pm_loops *loops = pm_loops(blocks->function);
    const struct pm_loop *l = &loops->loops[loop];
    const struct pm_memory memory = pm_memory_of(blocks->module);
    *p = (struct pm_peel){.module = blocks->module,
                          .arena = blocks->arena,
                          .cfg = pm_cfg(blocks->function),
                          .dominators = pm_dominators(blocks->function)};
    p->header = p->cfg->blocks[l->header];
    p->merge = p->cfg->blocks[l->merge];
    p->latch = p->cfg->blocks[l->continue_target];
    for (uint32_t other = 0; other < loops->count; other++)
        if (loops->loops[other].parent == loop)
            return "there are loops in it";
    if (!pm_cfg_reachable(p->cfg, l->merge) || !pm_cfg_reachable(p->cfg, l->continue_target) ||
        !find_blocks(p, loops, loop))
        return "parts of it are never come to";
    for (uint32_t b = 0; b < p->count; b++) {
        if (!pm_cfg_reachable(p->cfg, p->blocks[b]->index))
            return "parts of it are never come to";
        for (const struct pm_ir_instr *i = p->blocks[b]->body.first; i; i = i->next) {
            const char *reason = check_instr(p, &memory, workgroup, i);
            if (reason)
                return reason;
        }
    }
    const char *reason = check_latch(p, blocks, loop);
    reason = reason ? reason : check_header(p);
    return reason ? reason : check_exits(p);
}

/* ---- a copy ---- */

static struct pm_ir_def *in_copy(const struct pm_peel *p, struct pm_ir_def *def)
{
    return def->id < p->bound && p->map[def->id] ? p->map[def->id] : def;
}

static bool is_back_edge(const struct pm_peel *p, const struct pm_ir_def *label)
{
    return label == p->latch->label->result;
}

/* What a header's OpPhi is in a copy: what it was given by the latch of the one before. */
static struct pm_ir_def *turned(const struct pm_peel *p, const struct pm_ir_instr *phi)
{
    for (uint32_t o = 0; o + 1 < phi->operand_count; o += 2)
        if (is_back_edge(p, phi->operands[o + 1].def))
            return in_copy(p, phi->operands[o].def);
    return NULL;
}

static struct pm_ir_def *entered(const struct pm_peel *p, const struct pm_ir_instr *phi)
{
    for (uint32_t o = 0; o + 1 < phi->operand_count; o += 2)
        if (!is_back_edge(p, phi->operands[o + 1].def))
            return phi->operands[o].def;
    return NULL;
}

/* Empty copies of the blocks, and of what is in them: operands come later. */
static struct pm_ir_block *copy_blocks(struct pm_peel *p, struct pm_ir_block *after,
                                       struct pm_ir_def **next)
{
    struct pm_ir_block *last = after;
    for (uint32_t b = 0; b < p->count; b++) {
        last = pm_ir_block_create(p->module, last);
        if (!last)
            return NULL;
        next[p->blocks[b]->label->result->id] = last->label->result;
        for (const struct pm_ir_instr *i = p->blocks[b]->body.first; i; i = i->next) {
            const bool is_own = p->blocks[b] == p->header;
            if (is_own && (i->opcode == SpvOpLoopMerge || i->opcode == SpvOpPhi))
                continue;
            struct pm_ir_instr *copy = pm_ir_instr_like(p->module, i, i->type.def);
            if (!copy)
                return NULL;
            pm_ir_insert(&last->body, last, NULL, copy);
            if (!i->result)
                continue;
            next[i->result->id] = copy->result;
            pm_ir_copy_decorations(p->module, i->result, copy->result, false);
        }
    }
    return last;
}

static void fill_blocks(struct pm_peel *p)
{
    for (uint32_t b = 0; b < p->count; b++) {
        const struct pm_ir_block *from = p->blocks[b];
        struct pm_ir_instr *copy = pm_ir_block_of(p->map[from->label->result->id])->body.first;
        for (const struct pm_ir_instr *i = from->body.first; i; i = i->next) {
            if (from == p->header && (i->opcode == SpvOpLoopMerge || i->opcode == SpvOpPhi))
                continue;
            for (uint32_t o = 0; o < i->operand_count; o++) {
                if (i->operands[o].def)
                    pm_ir_operand_set(&copy->operands[o], in_copy(p, i->operands[o].def));
                else
                    pm_ir_operand_copy_literal(&copy->operands[o], &i->operands[o]);
            }
            copy = copy->next;
        }
    }
}

/* Where the copy's latch leads back to the header it leads on instead: to the next one. */
static void lead_on(struct pm_ir_def *latch, const struct pm_ir_def *own, struct pm_ir_def *to)
{
    struct pm_ir_instr *end = pm_ir_terminator(pm_ir_block_of(latch));
    for (uint32_t o = 0; o < end->operand_count; o++)
        if (end->operands[o].def == own)
            pm_ir_operand_set(&end->operands[o], to);
}

/* ---- what is behind ---- */

/* The values that are used behind the loop, each with an OpPhi at the merge block that stands for
 * it there; and the merge block's own. */
struct leaving {
    struct pm_ir_instr *phi;  /* in the merge block */
    struct pm_ir_instr *rest; /* in the rest loop's own */
    struct pm_ir_def *def;    /* NULL: phi was there before, and has a value for each way out */
};

struct behind {
    struct leaving *values;
    uint32_t count;
    struct pm_ir_block *rest; /* the merge block of the rest loop */
};

static struct pm_ir_instr *phi_in(struct pm_peel *p, struct pm_ir_block *block,
                                  struct pm_ir_def *type)
{
    struct pm_ir_instr *phi = pm_ir_instr_create(p->module, SpvOpPhi, type, 0);
    if (phi)
        pm_ir_insert(&block->body, block, block->body.first, phi);
    return phi;
}

/* Uses behind the loop name the OpPhi; the merge block's own OpPhi are looked after by
 * themselves. */
static void use_behind(const struct pm_peel *p, struct pm_ir_def *def, struct pm_ir_instr *phi)
{
    for (struct pm_ir_operand *use = def->first_use, *next; use; use = next) {
        next = use->next_use;
        if (use->user->block && use->user != phi && !is_inside(p, place_of(use)))
            pm_ir_operand_set(use, phi->result);
    }
}

static bool find_leaving(struct pm_peel *p, struct behind *behind)
{
    uint32_t most = 0;
    for (uint32_t b = 0; b < p->count; b++)
        for (const struct pm_ir_instr *i = p->blocks[b]->body.first; i; i = i->next)
            most++;
    for (const struct pm_ir_instr *i = p->merge->body.first; i; i = i->next)
        most++;
    behind->values = pm_arena_zalloc(p->arena, most, sizeof(*behind->values));
    if (!behind->values)
        return false;
    for (struct pm_ir_instr *i = p->merge->body.first; i && i->opcode == SpvOpPhi; i = i->next)
        behind->values[behind->count++] = (struct leaving){.phi = i};
    for (uint32_t b = 0; b < p->count; b++)
        for (struct pm_ir_instr *i = p->blocks[b]->body.first; i && !p->module->failed;
             i = i->next) {
            if (!i->result || !is_used_behind(p, i))
                continue;
            struct pm_ir_instr *phi = phi_in(p, p->merge, i->type.def);
            if (!phi)
                return false;
            use_behind(p, i->result, phi);
            behind->values[behind->count++] = (struct leaving){.phi = phi, .def = i->result};
        }
    return true;
}

/* The value that leaves by a way out of the loop itself. */
static struct pm_ir_def *leaves_by(const struct leaving *value, const struct pm_ir_def *way)
{
    if (value->def)
        return value->def;
    for (uint32_t o = 0; o + 1 < value->rest->operand_count; o += 2)
        if (value->rest->operands[o + 1].def == way)
            return value->rest->operands[o].def;
    return NULL;
}

/* The rest loop's own merge block has what the merge block had. */
static void make_rest(struct pm_peel *p, struct behind *behind)
{
    const struct pm_graph *g = &p->cfg->flow;
    const uint32_t merge = p->merge->index;
    for (uint32_t v = 0; v < behind->count && !p->module->failed; v++) {
        struct leaving *value = &behind->values[v];
        value->rest = phi_in(p, behind->rest, value->phi->type.def);
        if (!value->rest)
            return;
        for (uint32_t i = g->predecessor_start[merge]; i < g->predecessor_start[merge + 1]; i++) {
            struct pm_ir_block *way = p->cfg->blocks[g->predecessors[i]];
            struct pm_ir_def *def = value->def;
            for (uint32_t o = 0; !def && o + 1 < value->phi->operand_count; o += 2)
                if (value->phi->operands[o + 1].def == way->label->result)
                    def = value->phi->operands[o].def;
            pm_ir_phi_add(p->module, value->rest, def, way);
        }
        pm_ir_operands_remove(value->phi, 0, value->phi->operand_count);
        pm_ir_phi_add(p->module, value->phi, value->rest->result, behind->rest);
    }
}

/* Each way out of a copy leads to the merge block, too. */
static void add_ways_out(struct pm_peel *p, const struct behind *behind)
{
    const struct pm_graph *g = &p->cfg->flow;
    const uint32_t merge = p->merge->index;
    for (uint32_t v = 0; v < behind->count; v++)
        for (uint32_t i = g->predecessor_start[merge]; i < g->predecessor_start[merge + 1]; i++) {
            const struct pm_ir_block *way = p->cfg->blocks[g->predecessors[i]];
            struct pm_ir_def *def = leaves_by(&behind->values[v], way->label->result);
            pm_ir_phi_add(p->module, behind->values[v].phi, def ? in_copy(p, def) : NULL,
                          pm_ir_block_of(p->map[way->label->result->id]));
        }
}

/* ---- the whole ---- */

/* A block that all ways to the loop from before lead to. Its OpPhi are of the header's, where there
 * are several ways; else there are none. */
static struct pm_ir_block *make_entrance(struct pm_peel *p)
{
    struct pm_ir_block *entrance = pm_ir_block_create(p->module, p->header->prev);
    struct pm_ir_def *header = p->header->label->result;
    if (!entrance)
        return NULL;
    for (struct pm_ir_operand *use = header->first_use, *next; use; use = next) {
        next = use->next_use;
        const struct pm_ir_instr *user = use->user;
        if (user->block && user->block != p->latch && pm_ir_opcode_is_terminator(user->opcode))
            pm_ir_operand_set(use, entrance->label->result);
    }
    for (struct pm_ir_instr *i = p->header->body.first; i && i->opcode == SpvOpPhi; i = i->next) {
        struct pm_ir_instr *phi = pm_ir_instr_create(p->module, SpvOpPhi, i->type.def, 0);
        if (!phi)
            return NULL;
        pm_ir_insert(&entrance->body, entrance, NULL, phi);
        for (uint32_t o = 0; o + 1 < i->operand_count;) {
            if (is_back_edge(p, i->operands[o + 1].def)) {
                o += 2;
                continue;
            }
            pm_ir_phi_add(p->module, phi, i->operands[o].def,
                          pm_ir_block_of(i->operands[o + 1].def));
            pm_ir_operands_remove(i, o, 2);
        }
        struct pm_ir_def *value = phi->result;
        if (phi->operand_count == 2) {
            value = phi->operands[0].def;
            pm_ir_remove(phi);
        }
        pm_ir_phi_add(p->module, i, value, entrance);
    }
    return entrance;
}

/* The construct around copies and rest; its header, to whose end the first copy is to be led. */
static struct pm_ir_block *make_wrapper(struct pm_peel *p, struct pm_ir_block *entrance,
                                        struct behind *behind)
{
    struct pm_ir_block *wrapper = pm_ir_block_create(p->module, entrance);
    /* Behind whatever dominates the merge block: now that dominates this one. */
    behind->rest = pm_ir_block_create(p->module, p->merge->prev);
    struct pm_ir_block *never = pm_ir_block_create(p->module, behind->rest);
    if (!wrapper || !behind->rest || !never)
        return NULL;
    struct pm_ir_builder b = {p->module, entrance, NULL};
    pm_ir_build_branch(&b, wrapper);
    b.block = wrapper;
    pm_ir_build_instr(&b, SpvOpLoopMerge, NULL,
                      PM_IR_ARGS(pm_ir_id(p->merge->label->result), pm_ir_id(never->label->result),
                                 pm_ir_word(SpvLoopControlMaskNone)));
    b.block = never;
    pm_ir_build_branch(&b, wrapper);
    b.block = behind->rest;
    pm_ir_build_branch(&b, p->merge);
    return wrapper;
}

/* What leaves the loop goes to its new merge block; copies, made before, go to the old one. */
static void move_exits(struct pm_peel *p, const struct behind *behind)
{
    for (uint32_t b = 0; b < p->count; b++)
        for (struct pm_ir_instr *i = p->blocks[b]->body.first; i; i = i->next)
            for (uint32_t o = 0; o < i->operand_count; o++)
                if (i->opcode != SpvOpPhi && i->operands[o].def == p->merge->label->result)
                    pm_ir_operand_set(&i->operands[o], behind->rest->label->result);
}

/* The header's OpPhi in the copy being begun, by those of the one before (map), or of the entry. */
static void begin_copy(struct pm_peel *p, struct pm_ir_def **next, bool first)
{
    for (const struct pm_ir_instr *i = p->header->body.first; i && i->opcode == SpvOpPhi;
         i = i->next)
        next[i->result->id] = first ? entered(p, i) : turned(p, i);
}

/* The loop goes on where the last copy left off. */
static void enter_rest(struct pm_peel *p, struct pm_ir_block *entrance)
{
    struct pm_ir_block *latch = pm_ir_block_of(p->map[p->latch->label->result->id]);
    for (struct pm_ir_instr *i = p->header->body.first; i && i->opcode == SpvOpPhi; i = i->next) {
        struct pm_ir_def *value = turned(p, i);
        pm_ir_phi_remove(i, entrance);
        pm_ir_phi_add(p->module, i, value, latch);
    }
}

void pm_peel(struct pm_peel *p, uint32_t turns)
{
    struct behind behind = {0};
    struct pm_ir_block *entrance = make_entrance(p);
    struct pm_ir_block *last = entrance ? make_wrapper(p, entrance, &behind) : NULL;
    if (!last || !find_leaving(p, &behind)) {
        p->module->failed = true;
        return;
    }
    make_rest(p, &behind);
    p->bound = p->module->bound;
    p->map = pm_arena_zalloc(p->arena, p->bound, sizeof(struct pm_ir_def *));
    struct pm_ir_def **next = pm_arena_zalloc(p->arena, p->bound, sizeof(struct pm_ir_def *));
    if (!p->map || !next) {
        p->module->failed = true;
        return;
    }
    struct pm_ir_builder b = {p->module, last, NULL};
    struct pm_ir_def *latch = NULL, *own = NULL;
    for (uint32_t turn = 0; turn < turns && !p->module->failed; turn++) {
        begin_copy(p, next, turn == 0);
        last = copy_blocks(p, last, next);
        if (!last)
            break;
        struct pm_ir_def **before = p->map;
        p->map = next;
        next = before;
        fill_blocks(p);
        add_ways_out(p, &behind);
        struct pm_ir_block *first = pm_ir_block_of(p->map[p->header->label->result->id]);
        if (turn == 0)
            pm_ir_build_branch(&b, first);
        else
            lead_on(latch, own, first->label->result);
        latch = p->map[p->latch->label->result->id];
        own = first->label->result;
    }
    if (p->module->failed)
        return;
    lead_on(latch, own, p->header->label->result);
    enter_rest(p, entrance);
    move_exits(p, &behind);
}
