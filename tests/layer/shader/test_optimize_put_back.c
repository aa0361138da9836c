/* When a specialized variant makes way for the game's pipeline, and what is bound behind a sampled
 * call. */
#include "tests/layer/optimized.h"
#include "tests/layer/pipelines.h"

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS

static struct pm_harness h;

static bool is_replaced(VkPipeline pipeline, VkPipelineBindPoint point)
{
    return optimized_effective(&h, pipeline, point) != pipeline;
}

/* A game that may ask for pipeline statistics at any time. */
static void open_with_statistics(const char *const *extensions)
{
    const VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    const struct pm_harness_options options = {.features = &features,
                                               .device_extensions = extensions};
    optimized_learn();
    optimized_enable(true);
    pm_harness_open(&h, &options);
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

/* A query of statistics never runs with a specialized pipeline, not even one of a pool that was
 * made after the pipeline was bound. */
static void a_pool_may_come_after_the_bind(void **state)
{
    (void)state;
    open_with_statistics(NULL);
    const VkPipeline compute = optimized_compute(&h);
    /* A bind before, so that it is known what stands. */
    assert_true(is_replaced(compute, COMPUTE));
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h.driver->position();
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    assert_true(optimized_bound(&h, position, 0) != compute);
    const VkQueryPool pool = pm_harness_make_statistics(&h);
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

/* Generated commands run with what is bound at one point, and name the game's own. At the other the
 * game may have set states for its next pipeline, which a bind would unset. */
static void generated_commands_have_one_bind_point(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_EXT_device_generated_commands", NULL};
    open_with_statistics(extensions);
    const VkPipeline graphics = optimized_graphics(&h), compute = optimized_compute(&h);
    const struct graphics_options leaving = {.dynamic = VK_DYNAMIC_STATE_BLEND_CONSTANTS};
    const VkPipeline other = make_graphics(&h, &leaving);
    assert_true(is_replaced(graphics, GRAPHICS) && is_replaced(compute, COMPUTE));
    VkGeneratedCommandsPipelineInfoEXT named = {
        .sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_PIPELINE_INFO_EXT, .pipeline = compute};
    VkGeneratedCommandsInfoEXT info = {.sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_INFO_EXT,
                                       .pNext = &named,
                                       .shaderStages = VK_SHADER_STAGE_COMPUTE_BIT};
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, GRAPHICS, graphics);
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    h.vk.CmdExecuteGeneratedCommandsEXT(buffer, VK_FALSE, &info);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindPipeline vkCmdBindPipeline vkCmdBindPipeline "
                           "vkCmdExecuteGeneratedCommandsEXT ");
    assert_ptr_equal(optimized_bound(&h, position, 2), compute);
    position = h.driver->position();
    named.pipeline = graphics;
    info.shaderStages = VK_SHADER_STAGE_ALL_GRAPHICS;
    h.vk.CmdExecuteGeneratedCommandsEXT(buffer, VK_FALSE, &info);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 1);
    assert_ptr_equal(optimized_bound(&h, position, 0), graphics);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyPipeline(h.device, other, NULL);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

/* A query that never begins sees nothing: a game with ray tracing asks for sizes. */
static void pools_of_sizes_hold_nothing_back(void **state)
{
    (void)state;
    static const VkQueryType types[] = {
        VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR,
        VK_QUERY_TYPE_ACCELERATION_STRUCTURE_SERIALIZATION_SIZE_KHR,
        VK_QUERY_TYPE_ACCELERATION_STRUCTURE_SERIALIZATION_BOTTOM_LEVEL_POINTERS_KHR,
        VK_QUERY_TYPE_ACCELERATION_STRUCTURE_SIZE_KHR,
        VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_NV,
        VK_QUERY_TYPE_MICROMAP_SERIALIZATION_SIZE_EXT,
        VK_QUERY_TYPE_MICROMAP_COMPACTED_SIZE_EXT};
    open_with_statistics(NULL);
    const VkPipeline graphics = optimized_graphics(&h);
    const struct graphics_options leaving = {.dynamic = VK_DYNAMIC_STATE_BLEND_CONSTANTS};
    const VkPipeline other = make_graphics(&h, &leaving);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                            .queryType = types[i],
                                            .queryCount = 1};
        VkQueryPool pool;
        PM_CHECK(h.vk.CreateQueryPool(h.device, &info, NULL, &pool));
        assert_true(is_replaced(graphics, GRAPHICS));
        h.vk.DestroyQueryPool(h.device, pool, NULL);
    }
    h.vk.DestroyPipeline(h.device, other, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

/* Direct3D games over DXVK always might make such a pool, and their pipelines leave different
 * states to commands: they have their variants until there is one. What was bound before stays
 * where nothing is drawn in a query, since a bind would unset what the game may have set for its
 * next pipeline (frame/test_put_off_draws.c). */
static void before_the_first_pool_all_are_replaced(void **state)
{
    (void)state;
    open_with_statistics(NULL);
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
    const VkQueryPool pool = pm_harness_make_statistics(&h);
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
    open_with_statistics(NULL);
    const VkPipeline compute[2] = {optimized_compute(&h), optimized_compute(&h)};
    const VkPipeline graphics = optimized_graphics(&h);
    const VkPipeline best = optimized_effective(&h, compute[1], COMPUTE);
    assert_true(is_replaced(compute[0], COMPUTE) && best != compute[1]);
    (void)is_replaced(graphics, GRAPHICS);
    const VkQueryPool pool = pm_harness_make_statistics(&h);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_sampled_call_binds_back_what_was_bound),
        PM_LAYERED_TEST(a_pool_may_come_after_the_bind),
        PM_LAYERED_TEST(generated_commands_have_one_bind_point),
        PM_LAYERED_TEST(pools_of_sizes_hold_nothing_back),
        PM_LAYERED_TEST(before_the_first_pool_all_are_replaced),
        PM_LAYERED_TEST(what_was_bound_last_is_put_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
