/*
 * A program for partitioned.sh that keeps its recordings: two of them, of some dispatches each,
 * recorded once and submitted often, so that both are under way at once. What they computed goes to
 * a file, as bytes.
 *
 * usage: dispatches FILE kept|queues|objects|watched
 *
 * kept: with a pipeline, on one queue; queues: each on one of its own; objects: with a shader
 * object; watched: on one queue, but most of it is not to run in passes: a third of the dispatches
 * are indirect, a third are counted by a pipeline-statistics query, whose results go to the file
 * too, and one recording may be pending twice.
 */
#include "dispatch.h"
#include "tests/gpu/gpu_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDINGS = 2, TURNS = 6, LANES = 64, X = 3, Y = 2, Z = 2, DISPATCHES = 12 };

struct program {
    struct pm_gpu gpu;
    struct pm_device_dispatch vk;
    VkQueue queues[RECORDINGS];
    VkCommandBuffer recordings[RECORDINGS];
    VkPipeline pipeline;
    VkShaderEXT object;
    struct pm_gpu_buffer values, groups; /* groups: of an indirect dispatch */
    VkQueryPool statistics;              /* VK_NULL_HANDLE: the driver has none */
};

static struct options {
    const char *output;
    bool objects, queues, watched;
} asked;

static void set_up(struct program *p)
{
    static const char *const extensions[] = {"VK_EXT_shader_object", NULL};
    VkPhysicalDeviceShaderObjectFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT};
    const struct pm_gpu_options with = {.extensions = asked.objects ? extensions : NULL,
                                        .features = asked.objects ? (void *)&features : NULL,
                                        .two_queues = asked.queues};
    pm_gpu_create_with(&p->gpu, &with);
    if (asked.objects && !features.shaderObject)
        fail_msg("the driver has no shader objects");
    pm_device_dispatch_load(&p->vk, p->gpu.device, vkGetDeviceProcAddr);
    for (uint32_t i = 0; i < RECORDINGS; i++)
        vkGetDeviceQueue(p->gpu.device, p->gpu.queue_family, asked.queues ? i : 0, &p->queues[i]);
}

static void make_shader(struct program *p)
{
    static const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PM_GPU_PUSH_BYTES};
    uint32_t *words;
    size_t count;
    pm_gpu_load(SYSTEM_SHADERS, "dispatches.comp", &words, &count);
    if (asked.objects) {
        const VkShaderCreateInfoEXT info = {.sType = VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT,
                                            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                            .codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT,
                                            .codeSize = count * sizeof *words,
                                            .pCode = words,
                                            .pName = "main",
                                            .setLayoutCount = 1,
                                            .pSetLayouts = &p->gpu.set_layout,
                                            .pushConstantRangeCount = 1,
                                            .pPushConstantRanges = &push};
        CHECK(p->vk.CreateShadersEXT(p->gpu.device, 1, &info, NULL, &p->object));
    } else {
        const VkShaderModule module = gpu_module(&p->gpu, words, count);
        const VkComputePipelineCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = module,
                      .pName = "main"},
            .layout = p->gpu.layout};
        CHECK(
            vkCreateComputePipelines(p->gpu.device, VK_NULL_HANDLE, 1, &info, NULL, &p->pipeline));
        vkDestroyShaderModule(p->gpu.device, module, NULL);
    }
    free(words);
}

static void make_watched(struct program *p)
{
    const VkDispatchIndirectCommand groups = {X, Y, Z};
    VkPhysicalDeviceFeatures features;
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
        .queryCount = RECORDINGS * DISPATCHES,
        .pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT};
    pm_gpu_buffer_create(&p->gpu, sizeof groups, &p->groups);
    memcpy(p->groups.data, &groups, sizeof groups);
    vkGetPhysicalDeviceFeatures(p->gpu.physical, &features);
    /* lavapipe 22.3 crashes in such a query around a dispatch, without us too. */
    if (asked.watched && features.pipelineStatisticsQuery && !p->gpu.lavapipe_22)
        CHECK(vkCreateQueryPool(p->gpu.device, &info, NULL, &p->statistics));
}

