#include "shader_rewrite/ir/workgroup_size.h"

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

/* The size in one dimension, from a constant; 0: it is not known. */
static uint32_t value_of(const struct pm_ir_instr *constant)
{
    return constant && constant->opcode == SpvOpConstant
               ? pm_ir_operand_word(&constant->operands[0])
               : 0;
}

void pm_workgroup_size(const struct pm_ir_module *module, uint32_t size[static 3])
{
    const struct pm_ir_instr *constant = workgroup_size(module);
    size[0] = size[1] = size[2] = 0;
    if (constant) {
        for (uint32_t d = 0; d < 3 && constant->opcode == SpvOpConstantComposite; d++)
            size[d] = value_of(pm_ir_operand_instr(constant, d));
        return;
    }
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_EXECUTION_MODE].first; i;
         i = i->next) {
        const uint32_t mode = pm_ir_operand_word(&i->operands[1]);
        for (uint32_t d = 0; d < 3 && mode == SpvExecutionModeLocalSizeId; d++)
            size[d] = value_of(pm_ir_operand_instr(i, 2 + d));
        for (uint32_t d = 0; d < 3 && mode == SpvExecutionModeLocalSize; d++)
            size[d] = pm_ir_operand_word(&i->operands[2 + d]);
    }
}

uint32_t pm_workgroup_invocations(const struct pm_ir_module *module)
{
    uint32_t size[3];
    pm_workgroup_size(module, size);
    const uint64_t layer = (uint64_t)size[0] * size[1];
    return layer > 0 && size[2] <= UINT32_MAX / layer ? (uint32_t)(layer * size[2]) : 0;
}
