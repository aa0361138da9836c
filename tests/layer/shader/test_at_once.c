/* How long the creation of pipelines may take for proven variants (at_once.h). */
#include "layer/shader/at_once.h"

#include "tests/cmocka_includes.h"

#define MS INT64_C(1000000)

static struct pm_ahead ahead;
static struct pm_at_once at_once;

static void begin(uint32_t ms_per_pipeline, uint32_t ms_per_second, uint32_t loading_ms)
{
    pm_ahead_init(&ahead, 20, loading_ms, 1, 0);
    pm_at_once_init(&at_once, ms_per_pipeline, ms_per_second, &ahead, 0);
}

static void finish(void)
{
    pm_at_once_finish(&at_once);
    pm_ahead_finish(&ahead);
}

static int64_t granted(int64_t now)
{
    return pm_at_once_begin(&at_once, false, now).granted;
}

/* Whether a pipeline is made that was to take so long, and takes it, or as long as it really does.
 */
static bool make_at(bool loads, bool worth, int64_t takes, int64_t really, int64_t now)
{
    struct pm_grant grant = pm_at_once_begin(&at_once, loads, now);
    const bool fits = pm_grant_any(&grant) && pm_at_once_fits(&at_once, &grant, takes, worth, now);
    pm_at_once_end(&at_once, &grant, fits ? now + really : now);
    return fits;
}

static bool make(bool loads, int64_t takes)
{
    return make_at(loads, true, takes, takes, 0);
}

static void each_has_so_much(void **unused)
{
    (void)unused;
    begin(2, 20, 0);
    assert_int_equal(granted(0), 2 * MS);
    finish();
    /* What is not spent is there for others. */
    begin(2, 20, 0);
    for (int i = 0; i < 100; i++)
        assert_true(make_at(false, true, 2 * MS, 0, 0));
    assert_false(make(false, 2 * MS + 1));
    finish();
}

