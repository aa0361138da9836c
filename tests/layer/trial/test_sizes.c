/* Uses are paired with uses of the same size (pm_trial_work). */
#include "tests/layer/trial/secondary_frames.h"

#include "base/random.h"
#include "tests/patience.h"

#include <stdio.h>
#include <unistd.h>

/* Dispatches of more workgroups, or passes of a larger area, take longer for that alone. */
static uint64_t scale;

static uint64_t scaled_cost(void *user, VkPipeline pipeline)
{
    (void)user;
    const bool own = pipeline == trying.compute || pipeline == trying.graphics;
    return scale * (own ? TRYING_ORIGINAL : trying.variant_cost);
}

static void choose_scale(void)
{
    static uint64_t number;
    scale = pm_random_mix(number++) & 1 ? 10 : 1;
}

static void dispatch_some(VkCommandBuffer buffer)
{
    choose_scale();
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, trying.compute);
    trying.h.vk.CmdDispatch(buffer, (uint32_t)scale, 1, 1);
}

static void render_some(VkCommandBuffer buffer)
{
    choose_scale();
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {.extent = {1, scale > 1 ? 2 : 1}},
        .layerCount = 1,
    };
    trying.h.vk.CmdBeginRendering(buffer, &info);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdEndRendering(buffer);
}

static void uses_are_paired_by_size(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    trying.h.driver->set_cost(scaled_cost, NULL);
    assert_true(trying_run_until(dispatch_some, TRYING_ONCE, "is used from now on"));
    optimized_assert_logged(", 8 pairs), faster", 1);
    trying_close();
}

static void passes_are_paired_by_size(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    trying.h.driver->set_cost(scaled_cost, NULL);
    assert_true(trying_run_until(render_some, TRYING_ONCE, "is used from now on"));
    optimized_assert_logged(", 8 pairs of render passes), faster", 1);
    trying_close();
}

static uint32_t groups;

/* Another number of workgroups each time. */
static void dispatch_more(VkCommandBuffer buffer)
{
    scale = 1;
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, trying.compute);
    trying.h.vk.CmdDispatch(buffer, groups++, 1, 1);
}

static void of_many_workgroups_a_few_are_no_matter(void **state)
{
    (void)state;
    groups = 1000;
    trying_open(80000, NULL);
    trying.h.driver->set_cost(scaled_cost, NULL);
    assert_true(trying_run_until(dispatch_more, TRYING_ONCE, "is used from now on"));
    trying_close();
}

/* Every other frame has twice as much to do, and only the device knows. */
static void dispatch_indirect(VkCommandBuffer buffer)
{
    scale = scale == 1 ? 2 : 1;
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, trying.compute);
    trying.h.vk.CmdDispatchIndirect(buffer, trying.h.buffer, 0);
}

/* It takes longer to tell, and is told by the variant alone. */
static void sizes_that_the_device_knows(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    trying.h.driver->set_cost(scaled_cost, NULL);
    scale = 1;
    assert_true(trying_run_until(dispatch_indirect, TRYING_ONCE, "is used from now on"));
    optimized_assert_logged(", 8 pairs), faster", 0);
    trying_close();
}

static void nothing(VkCommandBuffer buffer)
{
    (void)buffer;
}

static void begin_pass(VkCommandBuffer buffer, uint32_t height)
{
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = trying.h.render_pass,
                                        .framebuffer = trying.h.framebuffer,
                                        .renderArea = {{0, 0}, {64, height}}};
    trying.h.vk.CmdBeginRenderPass(buffer, &info, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
}

static void open_executed(bool additive)
{
    trying.additive = additive;
    trying_open(80000, NULL);
    trying.h.driver->set_cost(scaled_cost, NULL);
    secondary_allocate(true);
}

/* Two halves of a pair are executed in one recording, the second in an instance that begins while
 * no trial is awaited, or not, and in an area of some height. */
