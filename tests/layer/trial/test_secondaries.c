/* Trials in secondary command buffers, in turn: where single calls can be timed in them (trial.h).
 */
#include "tests/layer/trial/secondary_frames.h"
#include "tests/patience.h"

static void frame_anew(VkCommandBufferUsageFlags flags)
{
    secondary_record(flags);
    secondary_record_primary(TRYING_ONCE);
    secondary_submit();
}

static void try_in_turn(VkCommandBufferUsageFlags flags)
{
    uint64_t until = 0;
    while (optimized_logged("is used from now on") == 0 && patience(&until))
        for (int i = 0; i < 4; i++)
            frame_anew(flags);
    assert_true(optimized_logged("is used from now on") > 0);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

static void dispatches(void **state)
{
    static const VkCommandBufferUsageFlags flags[] = {TRYING_ONCE, 0, SECONDARY_SIMULTANEOUS};
    for (int i = 0; i < 3; i++) {
        trying.dispatches = true;
        trying_open(80000, NULL);
        secondary_allocate(false);
        try_in_turn(flags[i]);
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
    }
}

static void draws(void **state)
{
    (void)state;
    trying.additive = true;
    trying_open(80000, NULL);
    secondary_allocate(true);
    try_in_turn(TRYING_ONCE);
}

/* What was never executed, or executed in what was never submitted, is not waited for. */
static void what_never_ran(void **state)
{
    (void)state;
    trying.dispatches = true;
    trying_open(80000, NULL);
    secondary_allocate(false);
    for (int i = 0; i < 600; i++) {
        secondary_record(TRYING_ONCE);
        if (i % 2 == 0)
            secondary_record_primary(TRYING_ONCE);
    }
    try_in_turn(TRYING_ONCE);
}

static void assert_untried(VkCommandBufferUsageFlags flags)
{
    const uint64_t position = trying.h.driver->position();
    for (int i = 0; i < 8; i++)
        frame_anew(flags);
    assert_int_equal(trying_foreign_binds(position), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
}

/* Where its queries could not be reset between two executions, or between two queues. */
static void not_what_may_run_twice(void **state)
{
    (void)state;
    trying.dispatches = true;
    trying_open(80000, NULL);
    secondary_allocate(false);
    assert_untried(TRYING_ONCE | SECONDARY_SIMULTANEOUS);
    trying_close();
    pm_layered_tear_down(state);
    pm_layered_set_up(state);
    trying.dispatches = true;
    trying_open(80000, &(struct pm_harness_options){.queues = 2});
    secondary_allocate(false);
    assert_untried(SECONDARY_SIMULTANEOUS);
    trying_close();
}

static uint32_t times_of_rendering(VkCommandBufferUsageFlags flags)
{
    const uint64_t position = trying.h.driver->position();
    for (int i = 0; i < 8; i++) {
        secondary_record_rendering(flags);
        secondary_record_primary(TRYING_ONCE);
        secondary_submit();
    }
    return (uint32_t)pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp");
}

/* What one renders by itself is timed as elsewhere, but for what may run twice. */
static void rendering_of_its_own(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    secondary_allocate(false);
    assert_int_equal(times_of_rendering(TRYING_ONCE | SECONDARY_SIMULTANEOUS), 0);
    assert_true(times_of_rendering(TRYING_ONCE) > 0);
    trying_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(dispatches),           PM_LAYERED_TEST(draws),
        PM_LAYERED_TEST(what_never_ran),       PM_LAYERED_TEST(not_what_may_run_twice),
        PM_LAYERED_TEST(rendering_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
