/* `piecemeal pause`: meanwhile the game's own shaders alone are bound, proven variants as little as
 * those that are tried, and nothing is timed or judged; afterwards trials and contests go on. Over
 * sessions: test_session_trials.c. */
#include "tests/layer/trial/trying.h"

#include "tests/patience.h"

enum {
    FEW = 4,
    MORE_THAN_IDLE = 700, /* frames, after which a trial that nobody uses would sleep */
};

/* Frames in which all variants take much longer: none is bound, and nothing is timed. */
static void pause_for_long(trying_recorder record)
{
    const uint64_t cost = trying.variant_cost;
    trying_pause(true);
    trying.variant_cost = 10 * TRYING_ORIGINAL;
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(record, TRYING_ONCE, MORE_THAN_IDLE);
    assert_int_equal(trying_foreign_binds(position), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying.variant_cost = cost;
    trying_pause(false);
}

static bool is_tried(trying_recorder record)
{
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(record, TRYING_ONCE, FEW);
    return trying_foreign_binds(position) > 0 &&
           pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp") > 0;
}

/* Variants that few frames bind. */
static uint32_t foreign_binds(void)
{
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, FEW);
    return trying_foreign_binds(position);
}

static void a_trial_stops_and_goes_on(void **state)
{
    (void)state;
    trying.dispatches = true;
    trying_open(80000, NULL);
    assert_true(is_tried(trying_dispatch));
    pause_for_long(trying_dispatch);
    optimized_assert_logged("tried a specialized shader", 0);
    assert_true(is_tried(trying_dispatch));
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    /* Nor is one bound of which binds know that it stands. */
    assert_int_equal(foreign_binds(), FEW);
    trying_pause(true);
    assert_int_equal(foreign_binds(), 0);
    trying_pause(false);
    assert_int_equal(foreign_binds(), FEW);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

static void a_contest_stops_and_goes_on(void **state)
{
    (void)state;
    uint64_t until = 0;
    trying_open_contests(NULL);
    trying.compute = optimized_compute(&trying.h);
    trying.variant_cost = 80000;
    trying_costs();
    while (!is_tried(trying_dispatch) && patience(&until))
        ;
    pause_for_long(trying_dispatch);
    optimized_assert_logged("the fastest is", 0);
    optimized_assert_logged("none is faster", 0);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "the fastest is"));
    trying.h.driver->set_cost(NULL, NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    trying_close_contests();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_trial_stops_and_goes_on),
        PM_LAYERED_TEST(a_contest_stops_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
