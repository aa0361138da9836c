#include "shader_rewrite/partition/emission_steps.h"

static void put(struct pm_emission *e, struct pm_ir_instr *instr)
{
    pm_ir_detach(instr);
    pm_ir_insert(&e->builder.block->body, e->builder.block, e->builder.before, instr);
}

/* Makes the OpPhis of a block that came from one block come from another. */
static void set_predecessor(struct pm_ir_instr *first, const struct pm_ir_block *from,
                            const struct pm_ir_block *to)
{
    for (struct pm_ir_instr *phi = first; phi && phi->opcode == SpvOpPhi; phi = phi->next)
        for (uint32_t o = 1; o < phi->operand_count; o += 2)
            if (phi->operands[o].def == from->label->result)
                pm_ir_operand_set(&phi->operands[o], to->label->result);
}

/* The block from which a loop's header is reached; NULL: from within alone. */
static const struct pm_ir_block *entered_from(const struct pm_emission *e,
                                              const struct pm_step *step)
{
    const struct pm_ir_instr *phi = step->header->body.first;
    for (uint32_t o = 1; phi->opcode == SpvOpPhi && o < phi->operand_count; o += 2) {
        const struct pm_ir_block *from = pm_ir_block_of(phi->operands[o].def);
        bool inside = false;
        for (uint32_t b = 0; b < step->block_count && !inside; b++)
            inside = e->steps.blocks[step->first_block + b] == from;
        if (!inside)
            return from;
    }
    return NULL;
}

/* What loads or stores a variable that lies in memory does it there. */
static void move_own(struct pm_emission *e, struct pm_ir_instr *instr)
{
    pm_own_memory_move(&e->info->graph->own_memory, &e->scratch, e->info->spills->words, instr,
                       e->words);
}

static void put_construct(struct pm_emission *e, const struct pm_step *step, uint32_t number)
{
    struct pm_step_walk walk = pm_step_walk_begin(&e->steps, number);
    while (pm_step_walk_next(&walk))
        pm_emission_set_operands(e, walk.instr, number);
    struct pm_ir_block *before = e->builder.block, *last = before;
    const struct pm_ir_block *from = step->loop ? entered_from(e, step) : step->header;
    if (step->loop) {
        pm_ir_build_branch(&e->builder, step->header);
    } else {
        put(e, step->instr);
        put(e, step->branch);
    }
    for (uint32_t b = 0; b < step->block_count; b++) {
        struct pm_ir_block *block = e->steps.blocks[step->first_block + b];
        pm_ir_block_move(block, last);
        e->kept[block->index] = true;
        last = block;
        if (from)
            set_predecessor(block->body.first, from, before);
    }
    for (uint32_t b = 0; b < step->block_count; b++)
        for (struct pm_ir_instr *i = e->steps.blocks[step->first_block + b]->body.first, *next; i;
             i = next) {
            next = i->next;
            move_own(e, i);
        }
    if (from)
        set_predecessor(step->merge->body.first, from, before);
    pm_ir_block_move(step->merge, last);
    e->kept[step->merge->index] = true;
    e->builder.block = step->merge;
    e->builder.before = NULL;
}

/* An OpPhi behind a selection that is cut open: chosen by its condition. */
static void put_join(struct pm_emission *e, const struct pm_step *step)
{
    struct pm_ir_instr *phi = step->instr;
    if (step->opened == PM_NO_GUARD) {
        struct pm_ir_def *only = pm_emission_value(e, phi->operands[0].def);
        pm_ir_operands_remove(phi, 1, 1);
        phi->opcode = SpvOpCopyObject;
        if (only)
            pm_ir_operand_set(&phi->operands[0], only);
        put(e, phi);
        return;
    }
    const struct pm_guard *guard = &e->steps.guards[step->opened];
    struct pm_ir_def *yes = pm_emission_value(e, phi->operands[step->then_value].def);
    struct pm_ir_def *no = pm_emission_value(e, phi->operands[2 - step->then_value].def);
    struct pm_ir_def *condition = pm_emission_value(e, guard->condition);
    struct pm_ir_block *before = e->builder.block;
    struct pm_ir_block *merge = pm_ir_build_if(&e->builder, condition, true, NULL);
    struct pm_ir_block *inside = e->builder.block;
    pm_ir_build_end_if(&e->builder, merge);
    if (e->module->failed)
        return;
    pm_ir_operand_set(&phi->operands[0], yes);
    pm_ir_operand_set(&phi->operands[1], inside->label->result);
    pm_ir_operand_set(&phi->operands[2], no);
    pm_ir_operand_set(&phi->operands[3], before->label->result);
    put(e, phi);
}

void pm_emission_put_step(struct pm_emission *e, uint32_t number)
{
    const struct pm_step *step = &e->steps.steps[number];
    pm_emission_go_under(e, step->guard);
    if (step->kind == PM_STEP_CONSTRUCT) {
        put_construct(e, step, number);
    } else if (step->kind == PM_STEP_JOIN) {
        put_join(e, step);
    } else {
        pm_emission_set_operands(e, step->instr, number);
        put(e, step->instr);
        move_own(e, step->instr);
    }
    struct pm_step_walk walk = pm_step_walk_begin(&e->steps, number);
    while (pm_step_walk_next(&walk) && !e->module->failed)
        if (walk.instr->result && walk.instr->result->id < e->steps.bound) /* not ours */
            pm_emission_computed(e, walk.instr->result);
}
