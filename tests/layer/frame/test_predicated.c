/* Recordings that a game keeps, where calls are recorded twice under opposite predicates (HAZARDS
 * 12): exactly one of the two runs in every submission, outside windows the game's, and inside as
 * often the variant's as where everything is recorded anew. */
#include "profile/session_status.h"
#include "tests/layer/layered.h"
#include "tests/layer/pipelines.h"
#include "tests/layer/spooled.h"
#include "tests/patience.h"

#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

/* By what the driver executed. */
static struct executed {
    uint64_t game, other;
} executed;

static uint64_t count_executed(void *user, VkPipeline pipeline)
{
    (void)user;
    if (pipeline == h.dispatch || pipeline == h.graphics)
        executed.game++;
    else
        executed.other++;
    return 0;
}

static void open_with(const char *window, const char *frames, const char *probability,
                      const struct pm_harness_options *options)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all(probability);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", window, 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", frames, 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    pm_harness_open(&h, options);
    h.driver->set_cost(count_executed, NULL);
    executed = (struct executed){0};
}

static void close_all(void)
{
    PM_CHECK(h.vk.DeviceWaitIdle(h.device));
    pm_harness_close(&h);
    pm_harness_driver()->set_cost(NULL, NULL);
}

static void record(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags, uint32_t dispatches)
{
    pm_harness_begin(&h, buffer, flags);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    for (uint32_t i = 0; i < dispatches; i++)
        h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

static VkCommandBuffer recorded(VkCommandBufferUsageFlags flags, uint32_t dispatches)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    record(buffer, flags, dispatches);
    return buffer;
}

static void submit(VkCommandBuffer buffer, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
}

