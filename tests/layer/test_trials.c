/* Specialized variants are tried against the game's own pipelines (HAZARDS 14, 21; trial.h), on the
 * null driver, where each draw and dispatch takes as long as the test says. */
#include "aggregator_client/spool.h"
#include "base/random.h"
#include "tests/layer/optimized.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ORIGINAL = 100000, MOST_FRAMES = 3000 };

static struct pm_harness h;
static VkPipeline compute, graphics; /* the game's own */
static uint64_t variant_cost;        /* nanoseconds */
static double noise;                 /* share by which a cost varies */
static struct pm_random randoms;
static const char *kinds = "timing"; /* of the next session */

static uint64_t cost(void *user, VkPipeline pipeline)
{
    (void)user;
    double time = pipeline == graphics || pipeline == compute ? ORIGINAL : (double)variant_cost;
    time *= 1 + noise * (2 * pm_random_unit(&randoms) - 1);
    /* Now and then something else ran on the device. */
    if (noise > 0 && pm_random_below(&randoms, 20) == 0)
        time += 20 * ORIGINAL;
    return (uint64_t)time;
}

static void open_with(uint64_t variant, const struct pm_harness_options *options)
{
    variant_cost = variant;
    noise = 0;
    pm_random_init(&randoms, 3);
    optimized_learn();
    optimized_enable(false);
    setenv("PIECEMEAL_SAMPLER_KINDS", kinds, 1);
    kinds = "timing";
    pm_harness_open(&h, options);
    compute = optimized_compute(&h);
    graphics = optimized_graphics(&h);
    h.driver->set_cost(cost, NULL);
}

static void close_all(void)
{
    h.driver->set_cost(NULL, NULL);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

static bool logged(const char *text)
{
    char path[160];
    snprintf(path, sizeof(path), "%s/log", pm_layered_home());
    FILE *file = fopen(path, "r");
    char line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof(line), file))
        found = strstr(line, text) != NULL;
    if (file)
        fclose(file);
    return found;
}

typedef void (*recorder)(VkCommandBuffer buffer);

static void dispatch(VkCommandBuffer buffer)
{
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, compute);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
}

static void draw(VkCommandBuffer buffer)
{
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass(buffer);
}

static void frame(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags, recorder record)
{
    pm_harness_begin(&h, buffer, flags);
    record(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
}

/* Draws frames until the layer's log has a text; false: it never had. */
static bool run_until(recorder record, VkCommandBufferUsageFlags flags, const char *text)
{
    VkCommandBuffer buffers[2];
    for (int i = 0; i < 2; i++)
        buffers[i] = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < MOST_FRAMES; i++) {
        frame(buffers[i % 2], flags, record);
        if (i % 16 == 15) {
            nanosleep(&(struct timespec){0, 5000000}, NULL);
            if (logged(text))
                return true;
        }
    }
    return false;
}

static void run_frames(recorder record, VkCommandBufferUsageFlags flags, int count)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < count; i++)
        frame(buffer, flags, record);
}

static const VkCommandBufferUsageFlags once = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;

/* Which pipelines were bound since a position, other than the game's own. */
static uint32_t foreign_binds(uint64_t since)
{
    uint32_t count = 0;
    struct pm_null_call call;
    for (uint64_t at = since; h.driver->read(at, &call); at++)
        count += strcmp(call.command, "vkCmdBindPipeline") == 0 &&
                 call.arguments[2] != (uintptr_t)graphics &&
                 call.arguments[2] != (uintptr_t)compute;
    return count;
}

/* ---- the spool ---- */

struct timings {
    unsigned count;
    struct pm_environment environment;
    struct pm_point_counts point;
};

static bool add_checkpoint(void *user, const struct pm_profile *profile, struct pm_error *error)
{
    struct timings *timings = user;
    (void)error;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        if (shader->kind != PM_KIND_TIMING)
            continue;
        assert_int_equal(shader->space, 1);
        assert_int_equal(shader->point_count, 1);
        timings->environment = shader->environment;
        timings->point = shader->points[0];
        timings->count++;
    }
    return true;
}

