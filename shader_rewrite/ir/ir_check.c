#include "shader_rewrite/ir/ir_check.h"

#include "shader_rewrite/ir/ir_walk.h"

static bool is_wrong(const struct pm_ir_instr *instr, const char *what, struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_STATE, "SPIR-V: %s, id %u, %s", pm_ir_opcode_name(instr->opcode),
                   instr->result ? instr->result->id : 0, what);
}

static bool is_linked(const struct pm_ir_module *module, const struct pm_ir_instr *instr,
                      const struct pm_ir_operand *operand)
{
    const struct pm_ir_def *def = operand->def;
    if (!def)
        return true;
    return operand->user == instr && def->id < module->bound && module->defs[def->id] == def &&
           operand->word_count == 1 &&
           (operand->prev_use ? operand->prev_use->next_use == operand
                              : def->first_use == operand) &&
           (!operand->next_use || operand->next_use->prev_use == operand);
}

static bool check_instr(const struct pm_ir_module *module, const struct pm_ir_instr *instr,
                        struct pm_error *error)
{
    if (instr->result && (instr->result->instr != instr || instr->result->id >= module->bound))
        return is_wrong(instr, "is not what its id says", error);
    if (!is_linked(module, instr, &instr->type))
        return is_wrong(instr, "is not among the uses of its type", error);
    for (uint32_t i = 0; i < instr->operand_count; i++)
        if (!is_linked(module, instr, &instr->operands[i]))
            return is_wrong(instr, "is not among the uses of its operands", error);
    return true;
}

static bool check_list(const struct pm_ir_list *list, const struct pm_ir_block *block,
                       struct pm_error *error)
{
    const struct pm_ir_instr *before = NULL;
    for (const struct pm_ir_instr *i = list->first; i; before = i, i = i->next)
        if (i->list != list || i->block != block || i->prev != before)
            return is_wrong(i, "does not know its place", error);
    return list->last == before || is_wrong(list->last, "is not the last of its list", error);
}

static bool check_block(const struct pm_ir_function *function, const struct pm_ir_block *block,
                        struct pm_error *error)
{
    if (block->function != function || block->label->block != block)
        return is_wrong(block->label, "does not know its place", error);
    if (!check_list(&block->leading, NULL, error) || !check_list(&block->body, block, error))
        return false;
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
        if (pm_ir_opcode_is_terminator(i->opcode) != (i == block->body.last))
            return is_wrong(block->label, "does not end in its only terminator", error);
    return block->body.last || is_wrong(block->label, "is empty", error);
}

static bool check_function(const struct pm_ir_function *function, struct pm_error *error)
{
    const struct pm_ir_block *before = NULL;
    if (!check_list(&function->leading, NULL, error) ||
        !check_list(&function->parameters, NULL, error) ||
        !check_list(&function->trailing, NULL, error))
        return false;
    for (const struct pm_ir_block *b = function->first_block; b; before = b, b = b->next)
        if (!check_block(function, b, error) ||
            (b->prev != before && !is_wrong(b->label, "does not know the block before", error)))
            return false;
    return function->last_block == before ||
           is_wrong(function->function, "does not know its last block", error);
}

/* What was taken out of the module uses nothing any more. */
static bool check_uses(const struct pm_ir_module *module, size_t operands, struct pm_error *error)
{
    size_t uses = 0;
    for (uint32_t id = 0; id < module->defs_capacity; id++) {
        const struct pm_ir_def *def = module->defs[id];
        for (const struct pm_ir_operand *use = def ? def->first_use : NULL; use;
             use = use->next_use)
            if (use->def != def || ++uses > operands)
                return pm_fail(error, PM_ERROR_STATE,
                               "SPIR-V: the uses of id %u are not those in the module", id);
    }
    return uses == operands ||
           pm_fail(error, PM_ERROR_STATE, "SPIR-V: %zu uses, but %zu operands", uses, operands);
}

bool pm_ir_check(const struct pm_ir_module *module, struct pm_error *error)
{
    size_t operands = 0;
    for (int section = 0; section < PM_IR_SECTIONS; section++)
        if (!check_list(&module->sections[section], NULL, error))
            return false;
    for (const struct pm_ir_function *f = module->first_function; f; f = f->next)
        if (!check_function(f, error))
            return false;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        if (!check_instr(module, walk.instr, error))
            return false;
        operands += walk.instr->type.def != NULL;
        for (uint32_t i = 0; i < walk.instr->operand_count; i++)
            operands += walk.instr->operands[i].def != NULL;
    }
    return check_uses(module, operands, error);
}
