/* Recordings that a game keeps, where calls are recorded twice under opposite predicates (HAZARDS
 * 12): exactly one of the two runs in every submission, outside windows the game's. */
#include "profile/session_status.h"
#include "tests/layer/frame/executing.h"
#include "tests/layer/levels.h"
#include "tests/layer/spooled.h"

#include <stdlib.h>
#include <string.h>

/* What one call becomes, and with what. */
static void a_call_is_recorded_twice(void **state)
{
    (void)state;
    executing_open("0.000001", "16", "0.01", NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = executing.h.driver->position();
    executing_record(buffer, 0, 1);
    char *calls = pm_calls_on(executing.h.driver, position, buffer);
    assert_non_null(strstr(calls, "vkCmdBindPipeline vkCmdBeginConditionalRenderingEXT "
                                  "vkCmdDispatch vkCmdEndConditionalRenderingEXT "
                                  "vkCmdBindPipeline vkCmdBeginConditionalRenderingEXT "
                                  "vkCmdDispatch vkCmdEndConditionalRenderingEXT "
                                  "vkCmdBindPipeline vkEndCommandBuffer "));
    free(calls);
    assert_ptr_equal(pm_call(executing.h.driver, position, "vkCmdBindPipeline", 2).arguments[2],
                     executing.h.dispatch);
    /* Outside windows it is the game's that runs, and nothing is submitted beside it. */
    const uint64_t submitted = executing.h.driver->position();
    executing_submit(buffer, 20);
    assert_int_equal(pm_calls_of(executing.h.driver, submitted, "vkQueueSubmit"), 20);
    assert_int_equal(executing.game, 20);
    assert_int_equal(executing.other, 0);
    executing_close();
    assert_int_equal(all_calls(), 0);
}

/* Not in what is recorded for one submission. */
static void nothing_else_is(void **state)
{
    (void)state;
    executing_open("1", "16", "0.5", NULL);
    const uint64_t position = executing.h.driver->position();
    executing_recorded(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, 100);
    VkCommandBuffer secondary =
        pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    executing_record(secondary, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, 100);
    assert_int_equal(pm_calls_of(executing.h.driver, position, "vkCmdBeginConditionalRenderingEXT"),
                     0);
    executing_recorded(0, 10);
    assert_true(pm_calls_of(executing.h.driver, position, "vkCmdBeginConditionalRenderingEXT") > 0);
    executing_close();
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
        executing_open("1", "16", "0.5", &options[i]);
        const uint64_t position = executing.h.driver->position();
        executing_submit(
            executing_recorded(i == 0 ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0, 1000), 3);
        assert_int_equal(
            pm_calls_of(executing.h.driver, position, "vkCmdBeginConditionalRenderingEXT"), 0);
        assert_true(executing.other > 3 * 400);
        assert_int_equal(executing.game + executing.other, 3 * 1000);
        /* The commands are there for who enabled the extension only. */
        assert_int_equal(executing.h.vk.CmdBeginConditionalRenderingEXT != NULL, i == 1);
        executing_close();
    }
    unsetenv("PIECEMEAL_LIMITS_PREDICATES");
    executing_open("1", "16", "0.5", NULL);
    assert_null(executing.h.vk.CmdBeginConditionalRenderingEXT);
    assert_null(executing.h.vk.CmdEndConditionalRenderingEXT);
    executing_close();
}

/* Every submission runs every call once, whatever is pending and however windows open and close,
 * and what ran with a variant is what was counted. */
