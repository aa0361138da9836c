#include "shader_rewrite/analysis/analysis_motion.h"

#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/analysis/analysis_lanes.h"

/* Moves as well as arithmetic; of what the grammar calls arithmetic and conversion not all. */
static bool is_plain(const struct pm_float_permission *permission, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpCompositeExtract:
    case SpvOpCompositeConstruct:
    case SpvOpCompositeInsert:
    case SpvOpVectorShuffle:
    case SpvOpSelect:
    case SpvOpBitcast:
    case SpvOpCopyObject:
        return true;
    case SpvOpUDiv: /* may trap */
    case SpvOpSDiv:
    case SpvOpUMod:
    case SpvOpSMod:
    case SpvOpSRem:
    case SpvOpIAddCarry: /* make a structure */
    case SpvOpISubBorrow:
    case SpvOpUMulExtended:
    case SpvOpSMulExtended:
    case SpvOpConvertPtrToU: /* pointers */
    case SpvOpConvertUToPtr:
    case SpvOpQuantizeToF16: /* never tried on drivers */
        return false;
    case SpvOpExtInst:
        if (!pm_ir_is_glsl(instr))
            return false;
        break;
    default:
        if (!pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_CONVERSION | PM_IR_OP_ARITHMETIC |
                                                     PM_IR_OP_RELATIONAL | PM_IR_OP_BIT))
            return false;
    }
    enum pm_cost_class class = pm_cost_class(permission, instr);
    return class == PM_COST_ALU || class == PM_COST_DIVIDE || class == PM_COST_ROOT ||
           class == PM_COST_TRANSCENDENTAL;
}

bool pm_motion_may_be_earlier(const struct pm_memory *memory,
                              const struct pm_float_permission *permission,
                              const struct pm_ir_instr *instr)
{
    struct pm_memory_access access = pm_memory_access_of(memory, instr);
    return instr->result && !access.reads && !access.writes && !access.stops &&
           !pm_reads_other_lanes(instr) && is_plain(permission, instr);
}
