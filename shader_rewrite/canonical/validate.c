#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/ir/spirv_tools.h"

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

static bool validate_for(spv_target_env environment, const uint32_t *words, size_t count,
                         const struct pm_target *target, struct pm_error *error)
{
    spv_context context = pm_spirv_context(environment);
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

    /* Names are made for all ids at once, and only a reason has any. */
    spvValidatorOptionsSetFriendlyNames(options, false);
    spv_const_binary_t binary = {words, count};
    spv_diagnostic diagnostic = NULL;
    spv_result_t result = pm_spirv_validate(context, options, &binary, &diagnostic);
    if (result != SPV_SUCCESS && result != SPV_ERROR_OUT_OF_MEMORY) {
        spvDiagnosticDestroy(diagnostic);
        diagnostic = NULL;
        spvValidatorOptionsSetFriendlyNames(options, true);
        result = pm_spirv_validate(context, options, &binary, &diagnostic);
    }
    bool ok = result == SPV_SUCCESS || fail_with(error, result, diagnostic);
    spvDiagnosticDestroy(diagnostic);
    spvValidatorOptionsDestroy(options);
    spvContextDestroy(context);
    return ok;
}

bool pm_validate(const uint32_t *words, size_t count, const struct pm_target *target,
                 struct pm_error *error)
{
    return validate_for(environment_of(target), words, count, target, error);
}

/* ---- what only the original breaks ---- */

/* The rule of Vulkan's that the message names, of *length bytes; NULL: it is one of SPIR-V's own.
 */
static const char *rule_of(const struct pm_error *error, size_t *length)
{
    const char *rule = error->code == PM_ERROR_INPUT ? strstr(error->message, "[VUID-") : NULL;
    *length = rule ? strcspn(rule, "]") : 0;
    return rule;
}

static bool is_same_rule(const struct pm_error *a, const struct pm_error *b)
{
    size_t length, other_length;
    const char *rule = rule_of(a, &length), *other = rule_of(b, &other_length);
    return rule && other && length == other_length && memcmp(rule, other, length) == 0;
}

bool pm_validate_original(const uint32_t *words, size_t count, const struct pm_target *target,
                          struct pm_error *broken, struct pm_error *error)
{
    size_t length;
    struct pm_error reason = {0};
    *broken = (struct pm_error){0};
    if (pm_validate(words, count, target, &reason))
        return true;
    if (rule_of(&reason, &length) &&
        validate_for(SPV_ENV_UNIVERSAL_1_6, words, count, target, error)) {
        *broken = reason;
        return true;
    }
    return pm_fail(error, reason.code, "%s", reason.message);
}

bool pm_validate_as_broken(const uint32_t *words, size_t count, const struct pm_target *target,
                           const struct pm_error *broken, struct pm_error *error)
{
    struct pm_error reason = {0};
    if (pm_validate(words, count, target, &reason))
        return true;
    if (is_same_rule(&reason, broken) &&
        validate_for(SPV_ENV_UNIVERSAL_1_6, words, count, target, &reason))
        return true;
    return pm_fail(error, reason.code, "%s", reason.message);
}

bool pm_validate_made(const struct pm_words *made, const uint32_t *words, size_t count,
                      const struct pm_target *target, struct pm_error *error)
{
    struct pm_error broken, reason = {0};
    if (pm_validate(made->data, made->count, target, &reason))
        return true;
    /* Asked only now: nearly every module is valid. */
    size_t length;
    if (rule_of(&reason, &length) && pm_validate_original(words, count, target, &broken, NULL) &&
        pm_validate_as_broken(made->data, made->count, target, &broken, &reason))
        return true;
    return pm_fail(error, reason.code, "%s", reason.message);
}
