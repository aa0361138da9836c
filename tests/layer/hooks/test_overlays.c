/* Overlays above us make pipelines of their own: those are not the game's, and not sampled. */
#include "tests/layer/layered.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef VkResult (*make_compute)(PFN_vkCreateComputePipelines create, VkDevice device,
                                 const VkComputePipelineCreateInfo *info, VkPipeline *pipeline);

static struct pm_harness h;

static bool is_sampled(VkPipeline pipeline)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    const uint64_t position = h.driver->position();
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    char *calls = pm_calls_on(h.driver, position, buffer);
    const bool sampled = strstr(calls, "vkCmdBindPipeline") != NULL;
    free(calls);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return sampled;
}

static void their_pipelines_are_left_alone(void **state)
{
    (void)state;
    void *library = dlopen(OVERLAY, RTLD_NOW);
    assert_non_null(library);
    const make_compute make = (make_compute)dlsym(library, "overlay_make_compute");
    assert_non_null(make);
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    pm_harness_open(&h, &(struct pm_harness_options){0});
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = h.compute,
                  .pName = "main"},
        .layout = h.layout,
    };
    assert_true(is_sampled(h.dispatch));
    /* Who makes so many is no overlay. */
    for (int i = 0; i < 66; i++) {
        VkPipeline pipeline;
        PM_CHECK(make(h.vk.CreateComputePipelines, h.device, &info, &pipeline));
        assert_int_equal(is_sampled(pipeline), i >= 64);
        h.vk.DestroyPipeline(h.device, pipeline, NULL);
    }
    pm_harness_close(&h);
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(their_pipelines_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
