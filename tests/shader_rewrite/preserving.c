#include "tests/shader_rewrite/preserving.h"

#include "shader_rewrite/ir/ir_builder.h"

#include "tests/cmocka_includes.h"

struct pm_words pm_test_preserving(const struct pm_words *words)
{
    struct pm_error error = {0};
    struct pm_words out;
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    assert_non_null(module);
    pm_ir_require_capability(module, SpvCapabilitySignedZeroInfNanPreserve);
    pm_ir_require_extension(module, "SPV_KHR_float_controls");
    struct pm_ir_def *entry = module->sections[PM_IR_SECTION_ENTRY_POINT].first->operands[1].def;
    pm_ir_insert(&module->sections[PM_IR_SECTION_EXECUTION_MODE], NULL, NULL,
                 pm_ir_instr_with(module, SpvOpExecutionMode, NULL,
                                  PM_IR_ARGS(pm_ir_id(entry),
                                             pm_ir_word(SpvExecutionModeSignedZeroInfNanPreserve),
                                             pm_ir_word(32))));
    if (!pm_ir_emit(module, &out, &error))
        fail_msg("%s", error.message);
    pm_ir_module_destroy(module);
    return out;
}
