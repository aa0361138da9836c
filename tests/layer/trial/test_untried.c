/* Where specialized variants are not tried (HAZARDS 11, 12, 14; trial.h). */
#include "tests/layer/trial/trying.h"

#include <stdlib.h>

static void assert_untried(uint64_t since)
{
    assert_int_equal(trying_foreign_binds(since), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, since, "vkCmdWriteTimestamp"), 0);
}

static void without_valid_bits(void **state)
{
    (void)state;
    uint64_t position = pm_harness_driver()->position();
    setenv("PM_NULL_TIMESTAMP_BITS", "0", 1);
    trying_open(80000, NULL);
    trying_third_frame(trying_dispatch, TRYING_ONCE);
    trying_third_frame(trying_draw, TRYING_ONCE);
    assert_untried(position);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCreateQueryPool"), 0);
    trying_close();
    trying_assert_no_timing();
}

static void without_the_kind(void **state)
{
    (void)state;
    uint64_t position = pm_harness_driver()->position();
    trying.kinds = "block";
    trying_open(80000, NULL);
    trying_third_frame(trying_dispatch, TRYING_ONCE);
    trying_third_frame(trying_draw, TRYING_ONCE);
    assert_untried(position);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCreateQueryPool"), 0);
    trying_close();
}

/* Recorded once and submitted often: it cannot alternate. */
static void recordings_that_repeat(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    uint64_t position = trying.h.driver->position();
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 4; i++) {
        pm_harness_begin(&trying.h, buffer, 0);
        trying_dispatch(buffer);
        trying_draw(buffer);
        PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
        for (int j = 0; j < 3; j++) {
            pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
            PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
        }
    }
    assert_untried(position);
    trying_close();
}

/* Of another size each time: no pair is whole. */
static void dispatch_another(VkCommandBuffer buffer)
{
    trying.groups++;
    trying_dispatch(buffer);
}

static void assert_no_sessions_after(int dispatches, int others)
{
    enum { KEPT = 40 };
    trying.dispatches = true;
    trying_open(80000, NULL);
    VkCommandBuffer kept = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, kept, 0);
    PM_CHECK(trying.h.vk.EndCommandBuffer(kept));
    for (int i = 0; i < KEPT; i++) {
        pm_harness_submit(&trying.h, trying.h.queue, kept, VK_NULL_HANDLE);
        PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    }
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(dispatch_another, TRYING_ONCE, dispatches);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"),
                     2 * (uint64_t)dispatches);
    trying_run_frames(trying_nothing, TRYING_ONCE, others);
    trying_close();
    optimized_assert_logged("cannot be timed in turn", 0);
}

/* What is timed in turn is nothing for sessions, though recordings are kept: whether it falls idle
 * or the session ends before a pair is whole. */
static void what_has_no_pair_yet(void **state)
{
    (void)state;
    assert_no_sessions_after(1, 700);
    assert_no_sessions_after(12, 0);
}

/* Statistics of a pipeline must not be a variant's. */
static void inside_queries(void **state)
{
    (void)state;
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    trying_open(80000, &(struct pm_harness_options){.features = &features});
    const VkQueryPool pool = pm_harness_make_statistics(&trying.h);
    uint64_t position = trying.h.driver->position();
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 8; i++) {
        pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
        trying.h.vk.CmdResetQueryPool(buffer, pool, 0, 1);
        trying.h.vk.CmdBeginQuery(buffer, pool, 0, 0);
        trying_dispatch(buffer);
        trying.h.vk.CmdEndQuery(buffer, pool, 0);
        pm_harness_run(&trying.h, buffer);
    }
    assert_untried(position);
    trying.h.vk.DestroyQueryPool(trying.h.device, pool, NULL);
    trying_close();
}

static void a_lost_device(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 3);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
    trying_dispatch(buffer);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    trying.h.driver->inject("vkQueueSubmit:1=-4");
    assert_int_equal(trying.h.vk.QueueSubmit(trying.h.queue, 1, &info, VK_NULL_HANDLE),
                     VK_ERROR_DEVICE_LOST);
    uint64_t position = trying.h.driver->position();
    pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
    trying_dispatch(buffer);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    assert_untried(position);
    trying_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(without_valid_bits),     PM_LAYERED_TEST(without_the_kind),
        PM_LAYERED_TEST(recordings_that_repeat), PM_LAYERED_TEST(what_has_no_pair_yet),
        PM_LAYERED_TEST(inside_queries),         PM_LAYERED_TEST(a_lost_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