/* What one call becomes, and with what. */
static void a_call_is_recorded_twice(void **state)
{
    (void)state;
    open_with("0.000001", "16", "0.01", NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h.driver->position();
    record(buffer, 0, 1);
    char *calls = pm_calls_on(h.driver, position, buffer);
    assert_non_null(strstr(calls, "vkCmdBindPipeline vkCmdBeginConditionalRenderingEXT "
                                  "vkCmdDispatch vkCmdEndConditionalRenderingEXT "
                                  "vkCmdBindPipeline vkCmdBeginConditionalRenderingEXT "
                                  "vkCmdDispatch vkCmdEndConditionalRenderingEXT "
                                  "vkCmdBindPipeline vkEndCommandBuffer "));
    free(calls);
    assert_ptr_equal(pm_call(h.driver, position, "vkCmdBindPipeline", 2).arguments[2], h.dispatch);
    /* Outside windows it is the game's that runs, and nothing is submitted beside it. */
    const uint64_t submitted = h.driver->position();
    submit(buffer, 20);
    assert_int_equal(pm_calls_of(h.driver, submitted, "vkQueueSubmit"), 20);
    assert_int_equal(executed.game, 20);
    assert_int_equal(executed.other, 0);
    close_all();
    assert_int_equal(all_calls(), 0);
}

/* Not in what is recorded for one submission. */
static void nothing_else_is(void **state)
{
    (void)state;
    open_with("1", "16", "0.5", NULL);
    const uint64_t position = h.driver->position();
    recorded(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, 100);
    VkCommandBuffer secondary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    record(secondary, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, 100);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBeginConditionalRenderingEXT"), 0);
    recorded(0, 10);
    assert_true(pm_calls_of(h.driver, position, "vkCmdBeginConditionalRenderingEXT") > 0);
    close_all();
}

/* Nor where submissions of a recording may be in no order, or the device or the game is against it.
 */
static void nor_where_it_cannot_be(void **state)
{
    (void)state;
    const char *const theirs[] = {"VK_EXT_conditional_rendering", NULL};
    const struct pm_harness_options options[] = {
        {.queues = 2}, {.device_extensions = theirs}, {0}, {0}, {.protected_queue = true}};
    for (int i = 0; i < 5; i++) {
        if (i == 2)
            setenv("PM_NULL_WITHOUT_EXTENSIONS", "VK_EXT_conditional_rendering", 1);
        else
            unsetenv("PM_NULL_WITHOUT_EXTENSIONS");
        setenv("PIECEMEAL_LIMITS_PREDICATES", i == 3 ? "0" : "64", 1);
        open_with("1", "16", "0.5", &options[i]);
        const uint64_t position = h.driver->position();
        submit(recorded(i == 0 ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0, 1000), 3);
        assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBeginConditionalRenderingEXT"), 0);
        assert_true(executed.other > 3 * 400);
        assert_int_equal(executed.game + executed.other, 3 * 1000);
        /* The commands are there for who enabled the extension only. */
        assert_int_equal(h.vk.CmdBeginConditionalRenderingEXT != NULL, i == 1);
        close_all();
    }
    unsetenv("PIECEMEAL_LIMITS_PREDICATES");
    open_with("1", "16", "0.5", NULL);
    assert_null(h.vk.CmdBeginConditionalRenderingEXT);
    assert_null(h.vk.CmdEndConditionalRenderingEXT);
    close_all();
}

/* Every submission runs every call once, whatever is pending and however windows open and close,
 * and what ran with a variant is what was counted. */
static void exactly_one_of_the_two_runs(void **state)
{
    (void)state;
    enum { BUFFERS = 4, ROUNDS = 400, CALLS = 37 };
    open_with("0.05", "16", "0.1", NULL);
    VkCommandBuffer buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = recorded(VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, CALLS);
    h.driver->set_delay(20);
    uint64_t runs = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const VkCommandBuffer twice[] = {buffers[round % BUFFERS], buffers[(round + 1) % BUFFERS],
                                         buffers[round % BUFFERS]};
        const VkSubmitInfo infos[] = {
            {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
             .commandBufferCount = 3,
             .pCommandBuffers = twice},
            {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
             .commandBufferCount = 1,
             .pCommandBuffers = twice},
        };
        PM_CHECK(h.vk.QueueSubmit(h.queue, 2, infos, VK_NULL_HANDLE));
        runs += 4;
        if (round % 8 == 7)
            PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    assert_int_equal(executed.game + executed.other, runs * CALLS);
    const uint64_t sampled = executed.other;
    print_message("%lu of %lu calls were sampled\n", (unsigned long)sampled,
                  (unsigned long)(runs * CALLS));
    assert_true(sampled > 0);
    h.driver->set_delay(0);
    close_all();
    assert_int_equal(all_calls(), sampled);
}

/* What is not pending twice may go to one queue after the other. */
static void in_several_queues(void **state)
{
    (void)state;
    enum { BUFFERS = 3, ROUNDS = 600, CALLS = 23 };
    open_with("0.05", "16", "0.1", &(struct pm_harness_options){.queues = 2});
    VkCommandBuffer buffers[BUFFERS];
    const uint64_t position = h.driver->position();
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = recorded(0, CALLS);
    assert_true(pm_calls_of(h.driver, position, "vkCmdBeginConditionalRenderingEXT") > 0);
    h.driver->set_delay(20);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BUFFERS; i++)
            pm_harness_submit(&h, h.queues[(round + i) % 2], buffers[i], VK_NULL_HANDLE);
        for (int i = 0; i < 2; i++)
            PM_CHECK(h.vk.QueueWaitIdle(h.queues[i]));
    }
    h.driver->set_delay(0);
    assert_int_equal(executed.game + executed.other, ROUNDS * BUFFERS * CALLS);
    const uint64_t sampled = executed.other;
    /* In windows of 16 heartbeats that come after 20 on average a tenth. */
    print_message("%lu calls were sampled\n", (unsigned long)sampled);
    assert_in_range(sampled, ROUNDS * BUFFERS * CALLS * 3 / 100,
                    ROUNDS * BUFFERS * CALLS * 6 / 100);
    close_all();
    assert_int_equal(all_calls(), sampled);
}

/* Another queue learns what one has written, though nothing changes any more. */
static void words_are_seen_in_another_queue(void **state)
{
    (void)state;
    enum { ROUNDS = 2000, LEAST = 20 };
    int moves = 0, at = 0;
    open_with("0.05", "16", "0.5", &(struct pm_harness_options){.queues = 2});
    VkCommandBuffer buffer = recorded(0, 23);
    bool wrote = false;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t position = h.driver->position();
        pm_harness_submit(&h, h.queues[at], buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queues[at]));
        const bool writes = pm_calls_of(h.driver, position, "vkCmdUpdateBuffer") > 0;
        if (wrote && !writes) {
            position = h.driver->position();
            at = 1 - at;
            pm_harness_submit(&h, h.queues[at], buffer, VK_NULL_HANDLE);
            /* What an update begins with. */
            assert_true(pm_calls_of(h.driver, position, "vkCmdFillBuffer") > 0);
            PM_CHECK(h.vk.QueueWaitIdle(h.queues[at]));
            moves++;
        }
        wrote = writes;
    }
    assert_true(moves >= LEAST);
    close_all();
}

