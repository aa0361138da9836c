#include "shader_rewrite/zero/clone/clone.h"

#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/quirks/hidden_constants.h"
#include "shader_rewrite/zero/clone/build_constant.h"

struct cloning {
    struct pm_zero_round *round;
    struct pm_ir_module *module;
    struct pm_zero_region *region;
    struct pm_ir_block *last; /* new blocks go behind it */
    struct pm_hidden_constants hidden;
};

struct pm_ir_def *pm_zero_in_copy(struct pm_zero_round *round, struct pm_zero_region *region,
                                  struct pm_ir_def *def)
{
    for (;;) {
        struct pm_zero_state *state = pm_zero_state_of(round, region, def);
        if (state && state->needed)
            return state->copy;
        if (pm_zero_is_constant_in_copy(round, region, def)) {
            struct pm_zero_value value = pm_zero_value_in(round, region, def);
            return pm_zero_build_constant(round->module, pm_ir_type_of(def->instr), &value);
        }
        if (!state)
            return def;
        if (!state->value.same)
            return NULL;
        def = state->value.same;
    }
}

/* ---- blocks and instructions ---- */

/* sum: of two operands, in the place of the instruction. */
static struct pm_ir_instr *empty_copy(struct pm_ir_module *module, const struct pm_ir_instr *instr,
                                      bool sum)
{
    struct pm_ir_def *type = instr->type.def;
    if (sum)
        return pm_ir_instr_create(module, SpvOpFAdd, type, 2);
    return instr->opcode == SpvOpPhi ? pm_ir_instr_create(module, SpvOpPhi, type, 0)
                                     : pm_ir_instr_like(module, instr, type);
}

static void clone_block(struct cloning *c, struct pm_zero_part *part)
{
    c->last = part->copy = pm_ir_block_create(c->module, c->last);
    if (!c->last)
        return;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct pm_ir_instr *instr = part->instrs[i];
        struct pm_zero_state *state =
            instr->result ? pm_zero_state_of(c->round, c->region, instr->result) : NULL;
        if (pm_zero_is_not_in_copy(c->round, c->region, instr))
            continue;
        bool sum = state && state->value.plus_zero;
        struct pm_ir_instr *copy = empty_copy(c->module, instr, sum);
        if (!copy)
            return;
        copy->mark = c->region->epoch;
        pm_ir_insert(&c->last->body, c->last, NULL, copy);
        if (!state)
            continue;
        state->copy = copy->result;
        pm_ir_copy_decorations(c->module, instr->result, copy->result, false);
    }
}

static struct pm_ir_def *label_in_copy(const struct cloning *c, const struct pm_ir_block *block)
{
    uint32_t part = pm_zero_part_of(c->round, c->region, block->index);
    const struct pm_ir_block *copy = part == PM_ZERO_NO_PART ? NULL : c->region->parts[part].copy;
    return copy ? copy->label->result : NULL;
}

static void set_operand(struct cloning *c, struct pm_ir_operand *to,
                        const struct pm_ir_operand *from)
{
    if (!from->def) {
        pm_ir_operand_copy_literal(to, from);
        return;
    }
    const struct pm_ir_block *block = pm_ir_block_of(from->def);
    struct pm_ir_def *def =
        block ? label_in_copy(c, block) : pm_zero_in_copy(c->round, c->region, from->def);
    if (def) {
        pm_ir_operand_set(to, def);
        return;
    }
    c->round->broken |= !c->module->failed;
    c->module->failed = true;
}

/* Whether S goes from one part to another. */
static bool has_edge(const struct cloning *c, const struct pm_zero_part *from,
                     const struct pm_zero_part *to)
{
    uint32_t next = pm_zero_way_in_copy(c->round, c->region, from);
    return from->reached && (next == PM_NO_BLOCK || next == to->block);
}

static void fill_phi(struct cloning *c, struct pm_ir_instr *copy, const struct pm_ir_instr *phi,
                     const struct pm_zero_part *part)
{
    for (uint32_t o = 0; o + 1 < phi->operand_count; o += 2) {
        const struct pm_ir_block *block = pm_ir_block_of(phi->operands[o + 1].def);
        uint32_t index = pm_zero_part_of(c->round, c->region, block->index);
        const struct pm_zero_part *from =
            index == PM_ZERO_NO_PART ? NULL : &c->region->parts[index];
        if (from && has_edge(c, from, part))
            pm_ir_phi_add(c->module, copy,
                          pm_zero_in_copy(c->round, c->region, phi->operands[o].def), from->copy);
    }
}

