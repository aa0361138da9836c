/* Dispatches that run in several passes (passes_run.h): what reaches the driver, and where they run
 * whole. */
#include "tests/layer/shader_objects.h"
#include "tests/layer/trial/trying.h"

#include "tests/patience.h"

#include "long.comp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE

static struct pm_harness h;
static VkPipeline compute;

static VkPipeline make_long(struct pm_harness *harness)
{
    const VkShaderModule module = pm_harness_make_module(harness, long_comp, sizeof long_comp);
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = harness->layout,
        .basePipelineIndex = -1,
    };
    VkPipeline pipeline = VK_NULL_HANDLE;
    PM_CHECK(harness->vk.CreateComputePipelines(harness->device, VK_NULL_HANDLE, 1, &info, NULL,
                                                &pipeline));
    harness->vk.DestroyShaderModule(harness->device, module, NULL);
    return pipeline;
}

static void enable_passes(void)
{
    setenv("PIECEMEAL_OPTIMIZE_PARTITION", "true", 1);
    setenv("PIECEMEAL_DEBUG_PARTITION_LIMITS", "radeon9800-64", 1);
}

static void open_with(const struct pm_harness_options *options)
{
    optimized_enable(true);
    enable_passes();
    pm_harness_open(&h, options);
    compute = make_long(&h);
}

static void close_all(void)
{
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

static VkCommandBuffer begin(VkCommandBufferLevel level, VkCommandBufferUsageFlags flags)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, level);
    pm_harness_begin(&h, buffer, flags);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    return buffer;
}

/* How many passes a dispatch runs in: 1 where it is passed on as it is. *base: where they begin. */
static uint32_t passes_at(VkCommandBuffer buffer, uint32_t x, uint32_t y, uint32_t z,
                          uint32_t *base)
{
    const uint64_t position = h.driver->position();
    h.vk.CmdDispatch(buffer, x, y, z);
    const uint32_t elsewhere = pm_calls_of(h.driver, position, "vkCmdDispatchBase");
    const uint32_t passes = elsewhere + pm_calls_of(h.driver, position, "vkCmdDispatch");
    const uint32_t binds = pm_calls_of(h.driver, position, "vkCmdBindPipeline") +
                           pm_calls_of(h.driver, position, "vkCmdBindShadersEXT");
    assert_int_equal(binds, passes > 1 ? passes + 1 : 0);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdPipelineBarrier"),
                     passes > 1 ? passes : 0);
    assert_true(elsewhere == 0 || elsewhere == passes);
    *base = 0;
    for (uint32_t i = 0; i < elsewhere; i++) {
        const struct pm_null_call call = pm_call(h.driver, position, "vkCmdDispatchBase", i);
        const uint64_t expected[] = {0, 0, call.arguments[3], x, y, z};
        for (uint32_t a = 0; a < 6; a++)
            assert_int_equal(call.arguments[1 + a], expected[a]);
        assert_true(i == 0 || *base == call.arguments[3]);
        *base = (uint32_t)call.arguments[3];
    }
    return passes;
}

static uint32_t passes_of(VkCommandBuffer buffer, uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t base;
    const uint32_t passes = passes_at(buffer, x, y, z, &base);
    assert_int_equal(base, 0);
    return passes;
}

static void a_dispatch(void **state)
{
    (void)state;
    open_with(NULL);
    optimized_assert_logged("runs in several passes from now on", 1);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    const uint64_t position = h.driver->position();
    const uint32_t passes = passes_of(buffer, 1, 2, 3);
    assert_true(passes > 1);
    for (uint32_t i = 0; i < passes; i++) {
        const struct pm_null_call call = pm_call(h.driver, position, "vkCmdDispatch", i);
        for (uint32_t d = 1; d < 4; d++)
            assert_int_equal(call.arguments[d], d);
        assert_true(optimized_bound(&h, position, i) != compute);
    }
    /* Each waits for the one before, and then the game's own is bound again. */
    assert_string_equal(pm_call(h.driver, position, "vkCmdPipelineBarrier", 0).command,
                        "vkCmdPipelineBarrier");
    assert_ptr_equal(optimized_bound(&h, position, passes), compute);
    /* Again, with nothing bound anew. */
    assert_int_equal(passes_of(buffer, 1, 1, 1), passes);
    pm_harness_run(&h, buffer);
    /* A recording that is kept has them too, and so has one behind another. */
    buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, TRYING_ONCE);
    h.vk.CmdBindPipeline(buffer, COMPUTE, h.dispatch);
    assert_int_equal(passes_of(buffer, 1, 1, 1), 1);
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    assert_int_equal(passes_of(buffer, 1, 1, 1), passes);
    pm_harness_run(&h, buffer);
    close_all();
}