static void all_have_so_much_a_second(void **unused)
{
    (void)unused;
    begin(2, 20, 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(granted(0), 2 * MS);
    assert_int_equal(granted(0), 0);
    /* A twentieth of a second later there is a millisecond. */
    assert_in_range(granted(50 * MS), MS - 1, MS);
    /* And after however long not more than a second's. */
    for (int i = 0; i < 10; i++)
        assert_int_equal(granted(3600 * PM_SECOND), 2 * MS);
    assert_int_equal(granted(3600 * PM_SECOND), 0);
    finish();
}

/* What took longer than it was to is made up for. */
static void an_overrun_is_paid_back(void **unused)
{
    (void)unused;
    begin(2, 20, 0);
    assert_true(make_at(false, true, MS, 30 * MS, 0));
    assert_int_equal(granted(0), 0);
    assert_int_equal(granted(400 * MS), 0);
    assert_int_equal(granted(700 * MS), 2 * MS);
    finish();
}

static void none_where_nothing_is_to_be(void **unused)
{
    (void)unused;
    begin(2, 0, 200);
    assert_int_equal(granted(PM_SECOND), 0);
    assert_false(make(true, 1));
    finish();
    begin(0, 20, 0);
    assert_int_equal(granted(PM_SECOND), 0);
    finish();
}

/* While a program loads there is more, once. */
static void loading_has_more(void **unused)
{
    (void)unused;
    begin(2, 20, 100);
    assert_false(make(false, 30 * MS));
    int made = 0;
    while (make(true, 32 * MS))
        made++;
    /* Each takes 30 ms of it, and 2 of the second's. */
    assert_int_equal(made, 3);
    assert_true(make(true, 12 * MS));
    assert_false(make(true, 3 * MS));
    assert_true(make(true, 2 * MS));
    finish();
}

/* Of loading, too, no more is spent than what there is and one overrun. */
static void an_overrun_ends_loading(void **unused)
{
    (void)unused;
    begin(2, 20, 100);
    assert_true(make_at(true, true, 5 * MS, 500 * MS, 0));
    assert_false(make(true, 3 * MS));
    assert_int_equal(granted(0), 2 * MS);
    finish();
}

/* The second half is for what is worth it. */
static void half_of_loading_is_for_the_best(void **unused)
{
    (void)unused;
    begin(0, 20, 100);
    assert_true(make_at(true, false, 40 * MS, 40 * MS, 0));
    assert_false(make_at(true, false, 20 * MS, 20 * MS, 0));
    assert_true(make_at(true, true, 20 * MS, 20 * MS, 0));
    assert_true(make_at(true, true, 40 * MS, 40 * MS, 0));
    finish();
}

/* Waiting for samples leaves what is set aside. */
static void they_have_the_first_right(void **unused)
{
    (void)unused;
    const _Atomic bool never = true;
    begin(0, 20, 40);
    pm_ahead_reserve(&ahead, MS);
    for (int i = 0; i < 3; i++)
        pm_ahead_wait(&ahead, NULL, 0, &never, true);
    assert_false(make(true, 9 * MS));
    assert_true(make(true, 8 * MS));
    assert_false(make(true, MS));
    /* Also where the game loads again. */
    ahead.loading_at -= 60 * PM_SECOND;
    pm_ahead_wait(&ahead, NULL, 0, &never, true);
    assert_true(make(true, 8 * MS));
    finish();
    /* What is less worth takes of the other half. */
    begin(0, 20, 40);
    pm_ahead_reserve(&ahead, MS);
    assert_true(make_at(true, false, 10 * MS, 10 * MS, 0));
    pm_ahead_wait(&ahead, NULL, 0, &never, true);
    assert_true(make(true, 8 * MS));
    finish();
    /* Not more than half. */
    begin(0, 20, 40);
    pm_ahead_reserve(&ahead, PM_SECOND);
    pm_ahead_wait(&ahead, NULL, 0, &never, true);
    assert_false(make(true, 21 * MS));
    assert_true(make(true, 20 * MS));
    finish();
}

/* A driver that compiles on threads of its own lets everything wait; what a busy machine has
 * interrupted says nothing. Where the program draws the last one counts. */
static void what_is_waited_for(void **unused)
{
    (void)unused;
    begin(2, 20, 100);
    assert_int_equal(pm_at_once_wait(&at_once, 9 * MS, true), 9 * MS);
    assert_int_equal(pm_at_once_wait(&at_once, 5 * MS, true), 5 * MS);
    assert_int_equal(pm_at_once_wait(&at_once, 7 * MS, true), 5 * MS);
    assert_int_equal(pm_at_once_wait(&at_once, 7 * MS, false), 7 * MS);
    for (int i = 0; i < PM_WAITS_KNOWN; i++)
        assert_in_range(pm_at_once_wait(&at_once, 8 * MS, true), 5 * MS, 8 * MS);
    assert_int_equal(pm_at_once_wait(&at_once, 8 * MS, true), 8 * MS);
    finish();
}

/* What a thread works, unless that says far too little of how long it takes. */
static void what_took_far_longer_is_known(void **unused)
{
    (void)unused;
    const struct pm_grant grant = {.granted = 2 * MS};
    assert_int_equal(pm_at_once_took(&grant, MS, 0, MS / 2, 2 * MS), MS / 2);
    assert_int_equal(pm_at_once_took(&grant, MS, 0, 3 * MS, 4 * MS), 3 * MS);
    assert_int_equal(pm_at_once_took(&grant, MS / 10, 0, MS / 10, 2 * MS), MS / 10);
    assert_int_equal(pm_at_once_took(&grant, MS / 10, MS, MS / 10, 101 * MS), 100 * MS);
    assert_int_equal(pm_at_once_took(&grant, MS, 0, 9 * MS, 9 * MS), 9 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_so_much),
        cmocka_unit_test(all_have_so_much_a_second),
        cmocka_unit_test(an_overrun_is_paid_back),
        cmocka_unit_test(none_where_nothing_is_to_be),
        cmocka_unit_test(loading_has_more),
        cmocka_unit_test(an_overrun_ends_loading),
        cmocka_unit_test(half_of_loading_is_for_the_best),
        cmocka_unit_test(they_have_the_first_right),
        cmocka_unit_test(what_is_waited_for),
        cmocka_unit_test(what_took_far_longer_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
