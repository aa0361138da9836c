/* What a sampled call is: bind the variant, call, bind the original back, and nothing else; and
 * where nothing is sampled (HAZARDS 11). */
#include "tests/layer/layered.h"

#include "holes.frag.h"
#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

static void open_with(const struct pm_harness_options *options)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    pm_harness_open(&h, options);
}

static VkCommandBuffer begin(void)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    return buffer;
}

static void assert_calls(uint64_t since, VkCommandBuffer buffer, const char *expected)
{
    char *calls = pm_calls_on(h.driver, since, buffer);
    if (strcmp(calls, expected) != 0)
        fail_msg("the driver saw: %s\ninstead of: %s", calls, expected);
    free(calls);
}

static void a_draw(void **state)
{
    (void)state;
    open_with(NULL);
    VkCommandBuffer buffer = begin();
    pm_harness_begin_pass(&h, buffer);
    uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    h.vk.CmdDraw(buffer, 3, 4, 5, 6);
    assert_calls(position, buffer,
                 "vkCmdBindPipeline vkCmdBindPipeline vkCmdDraw vkCmdBindPipeline ");
    struct pm_null_call original = pm_call(h.driver, position, "vkCmdBindPipeline", 0);
    struct pm_null_call variant = pm_call(h.driver, position, "vkCmdBindPipeline", 1);
    struct pm_null_call again = pm_call(h.driver, position, "vkCmdBindPipeline", 2);
    struct pm_null_call draw = pm_call(h.driver, position, "vkCmdDraw", 0);
    assert_int_equal(original.arguments[2], PM_NULL_NUMBER(h.graphics));
    assert_int_not_equal(variant.arguments[2], PM_NULL_NUMBER(h.graphics));
    assert_int_equal(variant.arguments[1], VK_PIPELINE_BIND_POINT_GRAPHICS);
    assert_int_equal(again.arguments[1], VK_PIPELINE_BIND_POINT_GRAPHICS);
    assert_int_equal(again.arguments[2], PM_NULL_NUMBER(h.graphics));
    for (uint32_t i = 1; i < 5; i++)
        assert_int_equal(draw.arguments[i], i + 2);
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    pm_harness_close(&h);
}

static void a_dispatch(void **state)
{
    (void)state;
    open_with(NULL);
    VkCommandBuffer buffer = begin();
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    uint64_t position = h.driver->position();
    h.vk.CmdDispatch(buffer, 1, 2, 3);
    h.vk.CmdDispatchBase(buffer, 1, 2, 3, 4, 5, 6);
    assert_calls(position, buffer,
                 "vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline "
                 "vkCmdBindPipeline vkCmdDispatchBase vkCmdBindPipeline ");
    struct pm_null_call base = pm_call(h.driver, position, "vkCmdDispatchBase", 0);
    for (uint32_t i = 1; i < 7; i++)
        assert_int_equal(base.arguments[i], i);
    /* The graphics bind point has nothing bound: a draw is passed on as it is. */
    position = h.driver->position();
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    assert_calls(position, buffer, "vkCmdDraw ");
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    pm_harness_close(&h);
}

/* The arguments of every command that draws or dispatches, under each of its names, arrive as they
 * were given, in their order, around them two binds. */
