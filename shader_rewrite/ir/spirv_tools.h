/*
 * SPIRV-Tools' C interface, for C: its header defines a constant that C, unlike C++, gives external linkage, so that
 * two files including it would not link. Weak, they may.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef __cplusplus
extern const uint32_t kDefaultMaxIdBound __attribute__((weak));
#endif

#include <spirv-tools/libspirv.h>

/*
 * The calls of that interface which allocate: they are C++ inside and let std::bad_alloc out, which would end the
 * game. These do not; they say SPV_ERROR_OUT_OF_MEMORY or NULL. The callbacks must not throw.
 */
#ifdef __cplusplus
extern "C" {
#endif
spv_context pm_spirv_context(spv_target_env environment);
spv_validator_options pm_spirv_options(void);
spv_result_t pm_spirv_parse(spv_const_context context, void *user, const uint32_t *words, size_t count,
                            spv_parsed_header_fn_t header, spv_parsed_instruction_fn_t instruction,
                            spv_diagnostic *diagnostic);
spv_result_t pm_spirv_validate(spv_const_context context, spv_const_validator_options options,
                               spv_const_binary binary, spv_diagnostic *diagnostic);
#ifdef __cplusplus
}
#endif