static void exactly_one_of_the_two_runs(void **state)
{
    (void)state;
    enum { BUFFERS = 4, ROUNDS = 400, CALLS = 37 };
    executing_open("0.05", "16", "0.1", NULL);
    VkCommandBuffer buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = executing_recorded(VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, CALLS);
    executing.h.driver->set_delay(20);
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
        PM_CHECK(executing.h.vk.QueueSubmit(executing.h.queue, 2, infos, VK_NULL_HANDLE));
        runs += 4;
        if (round % 8 == 7)
            PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queue));
    }
    PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queue));
    assert_int_equal(executing.game + executing.other, runs * CALLS);
    const uint64_t sampled = executing.other;
    print_message("%lu of %lu calls were sampled\n", (unsigned long)sampled,
                  (unsigned long)(runs * CALLS));
    assert_true(sampled > 0);
    executing.h.driver->set_delay(0);
    executing_close();
    assert_int_equal(all_calls(), sampled);
}

/* What is not pending twice may go to one queue after the other. */
static void in_several_queues(void **state)
{
    (void)state;
    enum { BUFFERS = 3, ROUNDS = 600, CALLS = 23 };
    executing_open("0.05", "16", "0.1", &(struct pm_harness_options){.queues = 2});
    VkCommandBuffer buffers[BUFFERS];
    const uint64_t position = executing.h.driver->position();
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = executing_recorded(0, CALLS);
    assert_true(pm_calls_of(executing.h.driver, position, "vkCmdBeginConditionalRenderingEXT") > 0);
    executing.h.driver->set_delay(20);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BUFFERS; i++)
            pm_harness_submit(&executing.h, executing.h.queues[(round + i) % 2], buffers[i],
                              VK_NULL_HANDLE);
        for (int i = 0; i < 2; i++)
            PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queues[i]));
    }
    executing.h.driver->set_delay(0);
    assert_int_equal(executing.game + executing.other, ROUNDS * BUFFERS * CALLS);
    const uint64_t sampled = executing.other;
    /* In windows of 16 heartbeats that come after 20 on average a tenth. */
    print_message("%lu calls were sampled\n", (unsigned long)sampled);
    assert_in_range(sampled, ROUNDS * BUFFERS * CALLS * 3 / 100,
                    ROUNDS * BUFFERS * CALLS * 6 / 100);
    executing_close();
    assert_int_equal(all_calls(), sampled);
}

/* vkQueueSubmit2 is submitted like the other. */
static void by_the_other_submit(void **state)
{
    (void)state;
    executing_open("1", "16", "0.25", NULL);
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = executing_recorded(0, 4)};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer};
    for (int i = 0; i < 1000; i++) {
        PM_CHECK(executing.h.vk.QueueSubmit2(executing.h.queue, 1, &info, VK_NULL_HANDLE));
        PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queue));
    }
    assert_int_equal(executing.game + executing.other, 4000);
    const uint64_t sampled = executing.other;
    /* A quarter, six standard deviations. */
    assert_in_range(sampled, 1000 - 165, 1000 + 165);
    executing_close();
    assert_int_equal(all_calls(), sampled);
}

static void see_calls(void *user, const struct pm_session_status *status)
{
    uint64_t *calls = user;
    if (status->calls > *calls)
        *calls = status->calls;
}

/* In a recording that is kept each pipeline's calls have a chance of their own from its bind on,
 * also where it is known what stands for it and a bind goes the shortest way: the first of a
 * pipeline that told nothing yet is nearly sure, those of one that did are rare. */
static void each_pipeline_has_its_own_chance(void **state)
{
    (void)state;
    enum { SHADERS = 16, CALLS = 100 };
    struct level level;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("0.01");
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.000001", 1);
    struct pm_harness *h = &executing.h;
    pm_harness_open(h, NULL);
    level_make(&level, h, 0, SHADERS, 1);
    /* The first time they are bound no call is made. */
    for (int calls = 0; calls < 2; calls++) {
        VkCommandBuffer buffer = pm_harness_allocate(h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        pm_harness_begin(h, buffer, 0);
        pm_harness_bind_set(h, buffer);
        pm_harness_begin_pass(h, buffer);
        h->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h->graphics);
        for (int i = 0; i < calls * CALLS; i++)
            h->vk.CmdDraw(buffer, 3, 1, 0, 0);
        const uint64_t position = h->driver->position();
        for (int i = 0; i < SHADERS; i++) {
            h->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, level.pipelines[i]);
            if (calls > 0)
                h->vk.CmdDraw(buffer, 3, 1, 0, 0);
        }
        const uint32_t twice =
            pm_calls_of(h->driver, position, "vkCmdBeginConditionalRenderingEXT") / 2;
        h->vk.CmdEndRenderPass(buffer);
        PM_CHECK(h->vk.EndCommandBuffer(buffer));
        print_message("%u of the first calls of %d pipelines\n", twice, SHADERS);
        assert_true(calls == 0 ? twice == 0 : twice >= SHADERS / 2);
    }
    level_destroy(&level, h);
    pm_harness_close(h);
}

