/*
 * What classes of instructions cost on a device, as shader_rewrite/analysis/analysis_costs.c has them.
 *
 *   instruction_costs [--device NAME] [--count N] [--repetitions N]
 *
 * For each class a compute shader runs a loop around 8 instructions of it (instruction_costs.comp),
 * often and a single time; what the former takes longer, less the same of an empty loop, is theirs.
 * Of the repetitions the shortest counts. On a CPU driver the time is what the process had of the
 * CPUs, so that other programs disturb little; else it is the clock's.
 *
 * Prints a row a class: nanoseconds for the whole dispatch's subgroups together, and in units of
 * the first class, ALU. A check is the difference of a region behind one and the region alone.
 */
#include "examples/common/gpu.h"
#include "instruction_costs.comp.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GROUPS = 16, NUMBERS = 16384, MAP_SIZE = 64, IN_A_LOOP = 8, REPETITIONS_MOST = 99 };
enum { EMPTY, REGION = 14, GUARDED, CLASSES };

static const struct {
    const char *name;
    int instructions; /* of the class for each of the IN_A_LOOP */
} classes[CLASSES] = {
    [1] = {"ALU", 2},
    [2] = {"DIVIDE", 1},
    [3] = {"ROOT: inversesqrt", 1},
    [4] = {"ROOT: sqrt", 1},
    [5] = {"TRANSCENDENTAL: exp2", 1},
    [6] = {"TRANSCENDENTAL: log2", 1},
    [7] = {"TRANSCENDENTAL: sin", 1},
    [8] = {"LOAD: at random", 1},
    [9] = {"FETCH", 1},
    [10] = {"SAMPLE: trilinear", 1},
    [11] = {"STORE", 1},
    [12] = {"CHECK: comparison and vote", 1},
    [13] = {"QUAD: both swaps", 1},
    [REGION] = {"a region", 1},
    [GUARDED] = {"the region behind a check", 1},
};

struct bench {
    struct pm_gpu gpu;
    uint64_t count, repetitions;
    struct pm_gpu_buffer numbers, results;
    struct pm_gpu_image map;
    VkSampler sampler;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
};

/* Milliseconds. */
static double now(const struct bench *b)
{
    struct timespec time;
    bool cpu = b->gpu.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    clock_gettime(cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* ---- set-up ---- */

static bool make_data(struct bench *b, struct pm_error *error)
{
    static float numbers[NUMBERS];
    static uint8_t texels[2 * MAP_SIZE * MAP_SIZE * 4];
    const struct pm_gpu_image_info map = {
        .format = VK_FORMAT_R8G8B8A8_UNORM, .width = MAP_SIZE, .height = MAP_SIZE, .levels = 2};
    for (uint32_t i = 0; i < NUMBERS; i++)
        numbers[i] = (float)(i * 2654435761u >> 8) / (float)(1 << 24);
    numbers[4096] = 1;
    for (uint32_t i = 0; i < sizeof(texels); i++)
        texels[i] = (uint8_t)(i * 2654435761u >> 16);
    return pm_gpu_buffer_upload(&b->numbers, &b->gpu, numbers, sizeof(numbers),
                                VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, error) &&
           pm_gpu_buffer_init(&b->results, &b->gpu, sizeof(numbers),
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, PM_GPU_DEVICE, error) &&
           pm_gpu_texture_init(&b->map, &b->gpu, &map, texels, 4, error) &&
           pm_gpu_sampler_create(&b->gpu, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_REPEAT,
                                 &b->sampler, error);
}

static bool make_set(struct bench *b, struct pm_error *error)
{
    static const VkDescriptorType types[] = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                             VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                             VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER};
    static const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2},
                                                 {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1}};
    if (!pm_gpu_set_layout_create(&b->gpu, types, 3, VK_SHADER_STAGE_COMPUTE_BIT, &b->set_layout,
                                  error) ||
        !pm_gpu_pipeline_layout_create(&b->gpu, &b->set_layout, 1, VK_SHADER_STAGE_COMPUTE_BIT,
                                       sizeof(uint32_t), &b->layout, error) ||
        !pm_gpu_pool_create(&b->gpu, sizes, 2, 1, &b->pool, error) ||
        !pm_gpu_set_allocate(&b->gpu, b->pool, b->set_layout, &b->set, error))
        return false;
    pm_gpu_set_buffer(&b->gpu, b->set, 0, types[0], &b->numbers);
    pm_gpu_set_buffer(&b->gpu, b->set, 1, types[1], &b->results);
    pm_gpu_set_image(&b->gpu, b->set, 2, &b->map, b->sampler);
    return true;
}

static bool set_up(struct bench *b, const char *device, struct pm_error *error)
{
    const struct pm_gpu_info info = {.application = "instruction_costs", .device = device};
    return pm_gpu_init(&b->gpu, &info, error) && make_data(b, error) && make_set(b, error);
}

