/* Specialized variants are tried against the game's own pipelines (HAZARDS 14, 21; trial.h): what
 * comes of it, and what is recorded for it. */
#include "tests/layer/trial/trying.h"

#include "base/clock.h"
#include "base/random.h"
#include "tests/patience.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- verdicts ---- */

static void a_faster_dispatch_is_used(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 8);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    /* Also where nothing could have been tried. */
    VkCommandBuffer secondary = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    position = trying.h.driver->position();
    pm_harness_begin(&trying.h, secondary, 0);
    trying_dispatch(secondary);
    PM_CHECK(trying.h.vk.EndCommandBuffer(secondary));
    assert_int_equal(trying_foreign_binds(position), 1);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

static void a_faster_draw_is_used(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    assert_true(trying_run_until(trying_draw, TRYING_ONCE, "is used from now on"));
    trying_run_frames(trying_draw, TRYING_ONCE,
                      1); /* in which the render pass turns out not to be worth timing */
    uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_draw, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 8);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

static void a_slower_one_is_dropped(void **state)
{
    (void)state;
    trying_open(130000, NULL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "dropped"));
    uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 0);
    trying_close();
    trying_assert_timing(1.3, 0.01);
}

static void rest(VkCommandBuffer buffer)
{
    (void)buffer;
}

/* Uses that are so far apart that the scene may be another are no pairs. */
static void what_is_used_rarely_makes_no_pairs(void **state)
{
    (void)state;
    trying.dispatches = true;
    trying_open(80000, NULL);
    for (int i = 0; i < 24; i++) {
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
        trying_run_frames(rest, TRYING_ONCE, 600);
    }
    trying_close();
    optimized_assert_logged("is used from now on", 0);
    optimized_assert_logged("was not over after 0 pairs", 1);
}

/* What the layer's log says, which is a pipe of two pages, goes on being read until the text. */
static void read_log_until(int log, const char *text)
{
    char read_so_far[1 << 16];
    size_t size = 0;
    uint64_t until = 0;
    do {
        const ssize_t got = read(log, read_so_far + size, sizeof read_so_far - 1 - size);
        size += got > 0 ? (size_t)got : 0;
        read_so_far[size] = '\0';
        if (strstr(read_so_far, text))
            return;
        trying_run_frames(trying_dispatch, TRYING_ONCE, 1);
    } while (patience(&until));
    fail_msg("the log never had: %s", text);
}

/* Many pipelines hear of an outcome, each of which the log tells, slowly: the game need not wait
 * for that when it destroys one. */
static void a_slow_log_holds_nobody_up(void **state)
{
    (void)state;
    enum { MANY = 200, FEW = 1024 /* bytes, of which there will be more */ };
    char path[300];
    VkPipeline others[MANY];
    snprintf(path, sizeof path, "%s/log", pm_layered_home());
    assert_int_equal(mkfifo(path, 0600), 0);
    const int log = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(log >= 0 && fcntl(log, F_SETPIPE_SZ, 8192) == 8192);
    trying.dispatches = true;
    trying_open(80000, NULL);
    for (int i = 0; i < MANY; i++)
        others[i] = optimized_compute(&trying.h);
    read_log_until(log, "tried a specialized shader");
    int waiting = 0;
    uint64_t until = 0;
    while (waiting < FEW && patience(&until))
        assert_int_equal(ioctl(log, FIONREAD, &waiting), 0);
    /* Each line waits for ten milliseconds where the pipe is full. */
    const int64_t begun_at = pm_now();
    trying.h.vk.DestroyPipeline(trying.h.device, others[0], NULL);
    assert_true(pm_now() - begun_at < PM_SECOND / 2);
    for (int i = 1; i < MANY; i++)
        trying.h.vk.DestroyPipeline(trying.h.device, others[i], NULL);
    trying_close();
    close(log);
}

/* Just what a variant must gain. */
enum { NO_GAIN = TRYING_ORIGINAL * 99 / 100 };

static void equal_ones_are_undecided(void **state)
{
    (void)state;
    trying_open(NO_GAIN, NULL);
    trying.noise = 0.05;
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "undecided"));
    uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(trying_foreign_binds(position), 0);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying_close();
    trying_assert_timing(0.99, 0.03);
}

/* Whatever else runs may make one of two uses take many times as long. */
static void a_wide_interval_decides_nothing(void **state)
{
    (void)state;
    trying_open(130000, NULL);
    trying.noise = 0.95;
    trying_run_frames(trying_dispatch, TRYING_ONCE, 2 * 32);
    assert_false(optimized_logged("dropped"));
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "dropped"));
    trying_close();
}

