/* Pipelines that find their descriptors in heaps (VK_EXT_descriptor_heap), as those of DXVK 3 do:
 * they have no layout, and each stage says where its bindings are. A variant has a copy of that,
 * so the game's may be gone. */
#include "layer/generate/create_info.h"
#include "layer/generate/descriptor_heap.h"
#include "tests/layer/layered.h"
#include "tests/layer/pipelines.h"
#include "tests/patience.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS
#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE
#define HEAP VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT

static struct pm_harness h;

/* ---- the game's mappings ---- */

enum { KINDS = 11 };

/* A mapping from each source there is, and what they point to. */
struct mapped {
    VkSamplerReductionModeCreateInfo reduction;
    VkSamplerCreateInfo sampler;
    VkDescriptorSetAndBindingMappingEXT each[KINDS];
    VkShaderDescriptorSetAndBindingMappingInfoEXT info;
    VkShaderModuleCreateInfo words;
};

/* Where a mapping of that source has its sampler; NULL: it can have none. */
static const VkSamplerCreateInfo **sampler_in(VkDescriptorSetAndBindingMappingEXT *mapping)
{
    VkDescriptorMappingSourceDataEXT *data = &mapping->sourceData;
    switch ((int)mapping->source) {
    case 0:
        return &data->constantOffset.pEmbeddedSampler;
    case 1:
        return &data->pushIndex.pEmbeddedSampler;
    case 2:
        return &data->indirectIndex.pEmbeddedSampler;
    case 3:
        return &data->indirectIndexArray.pEmbeddedSampler;
    case 8:
        return &data->shaderRecordIndex.pEmbeddedSampler;
    default:
        return NULL;
    }
}

static void describe(struct mapped *mapped, const uint32_t *words, size_t size)
{
    *mapped = (struct mapped){
        .reduction = {.sType = VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO,
                      .reductionMode = VK_SAMPLER_REDUCTION_MODE_MAX},
        .sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                    .pNext = &mapped->reduction,
                    .maxLod = 7},
        .info = {.sType = VK_STRUCTURE_TYPE_SHADER_DESCRIPTOR_SET_AND_BINDING_MAPPING_INFO_EXT,
                 .mappingCount = KINDS,
                 .pMappings = mapped->each},
        .words = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                  .pNext = &mapped->info,
                  .codeSize = size,
                  .pCode = words},
    };
    for (uint32_t i = 0; i < KINDS; i++) {
        VkDescriptorSetAndBindingMappingEXT *each = &mapped->each[i];
        /* Every byte of what it maps from says something. */
        memset(&each->sourceData, (int)i + 1, sizeof each->sourceData);
        each->sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_AND_BINDING_MAPPING_EXT;
        each->pNext = NULL;
        each->descriptorSet = i;
        each->firstBinding = 10 * i;
        each->bindingCount = i + 1;
        each->resourceMask = 1u << i;
        each->source = (VkDescriptorMappingSourceEXT)i;
        if (sampler_in(each))
            *sampler_in(each) = i == 1 ? NULL : &mapped->sampler;
    }
}

/* ---- what reaches the driver ---- */

