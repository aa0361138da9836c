/* Modules made canonical for a test, which fails where they cannot be. */
#pragma once

#include "shader_rewrite/shader_rewrite.h"
#include "tests/cmocka_includes.h"
#include "tests/shader_rewrite/spirv_text.h"

static const struct pm_target vulkan_1_3 = {.vulkan_minor = 3};

static inline bool canonicalize(const struct pm_words *module, enum pm_stage stage,
                                const char *name, const struct pm_spec_value *values, size_t count,
                                struct pm_words *out, struct pm_error *error)
{
    const struct pm_canonicalize_info info = {.words = module->data,
                                              .word_count = module->count,
                                              .stage = stage,
                                              .entry_point = name,
                                              .spec_values = values,
                                              .spec_value_count = count,
                                              .target = vulkan_1_3};
    return pm_canonicalize(&info, out, error);
}

static inline struct pm_words canonical_of(const char *file, const struct pm_spec_value *values,
                                           size_t count)
{
    struct pm_words module = pm_test_assemble_file(file, 3);
    struct pm_words out;
    struct pm_error error = {0};
    if (!canonicalize(&module, PM_STAGE_COMPUTE, "main", values, count, &out, &error))
        fail_msg("%s", error.message);
    pm_words_finish(&module);
    return out;
}

/* Likewise in a stage, of SPIR-V 1.version, without values; *kept says why it is not simplified. */
static inline struct pm_words canonical_in(enum pm_stage stage, const char *file, int version,
                                           struct pm_error *kept)
{
    struct pm_words module = pm_test_assemble_file(file, version), out;
    struct pm_error error = {0};
    const struct pm_canonicalize_info info = {.words = module.data,
                                              .word_count = module.count,
                                              .stage = stage,
                                              .entry_point = "main",
                                              .target = vulkan_1_3,
                                              .kept = kept};
    if (!pm_canonicalize(&info, &out, &error))
        fail_msg("%s", error.message);
    pm_words_finish(&module);
    return out;
}

static inline void assert_same_words(const struct pm_words *a, const struct pm_words *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->data, b->data, a->count * sizeof(uint32_t));
}

static inline void assert_idempotent(const struct pm_words *module)
{
    struct pm_words again;
    struct pm_error error = {0};
    if (!canonicalize(module, PM_STAGE_COMPUTE, "main", NULL, 0, &again, &error))
        fail_msg("%s", error.message);
    assert_same_words(module, &again);
    pm_words_finish(&again);
}
