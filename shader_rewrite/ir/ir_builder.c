#include "shader_rewrite/ir/ir_builder.h"

struct pm_ir_instr *pm_ir_instr_with(struct pm_ir_module *module, uint16_t opcode,
                                     struct pm_ir_def *type, const struct pm_ir_arg *args,
                                     uint32_t arg_count)
{
    bool has_type = pm_ir_opcode_is(opcode, PM_IR_OP_HAS_TYPE);
    if (has_type && !type)
        module->failed = true;
    for (uint32_t i = 0; i < arg_count; i++)
        if (args[i].is_id && !args[i].def)
            module->failed = true;
    if (module->failed)
        return NULL;
    struct pm_ir_instr *instr = pm_ir_instr_create(module, opcode, type, arg_count);
    for (uint32_t i = 0; instr && i < arg_count; i++) {
        if (args[i].is_id)
            pm_ir_operand_set(&instr->operands[i], args[i].def);
        else
            pm_ir_operand_set_word(&instr->operands[i], args[i].word);
    }
    return instr;
}

struct pm_ir_instr *pm_ir_build_instr(struct pm_ir_builder *builder, uint16_t opcode,
                                      struct pm_ir_def *type, const struct pm_ir_arg *args,
                                      uint32_t arg_count)
{
    if (!builder->block)
        builder->module->failed = true;
    struct pm_ir_instr *instr = pm_ir_instr_with(builder->module, opcode, type, args, arg_count);
    if (instr)
        pm_ir_insert(&builder->block->body, builder->block, builder->before, instr);
    return instr;
}

struct pm_ir_def *pm_ir_build(struct pm_ir_builder *builder, uint16_t opcode,
                              struct pm_ir_def *type, const struct pm_ir_arg *args,
                              uint32_t arg_count)
{
    struct pm_ir_instr *instr = pm_ir_build_instr(builder, opcode, type, args, arg_count);
    return instr ? instr->result : NULL;
}

static struct pm_ir_def *label_of(const struct pm_ir_block *block)
{
    return block ? block->label->result : NULL;
}

struct pm_ir_def *pm_ir_build_load_as(struct pm_ir_builder *b, struct pm_ir_def *variable,
                                      struct pm_ir_def *type)
{
    const struct pm_ir_instr *pointer = variable ? pm_ir_type_of(variable->instr) : NULL;
    struct pm_ir_def *declared = pointer ? pointer->operands[1].def : NULL;
    struct pm_ir_def *value = pm_ir_build(b, SpvOpLoad, declared, PM_IR_ARGS(pm_ir_id(variable)));
    if (declared == type)
        return value;
    return pm_ir_build(b, SpvOpBitcast, type, PM_IR_ARGS(pm_ir_id(value)));
}

void pm_ir_build_branch(struct pm_ir_builder *builder, struct pm_ir_block *to)
{
    pm_ir_build_instr(builder, SpvOpBranch, NULL, PM_IR_ARGS(pm_ir_id(label_of(to))));
}

void pm_ir_build_branch_conditional(struct pm_ir_builder *builder, struct pm_ir_def *condition,
                                    struct pm_ir_block *yes, struct pm_ir_block *no)
{
    pm_ir_build_instr(
        builder, SpvOpBranchConditional, NULL,
        PM_IR_ARGS(pm_ir_id(condition), pm_ir_id(label_of(yes)), pm_ir_id(label_of(no))));
}

void pm_ir_build_selection_merge(struct pm_ir_builder *builder, struct pm_ir_block *merge)
{
    pm_ir_build_instr(
        builder, SpvOpSelectionMerge, NULL,
        PM_IR_ARGS(pm_ir_id(label_of(merge)), pm_ir_word(SpvSelectionControlMaskNone)));
}

struct pm_ir_block *pm_ir_build_if(struct pm_ir_builder *builder, struct pm_ir_def *condition,
                                   bool when, struct pm_ir_block *merge)
{
    struct pm_ir_block *inside = pm_ir_block_create(builder->module, builder->block);
    if (!merge)
        merge = pm_ir_block_create(builder->module, inside);
    pm_ir_build_selection_merge(builder, merge);
    pm_ir_build_branch_conditional(builder, condition, when ? inside : merge,
                                   when ? merge : inside);
    builder->block = inside;
    builder->before = NULL;
    return merge;
}