static struct {
    pthread_mutex_t lock;
    uint32_t pipelines; /* that the layer made, with its own cache */
    VkPipelineCreateFlags2 flags;
    VkPipelineLayout layout;
    uint32_t count;
    const void *mappings;
    VkDescriptorSetAndBindingMappingEXT each[KINDS];
    const VkSamplerCreateInfo *samplers[KINDS];
    float most_lod[KINDS];
    VkSamplerReductionMode modes[KINDS];
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void see_stage(const VkPipelineShaderStageCreateInfo *stage)
{
    const VkShaderDescriptorSetAndBindingMappingInfoEXT *info = pm_find_in_chain(
        stage->pNext, VK_STRUCTURE_TYPE_SHADER_DESCRIPTOR_SET_AND_BINDING_MAPPING_INFO_EXT);
    seen.count = info ? info->mappingCount : 0;
    seen.mappings = info ? info->pMappings : NULL;
    for (uint32_t i = 0; i < seen.count && i < KINDS; i++) {
        seen.each[i] = info->pMappings[i];
        const VkSamplerCreateInfo **at = sampler_in(&seen.each[i]);
        seen.samplers[i] = at ? *at : NULL;
        if (!seen.samplers[i])
            continue;
        seen.most_lod[i] = seen.samplers[i]->maxLod;
        const VkSamplerReductionModeCreateInfo *reduction = pm_find_in_chain(
            seen.samplers[i]->pNext, VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO);
        seen.modes[i] = reduction ? reduction->reductionMode : VK_SAMPLER_REDUCTION_MODE_MAX_ENUM;
    }
}

static void see(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (call->arguments[1] == 0)
        return; /* not with the layer's own pipeline cache */
    const void *infos = (const void *)(uintptr_t)call->arguments[3];
    pthread_mutex_lock(&seen.lock);
    if (strcmp(call->command, "vkCreateGraphicsPipelines") == 0) {
        const VkGraphicsPipelineCreateInfo *info = infos;
        seen.pipelines++;
        seen.flags = pm_pipeline_flags(info->flags, info->pNext);
        seen.layout = info->layout;
        see_stage(&info->pStages[info->stageCount - 1]);
    } else if (strcmp(call->command, "vkCreateComputePipelines") == 0) {
        const VkComputePipelineCreateInfo *info = infos;
        seen.pipelines++;
        seen.flags = pm_pipeline_flags(info->flags, info->pNext);
        seen.layout = info->layout;
        see_stage(&info->stage);
    }
    pthread_mutex_unlock(&seen.lock);
}

/* ---- pipelines ---- */

static void open_heaps(const char *synchronous)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", synchronous, 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_LIMITS_CREATION_MS", "0", 1);
    pthread_mutex_lock(&seen.lock);
    seen.pipelines = 0;
    pthread_mutex_unlock(&seen.lock);
    pm_harness_driver()->set_callback(see, NULL);
    pm_harness_open(&h, NULL);
}

static VkPipeline make_with(VkPipelineBindPoint point, const struct mapped *mapped)
{
    const VkPipelineCreateFlags2CreateInfo flags = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO, .flags = HEAP};
    VkPipeline pipeline;
    if (point == COMPUTE) {
        const VkComputePipelineCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
            .pNext = &flags,
            .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                      .pNext = &mapped->words,
                      .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                      .pName = "main"}};
        PM_CHECK(h.vk.CreateComputePipelines(h.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
        return pipeline;
    }
    struct pm_harness_pipeline of;
    pm_harness_describe(&h, &of);
    of.info.pNext = &flags;
    of.info.layout = VK_NULL_HANDLE;
    of.stages[1].module = VK_NULL_HANDLE;
    of.stages[1].pNext = &mapped->words;
    PM_CHECK(h.vk.CreateGraphicsPipelines(h.device, VK_NULL_HANDLE, 1, &of.info, NULL, &pipeline));
    return pipeline;
}

static const uint32_t *words_of(VkPipelineBindPoint point, size_t *size)
{
    return point == COMPUTE ? pm_harness_compute_words(size)
                            : parts_words(VK_SHADER_STAGE_FRAGMENT_BIT, size);
}

static bool is_sampled(VkPipeline pipeline, VkPipelineBindPoint point)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(buffer, point, pipeline);
    const uint64_t position = h.driver->position();
    if (point == COMPUTE)
        h.vk.CmdDispatch(buffer, 1, 1, 1);
    else
        h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    char *calls = pm_calls_on(h.driver, position, buffer);
    const bool sampled = strstr(calls, "vkCmdBindPipeline") != NULL;
    free(calls);
    pm_harness_run(&h, buffer);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return sampled;
}

