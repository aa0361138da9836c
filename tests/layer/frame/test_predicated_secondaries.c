/* Secondary command buffers that a game keeps, whose calls are recorded twice (test_predicated):
 * each execution runs every call once, whatever executes them. */
#include "tests/layer/frame/executing.h"
#include "tests/layer/spooled.h"

#include <stdlib.h>

enum { SECONDARIES = 3, SECONDARY_CALLS = 11, EXECUTIONS = 250 };

static void record_primary(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags,
                           const VkCommandBuffer *secondaries, uint32_t count)
{
    pm_harness_begin(&executing.h, buffer, flags);
    executing.h.vk.CmdExecuteCommands(buffer, count, secondaries);
    PM_CHECK(executing.h.vk.EndCommandBuffer(buffer));
}

static void record_secondaries(VkCommandBuffer *secondaries, VkCommandBufferUsageFlags flags)
{
    const uint64_t position = executing.h.driver->position();
    for (int i = 0; i < SECONDARIES; i++) {
        secondaries[i] = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        executing_record(secondaries[i], flags, SECONDARY_CALLS);
    }
    assert_true(pm_calls_of(executing.h.driver, position, "vkCmdBeginConditionalRenderingEXT") > 0);
}

/* What ran is all of it, once; about a twentieth with a variant, and that was counted. */
static void check_secondaries(uint64_t calls)
{
    assert_int_equal(executing.game + executing.other, calls);
    const uint64_t sampled = executing.other;
    print_message("%lu of %lu calls were sampled\n", (unsigned long)sampled, (unsigned long)calls);
    assert_in_range(sampled, calls * 3 / 100, calls * 7 / 100);
    executing_close();
    assert_int_equal(all_calls(), sampled);
}

/* In one primary that is kept, too, and goes to one queue after the other. */
static void secondary_ones_in_what_is_kept(void **state)
{
    (void)state;
    VkCommandBuffer secondaries[SECONDARIES + 1];
    executing_open("1", "16", "0.05", &(struct pm_harness_options){.queues = 2});
    record_secondaries(secondaries, 0);
    /* One is executed by another, as VK_EXT_nested_command_buffer has it. */
    secondaries[SECONDARIES] = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    record_primary(secondaries[SECONDARIES], 0, secondaries, 1);
    VkCommandBuffer primary = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    record_primary(primary, 0, secondaries + 1, SECONDARIES);
    for (int i = 0; i < EXECUTIONS; i++) {
        pm_harness_submit(&executing.h, executing.h.queues[i % 2], primary, VK_NULL_HANDLE);
        PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queues[i % 2]));
    }
    check_secondaries(EXECUTIONS * SECONDARIES * SECONDARY_CALLS);
}

/* The primary is recorded anew for each submission. */
static void secondary_ones_in_what_is_not(void **state)
{
    (void)state;
    VkCommandBuffer secondaries[SECONDARIES];
    executing_open("1", "16", "0.05", NULL);
    record_secondaries(secondaries, 0);
    VkCommandBuffer primary = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < EXECUTIONS; i++) {
        record_primary(primary, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, secondaries,
                       SECONDARIES);
        executing_submit(primary, 1);
    }
    check_secondaries(EXECUTIONS * SECONDARIES * SECONDARY_CALLS);
}

/* In several primaries, several times in each, and all of them pending: on one queue they have an
 * order. */
static void secondary_ones_in_several(void **state)
{
    (void)state;
    enum { PRIMARIES = 2 };
    VkCommandBuffer secondaries[SECONDARIES], primaries[PRIMARIES];
    executing_open("1", "16", "0.05", NULL);
    record_secondaries(secondaries, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    const VkCommandBuffer twice[] = {secondaries[0], secondaries[1], secondaries[0],
                                     secondaries[2]};
    for (int i = 0; i < PRIMARIES; i++) {
        primaries[i] = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        record_primary(primaries[i], VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, twice, 4);
    }
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = PRIMARIES,
                               .pCommandBuffers = primaries};
    executing.h.driver->set_delay(20);
    for (int i = 0; i < EXECUTIONS; i++) {
        PM_CHECK(executing.h.vk.QueueSubmit(executing.h.queue, 1, &info, VK_NULL_HANDLE));
        if (i % 8 == 7)
            PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queue));
    }
    PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queue));
    executing.h.driver->set_delay(0);
    check_secondaries(EXECUTIONS * PRIMARIES * 4 * SECONDARY_CALLS);
}

/* One that holds calls twice executes one whose sampled calls count in every submission, as its own
 * could be in several queues at once. */
static void what_secondary_ones_execute_is_counted_once(void **state)
{
    (void)state;
    executing_open("1", "16", "0.5", &(struct pm_harness_options){.queues = 2});
    VkCommandBuffer inner = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBuffer outer = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBuffer primary = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = executing.h.driver->position();
    executing_record(inner, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, SECONDARY_CALLS);
    assert_int_equal(pm_calls_of(executing.h.driver, position, "vkCmdBeginConditionalRenderingEXT"),
                     0);
    pm_harness_begin(&executing.h, outer, 0);
    pm_harness_bind_set(&executing.h, outer);
    executing.h.vk.CmdBindPipeline(outer, VK_PIPELINE_BIND_POINT_COMPUTE, executing.h.dispatch);
    for (int i = 0; i < SECONDARY_CALLS; i++)
        executing.h.vk.CmdDispatch(outer, 1, 1, 1);
    executing.h.vk.CmdExecuteCommands(outer, 1, &inner);
    PM_CHECK(executing.h.vk.EndCommandBuffer(outer));
    assert_true(pm_calls_of(executing.h.driver, position, "vkCmdBeginConditionalRenderingEXT") > 0);
    record_primary(primary, 0, &outer, 1);
    executing_submit(primary, EXECUTIONS);
    assert_int_equal(executing.game + executing.other, 2 * EXECUTIONS * SECONDARY_CALLS);
    const uint64_t sampled = executing.other;
    assert_true(sampled > 0);
    executing_close();
    assert_int_equal(all_calls(), sampled);
}

/* They go before what executes them, or with it; whoever comes to their words then finds 0. */
static void secondary_ones_go(void **state)
{
    (void)state;
    setenv("PIECEMEAL_LIMITS_PREDICATES", "8", 1);
    executing_open("1", "16", "0.5", NULL);
    VkCommandBuffer primary = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int round = 0; round < 200; round++) {
        VkCommandBuffer secondary =
            pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        const uint64_t position = executing.h.driver->position();
        executing_record(secondary, 0, 4);
        assert_int_equal(
            pm_calls_of(executing.h.driver, position, "vkCmdBeginConditionalRenderingEXT"), 8);
        record_primary(primary, 0, &secondary, 1);
        executing.game = executing.other = 0;
        executing_submit(primary, 3);
        assert_int_equal(executing.game + executing.other, 12);
        if (round % 2 == 0)
            PM_CHECK(executing.h.vk.ResetCommandBuffer(primary, 0));
        executing.h.vk.FreeCommandBuffers(executing.h.device, executing.h.pool, 1, &secondary);
    }
    executing_close();
    unsetenv("PIECEMEAL_LIMITS_PREDICATES");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(secondary_ones_in_what_is_kept),
        PM_LAYERED_TEST(secondary_ones_in_what_is_not),
        PM_LAYERED_TEST(secondary_ones_in_several),
        PM_LAYERED_TEST(what_secondary_ones_execute_is_counted_once),
        PM_LAYERED_TEST(secondary_ones_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
