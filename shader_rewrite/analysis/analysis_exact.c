#include "shader_rewrite/analysis/analysis_exact.h"

#include <spirv/unified1/GLSL.std.450.h>

bool pm_exact_is(uint16_t opcode)
{
    switch (opcode) {
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
    case SpvOpBitcast:
    case SpvOpFNegate:
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpSelect:
    case SpvOpPhi:
        return true;
    default:
        return pm_ir_opcode_is_core(opcode, PM_IR_OP_COMPOSITE);
    }
}

bool pm_exact_in_part(const struct pm_ir_instr *instr)
{
    if (instr->opcode != SpvOpExtInst)
        return pm_exact_is(instr->opcode) || instr->opcode == SpvOpVectorTimesScalar ||
               instr->opcode == SpvOpMatrixTimesScalar;
    switch (pm_ir_operand_word(&instr->operands[1])) {
    case GLSLstd450FMin:
    case GLSLstd450FMax:
    case GLSLstd450FClamp:
    case GLSLstd450NMin:
    case GLSLstd450NMax:
    case GLSLstd450NClamp:
        return true;
    default:
        return false;
    }
}

bool pm_exact_computes(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpExtInst || pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_COMPUTES);
}

bool pm_exact_is_asked(const struct pm_ir_def *def)
{
    for (const struct pm_ir_operand *use = def->decorated ? def->first_use : NULL; use;
         use = use->next_use)
        if (use->user->opcode == SpvOpDecorate &&
            pm_ir_operand_word(&use->user->operands[1]) == SpvDecorationNoContraction)
            return true;
    return false;
}