/* Others with the same shader have the verdict, those that come later, too. */
static void pipelines_share_a_trial(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    VkPipeline others[2] = {optimized_compute(&trying.h)};
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    others[1] = optimized_compute(&trying.h);
    for (int i = 0; i < 2; i++) {
        assert_true(optimized_effective(&trying.h, others[i], VK_PIPELINE_BIND_POINT_COMPUTE) !=
                    others[i]);
        trying.h.vk.DestroyPipeline(trying.h.device, others[i], NULL);
    }
    optimized_assert_logged("tried a specialized shader", 1);
    trying_close();
    trying_assert_timing(0.8, 0.01);
}

static void an_undecided_one_is_tried_again(void **state)
{
    (void)state;
    trying_open(NO_GAIN, NULL);
    trying.noise = 0.05;
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "undecided"));
    trying.variant_cost = 80000;
    for (int i = 0; i < 1 << 14; i++)
        PM_CHECK(trying.h.vk.QueueSubmit(trying.h.queue, 0, NULL, VK_NULL_HANDLE));
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    optimized_assert_logged("tried a specialized shader", 2);
    trying_close();
}

static void noise_does_not_hide_a_gain(void **state)
{
    (void)state;
    trying_open(75000, NULL);
    trying.noise = 0.2;
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying_close();
    /* What was trimmed is not in the profile either. */
    trying_assert_timing(0.75, 0.15);
}

/* ---- what is recorded ---- */

static void queries_stay_outside_render_passes(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    for (int repeated = 0; repeated < 2; repeated++) {
        uint64_t position = trying_third_frame(trying_draw, repeated ? 0 : TRYING_ONCE);
        uint64_t begin = trying_position_of(position, "vkCmdBeginRenderPass");
        uint64_t end = trying_position_of(position, "vkCmdEndRenderPass");
        assert_true(trying_between(position, begin, "vkCmdWriteTimestamp"));
        assert_false(trying_between(begin, end, "vkCmdWriteTimestamp"));
        assert_false(trying_between(begin, end, "vkCmdResetQueryPool"));
        assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
        assert_int_equal(trying_between(position, begin, "vkCmdResetQueryPool"), repeated);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(
                pm_call(trying.h.driver, position, "vkCmdWriteTimestamp", i).arguments[1],
                VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
        assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdPipelineBarrier"), 0);
    }
    trying_close();
}

static void a_dispatch_is_timed_by_itself(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    uint64_t position = trying_third_frame(trying_dispatch, TRYING_ONCE);
    uint64_t call = trying_position_of(position, "vkCmdDispatch");
    assert_true(trying_between(position, call, "vkCmdWriteTimestamp"));
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdResetQueryPool"), 0);
    trying_close();
}

/* Half of the uses see the variant, and each time the game's own pipeline is bound again. */
static void sides_alternate(void **state)
{
    (void)state;
    trying_open(TRYING_ORIGINAL, NULL);
    uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 12);
    assert_int_equal(trying_foreign_binds(position), 6);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdBindPipeline"), 12 + 2 * 6);
    trying_close();
}

/* A pipeline that was bound before the instance began takes part in it, and is there again after
 * it. */
static void draw_bound_before(VkCommandBuffer buffer)
{
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    pm_harness_begin_pass(&trying.h, buffer);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    trying.h.vk.CmdEndRenderPass(buffer);
}

static void what_is_bound_before_takes_part(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    trying_run_frames(draw_bound_before, TRYING_ONCE, 2);
    uint64_t position = trying.h.driver->position();
    trying_run_frames(draw_bound_before, TRYING_ONCE, 12);
    assert_int_equal(trying_foreign_binds(position), 6);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdBindPipeline"), 12 + 2 * 6);
    assert_true(trying_run_until(draw_bound_before, TRYING_ONCE, "is used from now on"));
    trying_close();
}

static void end_rendering1(VkCommandBuffer buffer, const void *info)
{
    (void)info;
    trying.h.vk.CmdEndRendering(buffer);
}

/* Or vkCmdEndRendering2KHR, which the headers do not have. */
typedef void(VKAPI_PTR *end_of_rendering)(VkCommandBuffer buffer, const void *info);
static end_of_rendering end_rendering;