static void tear_down(struct bench *b)
{
    if (b->gpu.device) {
        vkDestroyDescriptorPool(b->gpu.device, b->pool, NULL);
        vkDestroyPipelineLayout(b->gpu.device, b->layout, NULL);
        vkDestroyDescriptorSetLayout(b->gpu.device, b->set_layout, NULL);
        vkDestroySampler(b->gpu.device, b->sampler, NULL);
        pm_gpu_image_finish(&b->map, &b->gpu);
        pm_gpu_buffer_finish(&b->results, &b->gpu);
        pm_gpu_buffer_finish(&b->numbers, &b->gpu);
    }
    pm_gpu_finish(&b->gpu);
}

/* ---- timing ---- */

static bool make_pipeline(const struct bench *b, int32_t what, VkPipeline *pipeline,
                          struct pm_error *error)
{
    const VkShaderModuleCreateInfo words = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                            .codeSize = sizeof(instruction_costs_comp),
                                            .pCode = instruction_costs_comp};
    const VkSpecializationMapEntry entry = {0, 0, sizeof(what)};
    const VkSpecializationInfo constants = {1, &entry, sizeof(what), &what};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = b->layout};
    if (!pm_gpu_check(vkCreateShaderModule(b->gpu.device, &words, NULL, &info.stage.module),
                      "vkCreateShaderModule", error))
        return false;
    bool made = pm_gpu_check(
        vkCreateComputePipelines(b->gpu.device, VK_NULL_HANDLE, 1, &info, NULL, pipeline),
        "vkCreateComputePipelines", error);
    vkDestroyShaderModule(b->gpu.device, info.stage.module, NULL);
    return made;
}

static bool dispatch(const struct bench *b, VkPipeline pipeline, uint32_t count,
                     double *milliseconds, struct pm_error *error)
{
    VkCommandBuffer commands;
    if (!pm_gpu_once_begin(&b->gpu, &commands, error))
        return false;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, b->layout, 0, 1, &b->set, 0,
                            NULL);
    vkCmdPushConstants(commands, b->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(count), &count);
    vkCmdDispatch(commands, GROUPS, 1, 1);
    double begin = now(b);
    bool done = pm_gpu_once_submit(&b->gpu, commands, error);
    *milliseconds = now(b) - begin;
    return done;
}

/* Milliseconds that the class's loop takes for its count. */
static bool measure(const struct bench *b, int32_t what, double *milliseconds,
                    struct pm_error *error)
{
    VkPipeline pipeline;
    double time[2] = {0}, least[2] = {0};
    if (!make_pipeline(b, what, &pipeline, error))
        return false;
    bool good = dispatch(b, pipeline, 1, &time[0], error); /* drivers compile now */
    for (uint64_t r = 0; good && r < b->repetitions; r++)
        for (int often = 0; often < 2 && good; often++) {
            good = dispatch(b, pipeline, often ? (uint32_t)b->count : 1, &time[often], error);
            if (r == 0 || time[often] < least[often])
                least[often] = time[often];
        }
    vkDestroyPipeline(b->gpu.device, pipeline, NULL);
    *milliseconds = least[1] - least[0];
    return good;
}

static bool run(const struct bench *b, struct pm_error *error)
{
    double loop[CLASSES], unit = 0;
    printf("%s\n\n| class | ns | ALU |\n| --- | --- | --- |\n", b->gpu.properties.deviceName);
    for (int what = EMPTY; what < CLASSES; what++) {
        if (!measure(b, what, &loop[what], error))
            return false;
        if (what == EMPTY)
            continue;
        double ns = (loop[what] - loop[EMPTY]) * 1e6 /
                    ((double)b->count * IN_A_LOOP * classes[what].instructions);
        unit = what == 1 ? ns : unit;
        printf("| %s | %.3f | %.1f |\n", classes[what].name, ns, ns / unit);
        fflush(stdout);
    }
    double check = (loop[GUARDED] - loop[REGION]) * 1e6 / ((double)b->count * IN_A_LOOP);
    printf("| CHECK: with its branch | %.3f | %.1f |\n", check, check / unit);
    return true;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"device", 1, 0, 'd'},
                                          {"count", 1, 0, 'c'},
                                          {"repetitions", 1, 0, 'r'},
                                          {NULL, 0, NULL, 0}};
    struct bench b = {.count = 5000, .repetitions = 5};
    struct pm_error error = {0};
    const char *device = NULL;
    bool good = true;
    for (int option; good && (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == 'd')
            device = optarg;
        else if (option == 'c')
            good = pm_tool_number(optarg, 100000000, &b.count) && b.count > 1;
        else
            good = option == 'r' && pm_tool_number(optarg, REPETITIONS_MOST, &b.repetitions) &&
                   b.repetitions > 0;
    }
    if (!good || optind != argc) {
        fprintf(stderr, "usage: instruction_costs [--device NAME] [--count N] [--repetitions N]\n");
        return 2;
    }
    good = set_up(&b, device, &error) && run(&b, &error);
    tear_down(&b);
    if (!good)
        fprintf(stderr, "instruction_costs: %s\n", error.message);
    return good ? 0 : 1;
}
