/* What a shader is owed, and which calls are taken for it. */
#include "layer/shader/owed.h"
#include "tests/cmocka_includes.h"

#include "base/random.h"

static struct pm_random randoms;

/* So many calls that might be taken, of a heartbeat. Returns how many are. */
static uint32_t take(struct pm_owed *owed, uint64_t window, uint64_t heartbeat, uint32_t calls)
{
    const uint64_t when = pm_owed_when(window, heartbeat);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < calls && pm_owed_any(owed, when); i++) {
        if (pm_owed_draw(owed, when, pm_random_next(&randoms))) {
            pm_owed_pay(owed);
            taken++;
        }
    }
    return taken;
}

/* Whether few or many come: as many as are owed, but for what is of the last frames. */
static void all_are_taken(void **state)
{
    (void)state;
    enum { HEARTBEATS = 1000 };
    static const struct {
        uint32_t every; /* so many heartbeats */
        uint32_t added, chances;
    } cases[] = {{1, 4, 7}, {1, 40, 70}, {13, 1, 1}, {10, 4, 7}};
    pm_random_init(&randoms, 3);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pm_owed owed = {0};
        uint32_t taken = 0, added = 0;
        for (uint32_t beat = 0; beat < HEARTBEATS; beat++) {
            if (beat % cases[i].every != 0)
                continue;
            pm_owed_add(&owed, pm_owed_when(1, beat), cases[i].added);
            added += cases[i].added;
            taken += take(&owed, 1, beat, cases[i].chances);
        }
        print_message("%u of %u taken\n", taken, added);
        assert_int_equal(taken + owed.calls, added);
        assert_true(owed.calls <= 8 * PM_OWED_PERIOD * cases[i].added / cases[i].every + 8);
    }
}

/* Where none can be taken for long, no more is owed than of some seconds; and later it is over. */
static void what_is_owed_is_bounded(void **state)
{
    (void)state;
    struct pm_owed few = {0}, many = {0};
    for (uint32_t beat = 0; beat < 10000; beat++) {
        if (beat % 10 == 0)
            pm_owed_add(&few, pm_owed_when(1, beat), 1);
        pm_owed_add(&many, pm_owed_when(1, beat), 100);
    }
    assert_in_range(few.calls, PM_OWED_CALLS, PM_OWED_CALLS + PM_OWED_PERIODS);
    assert_in_range(many.calls, 100 * PM_OWED_PERIOD * (PM_OWED_PERIODS - 1),
                    100 * PM_OWED_PERIOD * (PM_OWED_PERIODS + 1));
    /* Each is paid once, and no more. */
    pm_random_init(&randoms, 4);
    uint32_t taken = 0;
    const uint32_t owed = few.calls;
    for (uint32_t beat = 10000; beat < 20000; beat++)
        taken += take(&few, 1, beat, 1);
    assert_int_equal(taken, owed);
    assert_int_equal(few.calls, 0);
    assert_false(pm_owed_any(&few, pm_owed_when(1, 20000)));
}

/* What a window leaves is not the next one's, and what is told late is nobody's. */
static void it_ends_with_its_window(void **state)
{
    (void)state;
    struct pm_owed owed = {0};
    pm_random_init(&randoms, 5);
    for (uint32_t beat = 0; beat < 100; beat++)
        pm_owed_add(&owed, pm_owed_when(1, beat), 3);
    assert_true(pm_owed_any(&owed, pm_owed_when(1, 100)));
    assert_false(pm_owed_any(&owed, pm_owed_when(2, 100)));
    for (uint32_t beat = 100; beat < 200; beat++)
        assert_int_equal(take(&owed, 2, beat, 10), 0);
    pm_owed_add(&owed, pm_owed_when(2, 200), 1);
    assert_int_equal(owed.calls, 1);
    pm_owed_add(&owed, pm_owed_when(1, 100), 5);
    assert_int_equal(owed.calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_taken),
        cmocka_unit_test(what_is_owed_is_bounded),
        cmocka_unit_test(it_ends_with_its_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
