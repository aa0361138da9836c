/* Specialized variants in the place of the game's pipelines: when, where, and how long. */
#include "tests/layer/optimized.h"

#include "shader_rewrite/ir/target.h"
#include "sunk.comp.h"
#include "tests/layer/pipelines.h"
#include "tests/patience.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS

static struct pm_harness h;

static bool is_replaced(VkPipeline pipeline, VkPipelineBindPoint point)
{
    return optimized_effective(&h, pipeline, point) != pipeline;
}

static void a_proven_variant_is_bound(void **state)
{
    (void)state;
    optimized_open(&h);
    const VkPipeline compute = optimized_compute(&h), graphics = optimized_graphics(&h);
    assert_true(is_replaced(compute, COMPUTE));
    assert_true(is_replaced(graphics, GRAPHICS));
    const VkPipeline best = optimized_effective(&h, compute, COMPUTE);
    assert_ptr_equal(best, optimized_effective(&h, compute, COMPUTE));
    /* A handle that the layer does not know is passed on. */
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, h.dispatch);
    assert_ptr_equal(optimized_bound(&h, position, 0), h.dispatch);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

/* No queue has timestamps here, so there is no trial. */
static void an_untried_one_is_not(void **state)
{
    (void)state;
    setenv("PM_NULL_TIMESTAMP_BITS", "0", 1);
    optimized_learn();
    optimized_enable(false);
    watch_start(pm_harness_driver());
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    assert_int_equal(watch_counts().variants, 1);
    assert_false(is_replaced(compute, COMPUTE));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

static void it_lives_as_long_as_the_pipeline(void **state)
{
    (void)state;
    optimized_open(&h);
    const VkPipeline compute = optimized_compute(&h);
    const VkPipeline best = optimized_effective(&h, compute, COMPUTE);
    const uint64_t live = h.driver->live(VK_OBJECT_TYPE_PIPELINE);
    const uint64_t position = h.driver->position();
    h.vk.DestroyPipeline(h.device, compute, NULL);
    assert_int_equal(h.driver->live(VK_OBJECT_TYPE_PIPELINE), live - 2);
    assert_int_equal(pm_call(h.driver, position, "vkDestroyPipeline", 0).arguments[1],
                     PM_NULL_NUMBER(best));
    assert_int_equal(pm_call(h.driver, position, "vkDestroyPipeline", 1).arguments[1],
                     PM_NULL_NUMBER(compute));
    /* One that the game leaves behind goes with the device. */
    const VkPipeline left = optimized_compute(&h);
    assert_true(is_replaced(left, COMPUTE));
    h.vk.DestroyPipeline(h.device, left, NULL);
    pm_harness_close(&h);
}

static void two_pipelines_share_a_module(void **state)
{
    (void)state;
    struct pm_shader_key keys[4];
    optimized_open(&h);
    const VkPipeline first = optimized_compute(&h), second = optimized_compute(&h);
    const VkPipeline best = optimized_effective(&h, first, COMPUTE);
    assert_true(best != first);
    assert_true(is_replaced(second, COMPUTE));
    assert_true(optimized_effective(&h, second, COMPUTE) != best);
    assert_int_equal(optimized_journal(keys, 4), 1);
    optimized_assert_logged("is specialized: ", 1);
    h.vk.DestroyPipeline(h.device, first, NULL);
    assert_true(is_replaced(second, COMPUTE));
    h.vk.DestroyPipeline(h.device, second, NULL);
    pm_harness_close(&h);
}

/* Pipelines that are used once. */
static void make_bound(VkPipeline *pipelines, int count)
{
    for (int i = 0; i < count; i++) {
        pipelines[i] = optimized_compute(&h);
        (void)is_replaced(pipelines[i], COMPUTE);
    }
}

static void it_is_built_in_the_background(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PM_NULL_COMPILE_US", "20000", 1);
    pm_harness_open(&h, NULL);
    h.driver->hold_compiles(true);
    const VkPipeline compute = optimized_compute(&h);
    assert_false(is_replaced(compute, COMPUTE));
    h.driver->hold_compiles(false);
    uint64_t until = 0;
    while (!is_replaced(compute, COMPUTE) && patience(&until))
        ;
    assert_true(is_replaced(compute, COMPUTE));
    /* Destroyed while more are being built. */
    VkPipeline more[20];
    make_bound(more, 20);
    for (int i = 0; i < 20; i++)
        h.vk.DestroyPipeline(h.device, more[i], NULL);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    /* And the device with some that wait. */
    make_bound(more, 20);
    for (int i = 0; i < 20; i++)
        h.vk.DestroyPipeline(h.device, more[i], NULL);
    pm_harness_close(&h);
}

/* What was recorded before runs as it was recorded; the driver notices when something it names is
 * gone. */
static void recordings_from_before_stay_as_they_are(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    pm_harness_open(&h, NULL);
    h.driver->hold_compiles(true);
    const VkPipeline compute = optimized_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    pm_harness_bind_set(&h, buffer);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    assert_ptr_equal(optimized_bound(&h, position, 0), compute);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    h.driver->hold_compiles(false);
    uint64_t until = 0;
    while (!is_replaced(compute, COMPUTE) && patience(&until))
        ;
    assert_true(is_replaced(compute, COMPUTE));
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    for (int i = 0; i < 2; i++) {
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

/* What only a rare block needs is computed there if that is uniform, which is what the config calls
 * so: a share of 0.9, where it says nothing. */
static void what_counts_as_uniform_is_configured(void **state)
{
    static const struct {
        const char *uniform_share;
        bool made;
    } cases[] = {{"0.5", true}, {"0.99", false}, {NULL, false}, {"0.69", true}};
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    pm_harness_open(&h, NULL);
    h.vk.DestroyPipeline(h.device, pm_harness_compute_of(&h, sunk_comp, sizeof sunk_comp, h.layout),
                         NULL);
    pm_harness_close(&h);
    optimized_learn_rare_block_of(sunk_comp, sizeof sunk_comp, 0.7);
    optimized_enable(true);
    setenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES", "sink", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].uniform_share)
            setenv("PIECEMEAL_OPTIMIZE_UNIFORM_SHARE", cases[i].uniform_share, 1);
        else
            unsetenv("PIECEMEAL_OPTIMIZE_UNIFORM_SHARE");
        pm_harness_open(&h, NULL);
        const VkPipeline compute = pm_harness_compute_of(&h, sunk_comp, sizeof sunk_comp, h.layout);
        assert_int_equal(is_replaced(compute, COMPUTE), cases[i].made);
        h.vk.DestroyPipeline(h.device, compute, NULL);
        pm_harness_close(&h);
    }
    unsetenv("PIECEMEAL_OPTIMIZE_UNIFORM_SHARE");
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES");
}

/* In a window a sampled call gets the instrumented variant, then what was bound. */
static void a_sampled_call_binds_back_what_was_bound(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    pm_layered_sample_all("1");
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindPipeline vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline ");
    const VkPipeline best = optimized_bound(&h, position, 0),
                     instrumented = optimized_bound(&h, position, 1);
    assert_true(best != compute && instrumented != compute && instrumented != best);
    assert_ptr_equal(optimized_bound(&h, position, 2), best);
    pm_harness_run(&h, buffer);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

/* A handle that the driver gives once more is another pipeline's: what stood for the first does not
 * stand for it. */
static void a_handle_comes_again(void **state)
{
    (void)state;
    optimized_open(&h);
    const VkPipeline compute = optimized_compute(&h);
    for (int i = 0; i < 3; i++)
        assert_true(is_replaced(compute, COMPUTE));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    h.driver->give_again(compute);
    const VkPipeline other = pm_harness_make_compute(&h);
    assert_ptr_equal(other, compute);
    assert_false(is_replaced(other, COMPUTE));
    h.vk.DestroyPipeline(h.device, other, NULL);
    pm_harness_close(&h);
}

/* A query of statistics never runs with a specialized pipeline, not even one of a pool that was
 * made after the pipeline was bound. */
static void a_pool_may_come_after_the_bind(void **state)
{
    (void)state;
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    const struct pm_harness_options options = {.features = &features};
    optimized_learn();
    optimized_enable(true);
    pm_harness_open(&h, &options);
    const VkPipeline compute = optimized_compute(&h);
    /* A bind before, so that it is known what stands. */
    assert_true(is_replaced(compute, COMPUTE));
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h.driver->position();
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    assert_true(optimized_bound(&h, position, 0) != compute);
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
        .queryCount = 1,
        .pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT};
    VkQueryPool pool;
    PM_CHECK(h.vk.CreateQueryPool(h.device, &info, NULL, &pool));
    h.vk.CmdResetQueryPool(buffer, pool, 0, 1);
    h.vk.CmdBeginQuery(buffer, pool, 0, 0);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    h.vk.CmdEndQuery(buffer, pool, 0);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    optimized_assert_calls(&h, position, buffer,
                           "vkBeginCommandBuffer vkCmdBindPipeline vkCmdResetQueryPool "
                           "vkCmdBindPipeline vkCmdBeginQuery vkCmdDispatch vkCmdEndQuery "
                           "vkEndCommandBuffer ");
    assert_ptr_equal(optimized_bound(&h, position, 1), compute);
    h.vk.DestroyQueryPool(h.device, pool, NULL);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

/* Direct3D games over DXVK always might make such a pool, and their pipelines leave different
 * states to commands: they have their variants until there is one. What was bound before stays,
 * since a bind would unset what the game may have set for its next pipeline. */
static void before_the_first_pool_all_are_replaced(void **state)
{
    (void)state;
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    const struct pm_harness_options options = {.features = &features};
    optimized_learn();
    optimized_enable(true);
    pm_harness_open(&h, &options);
    const VkPipeline graphics = optimized_graphics(&h);
    const struct graphics_options leaving = {.dynamic = VK_DYNAMIC_STATE_BLEND_CONSTANTS};
    const VkPipeline other = make_graphics(&h, &leaving);
    /* The second bind goes the short way. */
    assert_true(is_replaced(graphics, GRAPHICS) && is_replaced(graphics, GRAPHICS));
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, GRAPHICS, graphics);
    assert_true(optimized_bound(&h, position, 0) != graphics);
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
        .queryCount = 1,
        .pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT};
    VkQueryPool pool;
    PM_CHECK(h.vk.CreateQueryPool(h.device, &info, NULL, &pool));
    position = h.driver->position();
    h.vk.CmdBeginQuery(buffer, pool, 0, 0);
    h.vk.CmdEndQuery(buffer, pool, 0);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 0);
    position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, GRAPHICS, graphics);
    assert_ptr_equal(optimized_bound(&h, position, 0), graphics);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    assert_false(is_replaced(graphics, GRAPHICS) || is_replaced(graphics, GRAPHICS));
    h.vk.DestroyQueryPool(h.device, pool, NULL);
    h.vk.DestroyPipeline(h.device, other, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

/* Where a query of statistics may begin anywhere, it is known what was bound last at each bind
 * point, however many binds there were and whatever came between: its own is put back before the
 * query. */
static void what_was_bound_last_is_put_back(void **state)
{
    (void)state;
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    const struct pm_harness_options options = {.features = &features};
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
        .queryCount = 1,
        .pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT};
    optimized_learn();
    optimized_enable(true);
    pm_harness_open(&h, &options);
    const VkPipeline compute[2] = {optimized_compute(&h), optimized_compute(&h)};
    const VkPipeline graphics = optimized_graphics(&h);
    const VkPipeline best = optimized_effective(&h, compute[1], COMPUTE);
    assert_true(is_replaced(compute[0], COMPUTE) && best != compute[1]);
    (void)is_replaced(graphics, GRAPHICS);
    VkQueryPool pool;
    PM_CHECK(h.vk.CreateQueryPool(h.device, &info, NULL, &pool));
    VkCommandBuffer secondary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    pm_harness_begin(&h, secondary, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    PM_CHECK(h.vk.EndCommandBuffer(secondary));
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 6; i++)
            h.vk.CmdBindPipeline(buffer, COMPUTE, compute[i & 1]);
        uint64_t position = h.driver->position();
        h.vk.CmdBindPipeline(buffer, GRAPHICS, graphics);
        const bool variant = optimized_bound(&h, position, 0) != graphics;
        position = h.driver->position();
        h.vk.CmdBeginQuery(buffer, pool, 0, 0);
        /* By bind point: the graphics pipeline's own, where a variant stood, and the last. */
        assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 1 + variant);
        assert_ptr_equal(optimized_bound(&h, position, variant), compute[1]);
        if (variant)
            assert_ptr_equal(optimized_bound(&h, position, 0), graphics);
        /* While it is active nothing else is bound. */
        for (int i = 0; i < 3; i++) {
            position = h.driver->position();
            h.vk.CmdBindPipeline(buffer, COMPUTE, compute[i & 1]);
            assert_ptr_equal(optimized_bound(&h, position, 0), compute[i & 1]);
        }
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        h.vk.CmdEndQuery(buffer, pool, 0);
        for (int i = 0; i < 3; i++) {
            position = h.driver->position();
            h.vk.CmdBindPipeline(buffer, COMPUTE, compute[1]);
            assert_ptr_equal(optimized_bound(&h, position, 0), best);
        }
        /* What secondary ones leave bound is not known, and put back it would be wrong. */
        h.vk.CmdExecuteCommands(buffer, 1, &secondary);
        position = h.driver->position();
        h.vk.CmdBeginQuery(buffer, pool, 0, 0);
        h.vk.CmdEndQuery(buffer, pool, 0);
        assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 0);
    }
    for (int i = 0; i < 6; i++)
        h.vk.CmdBindPipeline(buffer, COMPUTE, compute[i & 1]);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    /* Nothing is left of it in the next recording. */
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    const uint64_t position = h.driver->position();
    h.vk.CmdBeginQuery(buffer, pool, 0, 0);
    h.vk.CmdEndQuery(buffer, pool, 0);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 0);
    h.vk.DestroyQueryPool(h.device, pool, NULL);
    for (int i = 0; i < 2; i++)
        h.vk.DestroyPipeline(h.device, compute[i], NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

/* Without timestamps nothing is tried: what others say is faster is not bound either, and what they
 * say is slower is not made, whatever the lot. */
static void a_timing_profile_binds_nothing(void **state)
{
    (void)state;
    struct pm_shader_key keys[2];
    setenv("PM_NULL_TIMESTAMP_BITS", "0", 1);
    setenv("PIECEMEAL_OPTIMIZE_DOUBT_SHARE", "1", 1);
    const struct {
        double low, high;
        uint32_t made;
    } cases[] = {{0.1, 0.2, 1}, {0.9, 1.1, 1}, {1.1, 1.2, 0}};
    for (size_t i = 0; i < 3; i++) {
        optimized_learn();
        optimized_enable(true);
        pm_harness_open(&h, NULL);
        h.vk.DestroyPipeline(h.device, optimized_compute(&h), NULL);
        pm_harness_close(&h);
        assert_true(optimized_journal(keys, 2) >= 1);
        optimized_add_timing(&keys[0], cases[i].low, cases[i].high);
        optimized_enable(false);
        watch_start(pm_harness_driver());
        pm_harness_open(&h, NULL);
        const VkPipeline compute = optimized_compute(&h);
        assert_int_equal(watch_counts().variants, cases[i].made);
        assert_false(is_replaced(compute, COMPUTE));
        h.vk.DestroyPipeline(h.device, compute, NULL);
        pm_harness_close(&h);
    }
}

static void without_a_profile_nothing_happens(void **state)
{
    (void)state;
    char path[200];
    const char *const off[] = {"no database", "PIECEMEAL_OPTIMIZE_ZERO",
                               "PIECEMEAL_LIMITS_VARIANTS"};
    for (size_t i = 0; i < 3; i++) {
        optimized_learn();
        optimized_enable(true);
        if (i > 0)
            setenv(off[i], i == 1 ? "false" : "0", 1);
        else
            setenv("PIECEMEAL_DATABASES", "/nonexistent", 1);
        watch_start(pm_harness_driver());
        pm_harness_open(&h, NULL);
        const VkPipeline compute = optimized_compute(&h);
        assert_int_equal(watch_counts().variants, 0);
        assert_false(is_replaced(compute, COMPUTE));
        h.vk.DestroyPipeline(h.device, compute, NULL);
        pm_harness_close(&h);
        if (i > 0)
            unsetenv(off[i]);
        snprintf(path, sizeof path, "%s/piecemeal/journal", pm_layered_home());
        assert_int_equal(access(path, F_OK), i == 2 ? 0 : -1);
    }
}

static void refusals_leave_the_pipeline_as_it_is(void **state)
{
    (void)state;
    const char *const faults[] = {"vkCreateComputePipelines:2", "vkCreateShaderModule:2"};
    optimized_learn();
    optimized_enable(true);
    for (size_t i = 0; i < 2; i++) {
        pm_harness_open(&h, NULL);
        assert_true(h.driver->inject(faults[i]));
        const VkPipeline compute = optimized_compute(&h);
        assert_false(is_replaced(compute, COMPUTE));
        optimized_assert_logged("a pipeline is not specialized: the driver refused",
                                (uint32_t)i + 1);
        /* The next one is built. */
        const VkPipeline next = optimized_compute(&h);
        assert_true(is_replaced(next, COMPUTE));
        h.vk.DestroyPipeline(h.device, compute, NULL);
        h.vk.DestroyPipeline(h.device, next, NULL);
        pm_harness_close(&h);
    }
    /* Without a cache it is built all the same. */
    pm_harness_open(&h, NULL);
    assert_true(h.driver->inject("vkCreatePipelineCache:1"));
    const VkPipeline compute = optimized_compute(&h);
    assert_true(is_replaced(compute, COMPUTE));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

/* As many as live at a time, however many are instrumented. */
static void they_have_their_own_limit(void **state)
{
    (void)state;
    optimized_learn();
    optimized_enable(true);
    setenv("PIECEMEAL_LIMITS_VARIANTS", "1", 1);
    pm_layered_sample_all("1");
    pm_harness_open(&h, NULL);
    const VkPipeline first = optimized_compute(&h), second = optimized_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, first);
    h.vk.CmdBindPipeline(buffer, COMPUTE, second);
    assert_true(optimized_bound(&h, position, 0) != first);
    assert_ptr_equal(optimized_bound(&h, position, 1), second);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    /* The one that waits goes first: else it may take the room, in the background. */
    h.vk.DestroyPipeline(h.device, second, NULL);
    h.vk.DestroyPipeline(h.device, first, NULL);
    const VkPipeline third = optimized_compute(&h);
    buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    const uint64_t later = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, third);
    assert_true(optimized_bound(&h, later, 0) != third);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    h.vk.DestroyPipeline(h.device, third, NULL);
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_LIMITS_VARIANTS");
}

