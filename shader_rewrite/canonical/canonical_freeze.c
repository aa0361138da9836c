/*
 * Specialization constants take the pipeline's values. Integers and booleans, which decide control
 * flow, become constants. Floats get the value as their default and stay specialization constants:
 * the optimizer may not fold them anyway (HAZARDS 3), and a driver's own optimizer that folds
 * constants but not specialization constants (seen: SwiftShader) must see in the canonical module
 * what it saw in the original.
 */
#include "shader_rewrite/canonical/canonical_passes.h"

/* A constant's mark is its SpecId + 1; 0: it has none. */
static const struct pm_ir_operand *spec_id_of(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpDecorate &&
                   pm_ir_operand_word(&instr->operands[1]) == SpvDecorationSpecId
               ? &instr->operands[2]
               : NULL;
}

static const struct pm_spec_value *value_of(const struct pm_ir_instr *constant,
                                            const struct pm_freezing *freezing)
{
    for (size_t i = 0; i < freezing->count && constant->mark; i++)
        if (freezing->values[i].spec_id == constant->mark - 1)
            return &freezing->values[i];
    return NULL;
}

/* Narrow literals fill their word: sign-extended when signed, else zero (SPIR-V 2.2.1). */
static void put_scalar(struct pm_ir_module *module, struct pm_ir_instr *constant, uint64_t bits)
{
    const struct pm_ir_instr *type = pm_ir_type_of(constant);
    const uint32_t width = pm_ir_operand_word(&type->operands[0]);
    uint32_t low = (uint32_t)bits;
    if (width == 64) {
        pm_ir_operand_set_words(module, &constant->operands[0],
                                (const uint32_t[]){low, (uint32_t)(bits >> 32)}, 2);
        return;
    }
    if (width < 32) {
        const uint32_t unused = 32u - width;
        const bool sign_extends =
            type->opcode == SpvOpTypeInt && pm_ir_operand_word(&type->operands[1]);
        low =
            sign_extends ? (uint32_t)((int32_t)(low << unused) >> unused) : low << unused >> unused;
    }
    pm_ir_operand_set_word(&constant->operands[0], low);
}

/* Of what was frozen already. */
static bool is_spec_constant(const struct pm_ir_instr *instr)
{
    return instr && (instr->opcode == SpvOpSpecConstant || instr->opcode == SpvOpSpecConstantOp ||
                     instr->opcode == SpvOpSpecConstantComposite);
}

/* What is made of a specialization constant that stays, stays too; it comes behind it. */
static bool has_spec_constituent(const struct pm_ir_instr *composite)
{
    for (uint32_t i = 0; i < composite->operand_count; i++)
        if (is_spec_constant(pm_ir_operand_instr(composite, i)))
            return true;
    return false;
}

static void freeze_scalar(struct pm_ir_module *module, struct pm_ir_instr *constant,
                          const struct pm_spec_value *value)
{
    const struct pm_ir_instr *type = pm_ir_type_of(constant);
    if (type->opcode != SpvOpTypeFloat)
        constant->opcode = SpvOpConstant;
    if (value)
        put_scalar(module, constant, value->bits);
}

static bool freeze_global(struct pm_ir_module *module, struct pm_ir_instr *instr,
                          const struct pm_freezing *freezing)
{
    const struct pm_spec_value *value = value_of(instr, freezing);
    switch (instr->opcode) {
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse: {
        const bool set = value ? value->bits != 0 : instr->opcode == SpvOpSpecConstantTrue;
        instr->opcode = set ? SpvOpConstantTrue : SpvOpConstantFalse;
        return true;
    }
    case SpvOpSpecConstant:
        freeze_scalar(module, instr, value);
        return true;
    case SpvOpSpecConstantComposite:
        if (has_spec_constituent(instr))
            return false;
        instr->opcode = SpvOpConstantComposite;
        return true;
    default:
        return false;
    }
}

/* A constant that nothing decorates any more is like any other, and may be one with its equal. */
static void take_spec_id(struct pm_ir_instr *decoration)
{
    struct pm_ir_def *constant = decoration->operands[0].def;
    pm_ir_remove(decoration);
    constant->decorated = false;
    for (const struct pm_ir_operand *use = constant->first_use; use; use = use->next_use)
        if (use->user && pm_ir_opcode_is(use->user->opcode, PM_IR_OP_ANNOTATION))
            constant->decorated = true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    const struct pm_freezing *freezing = context;
    struct pm_ir_instr *first = module->sections[PM_IR_SECTION_ANNOTATION].first;
    bool changed = false;
    for (struct pm_ir_instr *i = first; i; i = i->next)
        if (spec_id_of(i))
            pm_ir_operand_instr(i, 0)->mark = pm_ir_operand_word(spec_id_of(i)) + 1;
    for (struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; i; i = i->next)
        changed |= freeze_global(module, i, freezing);
    for (struct pm_ir_instr *i = first, *next; i; i = next) {
        next = i->next;
        if (!spec_id_of(i) || is_spec_constant(pm_ir_operand_instr(i, 0)))
            continue;
        take_spec_id(i);
        changed = true;
    }
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_freeze = {"freeze", 0, PM_ANALYSIS_ALL, run};
