/* Whether variants of a shader may be made: before it is canonicalized (shader_record.h) its words
 * are only looked at where the driver needs them; then what the driver's compiler may crash on is
 * left alone, and so is what was made like that (shader_words.h). */
#include "layer/shader/shader_record.h"

#include "layer/core/layer.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/shader_words.h"
#include "leaving.comp.h"
#include "shader_rewrite/canonical/canonical.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <stdio.h>
#include <stdlib.h>

/* Of a shader that nobody can read: a constant has a size that there is not. */
static bool is_allowed(VkDriverId driver)
{
    const VkSpecializationMapEntry entry = {.size = 3};
    const VkSpecializationInfo constants = {1, &entry, 3, "abc"};
    const struct pm_shader_request request = {.specialization = &constants};
    struct pm_instance instance = {0};
    struct pm_device device = {.instance = &instance};
    device.abilities.driver_id = driver;
    struct pm_shader_records *records = pm_shader_records_create(&device);
    assert_non_null(records);
    const bool allowed = pm_shader_records_allow(records, &request);
    pm_shader_records_destroy(records);
    return allowed;
}

static void words_are_looked_at_where_casts_matter(void **state)
{
    (void)state;
    assert_true(is_allowed(VK_DRIVER_ID_MESA_RADV));
    assert_false(is_allowed(VK_DRIVER_ID_GOOGLE_SWIFTSHADER));
    assert_false(is_allowed((VkDriverId)0));
}

static bool may_be_changed(VkDriverId driver, const char *driver_info)
{
    struct pm_instance instance = {0};
    struct pm_device device = {.instance = &instance};
    const struct pm_canonicalize_info info = {.words = leaving_comp,
                                              .word_count = sizeof leaving_comp / sizeof(uint32_t),
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = {.vulkan_minor = 1}};
    struct pm_words canonical;
    struct pm_error error = {0};
    device.abilities.driver_id = driver;
    snprintf(device.abilities.driver_info, sizeof device.abilities.driver_info, "%s", driver_info);
    assert_true(pm_canonicalize(&info, &canonical, &error));
    const bool may = pm_shader_may_be_changed(&device, &canonical, &error);
    assert_int_equal(error.code, may ? PM_OK : PM_ERROR_UNSUPPORTED);
    assert_int_equal(pm_shader_may_be_compiled(&device, &canonical), may);
    pm_words_finish(&canonical);
    return may;
}

static void what_may_crash_the_compiler_is_left_alone(void **state)
{
    (void)state;
    assert_true(may_be_changed(VK_DRIVER_ID_MESA_RADV, "Mesa 25.0.7"));
    assert_true(may_be_changed(VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 22.3.6 (LLVM 15.0.6)"));
    assert_false(may_be_changed(VK_DRIVER_ID_MESA_LLVMPIPE, "Mesa 25.0.7 (LLVM 15.0.6)"));
    assert_false(may_be_changed((VkDriverId)0, ""));
}

int main(void)
{
    char home[256];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_looked_at_where_casts_matter),
        cmocka_unit_test(what_may_crash_the_compiler_is_left_alone),
    };
    temporary_make(home, sizeof home);
    setenv("XDG_CACHE_HOME", home, 1);
    setenv("XDG_DATA_HOME", home, 1);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    temporary_remove(home);
    return failed;
}