static void every_draw_command(void **state)
{
    (void)state;
    const struct pm_harness_options options = {.device_extensions = pm_harness_draw_extensions};
    open_with(&options);
    VkCommandBuffer buffer = begin();
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    uint32_t commands = 0;
    /* One shape for all of them: integers and pointers, at most seven, in registers and on the
     * stack as any callee expects them; in 32 bits they take one or two places each. */
    typedef void (*function)(VkCommandBuffer, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                             uint64_t, uint64_t);
#define X(name, canonical, point, parameters, names, groups)                                       \
    {                                                                                              \
        uint64_t position = h.driver->position();                                                  \
        if (!h.vk.name)                                                                            \
            fail_msg("the device has no vk" #name);                                                \
        ((function)(PFN_vkVoidFunction)h.vk.name)(buffer, 11, 12, 13, 14, 15, 16, 17);             \
        assert_calls(position, buffer, "vkCmdBindPipeline vk" #name " vkCmdBindPipeline ");        \
        struct pm_null_call call = pm_call(h.driver, position, "vk" #name, 0);                     \
        for (uint32_t i = 1; i < call.count && sizeof(void *) == 8; i++)                           \
            assert_int_equal(call.arguments[i], 10 + i);                                           \
        call = pm_call(h.driver, position, "vkCmdBindPipeline", 0);                                \
        assert_int_equal(call.arguments[1], VK_PIPELINE_BIND_POINT_##point);                       \
        commands++;                                                                                \
    }
    PM_DRAW_COMMANDS(X)
#undef X
    assert_int_equal(commands, PM_DRAW_COMMAND_COUNT);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    pm_harness_close(&h);
}

/* Nothing but the two binds: no state of the game is set again or forgotten. */
static void state_is_left_alone(void **state)
{
    (void)state;
    open_with(NULL);
    VkCommandBuffer buffer = begin();
    uint64_t position = h.driver->position();
    const uint32_t word = 5;
    const VkViewport viewport = {0, 0, 1, 1, 0, 1};
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    h.vk.CmdPushConstants(buffer, h.layout, VK_SHADER_STAGE_ALL, 0, 4, &word);
    h.vk.CmdSetViewport(buffer, 0, 1, &viewport);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdSetLineWidth(buffer, 2.0f);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    assert_calls(position, buffer,
                 "vkCmdBindPipeline vkCmdPushConstants vkCmdSetViewport "
                 "vkCmdBindPipeline vkCmdDraw vkCmdBindPipeline vkCmdSetLineWidth "
                 "vkCmdBindPipeline vkCmdDraw vkCmdBindPipeline ");
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    pm_harness_close(&h);
}

static void nothing_during_transform_feedback(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_EXT_transform_feedback", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    open_with(&options);
    VkCommandBuffer buffer = begin();
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    uint64_t position = h.driver->position();
    h.vk.CmdBeginTransformFeedbackEXT(buffer, 0, 0, NULL, NULL);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndTransformFeedbackEXT(buffer, 0, 0, NULL, NULL);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    assert_calls(position, buffer,
                 "vkCmdBeginTransformFeedbackEXT vkCmdDraw vkCmdEndTransformFeedbackEXT "
                 "vkCmdBindPipeline vkCmdDraw vkCmdBindPipeline ");
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    pm_harness_close(&h);
}

static VkQueryPool make_queries(VkQueryType type)
{
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = type,
        .queryCount = 4,
        .pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT};
    VkQueryPool pool;
    PM_CHECK(h.vk.CreateQueryPool(h.device, &info, NULL, &pool));
    return pool;
}

static void nothing_inside_queries_that_would_see_it(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_KHR_performance_query", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    open_with(&options);
    const struct {
        VkQueryType type;
        bool sampled;
    } cases[] = {{VK_QUERY_TYPE_PIPELINE_STATISTICS, false},
                 {VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR, false},
                 {VK_QUERY_TYPE_OCCLUSION, true}};
    for (size_t i = 0; i < 3; i++) {
        VkQueryPool pool = make_queries(cases[i].type);
        VkCommandBuffer buffer = begin();
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        uint64_t position = h.driver->position();
        h.vk.CmdBeginQuery(buffer, pool, 1, 0);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        h.vk.CmdEndQuery(buffer, pool, 1);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        assert_calls(position, buffer,
                     cases[i].sampled
                         ? "vkCmdBeginQuery vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline "
                           "vkCmdEndQuery vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline "
                         : "vkCmdBeginQuery vkCmdDispatch vkCmdEndQuery "
                           "vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline ");
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        h.vk.DestroyQueryPool(h.device, pool, NULL);
    }
    pm_harness_close(&h);
}

static void nothing_in_protected_command_buffers(void **state)
{
    (void)state;
    open_with(NULL);
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_PROTECTED_BIT};
    VkCommandPool plain = h.pool;
    PM_CHECK(h.vk.CreateCommandPool(h.device, &info, NULL, &h.pool));
    VkCommandBuffer buffer = begin();
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    uint64_t position = h.driver->position();
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    assert_calls(position, buffer, "vkCmdDispatch ");
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyCommandPool(h.device, h.pool, NULL);
    h.pool = plain;
    pm_harness_close(&h);
}

static void nothing_in_secondaries_inside_statistics(void **state)
{
    (void)state;
    open_with(NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    for (int statistics = 0; statistics < 2; statistics++) {
        const VkCommandBufferInheritanceInfo inheritance = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
            .pipelineStatistics =
                statistics ? VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT : 0};
        const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                               .pInheritanceInfo = &inheritance};
        PM_CHECK(h.vk.BeginCommandBuffer(buffer, &info));
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        uint64_t position = h.driver->position();
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        assert_calls(position, buffer,
                     statistics ? "vkCmdDispatch "
                                : "vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline ");
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
    }
    pm_harness_close(&h);
}

/* After vkCmdExecuteCommands nothing is bound, whatever was before. */
static void nothing_after_secondaries(void **state)
{
    (void)state;
    open_with(NULL);
    VkCommandBuffer secondary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    pm_harness_begin(&h, secondary, 0);
    PM_CHECK(h.vk.EndCommandBuffer(secondary));
    VkCommandBuffer buffer = begin();
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdExecuteCommands(buffer, 1, &secondary);
    uint64_t position = h.driver->position();
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    assert_calls(position, buffer,
                 "vkCmdDispatch vkCmdBindPipeline "
                 "vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline ");
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_close(&h);
}

/* A quarter of the calls, each as likely as any other. */
static void a_share_of_the_calls(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("0.25");
    pm_harness_open(&h, NULL);
    enum { CALLS = 8, BUFFERS = 1000 };
    uint32_t hits[CALLS] = {0}, total = 0;
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < BUFFERS; i++) {
        pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        for (int call = 0; call < CALLS; call++) {
            uint64_t position = h.driver->position();
            h.vk.CmdDispatch(buffer, 1, 1, 1);
            hits[call] += h.driver->position() - position == 3;
        }
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
    }
    /* Five standard deviations of a binomial count. */
    for (int call = 0; call < CALLS; call++) {
        assert_in_range(hits[call], 250 - 69, 250 + 69);
        total += hits[call];
    }
    assert_in_range(total, 2000 - 194, 2000 + 194);
    pm_harness_close(&h);
}

