/* Draws that are timed one by one, and the self-test that says whether they can be (HAZARDS 14;
 * additive.h, trial.h). */
#include "tests/layer/pipelines.h"
#include "tests/layer/trial/trying.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void open_additive(uint64_t variant_cost)
{
    trying.additive = true;
    trying_open(variant_cost, NULL);
    assert_true(optimized_logged("draws are timed one by one"));
}

/* Another session in a home of its own, within a test. */
static void next_case(void **state)
{
    trying_close();
    pm_layered_tear_down(state);
    pm_layered_set_up(state);
}

/* ---- what is recorded ---- */

static void a_draw_is_timed_by_itself(void **state)
{
    (void)state;
    open_additive(80000);
    const uint64_t position = trying_third_frame(trying_draw, TRYING_ONCE);
    const uint64_t begin = trying_position_of(position, "vkCmdBeginRenderPass");
    const uint64_t end = trying_position_of(position, "vkCmdEndRenderPass");
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 4);
    assert_false(trying_between(position, begin, "vkCmdWriteTimestamp"));
    assert_int_equal(pm_calls_of(trying.h.driver, end, "vkCmdWriteTimestamp"), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdResetQueryPool"), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdPipelineBarrier"), 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(pm_call(trying.h.driver, position, "vkCmdWriteTimestamp", i).arguments[1],
                         VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    /* One draw between two timestamps. */
    const uint64_t first = trying_position_of(position, "vkCmdWriteTimestamp");
    const uint64_t draw = trying_position_of(first, "vkCmdDraw");
    const uint64_t second = trying_position_of(first + 1, "vkCmdWriteTimestamp");
    assert_true(first < draw && draw < second);
    assert_false(trying_between(draw + 1, second, "vkCmdDraw"));
    trying_close();
}

/* Queries are reset outside of the instance, for one draw. */
static void where_recordings_reset(void **state)
{
    (void)state;
    for (int without = 0; without < 2; without++) {
        if (without)
            setenv("PM_NULL_WITHOUT_FEATURES", "hostQueryReset", 1);
        open_additive(80000);
        const uint64_t position = trying_third_frame(trying_draw, without ? TRYING_ONCE : 0);
        const uint64_t begin = trying_position_of(position, "vkCmdBeginRenderPass");
        const uint64_t end = trying_position_of(position, "vkCmdEndRenderPass");
        assert_true(trying_between(position, begin, "vkCmdResetQueryPool"));
        assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdResetQueryPool"), 1);
        assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
        assert_true(trying_between(begin, end, "vkCmdWriteTimestamp"));
        assert_false(trying_between(position, begin, "vkCmdWriteTimestamp"));
        assert_true(
            trying_run_until(trying_draw, without ? TRYING_ONCE : 0, "is used from now on"));
        trying_close();
        trying_assert_timing(0.8, 0.01);
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
    }
}

static void sides_alternate(void **state)
{
    (void)state;
    open_additive(TRYING_ORIGINAL);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_draw, TRYING_ONCE, 12);
    /* Two draws a frame, half of them with the variant; each time the game's is bound again. */
    assert_int_equal(trying_foreign_binds(position), 12);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdBindPipeline"), 12 + 2 * 12);
    trying_close();
}

static void many_draws(VkCommandBuffer buffer)
{
    pm_harness_begin_pass(&trying.h, buffer);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    for (int i = 0; i < 30; i++)
        trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdEndRenderPass(buffer);
}

static void the_first_few_of_a_frame_are_timed(void **state)
{
    (void)state;
    open_additive(80000);
    const uint64_t position = trying_third_frame(many_draws, TRYING_ONCE);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2 * 8);
    trying_close();
}

/* ---- verdicts ---- */

static void a_faster_draw_is_used(void **state)
{
    (void)state;
    open_additive(80000);
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "is used from now on"));
    assert_false(optimized_logged("of render passes"));
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_draw, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 8);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

static void a_slower_draw_is_dropped(void **state)
{
    (void)state;
    open_additive(130000);
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "dropped"));
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_draw, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 0);
    trying_close();
    trying_assert_timing(1.3, 0.01);
}

/* ---- several views ---- */

static void render_two_views(VkCommandBuffer buffer)
{
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {.extent = {1, 1}},
        .viewMask = 3,
    };
    trying.h.vk.CmdBeginRendering(buffer, &info);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdEndRendering(buffer);
}

static VkRenderPass two_views;