/* ---- secondary command buffers ---- */

enum { SECONDARIES = 3, SECONDARY_CALLS = 11, EXECUTIONS = 250 };

static void record_primary(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags,
                           const VkCommandBuffer *secondaries, uint32_t count)
{
    pm_harness_begin(&h, buffer, flags);
    h.vk.CmdExecuteCommands(buffer, count, secondaries);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

static void record_secondaries(VkCommandBuffer *secondaries, VkCommandBufferUsageFlags flags)
{
    const uint64_t position = h.driver->position();
    for (int i = 0; i < SECONDARIES; i++) {
        secondaries[i] = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        record(secondaries[i], flags, SECONDARY_CALLS);
    }
    assert_true(pm_calls_of(h.driver, position, "vkCmdBeginConditionalRenderingEXT") > 0);
}

/* What ran is all of it, once; about a twentieth with a variant, and that was counted. */
static void check_secondaries(uint64_t calls)
{
    assert_int_equal(executed.game + executed.other, calls);
    const uint64_t sampled = executed.other;
    print_message("%lu of %lu calls were sampled\n", (unsigned long)sampled, (unsigned long)calls);
    assert_in_range(sampled, calls * 3 / 100, calls * 7 / 100);
    close_all();
    assert_int_equal(all_calls(), sampled);
}

/* In one primary that is kept, too, and goes to one queue after the other. */
static void secondary_ones_in_what_is_kept(void **state)
{
    (void)state;
    VkCommandBuffer secondaries[SECONDARIES + 1];
    open_with("1", "16", "0.05", &(struct pm_harness_options){.queues = 2});
    record_secondaries(secondaries, 0);
    /* One is executed by another, as VK_EXT_nested_command_buffer has it. */
    secondaries[SECONDARIES] = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    record_primary(secondaries[SECONDARIES], 0, secondaries, 1);
    VkCommandBuffer primary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    record_primary(primary, 0, secondaries + 1, SECONDARIES);
    for (int i = 0; i < EXECUTIONS; i++) {
        pm_harness_submit(&h, h.queues[i % 2], primary, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queues[i % 2]));
    }
    check_secondaries(EXECUTIONS * SECONDARIES * SECONDARY_CALLS);
}

/* The primary is recorded anew for each submission. */
static void secondary_ones_in_what_is_not(void **state)
{
    (void)state;
    VkCommandBuffer secondaries[SECONDARIES];
    open_with("1", "16", "0.05", NULL);
    record_secondaries(secondaries, 0);
    VkCommandBuffer primary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < EXECUTIONS; i++) {
        record_primary(primary, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, secondaries,
                       SECONDARIES);
        submit(primary, 1);
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
    open_with("1", "16", "0.05", NULL);
    record_secondaries(secondaries, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    const VkCommandBuffer twice[] = {secondaries[0], secondaries[1], secondaries[0],
                                     secondaries[2]};
    for (int i = 0; i < PRIMARIES; i++) {
        primaries[i] = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        record_primary(primaries[i], VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, twice, 4);
    }
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = PRIMARIES,
                               .pCommandBuffers = primaries};
    h.driver->set_delay(20);
    for (int i = 0; i < EXECUTIONS; i++) {
        PM_CHECK(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE));
        if (i % 8 == 7)
            PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.driver->set_delay(0);
    check_secondaries(EXECUTIONS * PRIMARIES * 4 * SECONDARY_CALLS);
}

/* One that holds calls twice executes one whose sampled calls count in every submission, as its own
 * could be in several queues at once. */
