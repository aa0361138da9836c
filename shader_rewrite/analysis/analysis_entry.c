#include "shader_rewrite/analysis/analysis_entry.h"

struct pm_ir_function *pm_entry_function(const struct pm_ir_module *module, enum pm_stage *stage,
                                         struct pm_error *error)
{
    const struct pm_ir_instr *entry = module->sections[PM_IR_SECTION_ENTRY_POINT].first;
    if (!entry || entry->next) {
        pm_fail(error, PM_ERROR_INPUT,
                "SPIR-V: a canonical module has one entry point, this has %s",
                entry ? "several" : "none");
        return NULL;
    }
    uint32_t model = pm_ir_operand_word(&entry->operands[0]);
    if (model != SpvExecutionModelFragment && model != SpvExecutionModelGLCompute) {
        pm_fail(error, PM_ERROR_UNSUPPORTED,
                "SPIR-V: execution model %u is neither Fragment nor GLCompute", model);
        return NULL;
    }
    struct pm_ir_function *function =
        pm_ir_function_of(module, pm_ir_operand_id(&entry->operands[1]));
    if (!function || !function->first_block) {
        pm_fail(error, PM_ERROR_INPUT, "SPIR-V: the entry point names no function with a body");
        return NULL;
    }
    *stage = model == SpvExecutionModelFragment ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE;
    return function;
}
