/* Where a proven variant is not bound in the place of the game's pipeline (HAZARDS 11). */
#include "tests/layer/optimized.h"

#include <stdlib.h>

#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS

static struct pm_harness h;

static void queries_that_would_see_it(void **state)
{
    (void)state;
    optimized_open(&h);
    const VkPipeline compute = optimized_compute(&h);
    const VkPipeline best = optimized_effective(&h, compute, COMPUTE);
    const VkQueryPool queries = pm_harness_make_statistics(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    pm_harness_bind_set(&h, buffer);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    h.vk.CmdBeginQuery(buffer, queries, 0, 0);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    h.vk.CmdEndQuery(buffer, queries, 0);
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindPipeline vkCmdBindPipeline vkCmdBeginQuery vkCmdDispatch "
                           "vkCmdBindPipeline vkCmdEndQuery vkCmdBindPipeline ");
    assert_ptr_equal(optimized_bound(&h, position, 0), best);
    assert_ptr_equal(optimized_bound(&h, position, 1), compute); /* before the query begins */
    assert_ptr_equal(optimized_bound(&h, position, 2), compute); /* while it is active */
    assert_ptr_equal(optimized_bound(&h, position, 3), best);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyQueryPool(h.device, queries, NULL);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

static void protected_command_buffers(void **state)
{
    (void)state;
    optimized_open(&h);
    const VkPipeline compute = optimized_compute(&h);
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_PROTECTED_BIT};
    const VkPipeline best = optimized_effective(&h, compute, COMPUTE);
    VkCommandPool plain = h.pool;
    PM_CHECK(h.vk.CreateCommandPool(h.device, &info, NULL, &h.pool));
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    assert_ptr_equal(optimized_bound(&h, position, 0), compute);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyCommandPool(h.device, h.pool, NULL);
    h.pool = plain;
    assert_ptr_equal(optimized_effective(&h, compute, COMPUTE), best);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

typedef void(VKAPI_PTR *feedback2)(VkCommandBuffer, uint32_t, uint32_t, const void *);

static void begin_feedback(VkCommandBuffer buffer, bool newer)
{
    if (!newer)
        h.vk.CmdBeginTransformFeedbackEXT(buffer, 0, 0, NULL, NULL);
    else
        ((feedback2)vkGetDeviceProcAddr(h.device, "vkCmdBeginTransformFeedback2EXT"))(buffer, 0, 0,
                                                                                      NULL);
}

static void end_feedback(VkCommandBuffer buffer, bool newer)
{
    if (!newer)
        h.vk.CmdEndTransformFeedbackEXT(buffer, 0, 0, NULL, NULL);
    else
        ((feedback2)vkGetDeviceProcAddr(h.device, "vkCmdEndTransformFeedback2EXT"))(buffer, 0, 0,
                                                                                    NULL);
}

/* A query may begin while it is active, and then nothing can be bound. newer: with the commands
 * that the headers do not have. */
static void check_transform_feedback(bool newer)
{
    const char *const extensions[] = {"VK_EXT_transform_feedback", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    optimized_learn();
    optimized_enable(true);
    pm_harness_open(&h, &options);
    const VkPipeline graphics = optimized_graphics(&h);
    const VkQueryPool queries = pm_harness_make_statistics(&h);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    pm_harness_begin_pass(&h, buffer);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, GRAPHICS, graphics);
    begin_feedback(buffer, newer);
    h.vk.CmdBeginQuery(buffer, queries, 0, 0);
    h.vk.CmdEndQuery(buffer, queries, 0);
    end_feedback(buffer, newer);
    h.vk.CmdBindPipeline(buffer, GRAPHICS, graphics);
    optimized_assert_calls(
        &h, position, buffer,
        "vkCmdBindPipeline vkCmdBindPipeline vkCmdBeginTransformFeedbackEXT "
        "vkCmdBeginQuery vkCmdEndQuery vkCmdEndTransformFeedbackEXT vkCmdBindPipeline ");
    assert_ptr_equal(optimized_bound(&h, position, 1), graphics);
    assert_true(optimized_bound(&h, position, 0) != graphics);
    assert_true(optimized_bound(&h, position, 2) != graphics);
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyQueryPool(h.device, queries, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

static void transform_feedback(void **state)
{
    (void)state;
    check_transform_feedback(false);
}

static void transform_feedback_of_today(void **state)
{
    (void)state;
    check_transform_feedback(true);
}

/* They name the game's pipeline. */
static void device_generated_commands(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_NV_device_generated_commands", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    optimized_learn();
    optimized_enable(true);
    pm_harness_open(&h, &options);
    const VkPipeline graphics = optimized_graphics(&h);
    VkGeneratedCommandsInfoNV info = {.sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_INFO_NV,
                                      .pipelineBindPoint = GRAPHICS,
                                      .pipeline = graphics};
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    pm_harness_begin_pass(&h, buffer);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, GRAPHICS, graphics);
    h.vk.CmdExecuteGeneratedCommandsNV(buffer, VK_FALSE, &info);
    assert_true(optimized_bound(&h, position, 0) != graphics);
    assert_ptr_equal(optimized_bound(&h, position, 1), graphics);
    /* One without a variant is left alone. */
    info.pipeline = h.graphics;
    h.vk.CmdBindPipeline(buffer, GRAPHICS, h.graphics);
    h.vk.CmdExecuteGeneratedCommandsNV(buffer, VK_FALSE, &info);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindPipeline vkCmdBindPipeline vkCmdExecuteGeneratedCommandsNV "
                           "vkCmdBindPipeline vkCmdExecuteGeneratedCommandsNV ");
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

/* VK_EXT_device_generated_commands: the info's chain names the pipeline, or the execution set has a
 * first one; and preprocessing takes what is bound from another command buffer. */
static void device_generated_commands_ext(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_EXT_device_generated_commands", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    optimized_learn();
    optimized_enable(true);
    pm_harness_open(&h, &options);
    const VkPipeline graphics = optimized_graphics(&h), compute = optimized_compute(&h);
    const VkIndirectExecutionSetPipelineInfoEXT first = {
        .sType = VK_STRUCTURE_TYPE_INDIRECT_EXECUTION_SET_PIPELINE_INFO_EXT,
        .initialPipeline = graphics,
        .maxPipelineCount = 1};
    const VkIndirectExecutionSetCreateInfoEXT set_info = {
        .sType = VK_STRUCTURE_TYPE_INDIRECT_EXECUTION_SET_CREATE_INFO_EXT,
        .type = VK_INDIRECT_EXECUTION_SET_INFO_TYPE_PIPELINES_EXT,
        .info.pPipelineInfo = &first};
    VkIndirectExecutionSetEXT set;
    PM_CHECK(h.vk.CreateIndirectExecutionSetEXT(h.device, &set_info, NULL, &set));
    const VkGeneratedCommandsInfoEXT of_set = {.sType =
                                                   VK_STRUCTURE_TYPE_GENERATED_COMMANDS_INFO_EXT,
                                               .shaderStages = VK_SHADER_STAGE_ALL_GRAPHICS,
                                               .indirectExecutionSet = set};
    const VkGeneratedCommandsPipelineInfoEXT named = {
        .sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_PIPELINE_INFO_EXT, .pipeline = compute};
    const VkGeneratedCommandsInfoEXT of_named = {.sType =
                                                     VK_STRUCTURE_TYPE_GENERATED_COMMANDS_INFO_EXT,
                                                 .pNext = &named,
                                                 .shaderStages = VK_SHADER_STAGE_COMPUTE_BIT};
    VkCommandBuffer other = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    pm_harness_begin(&h, other, 0);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, compute);
    h.vk.CmdPreprocessGeneratedCommandsEXT(other, &of_named, buffer);
    h.vk.CmdExecuteGeneratedCommandsEXT(buffer, VK_TRUE, &of_named);
    optimized_assert_calls(&h, position, other, "vkCmdPreprocessGeneratedCommandsEXT ");
    assert_true(optimized_bound(&h, position, 0) != compute);
    assert_ptr_equal(optimized_bound(&h, position, 1), compute);
    const uint64_t drawn = h.driver->position();
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdBindPipeline(buffer, GRAPHICS, graphics);
    h.vk.CmdExecuteGeneratedCommandsEXT(buffer, VK_FALSE, &of_set);
    h.vk.CmdEndRenderPass(buffer);
    assert_true(optimized_bound(&h, drawn, 0) != graphics);
    assert_ptr_equal(optimized_bound(&h, drawn, 1), graphics);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    PM_CHECK(h.vk.EndCommandBuffer(other));
    h.vk.DestroyIndirectExecutionSetEXT(h.device, set, NULL);
    PM_CHECK(h.vk.CreateIndirectExecutionSetEXT(h.device, &set_info, NULL, &set));
    h.vk.DestroyIndirectExecutionSetEXT(h.device, set, NULL);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(queries_that_would_see_it), PM_LAYERED_TEST(protected_command_buffers),
        PM_LAYERED_TEST(transform_feedback),        PM_LAYERED_TEST(transform_feedback_of_today),
        PM_LAYERED_TEST(device_generated_commands), PM_LAYERED_TEST(device_generated_commands_ext),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
