/* The recipes and what they are called, one or two together, with a subgroup size. */
#include "shader_rewrite/variants/variants.h"

#include <ctype.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static void test_table(void **state)
{
    (void)state;
    bool kinds[PM_RECIPE_BLOCKS + 1] = {false};
    assert_true(pm_recipe_count() >= 24);
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        const struct pm_recipe *recipe = pm_recipe_at(r);
        assert_ptr_equal(pm_recipe_find(recipe->name), recipe); /* so no name is there twice */
        assert_true(recipe->version > 0);
        assert_true(strlen(recipe->what) > 0 && strlen(pm_recipe_kind_name(recipe->kind)) > 0);
        for (const char *c = recipe->name; *c; c++)
            assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '-');
        kinds[recipe->kind] = true;
    }
    for (size_t k = 0; k < sizeof kinds; k++)
        assert_true(kinds[k]);
    assert_null(pm_recipe_at(pm_recipe_count()));
    assert_null(pm_recipe_find("no-such-recipe"));
}

static void assert_named(const char *name)
{
    struct pm_variant_choice choice;
    char again[PM_VARIANT_NAME];
    assert_true(pm_variant_parse(name, &choice));
    pm_variant_name(&choice, again);
    assert_string_equal(again, name);
}

static void test_names(void **state)
{
    (void)state;
    struct pm_variant_choice choice;
    assert_named("hoist");
    assert_named("hoist+strength");
    assert_named("subgroup-16");
    assert_named("hoist+subgroup-64");
    assert_true(pm_variant_parse("hoist+strength", &choice));
    assert_ptr_equal(choice.recipe, pm_recipe_find("hoist"));
    assert_ptr_equal(choice.second, pm_recipe_find("strength"));
    static const char *const wrong[] = {"",
                                        "+",
                                        "hoist+",
                                        "+hoist",
                                        "hoist+none",
                                        "hoist+strength+hoist",
                                        "hoist,strength",
                                        "subgroup-16+hoist",
                                        "subgroup-0",
                                        "subgroup-24",
                                        "subgroup-",
                                        "subgroup-16x",
                                        "subgroup-016",
                                        "subgroup--8"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(pm_variant_parse(wrong[i], &choice));
    /* All fit. */
    for (uint32_t a = 0; a < pm_recipe_count(); a++)
        for (uint32_t b = 0; b < pm_recipe_count(); b++)
            assert_true(strlen(pm_recipe_at(a)->name) + strlen(pm_recipe_at(b)->name) + 2 <=
                        PM_VARIANT_NAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
