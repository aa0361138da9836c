#include "shader_rewrite/zero/clone/build_constant.h"

#include "shader_rewrite/analysis/analysis_permission.h"

struct pm_ir_def *pm_zero_build_constant(struct pm_ir_module *module,
                                         const struct pm_ir_instr *type,
                                         const struct pm_zero_value *value)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(type);
    if (type == scalar)
        return pm_ir_constant_scalar(module, scalar, value->c[0].bits);
    if (type->opcode != SpvOpTypeVector || pm_zero_value_is_zero(value))
        return pm_ir_global(module, SpvOpConstantNull, type->result, NULL, 0);
    struct pm_ir_arg args[PM_ZERO_ELEMENTS];
    for (uint32_t i = 0; i < value->components; i++)
        args[i] = pm_ir_id(pm_ir_constant_scalar(module, scalar, value->c[i].bits));
    return pm_ir_global(module, SpvOpConstantComposite, type->result, args, value->components);
}