static void dynamic_rendering(VkCommandBuffer buffer, VkRenderingFlags flags)
{
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .flags = flags,
        .renderArea = {.extent = {1, 1}},
        .layerCount = 1,
    };
    trying.h.vk.CmdBeginRendering(buffer, &info);
    trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    end_rendering(buffer, NULL);
}

static void render_dynamically(VkCommandBuffer buffer)
{
    dynamic_rendering(buffer, 0);
}

static void render_suspended(VkCommandBuffer buffer)
{
    dynamic_rendering(buffer, VK_RENDERING_SUSPENDING_BIT);
    dynamic_rendering(buffer, VK_RENDERING_RESUMING_BIT);
}

static void render_in_parts(VkCommandBuffer buffer)
{
    dynamic_rendering(buffer, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT);
}

static void dynamic_rendering_is_timed(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    end_rendering = (end_of_rendering)vkGetDeviceProcAddr(trying.h.device, "vkCmdEndRendering2KHR");
    assert_non_null(end_rendering);
    assert_null(vkGetDeviceProcAddr(trying.h.device, "vkCmdEndRendering2EXT"));
    uint64_t position = trying_third_frame(render_dynamically, TRYING_ONCE);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdEndRendering"), 1);
    end_rendering = end_rendering1;
    position = trying_third_frame(render_dynamically, TRYING_ONCE);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2);
    position = trying.h.driver->position();
    trying_run_frames(render_suspended, TRYING_ONCE, 8);
    trying_run_frames(render_in_parts, TRYING_ONCE, 8);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    assert_int_equal(trying_foreign_binds(position), 0);
    assert_true(trying_run_until(render_dynamically, TRYING_ONCE, "is used from now on"));
    trying_close();
}

/* Where each submission is a heartbeat, what is worth timing is known again a frame later. */
static void render_in_turn(VkCommandBuffer buffer)
{
    static const VkRenderingInfo other = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {.extent = {1, 1}},
        .layerCount = 1,
    };
    static unsigned turn;
    if (turn++ % 2 == 0) {
        trying_draw(buffer);
    } else {
        trying.h.vk.CmdBeginRendering(buffer, &other);
        trying.h.vk.CmdEndRendering(buffer);
    }
}

/* Instances of two kinds, one of which takes ten times as long, in frames that have the one, the
 * other, or both: an instance is paired with the next of its kind. */
static void render_at_random(VkCommandBuffer buffer)
{
    static struct pm_random random = {{1, 2, 3, 4}};
    static const VkRenderingInfo other = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {.extent = {1, 1}},
        .layerCount = 1,
    };
    const uint32_t which = pm_random_below(&random, 3);
    if (which != 0)
        trying_draw(buffer);
    if (which != 1) {
        trying.h.vk.CmdBeginRendering(buffer, &other);
        trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
        for (int i = 0; i < 20; i++)
            trying.h.vk.CmdDraw(buffer, 3, 1, 0, 0);
        trying.h.vk.CmdEndRendering(buffer);
    }
}

static void instances_are_paired_by_kind(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    assert_true(trying_run_until(render_at_random, TRYING_ONCE, "is used from now on"));
    optimized_assert_logged(", 8 pairs of render passes), faster", 1);
    trying_close();
}

static void frames_of_several_heartbeats(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    assert_true(trying_run_until(render_in_turn, TRYING_ONCE, "is used from now on"));
    trying_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_faster_dispatch_is_used),
        PM_LAYERED_TEST(a_faster_draw_is_used),
        PM_LAYERED_TEST(a_slower_one_is_dropped),
        PM_LAYERED_TEST(what_is_used_rarely_makes_no_pairs),
        PM_LAYERED_TEST(a_slow_log_holds_nobody_up),
        PM_LAYERED_TEST(equal_ones_are_undecided),
        PM_LAYERED_TEST(a_wide_interval_decides_nothing),
        PM_LAYERED_TEST(pipelines_share_a_trial),
        PM_LAYERED_TEST(an_undecided_one_is_tried_again),
        PM_LAYERED_TEST(noise_does_not_hide_a_gain),
        PM_LAYERED_TEST(queries_stay_outside_render_passes),
        PM_LAYERED_TEST(a_dispatch_is_timed_by_itself),
        PM_LAYERED_TEST(sides_alternate),
        PM_LAYERED_TEST(what_is_bound_before_takes_part),
        PM_LAYERED_TEST(dynamic_rendering_is_timed),
        PM_LAYERED_TEST(frames_of_several_heartbeats),
        PM_LAYERED_TEST(instances_are_paired_by_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