void pm_ir_build_end_if(struct pm_ir_builder *builder, struct pm_ir_block *merge)
{
    pm_ir_build_branch(builder, merge);
    builder->block = merge;
    builder->before = merge ? merge->body.first : NULL;
}

static void put_behind(struct pm_ir_block *block, struct pm_ir_block *after)
{
    block->function = after->function;
    block->prev = after;
    block->next = after->next;
    if (after->next)
        after->next->prev = block;
    else
        after->function->last_block = block;
    after->next = block;
}

struct pm_ir_block *pm_ir_block_create(struct pm_ir_module *module, struct pm_ir_block *after)
{
    struct pm_ir_block *block = after ? pm_arena_zalloc(module->arena, 1, sizeof(*block)) : NULL;
    struct pm_ir_instr *label = block ? pm_ir_instr_create(module, SpvOpLabel, NULL, 0) : NULL;
    if (!label) {
        module->failed = true;
        return NULL;
    }
    label->block = block;
    block->label = label;
    put_behind(block, after);
    return block;
}

void pm_ir_block_remove(struct pm_ir_block *block)
{
    if (block->prev)
        block->prev->next = block->next;
    else
        block->function->first_block = block->next;
    if (block->next)
        block->next->prev = block->prev;
    else
        block->function->last_block = block->prev;
}

void pm_ir_block_move(struct pm_ir_block *block, struct pm_ir_block *after)
{
    pm_ir_block_remove(block);
    put_behind(block, after);
}

struct pm_ir_block *pm_ir_block_split(struct pm_ir_module *module, struct pm_ir_block *block,
                                      struct pm_ir_instr *at)
{
    struct pm_ir_block *tail = pm_ir_block_create(module, block);
    if (!tail)
        return NULL;
    for (struct pm_ir_instr *i = at, *next; i; i = next) {
        next = i->next;
        pm_ir_detach(i);
        pm_ir_insert(&tail->body, tail, NULL, i);
    }
    for (struct pm_ir_operand *use = block->label->result->first_use, *next; use; use = next) {
        next = use->next_use;
        if (use->user->opcode == SpvOpPhi)
            pm_ir_operand_set(use, tail->label->result);
    }
    return tail;
}

/* Among a block's leading OpPhi and OpVariable; between them there may be what is for debugging. */
static bool may_lead(uint16_t opcode)
{
    return opcode == SpvOpPhi || opcode == SpvOpVariable || opcode == SpvOpLine ||
           opcode == SpvOpNoLine || opcode == SpvOpUndef || opcode == SpvOpExtInst;
}

struct pm_ir_instr *pm_ir_block_start(const struct pm_ir_block *block)
{
    bool entry = block == block->function->first_block;
    struct pm_ir_instr *start = block->body.first;
    for (struct pm_ir_instr *i = block->body.first; i && may_lead(i->opcode); i = i->next)
        if (i->opcode == SpvOpPhi || (entry && i->opcode == SpvOpVariable))
            start = i->next;
    return start;
}

struct pm_ir_instr *pm_ir_block_end(const struct pm_ir_block *block)
{
    struct pm_ir_instr *merge = pm_ir_merge(block);
    return merge ? merge : pm_ir_terminator(block);
}

void pm_ir_phi_add(struct pm_ir_module *module, struct pm_ir_instr *phi, struct pm_ir_def *value,
                   struct pm_ir_block *predecessor)
{
    if (!phi || !value || !predecessor) {
        module->failed = true;
        return;
    }
    uint32_t at = phi->operand_count;
    if (!pm_ir_operands_insert(module, phi, at, 2))
        return;
    pm_ir_operand_set(&phi->operands[at], value);
    pm_ir_operand_set(&phi->operands[at + 1], predecessor->label->result);
}

struct pm_ir_def *pm_ir_phi_value(const struct pm_ir_instr *phi,
                                  const struct pm_ir_block *predecessor)
{
    for (uint32_t i = 0; i + 1 < phi->operand_count; i += 2)
        if (phi->operands[i + 1].def == predecessor->label->result)
            return phi->operands[i].def;
    return NULL;
}

void pm_ir_phi_remove(struct pm_ir_instr *phi, const struct pm_ir_block *predecessor)
{
    for (uint32_t i = 0; i + 1 < phi->operand_count; i += 2)
        if (phi->operands[i + 1].def == predecessor->label->result) {
            pm_ir_operands_remove(phi, i, 2);
            return;
        }
}
