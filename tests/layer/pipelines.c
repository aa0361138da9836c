#include "tests/layer/pipelines.h"

#include "corner.vert.h"
#include "stripes.frag.h"
#include <pthread.h>
#include <spirv/unified1/spirv.h>
#include <string.h>

/* ---- making ---- */

static void make_layout(struct parts *parts, struct pm_harness *h)
{
    const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                         .maxLod = 3};
    PM_CHECK(h->vk.CreateSampler(h->device, &sampler, NULL, &parts->sampler));
    const VkSampler immutable[2] = {parts->sampler, parts->sampler};
    const VkDescriptorSetLayoutBinding bindings[2] = {
        {.binding = 0,
         .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .descriptorCount = 1,
         .stageFlags = VK_SHADER_STAGE_ALL,
         /* Not read for a buffer. */
         .pImmutableSamplers = (const VkSampler *)(uintptr_t)0xdead},
        {.binding = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .descriptorCount = 2,
         .stageFlags = VK_SHADER_STAGE_ALL,
         .pImmutableSamplers = immutable}};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings};
    PM_CHECK(h->vk.CreateDescriptorSetLayout(h->device, &set, NULL, &parts->set_layout));
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &parts->set_layout};
    PM_CHECK(h->vk.CreatePipelineLayout(h->device, &layout, NULL, &parts->layout));
}

const uint32_t *parts_words(VkShaderStageFlagBits stage, size_t *size)
{
    const bool vertex = stage == VK_SHADER_STAGE_VERTEX_BIT;
    *size = vertex ? sizeof corner_vert : sizeof stripes_frag;
    return vertex ? corner_vert : stripes_frag;
}

void parts_make(struct parts *parts, struct pm_harness *h)
{
    parts->vertex = pm_harness_make_module(h, corner_vert, sizeof corner_vert);
    parts->fragment = pm_harness_make_module(h, stripes_frag, sizeof stripes_frag);
    make_layout(parts, h);
    parts->render_pass = pm_harness_make_render_pass(h, VK_ATTACHMENT_LOAD_OP_CLEAR);
}

void parts_destroy(const struct parts *parts, struct pm_harness *h)
{
    h->vk.DestroyRenderPass(h->device, parts->render_pass, NULL);
    h->vk.DestroyPipelineLayout(h->device, parts->layout, NULL);
    h->vk.DestroyDescriptorSetLayout(h->device, parts->set_layout, NULL);
    h->vk.DestroySampler(h->device, parts->sampler, NULL);
    h->vk.DestroyShaderModule(h->device, parts->fragment, NULL);
    h->vk.DestroyShaderModule(h->device, parts->vertex, NULL);
}

/* Pointers that a part of a pipeline must not read. */
#define GARBAGE(type) ((const type *)(uintptr_t)0xdead0)

static void keep_part(VkGraphicsPipelineCreateInfo *info, VkGraphicsPipelineLibraryFlagsEXT part,
                      const VkPipelineShaderStageCreateInfo *stages)
{
    const bool input = part & VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT;
    const bool before = part & VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT;
    const bool fragment = part & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT;
    const bool output = part & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT;
    info->stageCount = before || fragment ? 1 : 0;
    info->pStages = before ? &stages[0] : fragment ? &stages[1] : NULL;
    if (!input) {
        info->pVertexInputState = GARBAGE(VkPipelineVertexInputStateCreateInfo);
        info->pInputAssemblyState = GARBAGE(VkPipelineInputAssemblyStateCreateInfo);
    }
    if (!before) {
        info->pViewportState = GARBAGE(VkPipelineViewportStateCreateInfo);
        info->pRasterizationState = GARBAGE(VkPipelineRasterizationStateCreateInfo);
    }
    if (!fragment && !output)
        info->pMultisampleState = GARBAGE(VkPipelineMultisampleStateCreateInfo);
    if (!output)
        info->pColorBlendState = GARBAGE(VkPipelineColorBlendStateCreateInfo);
    info->pDepthStencilState = GARBAGE(VkPipelineDepthStencilStateCreateInfo);
}

/* The stages as the options say; the structures live in the caller's arrays. */
static void make_stages(const struct graphics_options *options,
                        VkPipelineShaderStageCreateInfo stages[2],
                        VkShaderModuleCreateInfo words[2],
                        VkPipelineShaderStageModuleIdentifierCreateInfoEXT identifiers[2])
{
    static const uint8_t identifier[4] = {1, 2, 3, 4};
    const struct parts *parts = options->parts;
    for (int i = 0; i < 2; i++) {
        words[i] =
            (VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = i ? sizeof stripes_frag : sizeof corner_vert,
                                       .pCode = i ? stripes_frag : corner_vert};
        identifiers[i] = (VkPipelineShaderStageModuleIdentifierCreateInfoEXT){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT,
            .identifierSize = sizeof identifier,
            .pIdentifier = identifier};
        if (options->inline_words || options->identifier_only)
            stages[i].module = VK_NULL_HANDLE;
        else if (parts)
            stages[i].module = i ? parts->fragment : parts->vertex;
        if (options->inline_words)
            stages[i].pNext = &words[i];
        else if (options->identifier_only)
            stages[i].pNext = &identifiers[i];
    }
}