static void several_devices(void **state)
{
    (void)state;
    static struct pm_harness second;
    optimized_open(&h);
    pm_harness_open(&second, NULL);
    const VkPipeline ones = optimized_compute(&h), others = optimized_compute(&second);
    const VkPipeline best = optimized_effective(&h, ones, COMPUTE);
    assert_true(best != ones);
    assert_true(optimized_effective(&second, others, COMPUTE) != others);
    second.vk.DestroyPipeline(second.device, others, NULL);
    pm_harness_close(&second);
    assert_ptr_equal(optimized_effective(&h, ones, COMPUTE), best);
    h.vk.DestroyPipeline(h.device, ones, NULL);
    pm_harness_close(&h);
}

/* ---- the cache on disk (HAZARDS 17) ---- */

static size_t initial_bytes;

static void see_cache(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, "vkCreatePipelineCache") == 0)
        initial_bytes =
            ((const VkPipelineCacheCreateInfo *)(uintptr_t)call->arguments[1])->initialDataSize;
}

/* A session that builds a variant; what the driver's cache began with. */
static size_t cached_session(void)
{
    initial_bytes = SIZE_MAX;
    pm_harness_driver()->set_callback(see_cache, NULL);
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    assert_true(is_replaced(compute, COMPUTE));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    pm_harness_driver()->set_callback(NULL, NULL);
    return initial_bytes;
}

