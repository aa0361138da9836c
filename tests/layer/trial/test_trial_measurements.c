/* The measurements of trials are bounded and given back, whatever becomes of the recordings that
 * have them, and read right whatever the driver lacks (trial.h). */
#include "tests/layer/trial/trying.h"

#include <stdlib.h>

/* When recordings that are not begun anew hold all measurements, calls go untimed, and nothing
 * grows. */
static void pools_are_reused(void **state)
{
    (void)state;
    trying_open(TRYING_ORIGINAL, NULL);
    trying.noise = 0.5;
    enum { BUFFERS = 400, MEASUREMENTS = 256 };
    uint64_t position = trying.h.driver->position();
    trying.h.driver->hold_submissions(true); /* so that no trial is over meanwhile */
    VkCommandBuffer buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < BUFFERS; i++) {
            pm_harness_begin(&trying.h, buffers[i], TRYING_ONCE);
            trying_dispatch(buffers[i]);
            PM_CHECK(trying.h.vk.EndCommandBuffer(buffers[i]));
            pm_harness_submit(&trying.h, trying.h.queue, buffers[i], VK_NULL_HANDLE);
        }
        if (round == 0)
            assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"),
                             2 * MEASUREMENTS);
        trying.h.driver->hold_submissions(false);
        PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    }
    trying_close();
}

static void one_pool(void **state)
{
    (void)state;
    uint64_t position = pm_harness_driver()->position();
    trying_open(80000, NULL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "of render passes"));
    trying_close();
    /* One more is the self-test's. */
    assert_int_equal(pm_calls_of(pm_harness_driver(), position, "vkCreateQueryPool"), 2);
}

/* A recording that is never submitted, and a pool that is reset: what was reserved comes back. */
static void given_up_recordings(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    for (int i = 0; i < 600; i++) {
        pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
        trying_dispatch(buffer);
        PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
        if (i % 2 == 0)
            PM_CHECK(trying.h.vk.ResetCommandPool(trying.h.device, trying.h.pool, 0));
    }
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying_close();
}

/* Nobody binds it any more: its trial sleeps, and draws take the shortest way. */
static void idle_trials_sleep(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 2);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 1200; i++) {
        pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
        pm_harness_run(&trying.h, buffer);
    }
    uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying_close();
}

/* The game destroys a pipeline while its timings are under way. */
static void a_destroyed_pipeline(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    for (int i = 0; i < 40; i++) {
        trying_run_frames(trying_dispatch, TRYING_ONCE, 3);
        trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
        trying.compute = optimized_compute(&trying.h);
    }
    trying_close();
}

static void few_valid_bits_wrap(void **state)
{
    (void)state;
    setenv("PM_NULL_TIMESTAMP_BITS", "20", 1); /* a millisecond */
    trying_open(80000, NULL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

/* Recordings reset their queries themselves, and are read when they are begun anew. */
static void without_host_query_reset(void **state)
{
    (void)state;
    setenv("PM_NULL_WITHOUT_FEATURES", "hostQueryReset", 1);
    trying_open(80000, NULL);
    uint64_t position = trying_third_frame(trying_dispatch, TRYING_ONCE);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdResetQueryPool"), 1);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkResetQueryPool"), 0);
    position = trying_third_frame(trying_draw, TRYING_ONCE);
    assert_true(trying_between(position, trying_position_of(position, "vkCmdBeginRenderPass"),
                               "vkCmdResetQueryPool"));
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "of render passes"));
    trying_close();
}

/* lavapipe may crash where it is asked for timestamps of a submission that is under way, as the
 * null driver says of itself then: only of those that are done. */
static void only_what_is_done_is_asked_for(void **state)
{
    (void)state;
    setenv("PM_NULL_DRIVER_ID", "13", 1);
    trying_open(80000, NULL);
    trying.h.driver->set_delay(2000);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying.h.driver->set_delay(0);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

/* A submission that fails leaves results of an earlier one, which nobody is to take for its own. */
static void a_failed_submission_is_not_read(void **state)
{
    (void)state;
    setenv("PM_NULL_WITHOUT_FEATURES", "hostQueryReset", 1);
    trying_open(80000, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    for (int i = 0; i < 40; i++) {
        trying_frame(buffer, TRYING_ONCE, trying_dispatch);
        pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
        trying_dispatch(buffer);
        PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
        trying.h.driver->inject("vkQueueSubmit:1=-1");
        assert_int_equal(trying.h.vk.QueueSubmit(trying.h.queue, 1, &info, VK_NULL_HANDLE),
                         VK_ERROR_OUT_OF_HOST_MEMORY);
        trying.h.driver->inject("");
    }
    trying_close();
}

/* A recording that was timed is submitted again, though nobody expected it: its queries are reset
 * by itself, and the first result counts. */
static void a_timed_recording_repeats(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t position = 0;
    for (int i = 0; i < 3; i++) {
        position = trying.h.driver->position();
        trying_frame(buffer, 0, trying_dispatch);
    }
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdResetQueryPool"), 1);
    for (int i = 0; i < 5; i++) {
        pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    }
    trying_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(pools_are_reused),
        PM_LAYERED_TEST(one_pool),
        PM_LAYERED_TEST(given_up_recordings),
        PM_LAYERED_TEST(idle_trials_sleep),
        PM_LAYERED_TEST(a_destroyed_pipeline),
        PM_LAYERED_TEST(few_valid_bits_wrap),
        PM_LAYERED_TEST(without_host_query_reset),
        PM_LAYERED_TEST(only_what_is_done_is_asked_for),
        PM_LAYERED_TEST(a_failed_submission_is_not_read),
        PM_LAYERED_TEST(a_timed_recording_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
