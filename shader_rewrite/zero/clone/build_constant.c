#include "shader_rewrite/zero/clone/build_constant.h"

#include "shader_rewrite/analysis/analysis_permission.h"

static struct pm_ir_def *scalar_constant(struct pm_ir_module *module,
                                         const struct pm_ir_instr *type, uint64_t bits)
{
    if (type->opcode == SpvOpTypeBool)
        return pm_ir_constant_bool(module, bits != 0);
    uint32_t width = pm_ir_operand_word(&type->operands[0]);
    if (width == 64)
        return pm_ir_constant_int64(module, type->result, bits);
    uint32_t word = (uint32_t)bits;
    bool is_signed = type->opcode == SpvOpTypeInt && pm_ir_operand_word(&type->operands[1]);
    if (width < 32 && is_signed && word >> (width - 1))
        word |= UINT32_MAX << width;
    return pm_ir_global(module, SpvOpConstant, type->result, PM_IR_ARGS(pm_ir_word(word)));
}

struct pm_ir_def *pm_zero_build_constant(struct pm_ir_module *module,
                                         const struct pm_ir_instr *type,
                                         const struct pm_zero_value *value)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(type);
    if (type == scalar)
        return scalar_constant(module, scalar, value->c[0].bits);
    if (type->opcode != SpvOpTypeVector || pm_zero_value_is_zero(value))
        return pm_ir_global(module, SpvOpConstantNull, type->result, NULL, 0);
    struct pm_ir_arg args[PM_ZERO_ELEMENTS];
    for (uint32_t i = 0; i < value->components; i++)
        args[i] = pm_ir_id(scalar_constant(module, scalar, value->c[i].bits));
    return pm_ir_global(module, SpvOpConstantComposite, type->result, args, value->components);
}