static void where_it_runs_whole(void **state)
{
    (void)state;
    open_with(NULL);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    uint64_t position = h.driver->position();
    h.vk.CmdDispatchIndirect(buffer, h.buffer, 0);
    h.vk.CmdDispatchBase(buffer, 1, 0, 0, 1, 1, 1);
    optimized_assert_calls(&h, position, buffer, "vkCmdDispatchIndirect vkCmdDispatchBase ");
    /* More workgroups than there is memory for, whatever a product of 32 bits would say. */
    assert_int_equal(passes_of(buffer, 65535, 65535, 1), 1);
    assert_int_equal(passes_of(buffer, 65536, 65536, 1), 1);
    assert_int_equal(passes_of(buffer, 65536, 65536, 65536), 1);
    assert_true(passes_of(buffer, 0, 65536, 65536) > 1);
    assert_true(passes_of(buffer, 1, 1, 1) > 1);
    pm_harness_run(&h, buffer);
    buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    assert_int_equal(passes_of(buffer, 1, 1, 1), 1);
    pm_harness_run(&h, buffer);
    buffer = begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY, 0);
    assert_int_equal(passes_of(buffer, 1, 1, 1), 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    close_all();
}

static void queries(void **state)
{
    (void)state;
    open_with(NULL);
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_OCCLUSION,
                                        .queryCount = 1};
    const VkQueryPool statistics = pm_harness_make_statistics(&h);
    VkQueryPool occlusion;
    PM_CHECK(h.vk.CreateQueryPool(h.device, &info, NULL, &occlusion));
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    h.vk.CmdBeginQuery(buffer, statistics, 0, 0);
    assert_int_equal(passes_of(buffer, 1, 1, 1), 1);
    h.vk.CmdEndQuery(buffer, statistics, 0);
    assert_true(passes_of(buffer, 1, 1, 1) > 1);
    h.vk.CmdBeginQuery(buffer, occlusion, 0, 0);
    assert_true(passes_of(buffer, 1, 1, 1) > 1);
    h.vk.CmdEndQuery(buffer, occlusion, 0);
    pm_harness_run(&h, buffer);
    h.vk.DestroyQueryPool(h.device, statistics, NULL);
    h.vk.DestroyQueryPool(h.device, occlusion, NULL);
    close_all();
}

/* Dispatches of two queues may run at once: each recording has memory of its own, from the first
 * dispatch that needs it until it is given up. */