static void find_cache(char *path, size_t size)
{
    snprintf(path, size, "ls %s/piecemeal/pipelines/game/*.cache", pm_layered_home());
    FILE *list = popen(path, "r");
    assert_non_null(list);
    assert_non_null(fgets(path, (int)size, list));
    pclose(list);
    path[strcspn(path, "\n")] = '\0';
}

static void the_cache_is_kept(void **state)
{
    (void)state;
    char path[300];
    struct stat status;
    optimized_learn();
    optimized_enable(true);
    assert_int_equal(cached_session(), 0);
    assert_int_equal(cached_session(), sizeof(VkPipelineCacheHeaderVersionOne));
    find_cache(path, sizeof path);
    stat(path, &status);
    /* Every byte of it counts, and its length. */
    for (off_t at = 0; at <= status.st_size; at += 7) {
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        if (at < 90 && at + 7 < status.st_size) {
            fseeko(file, at, SEEK_SET);
            const int byte = fgetc(file);
            fseeko(file, at, SEEK_SET);
            fputc(byte ^ 0x40, file);
        } else {
            assert_int_equal(ftruncate(fileno(file), status.st_size - 1), 0);
        }
        fclose(file);
        if (cached_session() != 0)
            fail_msg("byte %ld was not missed", (long)at);
    }
    assert_true(optimized_logged(".cache is not used: it is damaged") > 0);
    assert_int_equal(cached_session(), sizeof(VkPipelineCacheHeaderVersionOne));
    /* Kept nothing, it begins with nothing. */
    setenv("PIECEMEAL_LIMITS_PIPELINE_CACHE_MIB", "0", 1);
    assert_int_equal(cached_session(), 0);
}

