#include "shader_rewrite/analysis/analysis_exact.h"

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

bool pm_exact_computes(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpExtInst || pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_COMPUTES);
}
