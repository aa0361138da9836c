#include "shader_rewrite/ir/spirv_tools.h"

extern "C" spv_context pm_spirv_context(spv_target_env environment)
{
    try {
        return spvContextCreate(environment);
    } catch (...) {
        return nullptr;
    }
}

extern "C" spv_validator_options pm_spirv_options(void)
{
    try {
        return spvValidatorOptionsCreate();
    } catch (...) {
        return nullptr;
    }
}

extern "C" spv_result_t pm_spirv_parse(spv_const_context context, void *user, const uint32_t *words,
                                       size_t count, spv_parsed_header_fn_t header,
                                       spv_parsed_instruction_fn_t instruction,
                                       spv_diagnostic *diagnostic)
{
    try {
        return spvBinaryParse(context, user, words, count, header, instruction, diagnostic);
    } catch (...) {
        return SPV_ERROR_OUT_OF_MEMORY;
    }
}

extern "C" spv_result_t pm_spirv_validate(spv_const_context context,
                                          spv_const_validator_options options,
                                          spv_const_binary binary, spv_diagnostic *diagnostic)
{
    try {
        return spvValidateWithOptions(context, options, binary, diagnostic);
    } catch (...) {
        return SPV_ERROR_OUT_OF_MEMORY;
    }
}
