/*
 * A program with six compute shaders of which specialized variants are made, for trace.sh and
 * bisect.sh. Each frame is recorded anew. What the last one computed goes to a file, as bytes.
 *
 * usage: variants FILE FRAMES WRONG [crash]
 *     FRAMES: so many; or a file, and frames until that is there
 *     WRONG: which shaders' variants compute something else than the game's own, as in 03; - none
 *     crash: a frame that a variant computed wrongly ends the program by a signal
 */
#include "tests/gpu/gpu_private.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHADERS = 6, LANES = 64 };

static const char *output, *frames, *wrong;
static bool crashes;

static bool is_over(int frame)
{
    return frames[0] == '/' ? access(frames, F_OK) == 0 : frame == atoi(frames);
}

static bool is_wrong(int shader)
{
    return strchr(wrong, '0' + shader) != NULL;
}

static void make_pipelines(struct pm_gpu *gpu, VkPipeline pipelines[static SHADERS])
{
    uint32_t *words;
    size_t count;
    pm_gpu_load(SYSTEM_SHADERS, "variants.comp", &words, &count);
    VkShaderModule module = gpu_module(gpu, words, count);
    for (uint32_t i = 0; i < SHADERS; i++) {
        const VkSpecializationMapEntry entry = {0, 0, sizeof i};
        const VkSpecializationInfo values = {1, &entry, sizeof i, &i};
        const VkComputePipelineCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .module = module,
                      .pName = "main",
                      .pSpecializationInfo = &values},
            .layout = gpu->layout};
        CHECK(vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, &info, NULL, &pipelines[i]));
    }
    vkDestroyShaderModule(gpu->device, module, NULL);
    free(words);
}

/* By the signal: cmocka would make an exit of it. */
static void die(void)
{
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

/* Crashes where a game would have, that draws by what it finds here. */
static void look_at(const float *sums)
{
    for (int i = 0; i < SHADERS; i++)
        if (crashes && is_wrong(i) && !isnan(sums[i * LANES]))
            die();
}

static void run(void **state)
{
    struct pm_gpu gpu;
    struct pm_gpu_buffer weights, factors, sums;
    VkPipeline pipelines[SHADERS];
    (void)state;
    pm_gpu_create(&gpu);
    make_pipelines(&gpu, pipelines);
    pm_gpu_buffer_create(&gpu, LANES * sizeof(float), &weights);
    pm_gpu_buffer_create(&gpu, SHADERS * sizeof(float), &factors);
    pm_gpu_buffer_create(&gpu, SHADERS * LANES * sizeof(float), &sums);
    for (int i = 0; i < SHADERS; i++)
        ((float *)factors.data)[i] = is_wrong(i) ? INFINITY : 1;
    const struct pm_gpu_shader shader = {.buffers = {&weights, &factors, &sums}};
    VkDescriptorSet set = gpu_descriptors(&gpu, &shader, &weights);
    for (int frame = 0; !is_over(frame); frame++) {
        VkCommandBuffer commands = gpu_begin(&gpu);
        for (int i = 0; i < SHADERS; i++) {
            vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines[i]);
            vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu.layout, 0, 1,
                                    &set, 0, NULL);
            vkCmdDispatch(commands, 1, 1, 1);
        }
        gpu_finish(&gpu, commands);
        look_at(sums.data);
    }
    FILE *file = fopen(output, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(sums.data, sums.size, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    for (int i = 0; i < SHADERS; i++)
        vkDestroyPipeline(gpu.device, pipelines[i], NULL);
    pm_gpu_buffer_destroy(&gpu, &weights);
    pm_gpu_buffer_destroy(&gpu, &factors);
    pm_gpu_buffer_destroy(&gpu, &sums);
    pm_gpu_destroy(&gpu);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s FILE FRAMES WRONG [crash]\n", argv[0]);
        return 2;
    }
    output = argv[1];
    frames = argv[2];
    wrong = argv[3];
    crashes = argc > 4;
    const struct CMUnitTest tests[] = {cmocka_unit_test(run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
