/* Trials over sessions of several render pass instances, of which each takes another time, while
 * what the game keeps is sampled, too: a use is never compared with another one (sessions.h). */
#include "tests/layer/trial/trying.h"
#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 3, SUBMISSIONS = 50, SESSIONS = 16 };

/* The primary command buffer has an instance for each secondary one. */
static VkCommandBuffer record_all(void)
{
    static const int draws[INSTANCES] = {1, 4, 16};
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = trying.h.render_pass,
                                        .framebuffer = trying.h.framebuffer,
                                        .renderArea = {{0, 0}, {64, 64}}};
    VkCommandBuffer primary = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer secondaries[INSTANCES];
    for (int i = 0; i < INSTANCES; i++) {
        secondaries[i] = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        pm_harness_begin(&trying.h, secondaries[i],
                         VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
        pm_harness_bind_set(&trying.h, secondaries[i]);
        trying.h.vk.CmdBindPipeline(secondaries[i], VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    trying.graphics);
        for (int j = 0; j < draws[i]; j++)
            trying.h.vk.CmdDraw(secondaries[i], 3, 1, 0, 0);
        PM_CHECK(trying.h.vk.EndCommandBuffer(secondaries[i]));
    }
    pm_harness_begin(&trying.h, primary, 0);
    for (int i = 0; i < INSTANCES; i++) {
        trying.h.vk.CmdBeginRenderPass(primary, &info,
                                       VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
        trying.h.vk.CmdExecuteCommands(primary, 1, &secondaries[i]);
        trying.h.vk.CmdEndRenderPass(primary);
    }
    PM_CHECK(trying.h.vk.EndCommandBuffer(primary));
    return primary;
}

/* Until it is timed or found that it must be over sessions, unless the session samples what is
 * kept. Returns whether it was timed. */
static bool run_session(const char *until_logged)
{
    const uint32_t logged = optimized_logged(until_logged);
    uint64_t until = 0;
    trying.background = true;
    trying.variant_cost = 80000;
    pm_harness_open(&trying.h, NULL);
    trying.h.driver->set_binned(true);
    trying.graphics = optimized_graphics(&trying.h);
    trying_costs();
    const uint64_t position = trying.h.driver->position();
    const VkCommandBuffer primary = record_all();
    const uint64_t stamps = pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp");
    const uint64_t twice =
        pm_calls_of(trying.h.driver, position, "vkCmdBeginConditionalRenderingEXT");
    /* One or the other, all of it. */
    assert_true(stamps == 0 || (stamps == 2 * INSTANCES && twice == 0));
    const bool over_sessions = strcmp(until_logged, "timed a session") == 0;
    do
        for (int i = 0; i < SUBMISSIONS; i++) {
            pm_harness_submit(&trying.h, trying.h.queue, primary, VK_NULL_HANDLE);
            PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
        }
    while ((stamps > 0 || !over_sessions) && optimized_logged(until_logged) == logged &&
           patience(&until));
    trying_close();
    return stamps > 0;
}

static void instances_that_differ(void **state)
{
    (void)state;
    trying_prepare_sessions();
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.0001", 1);
    setenv("PIECEMEAL_SAMPLER_API_PROBABILITY", "0.01", 1);
    run_session("sessions are");
    uint32_t timed = 0;
    for (int i = 0; i < SESSIONS; i++) {
        char seed[12];
        snprintf(seed, sizeof seed, "%d", i + 1);
        setenv("PIECEMEAL_SAMPLER_SEED", seed, 1);
        timed += run_session("timed a session");
    }
    /* Both happen. */
    assert_in_range(timed, 4, SESSIONS - 4);
    optimized_assert_logged("timed a session", timed);
    /* Where the lot had the variant first the original was timed before. */
    const uint32_t looked = optimized_logged("this one is of none");
    assert_in_range(looked, 0, 1);
    timed -= looked;
    optimized_assert_logged("more sessions are to come", timed);
    char pairs[40];
    snprintf(pairs, sizeof pairs, " %u pairs of sessions", timed / 2);
    assert_true(optimized_logged(pairs) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(instances_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
