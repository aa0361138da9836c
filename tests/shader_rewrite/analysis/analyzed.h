/* A module of text, valid unless told otherwise, whose first function has every analysis. */
#pragma once

#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/cmocka_includes.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdlib.h>

/* Takes the text. `name`: what a failure says. */
static inline struct pm_ir_module *analyzed(char *text, bool valid, const char *name)
{
    struct pm_error error = {0};
    struct pm_words words = pm_test_assemble(text, 3);
    free(text);
    if (valid &&
        !pm_validate(words.data, words.count, &(struct pm_target){.vulkan_minor = 3}, &error))
        fail_msg("%s: %s", name, error.message);
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    pm_words_finish(&words);
    assert_non_null(module);
    assert_true(pm_analysis_require(module->first_function, PM_ANALYSIS_ALL, &error));
    return module;
}