VkPipeline make_graphics(struct pm_harness *h, const struct graphics_options *options)
{
    struct pm_harness_pipeline of;
    pm_harness_describe(h, &of);
    VkShaderModuleCreateInfo words[2];
    VkPipelineShaderStageModuleIdentifierCreateInfoEXT identifiers[2];
    make_stages(options, of.stages, words, identifiers);
    of.rasterization.rasterizerDiscardEnable = options->discard;
    of.multisample.alphaToCoverageEnable = options->alpha_to_coverage;
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 1,
        .pDynamicStates = &options->dynamic};
    const VkGraphicsPipelineLibraryCreateInfoEXT library = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
        .flags = options->library};
    const VkPipelineLibraryCreateInfoKHR link = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
        .libraryCount = 4,
        .pLibraries = options->link};
    VkGraphicsPipelineCreateInfo *info = &of.info;
    info->pNext = options->library ? &library : options->link ? (const void *)&link : options->next;
    info->flags = options->flags;
    const VkPipelineCreateFlags2CreateInfo flags2 = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO,
        .pNext = info->pNext,
        .flags = options->flags2};
    if (options->flags2) {
        info->pNext = &flags2;
        info->flags = VK_PIPELINE_CREATE_FLAG_BITS_MAX_ENUM; /* not read */
    }
    info->pDynamicState = options->dynamic ? &dynamic : NULL;
    if (options->parts) {
        info->layout = options->parts->layout;
        info->renderPass = options->parts->render_pass;
    }
    info->basePipelineHandle = options->base;
    info->basePipelineIndex = -1;
    if (options->library || options->link)
        keep_part(info, options->library, of.stages);
    VkPipeline pipeline;
    PM_CHECK(h->vk.CreateGraphicsPipelines(h->device, VK_NULL_HANDLE, 1, info, NULL, &pipeline));
    return pipeline;
}

/* ---- watching ---- */

static struct {
    pthread_mutex_t lock;
    struct seen last;
    struct counts counts;
    struct samplers samplers;
    bool early_tests;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool has_early_tests(const VkShaderModuleCreateInfo *info)
{
    const size_t count = info->codeSize / 4;
    for (size_t at = 5; at < count; at += info->pCode[at] >> SpvWordCountShift) {
        if ((info->pCode[at] & SpvOpCodeMask) == SpvOpExecutionMode &&
            info->pCode[at + 2] == SpvExecutionModeEarlyFragmentTests)
            return true;
        if (info->pCode[at] >> SpvWordCountShift == 0)
            return false;
    }
    return false;
}

static void see_graphics(const VkGraphicsPipelineCreateInfo *info)
{
    struct seen seen = {.flags = info->flags,
                        .base = info->basePipelineHandle,
                        .stage_count = info->stageCount,
                        .layout = info->layout,
                        .render_pass = info->renderPass,
                        .early_tests = watch.early_tests};
    for (uint32_t i = 0; i < info->stageCount && i < 4; i++) {
        seen.modules[i] = info->pStages[i].module;
        if (info->pStages[i].stage == VK_SHADER_STAGE_FRAGMENT_BIT &&
            info->pStages[i].pSpecializationInfo)
            seen.spec_entries = info->pStages[i].pSpecializationInfo->mapEntryCount;
    }
    for (const VkBaseInStructure *item = info->pNext; item; item = item->pNext) {
        if (item->sType == VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO)
            seen.flags = ((const VkPipelineCreateFlags2CreateInfo *)item)->flags;
        if (item->sType == VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO)
            seen.feedback = true;
        if (item->sType == VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR) {
            const VkPipelineLibraryCreateInfoKHR *link = (const void *)item;
            seen.library_count = link->libraryCount;
            memcpy(seen.libraries, link->pLibraries,
                   sizeof(VkPipeline) * (link->libraryCount < 4 ? link->libraryCount : 4));
        }
    }
    watch.last = seen;
    watch.counts.early += watch.early_tests;
    watch.early_tests = false;
}

static void see_set_layout(const VkDescriptorSetLayoutCreateInfo *info)
{
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        if (info->pBindings[i].descriptorType != VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER)
            continue;
        watch.samplers.layouts++;
        memcpy(watch.samplers.last, info->pBindings[i].pImmutableSamplers,
               sizeof watch.samplers.last);
    }
}

static void see(void *user, const struct pm_null_call *call)
{
    (void)user;
    const void *pointer = (const void *)(uintptr_t)call->arguments[1];
    pthread_mutex_lock(&watch.lock);
    if (strcmp(call->command, "vkCreateShaderModule") == 0)
        watch.early_tests |= has_early_tests(pointer);
    else if (strcmp(call->command, "vkCreateDescriptorSetLayout") == 0)
        see_set_layout(pointer);
    else if (strcmp(call->command, "vkCreateGraphicsPipelines") == 0 && pointer)
        see_graphics((const void *)(uintptr_t)call->arguments[3]);
    if (strncmp(call->command, "vkCreate", 8) == 0 && strstr(call->command, "Pipelines") && pointer)
        watch.counts.variants++;
    pthread_mutex_unlock(&watch.lock);
}

void watch_start(const struct pm_null_api *driver)
{
    pthread_mutex_lock(&watch.lock);
    watch.last = (struct seen){0};
    watch.counts = (struct counts){0};
    watch.samplers = (struct samplers){0};
    watch.early_tests = false;
    pthread_mutex_unlock(&watch.lock);
    driver->set_callback(see, NULL);
}

#define LOCKED(type, name, member)                                                                 \
    type name(void)                                                                                \
    {                                                                                              \
        pthread_mutex_lock(&watch.lock);                                                           \
        const type copy = watch.member;                                                            \
        pthread_mutex_unlock(&watch.lock);                                                         \
        return copy;                                                                               \
    }
LOCKED(struct seen, watch_last, last)
LOCKED(struct counts, watch_counts, counts)
LOCKED(struct samplers, watch_samplers, samplers)