static VkRenderPass make_two_views(bool second_version)
{
    const uint32_t mask = 3;
    const VkRenderPassMultiviewCreateInfo views = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO,
        .subpassCount = 1,
        .pViewMasks = &mask,
    };
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .pNext = &views,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass};
    const VkSubpassDescription2 subpass2 = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                            .viewMask = mask};
    const VkRenderPassCreateInfo2 info2 = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
                                           .subpassCount = 1,
                                           .pSubpasses = &subpass2};
    VkRenderPass pass;
    PM_CHECK(second_version ? trying.h.vk.CreateRenderPass2(trying.h.device, &info2, NULL, &pass)
                            : trying.h.vk.CreateRenderPass(trying.h.device, &info, NULL, &pass));
    return pass;
}

static void draw_two_views(VkCommandBuffer buffer)
{
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = two_views,
                                        .framebuffer = trying.h.framebuffer,
                                        .renderArea = {{0, 0}, {64, 64}}};
    trying.h.vk.CmdBeginRenderPass(buffer, &info, VK_SUBPASS_CONTENTS_INLINE);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdEndRenderPass(buffer);
}

static void assert_timed_as_whole(trying_recorder record, const char *begins, const char *ends)
{
    const uint64_t position = trying_third_frame(record, TRYING_ONCE);
    const uint64_t begin = trying_position_of(position, begins);
    const uint64_t end = trying_position_of(begin, ends);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
    assert_true(trying_between(position, begin, "vkCmdWriteTimestamp"));
    assert_false(trying_between(begin, end, "vkCmdWriteTimestamp"));
}

/* A timestamp takes a query a view there. */
static void several_views_are_timed_as_wholes(void **state)
{
    (void)state;
    open_additive(80000);
    assert_timed_as_whole(render_two_views, "vkCmdBeginRendering", "vkCmdEndRendering");
    for (int version = 0; version < 2; version++) {
        two_views = make_two_views(version);
        assert_timed_as_whole(draw_two_views, "vkCmdBeginRenderPass", "vkCmdEndRenderPass");
        trying.h.vk.DestroyRenderPass(trying.h.device, two_views, NULL);
    }
    assert_true(trying_run_until(render_two_views, TRYING_ONCE, "of render passes"));
    trying_close();
}

/* ---- where draws are left alone ---- */

static VkQueryPool statistics;

static void draw_in_a_query(VkCommandBuffer buffer)
{
    pm_harness_begin_pass(&trying.h, buffer);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdBeginQuery(buffer, statistics, 0, 0);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdEndQuery(buffer, statistics, 0);
    trying.h.vk.CmdEndRenderPass(buffer);
}

static void inside_queries(void **state)
{
    (void)state;
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    trying.additive = true;
    trying_open(80000, &(struct pm_harness_options){.features = &features});
    statistics = pm_harness_make_statistics(&trying.h);
    const uint64_t position = trying.h.driver->position();
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 4; i++) {
        pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
        trying.h.vk.CmdResetQueryPool(buffer, statistics, 0, 1);
        draw_in_a_query(buffer);
        pm_harness_run(&trying.h, buffer);
    }
    assert_int_equal(trying_foreign_binds(position), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying.h.vk.DestroyQueryPool(trying.h.device, statistics, NULL);
    trying_close();
}

/* As of Direct3D games over DXVK: statistics might be asked for, and are not, and pipelines leave
 * different states to commands. */
static void before_there_are_queries(void **state)
{
    (void)state;
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    const struct graphics_options leaving = {.dynamic = VK_DYNAMIC_STATE_BLEND_CONSTANTS};
    trying.additive = false;
    trying_open(80000, &(struct pm_harness_options){.features = &features});
    const VkPipeline other = make_graphics(&trying.h, &leaving);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_draw, TRYING_ONCE, 16);
    assert_true(trying_foreign_binds(position) > 0);
    trying.h.vk.DestroyPipeline(trying.h.device, other, NULL);
    trying_close();
}

/* ---- the self-test ---- */

/* Until it is over no draw is timed, but dispatches are. */
static void nothing_is_drawn_meanwhile(void **state)
{
    (void)state;
    trying.additive = true;
    trying_open_early(80000, NULL);
    const uint64_t position = trying.h.driver->position();
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
    trying_dispatch(buffer);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
    trying_draw(buffer);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    trying_close();
}

/* Every submission is the game's own or behind one, on its thread (HAZARDS 13). */
static void it_is_submitted_in_the_game_s_hooks(void **state)
{
    (void)state;
    const uint64_t position = pm_harness_driver()->position();
    open_additive(80000);
    const uint32_t submits = pm_calls_of(trying.h.driver, position, "vkQueueSubmit");
    for (uint32_t i = 0; i < submits; i++)
        assert_int_equal(pm_call(trying.h.driver, position, "vkQueueSubmit", i).thread,
                         (uint32_t)syscall(SYS_gettid));
    trying_close();
}

