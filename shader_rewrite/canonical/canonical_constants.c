/*
 * A constant that is declared twice is one. Which of them the optimizer takes where it folds hangs
 * on what else the module declares (seen: on the numbers that debug information names).
 */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_global_index.h"

static bool is_constant(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
    case SpvOpConstant:
    case SpvOpConstantComposite:
    case SpvOpConstantNull:
        return !instr->result->decorated;
    default:
        return false;
    }
}

/* args: room for its operands. */
static struct pm_ir_form form_of(const struct pm_ir_instr *constant, struct pm_ir_arg *args)
{
    struct pm_ir_form form = {.opcode = constant->opcode, .type = constant->type.def};
    if (constant->operand_count == 1 && constant->operands[0].words) {
        form.words = constant->operands[0].words;
        return form;
    }
    for (uint32_t i = 0; i < constant->operand_count; i++) {
        const struct pm_ir_operand *operand = &constant->operands[i];
        args[i] = operand->def ? pm_ir_id(operand->def) : pm_ir_word(operand->word);
    }
    form.args = args;
    form.arg_count = constant->operand_count;
    return form;
}

/* Names go with it. */
static void merge(struct pm_ir_instr *constant, struct pm_ir_instr *first)
{
    for (struct pm_ir_operand *use = constant->result->first_use, *next; use; use = next) {
        next = use->next_use;
        if (use->user->opcode != SpvOpName)
            pm_ir_operand_set(use, first->result);
    }
    pm_ir_remove(constant);
}

/* Returns whether there was one. The index does not see that composites name others now. */
static bool merge_all(struct pm_ir_module *module, struct pm_ir_arg *args)
{
    bool changed = false;
    module->global_index = NULL;
    struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first;
    for (struct pm_ir_instr *next; i; i = next) {
        next = i->next;
        if (!is_constant(i))
            continue;
        const struct pm_ir_form form = form_of(i, args);
        struct pm_ir_instr *first = pm_ir_global_find(module, &form, false);
        if (!first || first == i)
            continue;
        merge(i, first);
        changed = true;
    }
    module->global_index = NULL;
    return changed;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    uint32_t most = 0;
    for (struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; i; i = i->next)
        most = i->operand_count > most ? i->operand_count : most;
    struct pm_ir_arg *args = pm_arena_zalloc(module->arena, most + 1u, sizeof(*args));
    if (!args)
        return pm_pass_result_of(pm_fail(error, PM_ERROR_MEMORY, "out of memory for constants"),
                                 false);
    bool changed = false;
    while (merge_all(module, args))
        changed = true;
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_merge_constants = {"merge constants", 0, PM_ANALYSIS_ALL, run};