static void what_secondary_ones_execute_is_counted_once(void **state)
{
    (void)state;
    open_with("1", "16", "0.5", &(struct pm_harness_options){.queues = 2});
    VkCommandBuffer inner = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBuffer outer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBuffer primary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h.driver->position();
    record(inner, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, SECONDARY_CALLS);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBeginConditionalRenderingEXT"), 0);
    pm_harness_begin(&h, outer, 0);
    pm_harness_bind_set(&h, outer);
    h.vk.CmdBindPipeline(outer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    for (int i = 0; i < SECONDARY_CALLS; i++)
        h.vk.CmdDispatch(outer, 1, 1, 1);
    h.vk.CmdExecuteCommands(outer, 1, &inner);
    PM_CHECK(h.vk.EndCommandBuffer(outer));
    assert_true(pm_calls_of(h.driver, position, "vkCmdBeginConditionalRenderingEXT") > 0);
    record_primary(primary, 0, &outer, 1);
    submit(primary, EXECUTIONS);
    assert_int_equal(executed.game + executed.other, 2 * EXECUTIONS * SECONDARY_CALLS);
    const uint64_t sampled = executed.other;
    assert_true(sampled > 0);
    close_all();
    assert_int_equal(all_calls(), sampled);
}

/* They go before what executes them, or with it; whoever comes to their words then finds 0. */
static void secondary_ones_go(void **state)
{
    (void)state;
    setenv("PIECEMEAL_LIMITS_PREDICATES", "8", 1);
    open_with("1", "16", "0.5", NULL);
    VkCommandBuffer primary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int round = 0; round < 200; round++) {
        VkCommandBuffer secondary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        const uint64_t position = h.driver->position();
        record(secondary, 0, 4);
        assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBeginConditionalRenderingEXT"), 8);
        record_primary(primary, 0, &secondary, 1);
        executed = (struct executed){0};
        submit(primary, 3);
        assert_int_equal(executed.game + executed.other, 12);
        if (round % 2 == 0)
            PM_CHECK(h.vk.ResetCommandBuffer(primary, 0));
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &secondary);
    }
    close_all();
    unsetenv("PIECEMEAL_LIMITS_PREDICATES");
}

/* vkQueueSubmit2 is submitted like the other. */
static void by_the_other_submit(void **state)
{
    (void)state;
    open_with("1", "16", "0.25", NULL);
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = recorded(0, 4)};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer};
    for (int i = 0; i < 1000; i++) {
        PM_CHECK(h.vk.QueueSubmit2(h.queue, 1, &info, VK_NULL_HANDLE));
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    assert_int_equal(executed.game + executed.other, 4000);
    const uint64_t sampled = executed.other;
    /* A quarter, six standard deviations. */
    assert_in_range(sampled, 1000 - 165, 1000 + 165);
    close_all();
    assert_int_equal(all_calls(), sampled);
}

static void see_calls(void *user, const struct pm_session_status *status)
{
    uint64_t *calls = user;
    if (status->calls > *calls)
        *calls = status->calls;
}

/* What people are told: of how many calls, also of submissions in which nothing is sampled. */
static void all_calls_are_told(void **state)
{
    (void)state;
    uint64_t calls = 0;
    open_with("1", "16", "0.01", NULL);
    submit(recorded(0, 3), 500);
    assert_true(executed.other > 0 && executed.other < 100);
    close_all();
    pm_session_status_each(NULL, see_calls, &calls);
    assert_int_equal(calls, 3 * 500);
}