static void recordings_of_several_queues(void **state)
{
    (void)state;
    const struct pm_harness_options options = {.queues = 2};
    VkCommandBuffer buffers[66];
    uint32_t bases[66], first;
    bool taken[64] = {false};
    open_with(&options);
    for (uint32_t i = 0; i < 66; i++) {
        buffers[i] = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
        const uint32_t passes = passes_at(buffers[i], 1, 1, 1, &bases[i]);
        if (i >= 64) { /* no memory is left */
            assert_int_equal(passes, 1);
            continue;
        }
        assert_true(passes > 1 && bases[i] < 64);
        assert_false(taken[bases[i]]);
        taken[bases[i]] = true;
        /* Again in the same, which is told by workgroups. */
        assert_true(passes_at(buffers[i], 1, 1, 3, &first) > 1);
        assert_int_equal(first, 3 * bases[i]);
    }
    for (uint32_t i = 0; i < 66; i++)
        PM_CHECK(h.vk.EndCommandBuffer(buffers[i]));
    /* Submitted or not it keeps it, until it is given up: by a reset, or when it begins anew. */
    pm_harness_submit(&h, h.queues[1], buffers[7], VK_NULL_HANDLE);
    pm_harness_submit(&h, h.queues[0], buffers[8], VK_NULL_HANDLE);
    PM_CHECK(h.vk.DeviceWaitIdle(h.device));
    pm_harness_begin(&h, buffers[64], 0);
    pm_harness_bind_set(&h, buffers[64]);
    h.vk.CmdBindPipeline(buffers[64], COMPUTE, compute);
    assert_int_equal(passes_at(buffers[64], 1, 1, 1, &first), 1);
    PM_CHECK(h.vk.ResetCommandBuffer(buffers[7], 0));
    assert_true(passes_at(buffers[64], 1, 1, 1, &first) > 1);
    assert_int_equal(first, bases[7]);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffers[8]);
    pm_harness_begin(&h, buffers[65], 0);
    pm_harness_bind_set(&h, buffers[65]);
    h.vk.CmdBindPipeline(buffers[65], COMPUTE, compute);
    assert_true(passes_at(buffers[65], 1, 1, 1, &first) > 1);
    assert_int_equal(first, bases[8]);
    PM_CHECK(h.vk.ResetCommandPool(h.device, h.pool, 0));
    /* All of it is free again; a larger dispatch has more of it, beside what a recording had. */
    pm_harness_begin(&h, buffers[0], 0);
    pm_harness_bind_set(&h, buffers[0]);
    h.vk.CmdBindPipeline(buffers[0], COMPUTE, compute);
    assert_true(passes_at(buffers[0], 1, 1, 1, &first) > 1);
    assert_int_equal(first, 0);
    assert_true(passes_at(buffers[0], 10000, 1, 1, &first) > 1);
    assert_true(first > 0);
    /* Not where there are not so many workgroups that its place could be told by them. */
    assert_int_equal(passes_at(buffers[0], 1, 1, 65535, &first), 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffers[0]));
    close_all();
}

/* Recordings that are kept, and of which some calls are sampled: those run whole, the others in
 * passes. */
static void a_sampled_recording(void **state)
{
    (void)state;
    optimized_enable(true);
    enable_passes();
    pm_layered_sample_all("0.2");
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    const struct pm_harness_options options[] = {{0}, {.queues = 2}}; /* in pairs, and at once */
    for (uint32_t way = 0; way < 2; way++) {
        enum { CALLS = 200 };
        uint32_t whole = 0, in_passes = 0;
        pm_harness_open(&h, &options[way]);
        compute = make_long(&h);
        VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
        for (uint32_t i = 0; i < CALLS; i++) {
            const uint64_t position = h.driver->position();
            h.vk.CmdDispatch(buffer, 1, 1, 1);
            const uint32_t barriers = pm_calls_of(h.driver, position, "vkCmdPipelineBarrier");
            const uint32_t binds = pm_calls_of(h.driver, position, "vkCmdBindPipeline");
            in_passes += barriers > 1;
            whole += barriers == 0;
            if (binds > 0)
                assert_ptr_equal(optimized_bound(&h, position, binds - 1), compute);
        }
        assert_int_equal(in_passes + whole, CALLS);
        assert_true(whole > CALLS / 20 && in_passes > CALLS / 20);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        for (uint32_t i = 0; i < 3; i++)
            pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.DeviceWaitIdle(h.device));
        close_all();
    }
}

/* Of a shader object each pass is one. */
static void a_shader_object(void **state)
{
    (void)state;
    optimized_enable(true);
    enable_passes();
    objects_open(&h);
    VkShaderEXT object;
    objects_make(&h,
                 &(struct object_options){.stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                          .words = long_comp,
                                          .size = sizeof long_comp},
                 1, &object);
    optimized_assert_logged("runs in several passes from now on", 1);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    pm_harness_bind_set(&h, buffer);
    object_bind(&h, buffer, VK_SHADER_STAGE_COMPUTE_BIT, object);
    const uint32_t before = objects_binds();
    const uint32_t passes = passes_of(buffer, 1, 2, 3);
    assert_true(passes > 1);
    assert_int_equal(objects_binds(), before + passes + 1);
    for (uint32_t i = 0; i <= passes; i++) {
        const struct object_bind bind = objects_bound(before + i);
        assert_int_equal(bind.count, 1);
        assert_int_equal(bind.stages[0], VK_SHADER_STAGE_COMPUTE_BIT);
        assert_int_equal(bind.shaders[0] == object, i == passes);
    }
    h.vk.CmdDispatchIndirect(buffer, h.buffer, 0);
    assert_int_equal(objects_binds(), before + passes + 1);
    pm_harness_run(&h, buffer);
    h.vk.DestroyShaderEXT(h.device, object, NULL);
    pm_harness_close(&h);
}