static struct timings read_spool(void)
{
    struct timings timings = {0};
    struct pm_error error = {0};
    struct pm_spool_session *sessions = NULL;
    size_t count = 0;
    if (!pm_spool_list(NULL, &sessions, &count, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        uint64_t damaged = 0;
        if (!pm_spool_read(sessions[i].path, add_checkpoint, &timings, &damaged, &error))
            fail_msg("%s", error.message);
        assert_true(damaged == UINT64_MAX);
    }
    pm_spool_list_free(sessions, count);
    return timings;
}

/* The spool holds one timing profile, with this ratio. */
static void assert_timing(double expected, double tolerance)
{
    const struct timings timings = read_spool();
    const struct pm_point_counts *point = &timings.point;
    assert_int_equal(timings.count, 1);
    assert_int_not_equal(timings.environment.vendor_id, 0);
    assert_int_not_equal(timings.environment.driver_version, 0);
    assert_true(point->entry_lanes == point->entry_subgroups);
    assert_in_range(point->entry_lanes, 6, 64);
    /* All pairs, also those that were trimmed. */
    assert_in_range(point->calls, 8, 64);
    assert_true(point->entry_lanes <= point->calls);
    const double ratio =
        (double)point->counts[PM_TIMING_VARIANT] / (double)point->counts[PM_TIMING_ORIGINAL];
    assert_true(fabs(ratio - expected) < tolerance);
}

static void assert_no_timing(void)
{
    assert_int_equal(read_spool().count, 0);
}

/* ---- verdicts ---- */

static void a_faster_dispatch_is_used(void **state)
{
    (void)state;
    open_with(80000, NULL);
    assert_true(run_until(dispatch, once, "faster: used"));
    uint64_t position = h.driver->position();
    run_frames(dispatch, once, 8);
    assert_int_equal(foreign_binds(position), 8);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdWriteTimestamp"), 0);
    close_all();
    assert_timing(0.8, 0.01);
}

static void a_faster_draw_is_used(void **state)
{
    (void)state;
    open_with(80000, NULL);
    assert_true(run_until(draw, once, "faster: used"));
    run_frames(draw, once, 1); /* in which the render pass turns out not to be worth timing */
    uint64_t position = h.driver->position();
    run_frames(draw, once, 8);
    assert_int_equal(foreign_binds(position), 8);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdWriteTimestamp"), 0);
    close_all();
    assert_timing(0.8, 0.01);
}

static void a_slower_one_is_dropped(void **state)
{
    (void)state;
    open_with(130000, NULL);
    assert_true(run_until(dispatch, once, "dropped"));
    uint64_t position = h.driver->position();
    run_frames(dispatch, once, 8);
    assert_int_equal(foreign_binds(position), 0);
    close_all();
    assert_timing(1.3, 0.01);
}

static void equal_ones_are_dropped(void **state)
{
    (void)state;
    open_with(ORIGINAL, NULL);
    noise = 0.2;
    assert_true(run_until(dispatch, once, "dropped"));
    assert_false(logged("faster: used"));
    close_all();
}

static void noise_does_not_hide_a_gain(void **state)
{
    (void)state;
    open_with(75000, NULL);
    noise = 0.2;
    assert_true(run_until(dispatch, once, "faster: used"));
    close_all();
    /* What was trimmed is not in the profile either. */
    assert_timing(0.75, 0.15);
}

/* ---- what is recorded ---- */

static bool between(uint64_t from, uint64_t to, const char *command)
{
    struct pm_null_call call;
    for (uint64_t at = from; at < to && h.driver->read(at, &call); at++) {
        if (strcmp(call.command, command) == 0)
            return true;
    }
    return false;
}

static uint64_t position_of(uint64_t since, const char *command)
{
    struct pm_null_call call;
    for (uint64_t at = since; h.driver->read(at, &call); at++) {
        if (strcmp(call.command, command) == 0)
            return at;
    }
    fail_msg("no %s", command);
    return 0;
}

/* What was recorded since a position into the frame that follows two others. */
static uint64_t third_frame(recorder record, VkCommandBufferUsageFlags flags)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t position = 0;
    for (int i = 0; i < 3; i++) {
        position = h.driver->position();
        frame(buffer, flags, record);
    }
    return position;
}