/* A submission that fails ran nothing: ours in front of it, and the game's, which is the second. */
static void none_are_told_of_what_failed(void **state)
{
    (void)state;
    uint64_t calls = 0;
    open_with("1", "16", "0.9", NULL);
    VkCommandBuffer buffer = recorded(0, 3);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    const VkCommandBufferSubmitInfo buffer2 = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
    const VkSubmitInfo2 info2 = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                 .commandBufferInfoCount = 1,
                                 .pCommandBufferInfos = &buffer2};
    submit(buffer, 5);
    assert_true(h.driver->inject("vkQueueSubmit:2=-1"));
    assert_int_equal(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_true(h.driver->inject("vkQueueSubmit2:1=-1"));
    assert_int_equal(h.vk.QueueSubmit2(h.queue, 1, &info2, VK_NULL_HANDLE),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_true(h.driver->inject(""));
    submit(buffer, 5);
    assert_int_equal(executed.game + executed.other, 3 * 10);
    close_all();
    pm_session_status_each(NULL, see_calls, &calls);
    assert_int_equal(calls, 3 * 10);
}

/* The share of a program's calls that is sampled. */
static double rate(bool kept, uint32_t buffer_count, uint32_t dispatches, const char *probability)
{
    enum { MOST = 200 };
    const uint32_t frames = 400000 / dispatches;
    const uint64_t before = all_calls();
    setenv("PM_NULL_RECORD", "0", 1);
    setenv("PIECEMEAL_SAMPLER_SEED", "7", 1);
    open_with("0.01", "100", probability, NULL);
    VkCommandBuffer buffers[MOST];
    for (uint32_t i = 0; i < buffer_count; i++)
        buffers[i] = recorded(kept ? 0 : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, dispatches);
    for (uint32_t frame = 0; frame < frames; frame++) {
        VkCommandBuffer buffer = buffers[frame % buffer_count];
        if (!kept)
            record(buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, dispatches);
        submit(buffer, 1);
    }
    assert_int_equal(executed.game + executed.other, (uint64_t)frames * dispatches);
    const uint64_t sampled = executed.other;
    close_all();
    assert_int_equal(all_calls() - before, sampled);
    return (double)sampled / ((double)frames * dispatches);
}

/* HAZARDS 12: the same overall rate, where the same windows open. In small recordings all calls are
 * chosen, in large ones some. */
static void as_many_as_where_all_is_recorded_anew(void **state)
{
    (void)state;
    static const struct {
        uint32_t buffers, dispatches;
        const char *probability;
    } cases[] = {{3, 4, "0.1"}, {200, 100, "0.05"}, {100, 40, "0.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double kept = rate(true, cases[i].buffers, cases[i].dispatches, cases[i].probability);
        const double anew =
            rate(false, cases[i].buffers, cases[i].dispatches, cases[i].probability);
        print_message("%u times %u dispatches, p %s: %.5f kept, %.5f anew\n", cases[i].buffers,
                      cases[i].dispatches, cases[i].probability, kept, anew);
        assert_true(kept > 0.95 * anew && kept < 1.05 * anew);
    }
}

/* ---- where calls cannot be recorded twice ---- */

enum { COUNTING_COSTS = 5 /* times what a call costs, more than was ever measured */ };

/* The time that kept recordings take more than without us, at the defaults' p and share of the time
 * in windows, though windows are short here. They are recorded while a window is open, or not. */
static double more_time(bool in_window, const struct pm_harness_options *options)
{
    enum { BUFFERS = 400, CALLS = 500, TIMES = 3 };
    static VkCommandBuffer buffers[BUFFERS];
    const VkCommandBufferUsageFlags flags =
        options != NULL ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0;
    uint64_t until = 0;
    open_with("0.0064", "16", "0.01", options);
    VkCommandBuffer none = recorded(0, 0);
    const uint32_t opened = pm_layered_logged("a profiling window opens");
    while (in_window && pm_layered_logged("a profiling window opens") == opened && patience(&until))
        submit(none, 1);
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = recorded(flags, CALLS);
    for (int times = 0; times < TIMES; times++)
        for (int i = 0; i < BUFFERS; i++)
            submit(buffers[i], 1);
    const uint64_t total = executed.game + executed.other, counting = executed.other;
    assert_int_equal(total, (uint64_t)BUFFERS * CALLS * TIMES);
    close_all();
    print_message("%s: %lu of %lu calls counted\n",
                  in_window ? "recorded in a window" : "recorded outside", (unsigned long)counting,
                  (unsigned long)total);
    /* 0.0929 % of them, and by far enough that something is sampled at all. */
    assert_true((double)counting > 0.0003 * (double)total);
    return (double)counting * (COUNTING_COSTS - 1) / (double)total;
}

/* A call that counts does so in every submission, also outside windows: so few do that recordings
 * take less than 0.5 % longer. */
static void what_is_kept_costs_little_without_it(void **state)
{
    (void)state;
    static const struct pm_harness_options queues = {.queues = 2};
    setenv("PM_NULL_RECORD", "0", 1);
    setenv("PIECEMEAL_LOG_LEVEL", "debug", 1);
    for (int i = 0; i < 4; i++) {
        if (i < 2)
            setenv("PM_NULL_WITHOUT_EXTENSIONS", "VK_EXT_conditional_rendering", 1);
        else
            unsetenv("PM_NULL_WITHOUT_EXTENSIONS");
        setenv("PIECEMEAL_SAMPLER_SEED", i % 2 == 0 ? "11" : "12", 1);
        assert_true(more_time(i % 2 == 0, i < 2 ? NULL : &queues) < 0.005);
    }
    unsetenv("PIECEMEAL_LOG_LEVEL");
}

/* Words go with their recordings, in every way that one can go; beyond the limit nothing is
 * chosen, and nothing is lost. */
static void words_are_given_back(void **state)
{
    (void)state;
    setenv("PIECEMEAL_LIMITS_PREDICATES", "8", 1);
    open_with("1", "16", "0.5", NULL);
    for (int round = 0; round < 200; round++) {
        const uint64_t position = h.driver->position();
        VkCommandBuffer first = recorded(0, 6), second = recorded(0, 6);
        const uint32_t found = pm_calls_of(h.driver, position, "vkCmdBeginConditionalRenderingEXT");
        assert_in_range(found, 2 * 4, 2 * 8);
        executed = (struct executed){0};
        submit(first, 2);
        submit(second, 2);
        assert_int_equal(executed.game + executed.other, 24);
        if (round % 3 == 0)
            PM_CHECK(h.vk.ResetCommandPool(h.device, h.pool, 0));
        else if (round % 3 == 1)
            PM_CHECK(h.vk.ResetCommandBuffer(first, 0));
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &first);
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &second);
    }
    close_all();
}

