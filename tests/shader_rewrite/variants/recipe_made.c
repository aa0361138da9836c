#include "tests/shader_rewrite/variants/recipe_made.h"

#include "base/file.h"
#include "shader_rewrite/quirks/quirks.h"
#include "tests/cmocka_includes.h"

#include <stdio.h>

const struct pm_target recipe_target = {.vulkan_minor = 1};

struct pm_words recipe_canonical(const uint32_t *words, size_t count)
{
    struct pm_words out;
    struct pm_error error;
    const struct pm_canonicalize_info info = {.words = words,
                                              .word_count = count,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = recipe_target};
    if (!pm_canonicalize(&info, &out, &error))
        fail_msg("%s", error.message);
    return out;
}

struct pm_words recipe_subject(const char *name)
{
    char path[512];
    struct pm_buffer file;
    struct pm_error error;
    snprintf(path, sizeof path, PM_TEST_RECIPE_SUBJECTS "/%s.comp.spv", name);
    pm_buffer_init(&file, 1 << 20);
    if (!pm_file_read(path, &file, &error))
        fail_msg("%s", error.message);
    struct pm_words out =
        recipe_canonical((const uint32_t *)(const void *)file.data, file.size / sizeof(uint32_t));
    pm_buffer_finish(&file);
    return out;
}

struct pm_words recipe_make_for(const struct pm_words *canonical, const char *name,
                                const char *second, const struct pm_driver *driver)
{
    const struct pm_variant_info info = {
        .choice = {pm_recipe_find(name), second ? pm_recipe_find(second) : NULL},
        .target = recipe_target,
        .driver = driver};
    struct pm_words out;
    struct pm_error error;
    assert_non_null(info.choice.recipe);
    assert_true(!second || info.choice.second);
    if (!pm_make_variant(canonical->data, canonical->count, &info, &out, &error))
        fail_msg("%s: %s", name, error.message);
    return out;
}

struct pm_words recipe_make(const struct pm_words *canonical, const char *name, const char *second)
{
    const struct pm_driver driver = {.id = 4}; /* NVIDIA's */
    return recipe_make_for(canonical, name, second, &driver);
}
