#include "shader_rewrite/quirks/quirks.h"

#include "tests/cmocka_includes.h"

#include <stddef.h>
#include <vulkan/vulkan_core.h>

static uint32_t quirks(uint32_t id, uint32_t major, uint32_t minor)
{
    return pm_quirks_of(&(struct pm_driver){id, VK_MAKE_API_VERSION(0, major, minor, 0)});
}

static void who_is_not_known_may_have_all(void **state)
{
    (void)state;
    assert_int_equal(pm_quirks_of(NULL), PM_QUIRKS_ALL);
    assert_int_equal(pm_quirks_of(&(struct pm_driver){0, 7}), PM_QUIRKS_ALL);
}

static void drivers_of_the_table(void **state)
{
    (void)state;
    const uint32_t loops = PM_QUIRK_CHOOSES_AGAIN | PM_QUIRK_LOADS_AGAIN;
    assert_int_equal(quirks(VK_DRIVER_ID_MESA_LLVMPIPE, 22, 3) & loops, loops);
    assert_int_equal(quirks(VK_DRIVER_ID_MESA_LLVMPIPE, 24, 3) & loops, loops);
    assert_int_equal(quirks(VK_DRIVER_ID_MESA_LLVMPIPE, 25, 0),
                     PM_QUIRK_JOINED_LEVELS | PM_QUIRK_HELPERS_LEAVE | PM_QUIRK_SHARES_LEAVING);
    assert_int_equal(quirks(VK_DRIVER_ID_GOOGLE_SWIFTSHADER, 5, 0),
                     loops | PM_QUIRK_FOLDS_UNCAST | PM_QUIRK_UNROLLS_SHORT |
                         PM_QUIRK_UNROLLS_INEXACT | PM_QUIRK_FOLDS_SCALARS);
}

static void exact_ones_are_of_drivers_that_were_seen(void **state)
{
    (void)state;
    assert_false(pm_has_exact_ones(NULL));
    assert_false(pm_has_exact_ones(&(struct pm_driver){0, 7}));
    assert_false(pm_has_exact_ones(&(struct pm_driver){VK_DRIVER_ID_NVIDIA_PROPRIETARY, 7}));
    assert_true(pm_has_exact_ones(&(struct pm_driver){VK_DRIVER_ID_MESA_LLVMPIPE, 7}));
    assert_true(pm_has_exact_ones(&(struct pm_driver){VK_DRIVER_ID_GOOGLE_SWIFTSHADER, 7}));
}

static void mesa_names_its_release_in_words(void **state)
{
    (void)state;
    struct pm_driver driver =
        pm_driver_of(VK_DRIVER_ID_MESA_LLVMPIPE, 1, "Mesa 25.0.7-2 (LLVM 15.0.6)");
    assert_int_equal(driver.version, VK_MAKE_API_VERSION(0, 25, 0, 0));
    driver = pm_driver_of(VK_DRIVER_ID_GOOGLE_SWIFTSHADER, 7, "");
    assert_int_equal(driver.version, 7);
    driver = pm_driver_of(VK_DRIVER_ID_NVIDIA_PROPRIETARY, 8, "550.54.14");
    assert_int_equal(driver.version, 8);
}

/* Of these no quirk was seen: the specification's word is taken. */
static void other_drivers(void **state)
{
    (void)state;
    assert_int_equal(quirks(VK_DRIVER_ID_NVIDIA_PROPRIETARY, 550, 0), 0);
    assert_int_equal(quirks(VK_DRIVER_ID_MESA_RADV, 22, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_not_known_may_have_all),
        cmocka_unit_test(drivers_of_the_table),
        cmocka_unit_test(mesa_names_its_release_in_words),
        cmocka_unit_test(exact_ones_are_of_drivers_that_were_seen),
        cmocka_unit_test(other_drivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