/* ---- tests ---- */

static void check_mappings(const struct mapped *expected, const struct mapped *game)
{
    pthread_mutex_lock(&seen.lock);
    assert_true(seen.pipelines > 0);
    assert_true(seen.flags == HEAP);
    assert_true(seen.layout == VK_NULL_HANDLE);
    assert_int_equal(seen.count, KINDS);
    assert_ptr_not_equal(seen.mappings, game->each);
    for (uint32_t i = 0; i < KINDS; i++) {
        VkDescriptorSetAndBindingMappingEXT wanted = expected->each[i];
        const VkSamplerCreateInfo **of_wanted = sampler_in(&wanted);
        const bool has_sampler = of_wanted && *of_wanted;
        assert_int_equal(has_sampler, seen.samplers[i] != NULL);
        if (has_sampler) {
            assert_ptr_not_equal(seen.samplers[i], &game->sampler);
            assert_true(seen.most_lod[i] == 7);
            assert_int_equal(seen.modes[i], VK_SAMPLER_REDUCTION_MODE_MAX);
            *of_wanted = *sampler_in(&seen.each[i]);
        }
        assert_memory_equal(&wanted.descriptorSet, &seen.each[i].descriptorSet,
                            offsetof(VkDescriptorSetAndBindingMappingEXT, sourceData) -
                                offsetof(VkDescriptorSetAndBindingMappingEXT, descriptorSet));
        assert_memory_equal(&wanted.sourceData, &seen.each[i].sourceData, sizeof wanted.sourceData);
    }
    pthread_mutex_unlock(&seen.lock);
}

static void a_variant_is_mapped_alike(void **state)
{
    (void)state;
    open_heaps("false");
    static const VkPipelineBindPoint points[] = {GRAPHICS, COMPUTE};
    for (int i = 0; i < 2; i++) {
        size_t size;
        const uint32_t *words = words_of(points[i], &size);
        struct mapped game, expected;
        describe(&game, words, size);
        describe(&expected, words, size);
        VkPipeline pipeline = make_with(points[i], &game);
        memset(&game, 0xee, sizeof game);
        uint64_t until = 0;
        bool sampled = is_sampled(pipeline, points[i]);
        while (!sampled && patience(&until))
            sampled = is_sampled(pipeline, points[i]);
        assert_true(sampled);
        check_mappings(&expected, &game);
        h.vk.DestroyPipeline(h.device, pipeline, NULL);
    }
    pm_harness_close(&h);
}

/* It is not known what a copy of it would have to be like. */
static void what_is_not_known_gets_none(void **state)
{
    (void)state;
    open_heaps("true");
    size_t size;
    const uint32_t *words = words_of(COMPUTE, &size);
    const VkBaseInStructure newer = {.sType = (VkStructureType)1999999001};
    const VkSamplerYcbcrConversionInfo converts = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO};
    for (int what = 0; what < 4; what++) {
        struct mapped game;
        describe(&game, words, size);
        if (what == 1)
            game.each[4].pNext = &newer;
        else if (what == 2)
            game.each[5].source = (VkDescriptorMappingSourceEXT)KINDS;
        else if (what == 3)
            game.reduction.pNext = (void *)(uintptr_t)&converts;
        VkPipeline pipeline = make_with(COMPUTE, &game);
        assert_int_equal(is_sampled(pipeline, COMPUTE), what == 0);
        h.vk.DestroyPipeline(h.device, pipeline, NULL);
    }
    pm_harness_close(&h);
    assert_int_equal(pm_layered_logged("a structure of sType 1999999001"), 1);
    assert_int_equal(pm_layered_logged("a binding is mapped to what is not known"), 1);
    assert_int_equal(pm_layered_logged("an embedded sampler converts colors"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_variant_is_mapped_alike),
        PM_LAYERED_TEST(what_is_not_known_gets_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
