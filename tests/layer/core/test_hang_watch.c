#include "layer/core/hang_watch.h"

#include "tests/cmocka_includes.h"

#define BEGIN (100 * PM_SECOND)

static const VkFence fences[] = {(VkFence)0x10, (VkFence)0x20};
static const struct pm_hang_question all_work,
    first = {1, &fences[0], false}, second = {1, &fences[1], false}, both = {2, fences, false},
    either = {2, fences, true};
static struct pm_hang_watch watch;

static int set_up(void **state)
{
    (void)state;
    watch = (struct pm_hang_watch){0};
    pm_hang_watch_init(&watch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pm_hang_watch_finish(&watch);
    return 0;
}

static bool hangs_after(const struct pm_hang_question *question, int64_t now)
{
    pm_hang_watch_answer(&watch, question, false, now);
    return pm_hang_watch_hangs(&watch, now);
}

static void a_fence_that_stays_out(void **state)
{
    (void)state;
    pm_hang_watch_submitted(&watch, fences[0], BEGIN);
    assert_false(hangs_after(&first, BEGIN + PM_HANG - 1));
    assert_false(pm_hang_watch_hangs(&watch, BEGIN + 10 * PM_HANG)); /* nobody asked since */
    assert_true(hangs_after(&first, BEGIN + PM_HANG));
    pm_hang_watch_answer(&watch, &first, true, BEGIN + PM_HANG);
    assert_false(pm_hang_watch_hangs(&watch, BEGIN + 2 * PM_HANG));
}

static void a_late_fence_that_is_reset_had_finished(void **state)
{
    (void)state;
    pm_hang_watch_submitted(&watch, fences[0], BEGIN);
    assert_true(hangs_after(&first, BEGIN + PM_HANG));
    pm_hang_watch_reset(&watch, 1, &fences[0]);
    assert_false(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG));
}

/* An acquired image's, or one that nobody has submitted yet. */
static void other_fences_are_no_work(void **state)
{
    (void)state;
    pm_hang_watch_submitted(&watch, VK_NULL_HANDLE, BEGIN);
    assert_false(hangs_after(&first, BEGIN + 10 * PM_HANG));
    pm_hang_watch_submitted(&watch, fences[0], BEGIN);
    pm_hang_watch_reset(&watch, 1, &fences[0]);
    assert_false(hangs_after(&first, BEGIN + 10 * PM_HANG));
    assert_null(pm_hang_watch_wait_begins(&watch, &first, BEGIN));
    pm_hang_watch_submitted(&watch, fences[0], BEGIN);
    assert_false(hangs_after(&both, BEGIN + 10 * PM_HANG));
    assert_null(pm_hang_watch_wait_begins(&watch, &both, BEGIN));
}

static void a_fence_that_finished_long_ago_hides_nothing(void **state)
{
    (void)state;
    pm_hang_watch_submitted(&watch, fences[0], BEGIN);
    pm_hang_watch_submitted(&watch, fences[1], BEGIN + PM_SECOND);
    assert_false(hangs_after(&both, BEGIN + PM_HANG));
    assert_true(hangs_after(&both, BEGIN + PM_SECOND + PM_HANG));
    pm_hang_watch_answer(&watch, &first, true, BEGIN + 2 * PM_HANG);
    assert_true(pm_hang_watch_hangs(&watch, BEGIN + 2 * PM_HANG));
    pm_hang_watch_answer(&watch, &either, true, BEGIN + 2 * PM_HANG); /* which one? */
    assert_true(pm_hang_watch_hangs(&watch, BEGIN + 2 * PM_HANG));
    pm_hang_watch_answer(&watch, &second, true, BEGIN + 2 * PM_HANG);
    assert_false(pm_hang_watch_hangs(&watch, BEGIN + 2 * PM_HANG));
}

static void all_that_was_waited_for_has_finished(void **state)
{
    (void)state;
    const struct pm_hang_question *const seen[] = {&all_work, &both};
    for (int i = 0; i < 2; i++) {
        pm_hang_watch_submitted(&watch, fences[0], BEGIN);
        pm_hang_watch_submitted(&watch, fences[1], BEGIN);
        assert_true(hangs_after(&either, BEGIN + PM_HANG));
        pm_hang_watch_answer(&watch, seen[i], true, BEGIN + PM_HANG);
        assert_false(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG));
    }
}

static void a_wait_under_way(void **state)
{
    (void)state;
    const struct pm_hang_question *const questions[] = {&first, &all_work};
    pm_hang_watch_submitted(&watch, fences[0], BEGIN - PM_HANG);
    for (int i = 0; i < 2; i++) {
        _Atomic int64_t *wait = pm_hang_watch_wait_begins(&watch, questions[i], BEGIN);
        assert_non_null(wait);
        assert_false(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG - 1));
        assert_true(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG));
        pm_hang_watch_wait_ends(wait);
        assert_false(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG));
    }
}

/* Whatever other threads see finish. */
static void a_wait_beside_others(void **state)
{
    (void)state;
    _Atomic int64_t *long_one = pm_hang_watch_wait_begins(&watch, &all_work, BEGIN);
    for (int64_t now = BEGIN; now < BEGIN + PM_HANG; now += PM_SECOND / 60) {
        assert_false(pm_hang_watch_hangs(&watch, now));
        pm_hang_watch_submitted(&watch, fences[0], now);
        pm_hang_watch_wait_ends(pm_hang_watch_wait_begins(&watch, &first, now));
        pm_hang_watch_answer(&watch, &first, true, now);
        pm_hang_watch_reset(&watch, 1, &fences[0]);
    }
    assert_true(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG));
    pm_hang_watch_wait_ends(long_one);
    assert_false(pm_hang_watch_hangs(&watch, BEGIN + PM_HANG));
}

static void more_waits_than_are_watched(void **state)
{
    (void)state;
    _Atomic int64_t *waits[PM_HANG_WAITS];
    for (int i = 0; i < PM_HANG_WAITS; i++)
        assert_non_null(waits[i] = pm_hang_watch_wait_begins(&watch, &all_work, BEGIN));
    assert_null(pm_hang_watch_wait_begins(&watch, &all_work, BEGIN));
    pm_hang_watch_wait_ends(NULL);
    pm_hang_watch_wait_ends(waits[3]);
    assert_ptr_equal(pm_hang_watch_wait_begins(&watch, &all_work, BEGIN), waits[3]);
}

#define WATCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(a_fence_that_stays_out),
        WATCH_TEST(a_late_fence_that_is_reset_had_finished),
        WATCH_TEST(other_fences_are_no_work),
        WATCH_TEST(a_fence_that_finished_long_ago_hides_nothing),
        WATCH_TEST(all_that_was_waited_for_has_finished),
        WATCH_TEST(a_wait_under_way),
        WATCH_TEST(a_wait_beside_others),
        WATCH_TEST(more_waits_than_are_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
