#include "layer/hang_watch.h"

#include "tests/cmocka_includes.h"

#define MS INT64_C(1000000)
#define BEGIN (100 * PM_SECOND)

/* A game with work under way. */
static struct pm_hang_watch begin(void)
{
    struct pm_hang_watch watch = {0};
    pm_hang_watch_submitted(&watch);
    return watch;
}

/* Asks in vain, with so much time between two questions; returns the time of the last one. */
static int64_t ask(struct pm_hang_watch *watch, int64_t from, int64_t interval, int count)
{
    for (int i = 0; i < count; i++)
        pm_hang_watch_answer(watch, from + i * interval, false);
    return from + (count - 1) * interval;
}

static void a_long_wait(void **state)
{
    (void)state;
    struct pm_hang_watch watch = begin();
    assert_false(pm_hang_watch_hangs(&watch, BEGIN));
    pm_hang_watch_wait_begins(&watch, BEGIN);
    assert_false(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG - 1));
    assert_true(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG));
    pm_hang_watch_wait_ends(&watch, BEGIN + PM_HANG, false);
    assert_true(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG));
    pm_hang_watch_answer(&watch, BEGIN + PM_HANG, true);
    assert_false(pm_hang_watch_hangs(&watch, BEGIN + 2 * PM_HANG));
}

static void a_wait_that_ends_well(void **state)
{
    (void)state;
    struct pm_hang_watch watch = begin();
    pm_hang_watch_wait_begins(&watch, BEGIN);
    pm_hang_watch_wait_ends(&watch, BEGIN + 2 * PM_HANG, true);
    assert_false(pm_hang_watch_hangs(&watch, BEGIN + 3 * PM_HANG));
}

static void short_waits_in_a_row(void **state)
{
    (void)state;
    struct pm_hang_watch watch = begin();
    for (int i = 0; i < 30; i++) {
        pm_hang_watch_wait_begins(&watch, BEGIN + i * 100 * MS);
        pm_hang_watch_wait_ends(&watch, BEGIN + (i + 1) * 100 * MS, false);
        assert_int_equal(pm_hang_watch_hangs(&watch, BEGIN + 3600 * PM_SECOND), i + 1 >= 20);
    }
}

static void polling(void **state)
{
    (void)state;
    struct pm_hang_watch watch = begin();
    int64_t last = ask(&watch, BEGIN, 100 * MS, 20);
    assert_false(pm_hang_watch_hangs(&watch, last + 3600 * PM_SECOND)); /* asks no more */
    last = ask(&watch, last + 100 * MS, 100 * MS, 1);
    assert_true(pm_hang_watch_hangs(&watch, last));
    pm_hang_watch_answer(&watch, last, true);
    last = ask(&watch, last, 100 * MS, 20);
    assert_false(pm_hang_watch_hangs(&watch, last));
}

/* A game that draws when something happens. */
static void seldom_questions_are_no_wait(void **state)
{
    (void)state;
    struct pm_hang_watch watch = begin();
    const int64_t last = ask(&watch, BEGIN, 10 * PM_SECOND, 20);
    assert_false(pm_hang_watch_hangs(&watch, last));
    pm_hang_watch_wait_begins(&watch, last + 10 * PM_SECOND);
    assert_false(pm_hang_watch_hangs(&watch, last + 10 * PM_SECOND + 16 * MS));
}

/* One thread waits for what takes long, and frames go on. */
static void another_thread_sees_frames_finish(void **state)
{
    (void)state;
    struct pm_hang_watch watch = begin();
    pm_hang_watch_wait_begins(&watch, BEGIN);
    int64_t now = BEGIN;
    for (; now < BEGIN + 100 * PM_SECOND; now += 16 * MS) {
        pm_hang_watch_wait_begins(&watch, now);
        pm_hang_watch_wait_ends(&watch, now + 8 * MS, true);
        assert_false(pm_hang_watch_hangs(&watch, now + 8 * MS));
    }
    assert_true(pm_hang_watch_hangs(&watch, now + PM_HANG)); /* and then they do not */
}

static void nothing_is_under_way(void **state)
{
    (void)state;
    struct pm_hang_watch watch = begin();
    pm_hang_watch_idle(&watch);
    int64_t last = ask(&watch, BEGIN, 100 * MS, 100);
    pm_hang_watch_submitted(&watch);
    assert_false(pm_hang_watch_hangs(&watch, last));
    last = ask(&watch, last, 100 * MS, 21);
    assert_true(pm_hang_watch_hangs(&watch, last));
    pm_hang_watch_idle(&watch);
    assert_false(pm_hang_watch_hangs(&watch, last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_wait),
        cmocka_unit_test(a_wait_that_ends_well),
        cmocka_unit_test(short_waits_in_a_row),
        cmocka_unit_test(polling),
        cmocka_unit_test(seldom_questions_are_no_wait),
        cmocka_unit_test(another_thread_sees_frames_finish),
        cmocka_unit_test(nothing_is_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