/* Of a sum with zeroes: whatever the original's instruction was, it is a sum in S. */
static void fill_sum(struct cloning *c, struct pm_ir_instr *copy, struct pm_ir_def *def)
{
    const struct pm_ir_operand from = {.def = def};
    set_operand(c, &copy->operands[0], &from);
    pm_ir_operand_set(&copy->operands[1],
                      pm_hidden_zero(&c->hidden, c->region->parts[0].copy, copy, copy->type.def));
}

static void fill_block(struct cloning *c, struct pm_zero_part *part)
{
    struct pm_ir_instr *copy = part->copy->body.first;
    for (uint32_t i = 0; i < part->count && copy; i++) {
        const struct pm_ir_instr *instr = part->instrs[i];
        const struct pm_zero_state *state =
            instr->result ? pm_zero_state_of(c->round, c->region, instr->result) : NULL;
        if (pm_zero_is_not_in_copy(c->round, c->region, instr))
            continue;
        if (instr->opcode == SpvOpPhi)
            fill_phi(c, copy, instr, part);
        else if (state && state->value.plus_zero)
            fill_sum(c, copy, state->value.same);
        else
            for (uint32_t o = 0; o < instr->operand_count; o++)
                set_operand(c, &copy->operands[o], &instr->operands[o]);
        pm_hide_constants(&c->hidden, c->region->parts[0].copy, instr, copy);
        copy = copy->next;
    }
}

/* ---- ends of blocks ---- */

static void clone_end(struct cloning *c, struct pm_zero_part *part, const struct pm_ir_instr *end)
{
    struct pm_ir_instr *copy = pm_ir_instr_create(c->module, end->opcode, NULL, end->operand_count);
    if (!copy)
        return;
    copy->mark = c->region->epoch;
    pm_ir_insert(&part->copy->body, part->copy, NULL, copy);
    for (uint32_t o = 0; o < end->operand_count; o++)
        set_operand(c, &copy->operands[o], &end->operands[o]);
}

/* A block that is only named: the merge block or continue target of a construct in S that S never
 * gets to. header: where a continue target leads; NULL: a merge block. */
static void add_stub(struct cloning *c, const struct pm_ir_def *label, struct pm_zero_part *header)
{
    uint32_t index = pm_zero_part_of(c->round, c->region, pm_ir_block_of(label)->index);
    struct pm_zero_part *part = index == PM_ZERO_NO_PART ? NULL : &c->region->parts[index];
    if (!part || part->copy)
        return;
    c->last = part->copy = pm_ir_block_create(c->module, c->last);
    struct pm_ir_builder b = {c->module, part->copy, NULL};
    if (!header) {
        pm_ir_build_instr(&b, SpvOpUnreachable, NULL, NULL, 0);
        return;
    }
    pm_ir_build_branch(&b, header->copy);
    for (struct pm_ir_instr *i = header->copy->body.first; i && i->opcode == SpvOpPhi; i = i->next)
        pm_ir_phi_add(c->module, i, pm_ir_global(c->module, SpvOpUndef, i->type.def, NULL, 0),
                      part->copy);
}

static void add_stubs(struct cloning *c, struct pm_zero_part *part, const struct pm_ir_instr *merge)
{
    add_stub(c, merge->operands[0].def, NULL);
    if (merge->opcode == SpvOpLoopMerge)
        add_stub(c, merge->operands[1].def, part);
}

/* Whether a selection whose branch became constant can do without its construct: nothing leaves it
 * but by plain branches of its own blocks, so that no other construct is left by a way it may not.
 */
static bool is_left_plainly(const struct cloning *c, const struct pm_zero_part *header,
                            uint32_t construct, uint32_t merge)
{
    const struct pm_graph *g = &c->round->cfg->flow;
    uint32_t target = pm_zero_part_of(c->round, c->region, merge);
    for (uint32_t i = g->predecessor_start[merge]; i < g->predecessor_start[merge + 1]; i++) {
        uint32_t index = pm_zero_part_of(c->round, c->region, g->predecessors[i]);
        if (index == PM_ZERO_NO_PART || target == PM_ZERO_NO_PART)
            return false;
        const struct pm_zero_part *from = &c->region->parts[index];
        if (from == header || !has_edge(c, from, &c->region->parts[target]))
            continue;
        const struct pm_ir_instr *end = pm_ir_terminator(c->round->cfg->blocks[from->block]);
        bool plain = end->opcode == SpvOpBranch ||
                     pm_zero_way_in_copy(c->round, c->region, from) != PM_NO_BLOCK;
        if (!plain || pm_zero_construct_around(c->round, from->block) != construct)
            return false;
    }
    return true;
}

