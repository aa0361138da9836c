/*
 * draw_cost draw|dispatch|bind|frame COUNT: records COUNT draws (or dispatches, or binds of a
 * pipeline, in one command buffer), or submits COUNT frames of one command buffer with a bind and a
 * hundred draws, on the null driver, under whatever layers the environment asks for.
 * bench/cost/draw_cost.sh counts its instructions at two counts; the difference is what one more costs.
 */
#include "tests/null_driver/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Window and API sampling come from the environment; the pipelines exist, and with
 * debug.synchronous their variants too, before the first counted call. */
static void record(struct pm_harness *harness, const char *kind, unsigned long count)
{
    VkCommandBuffer buffer = pm_harness_allocate(harness, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(harness, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(harness, buffer);
    if (strcmp(kind, "dispatch") == 0) {
        harness->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, harness->dispatch);
        for (unsigned long i = 0; i < count; i++)
            harness->vk.CmdDispatch(buffer, 1, 1, 1);
    } else if (strcmp(kind, "bind") == 0) {
        for (unsigned long i = 0; i < count; i++)
            harness->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, harness->dispatch);
    } else {
        pm_harness_begin_pass(harness, buffer);
        harness->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, harness->graphics);
        for (unsigned long i = 0; i < count; i++)
            harness->vk.CmdDraw(buffer, 3, 1, 0, 0);
        harness->vk.CmdEndRenderPass(buffer);
    }
    PM_CHECK(harness->vk.EndCommandBuffer(buffer));
    pm_harness_submit(harness, harness->queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(harness->vk.QueueWaitIdle(harness->queue));
}

static void submit_frames(struct pm_harness *harness, unsigned long count)
{
    VkCommandBuffer buffer = pm_harness_allocate(harness, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (unsigned long frame = 0; frame < count; frame++) {
        pm_harness_begin(harness, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        pm_harness_bind_set(harness, buffer);
        pm_harness_begin_pass(harness, buffer);
        harness->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, harness->graphics);
        for (int i = 0; i < 100; i++)
            harness->vk.CmdDraw(buffer, 3, 1, 0, 0);
        harness->vk.CmdEndRenderPass(buffer);
        PM_CHECK(harness->vk.EndCommandBuffer(buffer));
        pm_harness_submit(harness, harness->queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(harness->vk.QueueWaitIdle(harness->queue));
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: draw_cost draw|dispatch|bind|frame COUNT\n");
        return 2;
    }
    unsigned long count = strtoul(argv[2], NULL, 10);
    setenv("VK_DRIVER_FILES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("VK_ICD_FILENAMES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("PM_NULL_RECORD", "0", 1);
    struct pm_harness harness;
    pm_harness_open(&harness, NULL);
    if (strcmp(argv[1], "frame") == 0)
        submit_frames(&harness, count);
    else
        record(&harness, argv[1], count);
    pm_harness_close(&harness);
    return 0;
}