static void dispatch(const struct program *p, VkCommandBuffer commands, uint32_t number, uint32_t i)
{
    const uint32_t query = number * DISPATCHES + i;
    const bool counted = p->statistics != VK_NULL_HANDLE && i % 3 == 1;
    if (counted) {
        vkCmdResetQueryPool(commands, p->statistics, query, 1);
        vkCmdBeginQuery(commands, p->statistics, query, 0);
    }
    if (asked.watched && i % 3 == 2)
        vkCmdDispatchIndirect(commands, p->groups.buffer, 0);
    else
        vkCmdDispatch(commands, X, Y, Z);
    if (counted)
        vkCmdEndQuery(commands, p->statistics, query);
}

/* Each in a part of the buffer of its own. */
static void record(struct program *p, uint32_t number, VkDescriptorSet set)
{
    const uint32_t words = LANES * X * Y * Z * DISPATCHES;
    const VkShaderStageFlagBits stage = VK_SHADER_STAGE_COMPUTE_BIT;
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = p->gpu.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = asked.watched && number > 0 ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0};
    VkCommandBuffer *commands = &p->recordings[number];
    CHECK(vkAllocateCommandBuffers(p->gpu.device, &allocate, commands));
    CHECK(vkBeginCommandBuffer(*commands, &begin));
    vkCmdBindDescriptorSets(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->gpu.layout, 0, 1, &set, 0,
                            NULL);
    if (asked.objects)
        p->vk.CmdBindShadersEXT(*commands, 1, &stage, &p->object);
    else
        vkCmdBindPipeline(*commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
    for (uint32_t i = 0; i < DISPATCHES; i++) {
        const uint32_t first = number * words + i % 2 * (words / DISPATCHES);
        vkCmdPushConstants(*commands, p->gpu.layout, VK_SHADER_STAGE_ALL, 0, sizeof first, &first);
        dispatch(p, *commands, number, i);
        gpu_barrier(*commands);
    }
    CHECK(vkEndCommandBuffer(*commands));
}

static void submit(const struct program *p, uint32_t number)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &p->recordings[number]};
    CHECK(vkQueueSubmit(p->queues[number], 1, &info, VK_NULL_HANDLE));
}

static void write_results(const struct program *p)
{
    FILE *file = fopen(asked.output, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(p->values.data, p->values.size, 1, file), 1);
    for (uint32_t query = 1; p->statistics != VK_NULL_HANDLE && query < RECORDINGS * DISPATCHES;
         query += 3) {
        uint64_t counted = 0;
        CHECK(vkGetQueryPoolResults(p->gpu.device, p->statistics, query, 1, sizeof counted,
                                    &counted, sizeof counted, VK_QUERY_RESULT_64_BIT));
        assert_int_equal(fwrite(&counted, sizeof counted, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

static void run(void **state)
{
    static struct program p;
    (void)state;
    set_up(&p);
    make_shader(&p);
    pm_gpu_buffer_create(
        &p.gpu, (size_t)RECORDINGS * LANES * X * Y * Z * DISPATCHES * sizeof(uint32_t), &p.values);
    make_watched(&p);
    const struct pm_gpu_shader given = {.buffers = {&p.values}};
    const VkDescriptorSet set = gpu_descriptors(&p.gpu, &given, &p.values);
    for (uint32_t i = 0; i < RECORDINGS; i++)
        record(&p, i, set);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = 0; i < RECORDINGS; i++)
            submit(&p, i);
        CHECK(vkDeviceWaitIdle(p.gpu.device));
    }
    write_results(&p);
    if (p.object)
        p.vk.DestroyShaderEXT(p.gpu.device, p.object, NULL);
    vkDestroyPipeline(p.gpu.device, p.pipeline, NULL);
    vkDestroyQueryPool(p.gpu.device, p.statistics, NULL);
    pm_gpu_buffer_destroy(&p.gpu, &p.groups);
    pm_gpu_buffer_destroy(&p.gpu, &p.values);
    pm_gpu_destroy(&p.gpu);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s FILE kept|queues|objects|watched\n", argv[0]);
        return 2;
    }
    asked = (struct options){.output = argv[1],
                             .objects = strcmp(argv[2], "objects") == 0,
                             .queues = strcmp(argv[2], "queues") == 0,
                             .watched = strcmp(argv[2], "watched") == 0};
    const struct CMUnitTest tests[] = {cmocka_unit_test(run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
