#include "shader_rewrite/ir/workgroup_size.h"

static uint32_t product(const struct pm_ir_instr *const *parts)
{
    uint64_t invocations = 1;
    for (uint32_t i = 0; i < 3; i++) {
        if (!parts[i] || parts[i]->opcode != SpvOpConstant)
            return 0;
        invocations *= pm_ir_operand_word(&parts[i]->operands[0]);
    }
    return invocations <= UINT32_MAX ? (uint32_t)invocations : 0;
}

/* The constant that is decorated as the built-in WorkgroupSize, which goes before execution modes.
 */
static const struct pm_ir_instr *workgroup_size(const struct pm_ir_module *module)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        if (i->opcode == SpvOpDecorate && i->operand_count == 3 &&
            pm_ir_operand_word(&i->operands[1]) == SpvDecorationBuiltIn &&
            pm_ir_operand_word(&i->operands[2]) == SpvBuiltInWorkgroupSize)
            return pm_ir_operand_instr(i, 0);
    return NULL;
}

uint32_t pm_workgroup_invocations(const struct pm_ir_module *module)
{
    const struct pm_ir_instr *size = workgroup_size(module), *parts[3] = {NULL};
    if (size) {
        for (uint32_t i = 0; i < 3 && size->opcode == SpvOpConstantComposite; i++)
            parts[i] = pm_ir_operand_instr(size, i);
        return product(parts);
    }
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_EXECUTION_MODE].first; i;
         i = i->next) {
        uint32_t mode = pm_ir_operand_word(&i->operands[1]);
        uint64_t invocations = 1;
        if (mode == SpvExecutionModeLocalSizeId) {
            for (uint32_t d = 0; d < 3; d++)
                parts[d] = pm_ir_operand_instr(i, 2 + d);
            return product(parts);
        }
        if (mode != SpvExecutionModeLocalSize)
            continue;
        for (uint32_t d = 0; d < 3; d++)
            invocations *= pm_ir_operand_word(&i->operands[2 + d]);
        return invocations <= UINT32_MAX ? (uint32_t)invocations : 0;
    }
    return 0;
}
