/*
 * A program for contest.sh, bad_variants.sh and unnamed_scene.sh whose one shader has a faster
 * version: frames of two dispatches, each recorded anew. What the last one computed goes to a file,
 * as bytes. From frame OTHER on it is another scene, in which the shader's loop does not turn:
 * there what a variant does before the loop is for nothing. "unnamed": nobody is told of scenes.
 * Prints the processor time that a frame of the second half took, of all threads.
 *
 * usage: contest FILE FRAMES [OTHER [SHADER [unnamed]]]
 */
#include "layer/public/piecemeal.h"
#include "tests/gpu/gpu_private.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GROUPS = 32, LANES = 32, TURNS = 48 };

struct push {
    uint32_t turns;
    float bend;
};

static void frame(struct pm_gpu *gpu, VkPipeline pipeline, const struct pm_gpu_buffer *out,
                  uint32_t turns)
{
    const struct push push = {turns, 0.003f};
    const struct pm_gpu_shader given = {.buffers = {out}, .push = &push, .push_size = sizeof push};
    const VkDescriptorSet set = gpu_descriptors(gpu, &given, out);
    VkCommandBuffer commands = gpu_begin(gpu);
    gpu_bind(gpu, commands, VK_PIPELINE_BIND_POINT_COMPUTE, &given, set);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    for (int i = 0; i < 2; i++)
        vkCmdDispatch(commands, GROUPS, 1, 1);
    gpu_finish(gpu, commands);
}

struct program {
    const char *output;
    int frames, other;
    const char *shader;
    bool unnamed;
};

/* Without the layer there is nobody to be told. */
static void set_scene(const struct pm_gpu *gpu, const char *name)
{
    PFN_vkSetScenePIECEMEAL set =
        (PFN_vkSetScenePIECEMEAL)vkGetDeviceProcAddr(gpu->device, PIECEMEAL_SET_SCENE_NAME);
    if (set)
        set(gpu->device, name);
}

static VkPipeline make_pipeline(struct pm_gpu *gpu, const char *shader)
{
    uint32_t *words;
    size_t count;
    pm_gpu_load(SYSTEM_SHADERS, shader, &words, &count);
    const VkShaderModule module = gpu_module(gpu, words, count);
    free(words);
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = gpu->layout};
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    vkDestroyShaderModule(gpu->device, module, NULL);
    return pipeline;
}

/* Seconds that all threads have used. */
static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void run(void **state)
{
    const struct program *program = *state;
    struct pm_gpu gpu;
    struct pm_gpu_buffer out;
    pm_gpu_create(&gpu);
    pm_gpu_buffer_create(&gpu, (size_t)GROUPS * LANES * sizeof(float), &out);
    const VkPipeline pipeline = make_pipeline(&gpu, program->shader);
    if (!program->unnamed)
        set_scene(&gpu, "turning");
    double begun = 0;
    for (int i = 0; i < program->frames; i++) {
        if (i == program->frames / 2)
            begun = processor_time();
        if (i == program->other && !program->unnamed)
            set_scene(&gpu, "standing");
        frame(&gpu, pipeline, &out, i < program->other ? TURNS : 0);
    }
    printf("a frame took %.1f us of processor time\n",
           (processor_time() - begun) * 1e6 / (program->frames - program->frames / 2));
    FILE *file = fopen(program->output, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(out.data, out.size, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    vkDestroyPipeline(gpu.device, pipeline, NULL);
    pm_gpu_buffer_destroy(&gpu, &out);
    pm_gpu_destroy(&gpu);
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 6) {
        fprintf(stderr, "usage: %s FILE FRAMES [OTHER [SHADER [unnamed]]]\n", argv[0]);
        return 2;
    }
    struct program program = {argv[1], atoi(argv[2]), argc > 3 ? atoi(argv[3]) : INT_MAX,
                              argc > 4 ? argv[4] : "contest.comp", argc > 5};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(run, &program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