/* A word that was 1 when its recording went is 0 for the next one that gets it. */
static void words_start_at_the_game_s(void **state)
{
    (void)state;
    setenv("PIECEMEAL_LIMITS_PREDICATES", "4", 1);
    open_with("0.2", "4", "0.9", NULL);
    for (int round = 0; round < 300; round++) {
        VkCommandBuffer buffer = recorded(0, 2);
        const uint64_t position = h.driver->position();
        executed = (struct executed){0};
        submit(buffer, 1);
        /* Without a command buffer of ours in front of it nothing was chosen. */
        if (pm_calls_of(h.driver, position, "vkCmdUpdateBuffer") == 0)
            assert_int_equal(executed.other, 0);
        submit(buffer, 1); /* else it would not be a game that keeps its recordings */
        assert_int_equal(executed.game + executed.other, 4);
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    }
    close_all();
}

/* What of ours fails is as if it were not there; a submission of the game's that fails counts
 * nothing. */
static void failures(void **state)
{
    (void)state;
    static const char *const faults[] = {"vkCreateCommandPool:1",      "vkCreateFence:1",
                                         "vkAllocateCommandBuffers:1", "vkBeginCommandBuffer:1",
                                         "vkEndCommandBuffer:1",       "vkQueueSubmit:1=-1"};
    open_with("1", "16", "0.5", NULL);
    VkCommandBuffer buffer = recorded(0, 4);
    uint64_t calls = 0;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        assert_true(h.driver->inject(faults[i]));
        for (int j = 0; j < 8; j++) {
            pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
            PM_CHECK(h.vk.QueueWaitIdle(h.queue));
            calls += 4;
        }
        assert_true(h.driver->inject(""));
    }
    assert_int_equal(executed.game + executed.other, calls);
    const uint64_t sampled = executed.other;
    assert_true(sampled > 0);
    close_all();
    assert_int_equal(all_calls(), sampled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_call_is_recorded_twice),
        PM_LAYERED_TEST(nothing_else_is),
        PM_LAYERED_TEST(nor_where_it_cannot_be),
        PM_LAYERED_TEST(exactly_one_of_the_two_runs),
        PM_LAYERED_TEST(in_several_queues),
        PM_LAYERED_TEST(words_are_seen_in_another_queue),
        PM_LAYERED_TEST(secondary_ones_in_what_is_kept),
        PM_LAYERED_TEST(secondary_ones_in_what_is_not),
        PM_LAYERED_TEST(secondary_ones_in_several),
        PM_LAYERED_TEST(what_secondary_ones_execute_is_counted_once),
        PM_LAYERED_TEST(secondary_ones_go),
        PM_LAYERED_TEST(by_the_other_submit),
        PM_LAYERED_TEST(all_calls_are_told),
        PM_LAYERED_TEST(none_are_told_of_what_failed),
        PM_LAYERED_TEST(what_is_kept_costs_little_without_it),
        PM_LAYERED_TEST(as_many_as_where_all_is_recorded_anew),
        PM_LAYERED_TEST(words_are_given_back),
        PM_LAYERED_TEST(words_start_at_the_game_s),
        PM_LAYERED_TEST(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
