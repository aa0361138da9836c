#include "profile/variant_parts.h"
#include "tests/cmocka_includes.h"

static void names_come_back(void **state)
{
    (void)state;
    for (uint32_t parts = 1; parts <= PM_PARTS_ALL; parts++) {
        char text[PM_PARTS_TEXT];
        uint32_t back = 0;
        pm_parts_format(parts, text);
        assert_true(pm_parts_parse(text, &back));
        assert_int_equal(back, parts);
    }
}

static void what_is_no_name_is_refused(void **state)
{
    static const char *const wrong[] = {"",       "zero",  "zeros,",     ",zeros", "zeros,,words",
                                        "zeros ", "ZEROS", "zeros words"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t parts;
        assert_false(pm_parts_parse(wrong[i], &parts));
    }
}

static void nothing_has_no_name(void **state)
{
    char text[PM_PARTS_TEXT] = "x";
    (void)state;
    pm_parts_format(0, text);
    assert_string_equal(text, "");
    pm_parts_format(PM_PARTS_ALL, text);
    assert_string_equal(text, "pushed,words,zeros,blocks,recipe,passes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_back),
        cmocka_unit_test(what_is_no_name_is_refused),
        cmocka_unit_test(nothing_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
