#include "aggregator/statistics/steady.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define START 1700000000

static void test_waits(void **state)
{
    (void)state;
    struct pm_steady steady = {0};
    int64_t jump;
    assert_false(pm_steady(&steady, START, 5, &jump));
    assert_int_equal(jump, 0);
    assert_false(pm_steady(&steady, START + PM_STEADY_SECONDS - 1, 4 + PM_STEADY_SECONDS, &jump));
    assert_true(pm_steady(&steady, START + PM_STEADY_SECONDS, 5 + PM_STEADY_SECONDS, &jump));
}

/* What NTP does to it is no jump. */
static void test_corrections(void **state)
{
    (void)state;
    struct pm_steady steady = {0};
    int64_t jump, wall = START;
    pm_steady(&steady, wall, 0, &jump);
    for (int64_t boot = 60; boot < PM_STEADY_SECONDS; boot += 60) {
        wall += boot % 120 == 0 ? 60 + PM_STEADY_SLACK : 60 - PM_STEADY_SLACK;
        assert_false(pm_steady(&steady, wall, boot, &jump));
        assert_int_equal(jump, 0);
    }
    assert_true(pm_steady(&steady, wall, PM_STEADY_SECONDS, &jump));
}

static void test_jumps(void **state)
{
    (void)state;
    static const int64_t jumps[] = {PM_STEADY_SLACK + 1, -PM_STEADY_SLACK - 1, 400 * 86400,
                                    -400 * 86400};
    struct pm_steady steady = {0};
    int64_t jump, wall = START, boot = 0;
    pm_steady(&steady, wall, boot, &jump);
    for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
        wall += PM_STEADY_SECONDS;
        boot += PM_STEADY_SECONDS;
        assert_true(pm_steady(&steady, wall, boot, &jump));
        wall += jumps[i];
        assert_false(pm_steady(&steady, wall, boot, &jump));
        assert_int_equal(jump, jumps[i]);
        assert_false(pm_steady(&steady, wall + 1, boot + 1, &jump));
        assert_int_equal(jump, 0);
        wall++, boot++;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_waits),
                                       cmocka_unit_test(test_corrections),
                                       cmocka_unit_test(test_jumps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
