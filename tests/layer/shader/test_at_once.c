/* How long the creation of pipelines may take for proven variants (at_once.h). */
#include "layer/shader/at_once.h"

#include "tests/cmocka_includes.h"

#define MS INT64_C(1000000)

static struct pm_at_once at_once;

static void each_has_so_much(void **unused)
{
    (void)unused;
    pm_at_once_init(&at_once, 2, 20, 0);
    assert_int_equal(pm_at_once_begin(&at_once, 0), 2 * MS);
    /* What is not spent is there for others. */
    pm_at_once_end(&at_once, 2 * MS, 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pm_at_once_begin(&at_once, 0), 2 * MS);
        pm_at_once_end(&at_once, 2 * MS, 0);
    }
    pm_at_once_finish(&at_once);
}

static void all_have_so_much_a_second(void **unused)
{
    (void)unused;
    pm_at_once_init(&at_once, 2, 20, 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(pm_at_once_begin(&at_once, 0), 2 * MS);
    assert_int_equal(pm_at_once_begin(&at_once, 0), 0);
    /* A twentieth of a second later there is a millisecond. */
    assert_in_range(pm_at_once_begin(&at_once, 50 * MS), MS - 1, MS);
    /* And after however long not more than a second's. */
    for (int i = 0; i < 10; i++)
        assert_int_equal(pm_at_once_begin(&at_once, 3600 * PM_SECOND), 2 * MS);
    assert_int_equal(pm_at_once_begin(&at_once, 3600 * PM_SECOND), 0);
    pm_at_once_finish(&at_once);
}

/* What took longer than it was to is made up for. */
static void an_overrun_is_paid_back(void **unused)
{
    (void)unused;
    pm_at_once_init(&at_once, 2, 20, 0);
    pm_at_once_end(&at_once, pm_at_once_begin(&at_once, 0), 30 * MS);
    assert_int_equal(pm_at_once_begin(&at_once, 0), 0);
    assert_int_equal(pm_at_once_begin(&at_once, 400 * MS), 0);
    assert_int_equal(pm_at_once_begin(&at_once, 700 * MS), 2 * MS);
    pm_at_once_finish(&at_once);
}

static void none_where_nothing_is_to_be(void **unused)
{
    (void)unused;
    pm_at_once_init(&at_once, 2, 0, 0);
    assert_int_equal(pm_at_once_begin(&at_once, PM_SECOND), 0);
    pm_at_once_finish(&at_once);
    pm_at_once_init(&at_once, 0, 20, 0);
    assert_int_equal(pm_at_once_begin(&at_once, PM_SECOND), 0);
    pm_at_once_finish(&at_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_so_much),
        cmocka_unit_test(all_have_so_much_a_second),
        cmocka_unit_test(an_overrun_is_paid_back),
        cmocka_unit_test(none_where_nothing_is_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
