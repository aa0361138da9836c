/* Whether variants of a shader may be made before it is canonicalized (shader_record.h): its words
 * are only looked at where the driver needs them. */
#include "layer/shader/shader_record.h"

#include "layer/core/layer.h"
#include "layer/shader/pipeline.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
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

int main(void)
{
    char home[256];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_looked_at_where_casts_matter),
    };
    temporary_make(home, sizeof home);
    setenv("XDG_CACHE_HOME", home, 1);
    setenv("XDG_DATA_HOME", home, 1);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    temporary_remove(home);
    return failed;
}