static void end_block(struct cloning *c, struct pm_zero_part *part)
{
    const struct pm_ir_block *block = c->round->cfg->blocks[part->block];
    const struct pm_ir_instr *merge = pm_ir_merge(block);
    uint32_t next = pm_zero_way_in_copy(c->round, c->region, part);
    if (next == PM_NO_BLOCK) {
        if (merge) {
            add_stubs(c, part, merge);
            clone_end(c, part, merge);
        }
        clone_end(c, part, pm_ir_terminator(block));
        return;
    }
    uint32_t construct = c->round->structure->innermost[part->block];
    uint32_t to = pm_ir_block_of(merge->operands[0].def)->index;
    struct pm_ir_builder b = {c->module, part->copy, NULL};
    uint32_t target = pm_zero_part_of(c->round, c->region, next);
    struct pm_ir_block *copy = target == PM_ZERO_NO_PART ? NULL : c->region->parts[target].copy;
    if (next == to || is_left_plainly(c, part, construct, to)) {
        pm_ir_build_branch(&b, copy);
        return;
    }
    /* A switch with a default alone keeps the construct. */
    add_stubs(c, part, merge);
    clone_end(c, part, merge);
    struct pm_ir_def *zero = pm_ir_constant_uint(c->module, 0);
    pm_ir_build_instr(&b, SpvOpSwitch, NULL,
                      PM_IR_ARGS(pm_ir_id(zero), pm_ir_id(copy ? copy->label->result : NULL)));
}

/* Puts a block that is only ever gone to by one plain branch behind that branch's block. */
static void join_block(struct cloning *c, struct pm_zero_part *part)
{
    struct pm_ir_block *block = part->copy;
    const struct pm_ir_def *label = block->label->result;
    struct pm_ir_instr *branch = NULL;
    for (const struct pm_ir_operand *use = label->first_use; use; use = use->next_use) {
        if (use->user->opcode == SpvOpPhi)
            continue;
        if (branch || use->user->opcode != SpvOpBranch)
            return;
        branch = use->user;
    }
    struct pm_ir_block *before = branch ? branch->block : NULL;
    if (!before || before == block || pm_ir_merge(before) ||
        (block->body.first && block->body.first->opcode == SpvOpPhi))
        return;
    pm_ir_remove(branch);
    for (struct pm_ir_instr *i = block->body.first, *next; i; i = next) {
        next = i->next;
        pm_ir_detach(i);
        pm_ir_insert(&before->body, before, NULL, i);
    }
    pm_ir_replace_uses(block->label->result, before->label->result);
    pm_ir_block_remove(block);
    for (uint32_t i = 0; i < c->region->count; i++)
        if (c->region->parts[i].copy == block)
            c->region->parts[i].copy = before;
}

bool pm_zero_clone(struct pm_zero_round *round, struct pm_zero_region *region,
                   struct pm_ir_block *after)
{
    struct cloning c = {.round = round,
                        .module = round->module,
                        .region = region,
                        .last = after,
                        .hidden = {.module = round->module, .candidate = region->values[0]}};
    for (uint32_t i = 0; i < region->count; i++) {
        region->parts[i].copy = NULL;
        for (uint32_t k = 0; k < region->parts[i].count; k++)
            if (region->parts[i].instrs[k]->result)
                round->states[region->parts[i].instrs[k]->result->id].copy = NULL;
    }
    for (uint32_t i = 0; i < region->count && !round->module->failed; i++)
        if (region->parts[i].reached)
            clone_block(&c, &region->parts[i]);
    for (uint32_t i = 0; i < region->count && !round->module->failed; i++)
        if (region->parts[i].reached)
            fill_block(&c, &region->parts[i]);
    for (uint32_t i = 0; i < region->count && !round->module->failed; i++)
        if (region->parts[i].reached && region->parts[i].whole)
            end_block(&c, &region->parts[i]);
    for (uint32_t i = 1; i < region->count && !round->module->failed; i++)
        if (region->parts[i].joined && region->parts[i].copy)
            join_block(&c, &region->parts[i]);
    return !round->module->failed;
}
