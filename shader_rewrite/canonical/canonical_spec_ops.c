/*
 * What the operands of OpSpecConstantOp are: the validator does not look, and SPIRV-Tools' constant
 * folding takes a float for an integer and crashes on it (GetZeroExtendedValue), and the game with
 * it. Such a module is not valid, and is refused.
 */
#include "shader_rewrite/canonical/canonical_passes.h"

static bool takes_integers(uint32_t opcode)
{
    return (opcode >= SpvOpIAdd && opcode <= SpvOpSMod && opcode != SpvOpFAdd &&
            opcode != SpvOpFSub && opcode != SpvOpFMul && opcode != SpvOpFDiv) ||
           (opcode >= SpvOpShiftRightLogical && opcode <= SpvOpNot) ||
           (opcode >= SpvOpIEqual && opcode <= SpvOpSLessThanEqual) || opcode == SpvOpSNegate ||
           opcode == SpvOpUConvert || opcode == SpvOpSConvert;
}

static bool is_of(const struct pm_ir_instr *operand, uint16_t kind, uint32_t components)
{
    const struct pm_ir_instr *type = operand ? pm_ir_type_of(operand) : NULL;
    return type && pm_ir_component_type(type)->opcode == kind &&
           pm_ir_components(type) == components;
}

static bool fits(const struct pm_ir_instr *operation)
{
    const uint32_t opcode = pm_ir_operand_word(&operation->operands[0]);
    const bool integers = takes_integers(opcode);
    if (!integers && (opcode < SpvOpLogicalEqual || opcode > SpvOpLogicalNot))
        return true;
    const uint16_t kind = integers ? SpvOpTypeInt : SpvOpTypeBool;
    const uint32_t components = pm_ir_components(pm_ir_type_of(operation));
    for (uint32_t i = 1; i < operation->operand_count; i++)
        if (!is_of(pm_ir_operand_instr(operation, i), kind, components))
            return false;
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; i; i = i->next)
        if (i->opcode == SpvOpSpecConstantOp && !fits(i))
            return pm_pass_result_of(
                pm_fail(error, PM_ERROR_UNSUPPORTED,
                        "OpSpecConstantOp %u: operands that %s does not take crash SPIRV-Tools",
                        i->result->id,
                        pm_ir_opcode_name((uint16_t)pm_ir_operand_word(&i->operands[0]))),
                false);
    return pm_pass_result_of(true, false);
}

const struct pm_pass pm_pass_check_spec_ops = {"check spec ops", 0, PM_ANALYSIS_ALL, run};
