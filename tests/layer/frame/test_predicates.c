/* The words that calls which are recorded twice are predicated by (layer/memory/predicates.h): all
 * queues see what is written, they go with their recordings, and are 0 for the next one. */
#include "tests/layer/frame/executing.h"

#include <stdlib.h>

/* Another queue learns what one has written, though nothing changes any more. */
static void words_are_seen_in_another_queue(void **state)
{
    (void)state;
    enum { ROUNDS = 2000, LEAST = 20 };
    int moves = 0, at = 0;
    executing_open("0.05", "16", "0.5", &(struct pm_harness_options){.queues = 2});
    VkCommandBuffer buffer = executing_recorded(0, 23);
    bool wrote = false;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t position = executing.h.driver->position();
        pm_harness_submit(&executing.h, executing.h.queues[at], buffer, VK_NULL_HANDLE);
        PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queues[at]));
        const bool writes = pm_calls_of(executing.h.driver, position, "vkCmdUpdateBuffer") > 0;
        if (wrote && !writes) {
            position = executing.h.driver->position();
            at = 1 - at;
            pm_harness_submit(&executing.h, executing.h.queues[at], buffer, VK_NULL_HANDLE);
            /* What an update begins with. */
            assert_true(pm_calls_of(executing.h.driver, position, "vkCmdFillBuffer") > 0);
            PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queues[at]));
            moves++;
        }
        wrote = writes;
    }
    assert_true(moves >= LEAST);
    executing_close();
}

/* Words go with their recordings, in every way that one can go; beyond the limit nothing is
 * chosen, and nothing is lost. */
static void words_are_given_back(void **state)
{
    (void)state;
    setenv("PIECEMEAL_LIMITS_PREDICATES", "8", 1);
    executing_open("1", "16", "0.5", NULL);
    for (int round = 0; round < 200; round++) {
        const uint64_t position = executing.h.driver->position();
        VkCommandBuffer first = executing_recorded(0, 6), second = executing_recorded(0, 6);
        const uint32_t found =
            pm_calls_of(executing.h.driver, position, "vkCmdBeginConditionalRenderingEXT");
        assert_in_range(found, 2 * 4, 2 * 8);
        executing.game = executing.other = 0;
        executing_submit(first, 2);
        executing_submit(second, 2);
        assert_int_equal(executing.game + executing.other, 24);
        if (round % 3 == 0)
            PM_CHECK(executing.h.vk.ResetCommandPool(executing.h.device, executing.h.pool, 0));
        else if (round % 3 == 1)
            PM_CHECK(executing.h.vk.ResetCommandBuffer(first, 0));
        executing.h.vk.FreeCommandBuffers(executing.h.device, executing.h.pool, 1, &first);
        executing.h.vk.FreeCommandBuffers(executing.h.device, executing.h.pool, 1, &second);
    }
    executing_close();
}

/* A word that was 1 when its recording went is 0 for the next one that gets it. */
static void words_begin_as_zero(void **state)
{
    (void)state;
    setenv("PIECEMEAL_LIMITS_PREDICATES", "4", 1);
    executing_open("0.2", "4", "0.9", NULL);
    for (int round = 0; round < 300; round++) {
        VkCommandBuffer buffer = executing_recorded(0, 2);
        const uint64_t position = executing.h.driver->position();
        executing.game = executing.other = 0;
        executing_submit(buffer, 1);
        /* Without a command buffer of ours in front of it nothing was chosen. */
        if (pm_calls_of(executing.h.driver, position, "vkCmdUpdateBuffer") == 0)
            assert_int_equal(executing.other, 0);
        executing_submit(buffer, 1); /* else it would not be a game that keeps its recordings */
        assert_int_equal(executing.game + executing.other, 4);
        executing.h.vk.FreeCommandBuffers(executing.h.device, executing.h.pool, 1, &buffer);
    }
    executing_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(words_are_seen_in_another_queue),
        PM_LAYERED_TEST(words_are_given_back),
        PM_LAYERED_TEST(words_begin_as_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
