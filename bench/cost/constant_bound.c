/*
 * constant_bound WAY COUNT: what knowing words of a uniform buffer can gain, in a shader that was
 * written for it (shaders/constant_bound.comp: a loop with a number of turns, a mode and factors).
 * Dispatches it COUNT times.
 *
 *     original     the canonical module, with the words that are usual
 *     fits         the version for these words, with its guard (specialize_constants)
 *     other        the canonical module, with other words
 *     differs      the version for the usual words, with other words: the guard turns it away
 *
 * Prints the milliseconds of a dispatch, and a hash of what was computed.
 * bench/cost/constant_bound.sh makes a table of it, and counts instructions.
 */
#include "bench/cost/measured.h"
#include "examples/common/gpu.h"

#include "constant_bound.comp.h"
#include "shader_rewrite/shader_rewrite.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 64, NUMBERS = GROUPS * 64, WORDS = 4, WAYS = 4 };

struct words {
    int32_t turns, mode;
    float scale, fog;
};

static const struct words usual = {8, 1, 1, 0}, unusual = {8, 1, 1, 0.125f};

static const struct {
    const char *name;
    bool folded;
    const struct words *words;
} ways[WAYS] = {{"original", false, &usual},
                {"fits", true, &usual},
                {"other", false, &unusual},
                {"differs", true, &unusual}};

struct bench {
    struct pm_gpu gpu;
    struct pm_gpu_buffer words, numbers;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipeline pipeline;
};

/* ---- the module ---- */

static bool fold(const struct pm_words *canonical, struct pm_words *out, struct pm_error *error)
{
    uint32_t values[WORDS];
    struct pm_constant_known known[WORDS];
    memcpy(values, &usual, sizeof(values));
    for (uint32_t i = 0; i < WORDS; i++)
        known[i] = (struct pm_constant_known){
            {.source = PM_CONSTANT_UNIFORM, .offset = 4 * i}, values[i], true};
    const struct pm_specialize_constants_info info = {
        .known = known, .known_count = WORDS, .target = {.vulkan_minor = 1}, .take_all = true};
    struct pm_specialized_constants made;
    if (!pm_specialize_constants(canonical->data, canonical->count, &info, &made, error))
        return false;
    *out = made.words;
    made.words = (struct pm_words){0};
    pm_specialized_constants_finish(&made);
    return true;
}

static bool make_module(bool folded, struct pm_words *out, struct pm_error *error)
{
    const struct pm_canonicalize_info info = {.words = constant_bound_comp,
                                              .word_count = sizeof(constant_bound_comp) / 4,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = {.vulkan_minor = 1}};
    struct pm_words canonical;
    if (!pm_canonicalize(&info, &canonical, error))
        return false;
    if (!folded) {
        *out = canonical;
        return true;
    }
    const bool made = fold(&canonical, out, error);
    pm_words_finish(&canonical);
    return made;
}

/* ---- the device ---- */

static bool make_set(struct bench *b, struct pm_error *error)
{
    static const VkDescriptorType types[] = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
                                             VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
    static const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1},
                                                 {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    if (!pm_gpu_set_layout_create(&b->gpu, types, 2, VK_SHADER_STAGE_COMPUTE_BIT, &b->set_layout,
                                  error) ||
        !pm_gpu_pipeline_layout_create(&b->gpu, &b->set_layout, 1, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                       &b->layout, error) ||
        !pm_gpu_pool_create(&b->gpu, sizes, 2, 1, &b->pool, error) ||
        !pm_gpu_set_allocate(&b->gpu, b->pool, b->set_layout, &b->set, error))
        return false;
    pm_gpu_set_buffer(&b->gpu, b->set, 0, types[0], &b->words);
    pm_gpu_set_buffer(&b->gpu, b->set, 1, types[1], &b->numbers);
    return true;
}

static bool set_up(struct bench *b, int way, struct pm_error *error)
{
    const struct pm_gpu_info info = {.application = "constant_bound"};
    struct pm_words words;
    if (!make_module(ways[way].folded, &words, error))
        return false;
    bool ok = pm_gpu_init(&b->gpu, &info, error) &&
              pm_gpu_buffer_init(&b->words, &b->gpu, sizeof(struct words),
                                 VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PM_GPU_UPLOAD, error) &&
              pm_gpu_buffer_init(&b->numbers, &b->gpu, 2 * NUMBERS * sizeof(float),
                                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, PM_GPU_READBACK, error) &&
              make_set(b, error);
    if (ok) {
        const struct pm_gpu_spirv spirv = {words.data, words.count * sizeof(uint32_t)};
        memcpy(b->words.mapped, ways[way].words, sizeof(struct words));
        for (uint32_t i = 0; i < NUMBERS; i++)
            ((float *)b->numbers.mapped)[i] = (float)(i * 2654435761u >> 8) / (float)(1 << 24);
        ok = pm_gpu_compute_create(&b->gpu, spirv, b->layout, &b->pipeline, error);
    }
    pm_words_finish(&words);
    return ok;
}

static void tear_down(struct bench *b)
{
    if (b->gpu.device) {
        vkDestroyPipeline(b->gpu.device, b->pipeline, NULL);
        vkDestroyDescriptorPool(b->gpu.device, b->pool, NULL);
        vkDestroyPipelineLayout(b->gpu.device, b->layout, NULL);
        vkDestroyDescriptorSetLayout(b->gpu.device, b->set_layout, NULL);
        pm_gpu_buffer_finish(&b->numbers, &b->gpu);
        pm_gpu_buffer_finish(&b->words, &b->gpu);
    }
    pm_gpu_finish(&b->gpu);
}

/* ---- runs ---- */

static bool dispatch(const struct bench *b, unsigned long count, struct pm_error *error)
{
    VkCommandBuffer commands;
    if (!pm_gpu_once_begin(&b->gpu, &commands, error))
        return false;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, b->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, b->layout, 0, 1, &b->set, 0,
                            NULL);
    for (unsigned long i = 0; i < count; i++) {
        vkCmdDispatch(commands, GROUPS, 1, 1);
        pm_gpu_between_dispatches(commands);
    }
    return pm_gpu_once_submit(&b->gpu, commands, error);
}

static bool run(struct bench *b, int way, unsigned long count, struct pm_error *error)
{
    if (!set_up(b, way, error) || !dispatch(b, 1, error)) /* drivers compile now */
        return false;
    const double start = pm_processor_ms();
    if (!dispatch(b, count, error))
        return false;
    printf("%.6f %016llx\n", (pm_processor_ms() - start) / (double)count,
           (unsigned long long)pm_bytes_hash(
               (const char *)b->numbers.mapped + NUMBERS * sizeof(float), NUMBERS * sizeof(float)));
    return true;
}

int main(int argc, char **argv)
{
    struct pm_error error = {0};
    struct bench b = {0};
    int way = 0;
    while (argc == 3 && way < WAYS && strcmp(argv[1], ways[way].name) != 0)
        way++;
    const unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (count == 0 || way == WAYS) {
        fprintf(stderr, "usage: constant_bound original|fits|other|differs COUNT\n");
        return 2;
    }
    const bool ok = run(&b, way, count, &error);
    tear_down(&b);
    if (!ok)
        fprintf(stderr, "constant_bound: %s\n", error.message);
    return ok ? 0 : 1;
}
