/* SPIR-V assembly as a module, for tests. */
#pragma once

#include "shader_rewrite/ir/ir_module.h"
#include "tests/cmocka_includes.h"
#include "tests/shader_rewrite/corpus_files.h"
#include <stdlib.h>

/* Assembles for SPIR-V 1.3; the test fails where the text is wrong. The caller destroys it. */
static inline struct pm_ir_module *parsed_text(const char *text)
{
    uint32_t *words;
    size_t count;
    corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words, count, &error);
    free(words);
    if (!module)
        fail_msg("%s", error.message);
    return module;
}
