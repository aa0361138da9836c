/* The numbers that variants have in uploads are the recipes' order, and both lists have the same
 * names and versions. */
#include "profile/variant_point.h"
#include "shader_rewrite/variants/variants.h"

#include "tests/cmocka_includes.h"

static void every_recipe_has_its_number(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < pm_recipe_count(); i++) {
        const struct pm_recipe *recipe = pm_recipe_at(i);
        const struct pm_variant_id id = {.first = {i + 1, recipe->version}};
        char name[PM_VARIANT_POINT_NAME];
        uint32_t point;
        assert_true(pm_variant_point(&id, &point));
        assert_true(pm_variant_is_known(point));
        pm_variant_point_name(point, name);
        assert_string_equal(name, recipe->name);
    }
    assert_null(pm_variant_recipe_name(pm_recipe_count() + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_recipe_has_its_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
