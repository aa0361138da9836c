#include "tests/shader_rewrite/preserving.h"

#include "shader_rewrite/ir/ir_builder.h"

#include <string.h>

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

static const char controls2[] = "SPV_KHR_float_controls2";

static bool is_of_controls2(const struct pm_ir_instr *i)
{
    switch (i->opcode) {
    case SpvOpCapability:
        return pm_ir_operand_word(&i->operands[0]) == SpvCapabilityFloatControls2;
    case SpvOpExtension:
        return strcmp(pm_ir_operand_text(&i->operands[0]), controls2) == 0;
    case SpvOpExecutionModeId:
        return pm_ir_operand_word(&i->operands[1]) == SpvExecutionModeFPFastMathDefault;
    default:
        return i->opcode == SpvOpDecorate &&
               pm_ir_operand_word(&i->operands[1]) == SpvDecorationFPFastMathMode;
    }
}

struct pm_words pm_test_without_controls2(const struct pm_words *words)
{
    struct pm_error error = {0};
    struct pm_words without, out;
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    assert_non_null(module);
    for (int s = 0; s < PM_IR_SECTIONS; s++)
        for (struct pm_ir_instr *i = module->sections[s].first, *next; i; i = next) {
            next = i->next;
            if (is_of_controls2(i))
                pm_ir_remove(i);
        }
    if (!pm_ir_emit(module, &without, &error))
        fail_msg("%s", error.message);
    pm_ir_module_destroy(module);
    out = pm_test_preserving(&without);
    pm_words_finish(&without);
    return out;
}