static void queries_stay_outside_render_passes(void **state)
{
    (void)state;
    open_with(80000, NULL);
    for (int repeated = 0; repeated < 2; repeated++) {
        uint64_t position = third_frame(draw, repeated ? 0 : once);
        uint64_t begin = position_of(position, "vkCmdBeginRenderPass");
        uint64_t end = position_of(position, "vkCmdEndRenderPass");
        assert_true(between(position, begin, "vkCmdWriteTimestamp"));
        assert_false(between(begin, end, "vkCmdWriteTimestamp"));
        assert_false(between(begin, end, "vkCmdResetQueryPool"));
        assert_int_equal(pm_calls_of(h.driver, position, "vkCmdWriteTimestamp"), 2);
        assert_int_equal(between(position, begin, "vkCmdResetQueryPool"), repeated);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(pm_call(h.driver, position, "vkCmdWriteTimestamp", i).arguments[1],
                             VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
        assert_int_equal(pm_calls_of(h.driver, position, "vkCmdPipelineBarrier"), 0);
    }
    close_all();
}

static void a_dispatch_is_timed_by_itself(void **state)
{
    (void)state;
    open_with(80000, NULL);
    uint64_t position = third_frame(dispatch, once);
    uint64_t call = position_of(position, "vkCmdDispatch");
    assert_true(between(position, call, "vkCmdWriteTimestamp"));
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdWriteTimestamp"), 2);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdResetQueryPool"), 0);
    close_all();
}

/* Half of the uses see the variant, and each time the game's own pipeline is bound again. */
static void sides_alternate(void **state)
{
    (void)state;
    open_with(ORIGINAL, NULL);
    uint64_t position = h.driver->position();
    run_frames(dispatch, once, 12);
    assert_int_equal(foreign_binds(position), 6);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 12 + 2 * 6);
    close_all();
}

/* A pipeline that was bound before the instance began takes part in it, and is there again after
 * it. */
static void draw_bound_before(VkCommandBuffer buffer)
{
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics);
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass(buffer);
}

static void what_is_bound_before_takes_part(void **state)
{
    (void)state;
    open_with(80000, NULL);
    run_frames(draw_bound_before, once, 2);
    uint64_t position = h.driver->position();
    run_frames(draw_bound_before, once, 12);
    assert_int_equal(foreign_binds(position), 6);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 12 + 2 * 6);
    assert_true(run_until(draw_bound_before, once, "faster: used"));
    close_all();
}

static void dynamic_rendering(VkCommandBuffer buffer, VkRenderingFlags flags)
{
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .flags = flags,
        .renderArea = {.extent = {1, 1}},
        .layerCount = 1,
    };
    h.vk.CmdBeginRendering(buffer, &info);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRendering(buffer);
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
    open_with(80000, NULL);
    uint64_t position = third_frame(render_dynamically, once);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdWriteTimestamp"), 2);
    position = h.driver->position();
    run_frames(render_suspended, once, 8);
    run_frames(render_in_parts, once, 8);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdWriteTimestamp"), 0);
    assert_int_equal(foreign_binds(position), 0);
    assert_true(run_until(render_dynamically, once, "faster: used"));
    close_all();
}

/* ---- where nothing is tried ---- */

static void assert_untried(uint64_t since)
{
    assert_int_equal(foreign_binds(since), 0);
    assert_int_equal(pm_calls_of(h.driver, since, "vkCmdWriteTimestamp"), 0);
}

static void without_valid_bits(void **state)
{
    (void)state;
    uint64_t position = pm_harness_driver()->position();
    setenv("PM_NULL_TIMESTAMP_BITS", "0", 1);
    open_with(80000, NULL);
    third_frame(dispatch, once);
    third_frame(draw, once);
    assert_untried(position);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCreateQueryPool"), 0);
    close_all();
    assert_no_timing();
}