static void it_is_made_in_the_background(void **state)
{
    (void)state;
    const uint64_t position = pm_harness_driver()->position();
    trying.background = true;
    open_additive(80000);
    /* The first two are the game's, of this session and the one before. */
    const struct pm_null_call ours = pm_call(trying.h.driver, position, "vkCreateFramebuffer", 2);
    assert_int_not_equal(ours.thread, (uint32_t)syscall(SYS_gettid));
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "is used from now on"));
    trying_close();
}

/* Once in a session, whatever there is to be tried. */
static void it_is_run_once(void **state)
{
    (void)state;
    open_additive(80000);
    VkPipeline more[3];
    for (int i = 0; i < 3; i++)
        more[i] = optimized_graphics(&trying.h);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkQueueSubmit"), 8);
    assert_int_equal(optimized_logged("timestamps around single draws"), 1);
    for (int i = 0; i < 3; i++)
        trying.h.vk.DestroyPipeline(trying.h.device, more[i], NULL);
    trying_close();
}

static void a_tiler_is_found_out(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    assert_true(optimized_logged("not taken to be additive"));
    assert_timed_as_whole(trying_draw, "vkCmdBeginRenderPass", "vkCmdEndRenderPass");
    trying_close();
}

/* Draws that take no time are made larger, up to a bound. */
static void a_device_that_is_done_too_soon(void **state)
{
    (void)state;
    trying.additive = true;
    trying_open(1, NULL);
    assert_true(optimized_logged("the device is done too soon to tell"));
    next_case(state);
    trying.additive = true;
    trying_open(300, NULL);
    assert_true(optimized_logged("draws are timed one by one"));
    trying_close();
}

static void refusals_leave_render_passes(void **state)
{
    static const char *const faults[] = {
        "vkCreateImage:1",       "vkAllocateMemory:1",         "vkBindImageMemory:1",
        "vkCreateImageView:1",   "vkCreateFramebuffer:1",      "vkCreateQueryPool:1",
        "vkCreateCommandPool:1", "vkAllocateCommandBuffers:1", "vkCreateFence:1",
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        trying.additive = true;
        trying.faults = faults[i];
        trying_open(80000, NULL);
        assert_true(optimized_logged("the driver refuses the self-test"));
        assert_timed_as_whole(trying_draw, "vkCmdBeginRenderPass", "vkCmdEndRenderPass");
        next_case(state);
    }
    /* The first submission is the game's, the second one ours. */
    trying.additive = true;
    trying_open_early(80000, NULL);
    trying.h.driver->inject("vkQueueSubmit:2=-2");
    assert_true(trying_wait_for("the driver refuses the self-test"));
    assert_timed_as_whole(trying_draw, "vkCmdBeginRenderPass", "vkCmdEndRenderPass");
    next_case(state);
    trying.additive = true;
    trying_open_early(80000, NULL);
    trying.h.driver->inject("vkGetQueryPoolResults:1=-1");
    assert_true(trying_wait_for("the driver has no results"));
    trying_close();
}

static void a_device_that_is_lost(void **state)
{
    (void)state;
    trying.additive = true;
    trying_open_early(80000, NULL);
    trying.h.driver->inject("vkQueueSubmit:2=-4");
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
    assert_true(optimized_logged("not taken to be additive"));
    trying_close();
}

/* The game ends while a round is under way. */
static void the_end_comes_early(void **state)
{
    (void)state;
    trying.additive = true;
    trying_open_early(80000, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    trying.h.driver->set_delay(100000);
    pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
    trying.h.driver->set_delay(0);
    assert_false(optimized_logged("timestamps around single draws"));
    trying_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_draw_is_timed_by_itself),
        PM_LAYERED_TEST(where_recordings_reset),
        PM_LAYERED_TEST(sides_alternate),
        PM_LAYERED_TEST(the_first_few_of_a_frame_are_timed),
        PM_LAYERED_TEST(a_faster_draw_is_used),
        PM_LAYERED_TEST(a_slower_draw_is_dropped),
        PM_LAYERED_TEST(several_views_are_timed_as_wholes),
        PM_LAYERED_TEST(inside_queries),
        PM_LAYERED_TEST(before_there_are_queries),
        PM_LAYERED_TEST(nothing_is_drawn_meanwhile),
        PM_LAYERED_TEST(it_is_submitted_in_the_game_s_hooks),
        PM_LAYERED_TEST(it_is_made_in_the_background),
        PM_LAYERED_TEST(it_is_run_once),
        PM_LAYERED_TEST(a_tiler_is_found_out),
        PM_LAYERED_TEST(a_device_that_is_done_too_soon),
        PM_LAYERED_TEST(refusals_leave_render_passes),
        PM_LAYERED_TEST(a_device_that_is_lost),
        PM_LAYERED_TEST(the_end_comes_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