/* How many of so many draws in a frame are sampled. */
static uint32_t draws_sampled(VkPipeline pipeline, uint32_t draws)
{
    VkCommandBuffer buffer = begin();
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const uint64_t position = h.driver->position();
    for (uint32_t i = 0; i < draws; i++)
        h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    const uint32_t binds = pm_calls_of(h.driver, position, "vkCmdBindPipeline");
    h.vk.CmdEndRenderPass(buffer);
    pm_harness_run(&h, buffer);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return binds / 2;
}

/* Of a shader that also counts occluded fragments a quarter of the calls that would be sampled is,
 * but the first of each batch. */
static void the_first_of_what_counts_occluded_fragments(void **state)
{
    (void)state;
    enum { SESSIONS = 3, BATCHES = 3 /* holes.frag's blocks */, CALLS = 1000 };
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "1", 1);
    for (int session = 0; session < SESSIONS; session++) {
        struct pm_harness_pipeline of;
        VkPipeline pipeline;
        pm_layered_enable(PM_LAYER_IMPLICIT);
        pm_layered_sample_all("0.9999999"); /* with 1 all are taken */
        pm_harness_open(&h, NULL);
        pm_harness_describe(&h, &of);
        of.stages[1].module = pm_harness_make_module(&h, holes_frag, sizeof holes_frag);
        PM_CHECK(
            h.vk.CreateGraphicsPipelines(h.device, VK_NULL_HANDLE, 1, &of.info, NULL, &pipeline));
        h.vk.DestroyShaderModule(h.device, of.stages[1].module, NULL);
        assert_int_equal(draws_sampled(pipeline, BATCHES), BATCHES);
        /* Five standard deviations. */
        assert_in_range(draws_sampled(pipeline, CALLS), CALLS / 4 - 69, CALLS / 4 + 69);
        h.vk.DestroyPipeline(h.device, pipeline, NULL);
        pm_harness_close(&h);
    }
}

/* Binds compute pipelines and dispatches: the instrumented variant that the dispatch ran with. The
 * last one of the game's is bound again behind it. */
static uint64_t dispatched_with(VkCommandBuffer buffer, uint32_t count, const VkPipeline *pipelines)
{
    for (uint32_t i = 0; i < count; i++)
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines[i]);
    const uint64_t position = h.driver->position();
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    assert_calls(position, buffer, "vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline ");
    assert_int_equal(pm_call(h.driver, position, "vkCmdBindPipeline", 1).arguments[2],
                     PM_NULL_NUMBER(pipelines[count - 1]));
    return pm_call(h.driver, position, "vkCmdBindPipeline", 0).arguments[2];
}

/* Of several binds the last is what counts, the short ones behind the first too. */
static void the_last_of_several_binds(void **state)
{
    (void)state;
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    open_with(NULL);
    const VkPipeline pipelines[] = {h.dispatch, pm_harness_make_compute(&h), h.dispatch};
    VkCommandBuffer buffer = begin();
    uint64_t variants[2];
    for (int i = 0; i < 2; i++)
        variants[i] = dispatched_with(buffer, 1, &pipelines[i]);
    assert_int_not_equal(variants[0], variants[1]);
    for (uint32_t first = 0; first < 2; first++)
        for (uint32_t count = 1; count <= 3 - first; count++)
            assert_int_equal(dispatched_with(buffer, count, &pipelines[first]),
                             variants[(first + count - 1) % 2]);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.DestroyPipeline(h.device, pipelines[1], NULL);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_draw),
        PM_LAYERED_TEST(a_dispatch),
        PM_LAYERED_TEST(every_draw_command),
        PM_LAYERED_TEST(state_is_left_alone),
        PM_LAYERED_TEST(nothing_during_transform_feedback),
        PM_LAYERED_TEST(nothing_inside_queries_that_would_see_it),
        PM_LAYERED_TEST(nothing_in_protected_command_buffers),
        PM_LAYERED_TEST(nothing_in_secondaries_inside_statistics),
        PM_LAYERED_TEST(nothing_after_secondaries),
        PM_LAYERED_TEST(a_share_of_the_calls),
        PM_LAYERED_TEST(the_first_of_what_counts_occluded_fragments),
        PM_LAYERED_TEST(the_last_of_several_binds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