static void few_valid_bits_wrap(void **state)
{
    (void)state;
    setenv("PM_NULL_TIMESTAMP_BITS", "20", 1); /* a millisecond */
    open_with(80000, NULL);
    assert_true(run_until(dispatch, once, "faster: used"));
    close_all();
    assert_timing(0.8, 0.01);
}

static void without_host_query_reset(void **state)
{
    (void)state;
    setenv("PM_NULL_WITHOUT_FEATURES", "hostQueryReset", 1);
    open_with(80000, NULL);
    uint64_t position = h.driver->position();
    third_frame(dispatch, once);
    assert_untried(position);
    assert_true(logged("cannot be tried"));
    close_all();
}

static void without_the_kind(void **state)
{
    (void)state;
    uint64_t position = pm_harness_driver()->position();
    kinds = "block";
    open_with(80000, NULL);
    third_frame(dispatch, once);
    third_frame(draw, once);
    assert_untried(position);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCreateQueryPool"), 0);
    close_all();
}

/* Recorded once and submitted often: it cannot alternate. */
static void recordings_that_repeat(void **state)
{
    (void)state;
    open_with(80000, NULL);
    uint64_t position = h.driver->position();
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 4; i++) {
        pm_harness_begin(&h, buffer, 0);
        dispatch(buffer);
        draw(buffer);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        for (int j = 0; j < 3; j++) {
            pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
            PM_CHECK(h.vk.QueueWaitIdle(h.queue));
        }
    }
    assert_untried(position);
    close_all();
}

/* A recording that was timed is submitted again, though nobody expected it: its queries are reset
 * by itself, and the first result counts. */