static void not_unless_asked_for(void **state)
{
    (void)state;
    optimized_enable(true);
    pm_harness_open(&h, NULL);
    compute = make_long(&h);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    assert_int_equal(passes_of(buffer, 1, 1, 1), 1);
    pm_harness_run(&h, buffer);
    close_all();
}

/* What the driver refuses costs nothing but the passes. */
static void without_memory(void **state)
{
    (void)state;
    optimized_enable(true);
    enable_passes();
    pm_harness_open(&h, NULL);
    assert_true(h.driver->inject("vkBindBufferMemory:1=-2"));
    compute = make_long(&h);
    h.driver->inject("");
    optimized_assert_logged("a pipeline stays whole: passes' values cannot be bound", 1);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    assert_int_equal(passes_of(buffer, 1, 1, 1), 1);
    pm_harness_run(&h, buffer);
    close_all();
}

/* ---- trials ---- */

static void open_trial(uint64_t pass_cost)
{
    trying.dispatches = true;
    enable_passes();
    trying_open(pass_cost, NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, trying.compute, NULL);
    trying.compute = make_long(&trying.h);
}

static void faster_ones_are_used(void **state)
{
    (void)state;
    open_trial(TRYING_ORIGINAL / 20);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "several passes from now on"));
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdDispatch") % 4, 0);
    assert_true(pm_calls_of(trying.h.driver, position, "vkCmdDispatch") > 4);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    trying_close();
}

static void slower_ones_are_dropped(void **state)
{
    (void)state;
    open_trial(TRYING_ORIGINAL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "in several passes, which are"));
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 4);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdDispatch"), 4);
    assert_int_equal(trying_foreign_binds(position), 0);
    trying_close();
}

/* A recording that is submitted again and again would keep the side that it was made with. */
static void kept_recordings_have_no_trial(void **state)
{
    (void)state;
    enum { SESSIONS = 2, SUBMISSIONS = 100 };
    for (int session = 0; session < SESSIONS; session++) {
        open_trial(TRYING_ORIGINAL / 20);
        VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        const uint64_t position = trying.h.driver->position();
        const uint32_t logged = optimized_logged("in turn, and stays untried");
        uint64_t until = 0;
        pm_harness_begin(&trying.h, buffer, 0);
        trying_dispatch(buffer);
        PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
        do {
            for (int i = 0; i < SUBMISSIONS; i++) {
                pm_harness_submit(&trying.h, trying.h.queue, buffer, VK_NULL_HANDLE);
                PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
            }
        } while (optimized_logged("in turn, and stays untried") == logged && patience(&until));
        optimized_assert_logged("in turn, and stays untried", logged + 1);
        optimized_assert_logged("in turn: sessions are", 0);
        assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdDispatch"), 1);
        assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
        assert_int_equal(trying_foreign_binds(position), 0);
        trying.h.vk.FreeCommandBuffers(trying.h.device, trying.h.pool, 1, &buffer);
        trying_close();
        char log[200];
        snprintf(log, sizeof log, "%s/log", pm_layered_home());
        unlink(log); /* which has what becomes of the harness's other shaders at the end */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_dispatch),
        PM_LAYERED_TEST(where_it_runs_whole),
        PM_LAYERED_TEST(queries),
        PM_LAYERED_TEST(recordings_of_several_queues),
        PM_LAYERED_TEST(a_sampled_recording),
        PM_LAYERED_TEST(a_shader_object),
        PM_LAYERED_TEST(not_unless_asked_for),
        PM_LAYERED_TEST(without_memory),
        PM_LAYERED_TEST(faster_ones_are_used),
        PM_LAYERED_TEST(slower_ones_are_dropped),
        PM_LAYERED_TEST(kept_recordings_have_no_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