/* What was under way when the device was lost is built, and is not kept. What else is known of it
 * is, just before. */
static void a_lost_device_keeps_no_cache(void **state)
{
    (void)state;
    char verdicts[300];
    optimized_learn();
    snprintf(verdicts, sizeof verdicts, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    assert_int_not_equal(access(verdicts, F_OK), 0);
    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    const uint64_t position = h.driver->position();
    h.driver->hold_compiles(true);
    assert_false(is_replaced(compute, COMPUTE));
    uint64_t until = 0;
    while (pm_calls_of(h.driver, position, "vkCreateComputePipelines") == 0 && patience(&until))
        ;
    assert_true(h.driver->inject("vkQueueSubmit:1"));
    assert_int_equal(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    h.driver->hold_compiles(false);
    until = 0;
    while (access(verdicts, F_OK) != 0 && patience(&until))
        ;
    assert_int_equal(access(verdicts, F_OK), 0);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    assert_int_equal(pm_calls_of(pm_harness_driver(), position, "vkCreateComputePipelines"), 1);
    assert_int_equal(pm_calls_of(pm_harness_driver(), position, "vkGetPipelineCacheData"), 0);
}

/* ---- safe mode (HAZARDS 22) ---- */

/* What was never bound has proven nothing. */
static void one_that_waits_for_its_trial_is_not_used(void **state)
{
    (void)state;
    char command[300], count[16] = "";
    optimized_learn();
    optimized_enable(false);
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    pm_harness_open(&h, NULL);
    const VkPipeline compute = optimized_compute(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    snprintf(command, sizeof command,
             "cat %s/piecemeal/journal/game/*.session | grep -c -e new -e used", pm_layered_home());
    FILE *lines = popen(command, "r");
    assert_non_null(lines);
    assert_non_null(fgets(count, sizeof count, lines));
    pclose(lines);
    assert_string_equal(count, "1\n");
    unsetenv("PIECEMEAL_SAMPLER_KINDS");
}

static uint32_t stored;
static struct pm_target stored_for;

static void read_target(struct pm_shader_store *store, const struct pm_shader_key *key)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_stored_shader shader;
    struct pm_error error = {0};
    if (!pm_shader_store_read(store, key, arena, &shader, &error))
        fail_msg("%s", error.message);
    stored_for = pm_target_of_bits(shader.target);
    stored++;
    pm_arena_destroy(arena);
}

/* So that a shader can be looked at as on the device that it was for. */
static void the_store_knows_the_device(void **state)
{
    for (int with = 0; with < 2; with++) {
        pm_layered_tear_down(state);
        pm_layered_set_up(state);
        VkPhysicalDeviceVulkan12Features features = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
            .scalarBlockLayout = with == 1,
            .uniformBufferStandardLayout = with == 0,
        };
        pm_layered_enable(PM_LAYER_IMPLICIT);
        pm_layered_sample_all("1");
        pm_harness_open(&h, &(struct pm_harness_options){.device_next = &features});
        pm_harness_close(&h);
        stored = 0;
        optimized_each_stored(read_target);
        assert_int_equal(stored, 2);
        assert_int_equal(stored_for.vulkan_minor, 3);
        assert_true(stored_for.relaxed_block_layout);
        assert_int_equal(stored_for.scalar_block_layout, with == 1);
        assert_int_equal(stored_for.uniform_buffer_standard_layout, with == 0);
        assert_false(stored_for.workgroup_explicit_layout);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_proven_variant_is_bound),
        PM_LAYERED_TEST(an_untried_one_is_not),
        PM_LAYERED_TEST(it_lives_as_long_as_the_pipeline),
        PM_LAYERED_TEST(two_pipelines_share_a_module),
        PM_LAYERED_TEST(it_is_built_in_the_background),
        PM_LAYERED_TEST(recordings_from_before_stay_as_they_are),
        PM_LAYERED_TEST(what_counts_as_uniform_is_configured),
        PM_LAYERED_TEST(a_sampled_call_binds_back_what_was_bound),
        PM_LAYERED_TEST(a_handle_comes_again),
        PM_LAYERED_TEST(a_pool_may_come_after_the_bind),
        PM_LAYERED_TEST(before_the_first_pool_all_are_replaced),
        PM_LAYERED_TEST(what_was_bound_last_is_put_back),
        PM_LAYERED_TEST(a_timing_profile_binds_nothing),
        PM_LAYERED_TEST(without_a_profile_nothing_happens),
        PM_LAYERED_TEST(refusals_leave_the_pipeline_as_it_is),
        PM_LAYERED_TEST(they_have_their_own_limit),
        PM_LAYERED_TEST(several_devices),
        PM_LAYERED_TEST(the_cache_is_kept),
        PM_LAYERED_TEST(a_lost_device_keeps_no_cache),
        PM_LAYERED_TEST(one_that_waits_for_its_trial_is_not_used),
        PM_LAYERED_TEST(the_store_knows_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
