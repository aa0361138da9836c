#include "shader_rewrite/ir/spirv_tools.h"
#include "shader_rewrite/canonical/canonical.h"

#include <string.h>

/* SPIRV-Tools tells what it does not know only by its words. */
static enum pm_code code_of(spv_result_t result, const char *text)
{
    static const char *const unknown[] = {"Invalid opcode",
                                          "Invalid extended instruction import",
                                          "Invalid capability operand",
                                          "Unknown extension",
                                          "Invalid SPIR-V version",
                                          " operand: "};
    if (result == SPV_ERROR_WRONG_VERSION || result == SPV_ERROR_MISSING_EXTENSION)
        return PM_ERROR_UNSUPPORTED;
    if (result == SPV_ERROR_OUT_OF_MEMORY)
        return PM_ERROR_MEMORY;
    if (result == SPV_ERROR_INVALID_BINARY && text) {
        for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
            if (strstr(text, unknown[i]))
                return PM_ERROR_UNSUPPORTED;
        }
    }
    return PM_ERROR_INPUT;
}

static spv_target_env environment_of(const struct pm_target *target)
{
    switch (target->vulkan_minor) {
    case 0:
        return SPV_ENV_VULKAN_1_0;
    case 1:
        return target->spirv_1_4 ? SPV_ENV_VULKAN_1_1_SPIRV_1_4 : SPV_ENV_VULKAN_1_1;
    case 2:
        return SPV_ENV_VULKAN_1_2;
    default:
        return SPV_ENV_VULKAN_1_3;
    }
}

static bool fail_with(struct pm_error *error, spv_result_t result, const spv_diagnostic diagnostic)
{
    const char *text = diagnostic && diagnostic->error ? diagnostic->error : "no reason given";
    char line[400];
    size_t length = strnlen(text, sizeof line - 1);
    memcpy(line, text, length);
    line[length] = 0;
    for (char *c = line; *c; c++) {
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    }
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = 0;
    /* The parser counts words; the validator counts instructions, as the disassembly counts lines.
     */
    bool words = result == SPV_ERROR_INVALID_BINARY || result == SPV_ERROR_WRONG_VERSION;
    return pm_fail(error, code_of(result, text), "SPIR-V %s %zu: %s",
                   words ? "word" : "instruction", diagnostic ? diagnostic->position.index : 0,
                   line);
}

bool pm_validate(const uint32_t *words, size_t count, const struct pm_target *target,
                 struct pm_error *error)
{
    spv_context context = pm_spirv_context(environment_of(target));
    spv_validator_options options = pm_spirv_options();
    if (!context || !options) {
        spvValidatorOptionsDestroy(options);
        spvContextDestroy(context);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory in SPIRV-Tools' validator");
    }
    spvValidatorOptionsSetRelaxBlockLayout(options, target->relaxed_block_layout ||
                                                        target->vulkan_minor >= 1);
    spvValidatorOptionsSetUniformBufferStandardLayout(options,
                                                      target->uniform_buffer_standard_layout);
    spvValidatorOptionsSetScalarBlockLayout(options, target->scalar_block_layout);
    spvValidatorOptionsSetWorkgroupScalarBlockLayout(options, target->workgroup_explicit_layout &&
                                                                  target->scalar_block_layout);
    /* Whether the device has maintenance4 is between the game and its driver; a module that was
     * accepted uses it lawfully. */
    spvValidatorOptionsSetAllowLocalSizeId(options, true);

    spv_const_binary_t binary = {words, count};
    spv_diagnostic diagnostic = NULL;
    spv_result_t result = pm_spirv_validate(context, options, &binary, &diagnostic);
    bool ok = result == SPV_SUCCESS || fail_with(error, result, diagnostic);
    spvDiagnosticDestroy(diagnostic);
    spvValidatorOptionsDestroy(options);
    spvContextDestroy(context);
    return ok;
}