static void a_timed_recording_repeats(void **state)
{
    (void)state;
    open_with(80000, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t position = 0;
    for (int i = 0; i < 3; i++) {
        position = h.driver->position();
        frame(buffer, 0, dispatch);
    }
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdResetQueryPool"), 1);
    for (int i = 0; i < 5; i++) {
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    close_all();
}

static void secondary_command_buffers(void **state)
{
    (void)state;
    open_with(80000, NULL);
    uint64_t position = h.driver->position();
    VkCommandBuffer primary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer secondary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    for (int i = 0; i < 8; i++) {
        pm_harness_begin(&h, secondary, once);
        dispatch(secondary);
        PM_CHECK(h.vk.EndCommandBuffer(secondary));
        pm_harness_begin(&h, primary, once);
        h.vk.CmdExecuteCommands(primary, 1, &secondary);
        PM_CHECK(h.vk.EndCommandBuffer(primary));
        pm_harness_submit(&h, h.queue, primary, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    assert_untried(position);
    close_all();
}

/* Statistics of a pipeline must not be a variant's. */
static void inside_queries(void **state)
{
    (void)state;
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    open_with(80000, &(struct pm_harness_options){.features = &features});
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
        .queryCount = 1,
        .pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT,
    };
    VkQueryPool pool;
    PM_CHECK(h.vk.CreateQueryPool(h.device, &info, NULL, &pool));
    uint64_t position = h.driver->position();
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 8; i++) {
        pm_harness_begin(&h, buffer, once);
        h.vk.CmdResetQueryPool(buffer, pool, 0, 1);
        h.vk.CmdBeginQuery(buffer, pool, 0, 0);
        dispatch(buffer);
        h.vk.CmdEndQuery(buffer, pool, 0);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    assert_untried(position);
    h.vk.DestroyQueryPool(h.device, pool, NULL);
    close_all();
}

/* ---- bounds ---- */

/* When recordings that are not begun anew hold all measurements, calls go untimed, and nothing
 * grows. */
static void pools_are_reused(void **state)
{
    (void)state;
    open_with(ORIGINAL, NULL);
    noise = 0.5;
    enum { BUFFERS = 400, MEASUREMENTS = 256 };
    uint64_t position = h.driver->position();
    h.driver->hold_submissions(true); /* so that no trial is over meanwhile */
    VkCommandBuffer buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < BUFFERS; i++) {
            pm_harness_begin(&h, buffers[i], once);
            dispatch(buffers[i]);
            PM_CHECK(h.vk.EndCommandBuffer(buffers[i]));
            pm_harness_submit(&h, h.queue, buffers[i], VK_NULL_HANDLE);
        }
        if (round == 0)
            assert_int_equal(pm_calls_of(h.driver, position, "vkCmdWriteTimestamp"),
                             2 * MEASUREMENTS);
        h.driver->hold_submissions(false);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    close_all();
}

static void one_pool(void **state)
{
    (void)state;
    uint64_t position = pm_harness_driver()->position();
    open_with(80000, NULL);
    assert_true(run_until(dispatch, once, "faster: used"));
    assert_true(run_until(draw, once, "of render passes"));
    close_all();
    assert_int_equal(pm_calls_of(h.driver, position, "vkCreateQueryPool"), 1);
}

/* A recording that is never submitted, and a pool that is reset: what was reserved comes back. */
static void given_up_recordings(void **state)
{
    (void)state;
    open_with(80000, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    run_frames(dispatch, once, 1);
    for (int i = 0; i < 600; i++) {
        pm_harness_begin(&h, buffer, once);
        dispatch(buffer);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        if (i % 2 == 0)
            PM_CHECK(h.vk.ResetCommandPool(h.device, h.pool, 0));
    }
    assert_true(run_until(dispatch, once, "faster: used"));
    close_all();
}

/* Nobody binds it any more: its trial sleeps, and draws take the shortest way. */
static void idle_trials_sleep(void **state)
{
    (void)state;
    open_with(80000, NULL);
    run_frames(dispatch, once, 2);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 1200; i++) {
        pm_harness_begin(&h, buffer, once);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    uint64_t position = h.driver->position();
    run_frames(dispatch, once, 4);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdWriteTimestamp"), 0);
    close_all();
}

static void a_lost_device(void **state)
{
    (void)state;
    open_with(80000, NULL);
    run_frames(dispatch, once, 3);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, once);
    dispatch(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    h.driver->inject("vkQueueSubmit:1=-4");
    assert_int_equal(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    uint64_t position = h.driver->position();
    pm_harness_begin(&h, buffer, once);
    dispatch(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    assert_untried(position);
    close_all();
}

/* The game destroys a pipeline while its timings are under way. */
static void a_destroyed_pipeline(void **state)
{
    (void)state;
    open_with(80000, NULL);
    for (int i = 0; i < 40; i++) {
        run_frames(dispatch, once, 3);
        h.vk.DestroyPipeline(h.device, compute, NULL);
        compute = optimized_compute(&h);
    }
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_faster_dispatch_is_used),
        PM_LAYERED_TEST(a_faster_draw_is_used),
        PM_LAYERED_TEST(a_slower_one_is_dropped),
        PM_LAYERED_TEST(equal_ones_are_dropped),
        PM_LAYERED_TEST(noise_does_not_hide_a_gain),
        PM_LAYERED_TEST(queries_stay_outside_render_passes),
        PM_LAYERED_TEST(a_dispatch_is_timed_by_itself),
        PM_LAYERED_TEST(sides_alternate),
        PM_LAYERED_TEST(what_is_bound_before_takes_part),
        PM_LAYERED_TEST(dynamic_rendering_is_timed),
        PM_LAYERED_TEST(without_valid_bits),
        PM_LAYERED_TEST(few_valid_bits_wrap),
        PM_LAYERED_TEST(without_host_query_reset),
        PM_LAYERED_TEST(without_the_kind),
        PM_LAYERED_TEST(recordings_that_repeat),
        PM_LAYERED_TEST(a_timed_recording_repeats),
        PM_LAYERED_TEST(secondary_command_buffers),
        PM_LAYERED_TEST(inside_queries),
        PM_LAYERED_TEST(pools_are_reused),
        PM_LAYERED_TEST(one_pool),
        PM_LAYERED_TEST(given_up_recordings),
        PM_LAYERED_TEST(idle_trials_sleep),
        PM_LAYERED_TEST(a_lost_device),
        PM_LAYERED_TEST(a_destroyed_pipeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