static void execute_two(bool unnoticed, uint32_t height)
{
    VkCommandBuffer primary = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer halves[2];
    VkPipeline another = VK_NULL_HANDLE;
    for (int i = 0; i < 2; i++) {
        halves[i] = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
        pm_harness_begin(&trying.h, halves[i],
                         TRYING_ONCE | VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
        pm_harness_bind_set(&trying.h, halves[i]);
        trying.h.vk.CmdBindPipeline(halves[i], VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
        trying.h.vk.CmdDraw(halves[i], 3, 1, 0, 0);
        PM_CHECK(trying.h.vk.EndCommandBuffer(halves[i]));
        /* In the next frame it is the same use once more. */
        trying_run_frames(nothing, TRYING_ONCE, 1);
    }
    pm_harness_begin(&trying.h, primary, TRYING_ONCE);
    begin_pass(primary, 64);
    trying.h.vk.CmdExecuteCommands(primary, 1, &halves[0]);
    /* All trials fall asleep. */
    if (unnoticed)
        trying_run_frames(nothing, TRYING_ONCE, 640);
    trying.h.vk.CmdEndRenderPass(primary);
    begin_pass(primary, height);
    /* What is new wakes its own. */
    if (unnoticed)
        another = optimized_graphics(&trying.h);
    trying.h.vk.CmdExecuteCommands(primary, 1, &halves[1]);
    trying.h.vk.CmdEndRenderPass(primary);
    PM_CHECK(trying.h.vk.EndCommandBuffer(primary));
    pm_harness_submit(&trying.h, trying.h.queue, primary, VK_NULL_HANDLE);
    PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    trying_run_frames(nothing, TRYING_ONCE, 64);
    usleep(100000);
    trying.h.vk.DestroyPipeline(trying.h.device, another, NULL);
}

/* How many pairs are told of when it ends. */
static void assert_pairs(void **state, bool unnoticed, uint32_t height, uint32_t expected)
{
    char said[40];
    snprintf(said, sizeof said, "was not over after %u pairs", expected);
    open_executed(true);
    scale = 1;
    execute_two(unnoticed, height);
    trying_close();
    /* The trial of what dispatches has none. */
    optimized_assert_logged(said, expected > 0 ? 1 : 2);
    pm_layered_tear_down(state);
    pm_layered_set_up(state);
}

/* An instance that begins while nobody looks is not taken for the one before it. */
static void an_area_that_nobody_has_seen(void **state)
{
    assert_pairs(state, false, 64, 1);
    assert_pairs(state, false, 8, 0);
    assert_pairs(state, true, 8, 0);
}

static void execute_area(bool large)
{
    scale = large ? 10 : 1;
    secondary_record(TRYING_ONCE);
    secondary_set_height(large ? 64 : 8);
    secondary_record_primary(TRYING_ONCE);
    secondary_submit();
}

/* Of what a secondary command buffer draws only the primary one knows the area. Whether it comes
 * again in the next frame is chance, or it never does: two areas take turns. */
static void try_executed(bool additive, bool in_turn)
{
    uint64_t until = 0;
    uint32_t frame = 0;
    open_executed(additive);
    while (optimized_logged("is used from now on") == 0 && patience(&until)) {
        for (int i = 0; i < 4; i++, frame++) {
            choose_scale();
            execute_area(in_turn ? frame & 1 : scale > 1);
        }
    }
    optimized_assert_logged(additive ? ", 8 pairs), faster" : ", 8 pairs of render passes), faster",
                            1);
    trying_close();
}

/* Two areas take turns, each frame with time for its results, until the log has the text. */
static uint32_t frames_in_turn_until(const char *text)
{
    uint64_t until = 0;
    uint32_t frame = 0;
    while (optimized_logged(text) == 0 && patience(&until))
        execute_area(frame++ & 1);
    return frame;
}

/* What turned slower is noticed by glances, too (glance.h). */
static void executed_ones_in_turn_are_glanced_at(void **state)
{
    (void)state;
    open_executed(true);
    (void)frames_in_turn_until("is used from now on");
    trying.variant_cost = 200000;
    assert_true(frames_in_turn_until("is not faster, and is dropped") < 4096);
    optimized_assert_logged("since it seems to be slower", 1);
    trying_close();
}

static void executed_ones_are_paired_by_area(void **state)
{
    (void)state;
    try_executed(true, false);
}

static void executed_ones_whose_areas_take_turns(void **state)
{
    (void)state;
    try_executed(true, true);
}

static void executing_passes_are_paired_by_area(void **state)
{
    (void)state;
    try_executed(false, false);
}

static void executing_passes_whose_areas_take_turns(void **state)
{
    (void)state;
    try_executed(false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(uses_are_paired_by_size),
        PM_LAYERED_TEST(passes_are_paired_by_size),
        PM_LAYERED_TEST(executed_ones_are_paired_by_area),
        PM_LAYERED_TEST(executed_ones_whose_areas_take_turns),
        PM_LAYERED_TEST(executed_ones_in_turn_are_glanced_at),
        PM_LAYERED_TEST(executing_passes_are_paired_by_area),
        PM_LAYERED_TEST(executing_passes_whose_areas_take_turns),
        PM_LAYERED_TEST(of_many_workgroups_a_few_are_no_matter),
        PM_LAYERED_TEST(sizes_that_the_device_knows),
        PM_LAYERED_TEST(an_area_that_nobody_has_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