/* What people are told: of how many calls, also of submissions in which nothing is sampled. */
static void all_calls_are_told(void **state)
{
    (void)state;
    uint64_t calls = 0;
    executing_open("1", "16", "0.01", NULL);
    executing_submit(executing_recorded(0, 3), 500);
    assert_true(executing.other > 0 && executing.other < 100);
    executing_close();
    pm_session_status_each(NULL, see_calls, &calls);
    assert_int_equal(calls, 3 * 500);
}

/* A submission that fails ran nothing: ours in front of it, and the game's, which is the second. */
static void none_are_told_of_what_failed(void **state)
{
    (void)state;
    uint64_t calls = 0;
    executing_open("1", "16", "0.9", NULL);
    VkCommandBuffer buffer = executing_recorded(0, 3);
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    const VkCommandBufferSubmitInfo buffer2 = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
    const VkSubmitInfo2 info2 = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                 .commandBufferInfoCount = 1,
                                 .pCommandBufferInfos = &buffer2};
    executing_submit(buffer, 5);
    assert_true(executing.h.driver->inject("vkQueueSubmit:2=-1"));
    assert_int_equal(executing.h.vk.QueueSubmit(executing.h.queue, 1, &info, VK_NULL_HANDLE),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_true(executing.h.driver->inject("vkQueueSubmit2:1=-1"));
    assert_int_equal(executing.h.vk.QueueSubmit2(executing.h.queue, 1, &info2, VK_NULL_HANDLE),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_true(executing.h.driver->inject(""));
    executing_submit(buffer, 5);
    assert_int_equal(executing.game + executing.other, 3 * 10);
    executing_close();
    pm_session_status_each(NULL, see_calls, &calls);
    assert_int_equal(calls, 3 * 10);
}

/* What of ours fails is as if it were not there; a submission of the game's that fails counts
 * nothing. */
static void failures(void **state)
{
    (void)state;
    static const char *const faults[] = {"vkCreateCommandPool:1",      "vkCreateFence:1",
                                         "vkAllocateCommandBuffers:1", "vkBeginCommandBuffer:1",
                                         "vkEndCommandBuffer:1",       "vkQueueSubmit:1=-1"};
    executing_open("1", "16", "0.5", NULL);
    VkCommandBuffer buffer = executing_recorded(0, 4);
    uint64_t calls = 0;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        assert_true(executing.h.driver->inject(faults[i]));
        for (int j = 0; j < 8; j++) {
            pm_harness_submit(&executing.h, executing.h.queue, buffer, VK_NULL_HANDLE);
            PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queue));
            calls += 4;
        }
        assert_true(executing.h.driver->inject(""));
    }
    assert_int_equal(executing.game + executing.other, calls);
    const uint64_t sampled = executing.other;
    assert_true(sampled > 0);
    executing_close();
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
        PM_LAYERED_TEST(by_the_other_submit),
        PM_LAYERED_TEST(each_pipeline_has_its_own_chance),
        PM_LAYERED_TEST(all_calls_are_told),
        PM_LAYERED_TEST(none_are_told_of_what_failed),
        PM_LAYERED_TEST(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
