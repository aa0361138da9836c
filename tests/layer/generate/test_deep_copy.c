/* What is copied: every pointer is followed, nothing is shared. The originals are on the heap and
 * freed before the copy is read, so that the address sanitizer sees what was shared. */
#include "deep_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_BLOCKS = 64 };

struct heap {
    void *blocks[MAX_BLOCKS];
    size_t count;
};

/* A copy of size bytes that heap_finish overwrites and frees. */
static void *put(struct heap *heap, const void *data, size_t size)
{
    assert_true(heap->count < MAX_BLOCKS);
    void *block = malloc(size);
    assert_non_null(block);
    memcpy(block, data, size);
    heap->blocks[heap->count++] = block;
    return block;
}

#define PUT(heap, type, ...) put(heap, &(type)__VA_ARGS__, sizeof(type))
#define PUT_ARRAY(heap, type, ...) put(heap, (type[])__VA_ARGS__, sizeof((type[])__VA_ARGS__))

static void heap_finish(struct heap *heap)
{
    for (size_t i = 0; i < heap->count; i++)
        free(heap->blocks[i]);
    heap->count = 0;
}

static int set_up(void **state)
{
    *state = pm_arena_create(0);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    pm_arena_destroy(*state);
    return 0;
}

#define HANDLE(type, value) ((type)(uintptr_t)(value))

static const VkPipelineShaderStageCreateInfo *put_stages(struct heap *heap)
{
    const uint32_t words[] = {0x07230203, 0x10000, 0, 1, 0};
    const VkShaderModuleCreateInfo *module =
        PUT(heap, VkShaderModuleCreateInfo,
            {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
             .codeSize = sizeof(words),
             .pCode = put(heap, words, sizeof(words))});
    const VkSpecializationInfo *specialization =
        PUT(heap, VkSpecializationInfo,
            {.mapEntryCount = 2,
             .pMapEntries = PUT_ARRAY(heap, VkSpecializationMapEntry, {{7, 0, 4}, {9, 4, 1}}),
             .dataSize = 5,
             .pData = put(heap, "\1\2\3\4\5", 5)});
    return PUT_ARRAY(heap, VkPipelineShaderStageCreateInfo,
                     {{.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                       .pNext = module,
                       .stage = VK_SHADER_STAGE_VERTEX_BIT,
                       .pName = put(heap, "main", 5)},
                      {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                       .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
                       .module = HANDLE(VkShaderModule, 5),
                       .pName = put(heap, "pixel", 6),
                       .pSpecializationInfo = specialization}});
}

static VkGraphicsPipelineCreateInfo make_graphics(struct heap *heap)
{
    const VkPipelineVertexInputStateCreateInfo *vertex_input =
        PUT(heap, VkPipelineVertexInputStateCreateInfo,
            {.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
             .vertexBindingDescriptionCount = 1,
             .pVertexBindingDescriptions =
                 PUT_ARRAY(heap, VkVertexInputBindingDescription, {{3, 16, 0}}),
             .vertexAttributeDescriptionCount = 2,
             .pVertexAttributeDescriptions = PUT_ARRAY(heap, VkVertexInputAttributeDescription,
                                                       {{0, 3, 106, 0}, {1, 3, 106, 12}})});
    const VkPipelineMultisampleStateCreateInfo *multisample =
        PUT(heap, VkPipelineMultisampleStateCreateInfo,
            {.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
             .rasterizationSamples = VK_SAMPLE_COUNT_64_BIT,
             .pSampleMask = PUT_ARRAY(heap, VkSampleMask, {0x1234, 0x5678})});
    const VkPipelineColorBlendStateCreateInfo *blend =
        PUT(heap, VkPipelineColorBlendStateCreateInfo,
            {.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
             .attachmentCount = 1,
             .pAttachments = PUT_ARRAY(heap, VkPipelineColorBlendAttachmentState,
                                       {{.blendEnable = VK_TRUE, .colorWriteMask = 15}})});
    const VkPipelineViewportStateCreateInfo *viewport =
        PUT(heap, VkPipelineViewportStateCreateInfo,
            {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
             .viewportCount = 1,
             .pViewports = PUT_ARRAY(heap, VkViewport, {{0, 0, 640, 480, 0, 1}}),
             .scissorCount = 1,
             .pScissors = PUT_ARRAY(heap, VkRect2D, {{{1, 2}, {3, 4}}})});
    const VkPipelineRenderingCreateInfo *rendering =
        PUT(heap, VkPipelineRenderingCreateInfo,
            {.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
             .colorAttachmentCount = 1,
             .pColorAttachmentFormats = PUT_ARRAY(heap, VkFormat, {VK_FORMAT_R8G8B8A8_UNORM}),
             .depthAttachmentFormat = VK_FORMAT_D32_SFLOAT});
    return (VkGraphicsPipelineCreateInfo){
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = rendering,
        .stageCount = 2,
        .pStages = put_stages(heap),
        .pVertexInputState = vertex_input,
        .pInputAssemblyState =
            PUT(heap, VkPipelineInputAssemblyStateCreateInfo,
                {.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
                 .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST}),
        .pViewportState = viewport,
        .pRasterizationState =
            PUT(heap, VkPipelineRasterizationStateCreateInfo,
                {.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
                 .lineWidth = 1.5f}),
        .pMultisampleState = multisample,
        .pDepthStencilState =
            PUT(heap, VkPipelineDepthStencilStateCreateInfo,
                {.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
                 .maxDepthBounds = 0.5f}),
        .pColorBlendState = blend,
        .pDynamicState = PUT(heap, VkPipelineDynamicStateCreateInfo,
                             {.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
                              .dynamicStateCount = 2,
                              .pDynamicStates = PUT_ARRAY(heap, VkDynamicState,
                                                          {VK_DYNAMIC_STATE_LINE_WIDTH,
                                                           VK_DYNAMIC_STATE_BLEND_CONSTANTS})}),
        .layout = HANDLE(VkPipelineLayout, 6),
    };
}

/* All but handles. */
static void assert_states(const VkGraphicsPipelineCreateInfo *copy)
{
    assert_non_null(copy);
    assert_int_equal(copy->sType, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO);
    const VkPipelineRenderingCreateInfo *rendering = copy->pNext;
    assert_int_equal(rendering->sType, VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
    assert_int_equal(rendering->pColorAttachmentFormats[0], VK_FORMAT_R8G8B8A8_UNORM);
    assert_null(rendering->pNext);
    assert_int_equal(copy->stageCount, 2);
    const VkShaderModuleCreateInfo *module = copy->pStages[0].pNext;
    assert_int_equal(module->pCode[0], 0x07230203);
    assert_int_equal(module->pCode[3], 1);
    assert_string_equal(copy->pStages[0].pName, "main");
    assert_string_equal(copy->pStages[1].pName, "pixel");
    assert_null(copy->pStages[1].pNext);
    const VkSpecializationInfo *specialization = copy->pStages[1].pSpecializationInfo;
    assert_int_equal(specialization->pMapEntries[1].constantID, 9);
    assert_memory_equal(specialization->pData, "\1\2\3\4\5", 5);
    assert_int_equal(copy->pVertexInputState->pVertexBindingDescriptions[0].stride, 16);
    assert_int_equal(copy->pVertexInputState->pVertexAttributeDescriptions[1].offset, 12);
    assert_int_equal(copy->pInputAssemblyState->topology, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST);
    assert_true(copy->pViewportState->pViewports[0].width == 640.0f);
    assert_int_equal(copy->pViewportState->pScissors[0].extent.height, 4);
    assert_true(copy->pRasterizationState->lineWidth == 1.5f);
    assert_int_equal(copy->pMultisampleState->pSampleMask[1], 0x5678);
    assert_true(copy->pDepthStencilState->maxDepthBounds == 0.5f);
    assert_int_equal(copy->pColorBlendState->pAttachments[0].colorWriteMask, 15);
    assert_int_equal(copy->pDynamicState->pDynamicStates[1], VK_DYNAMIC_STATE_BLEND_CONSTANTS);
}

static void assert_graphics(const VkGraphicsPipelineCreateInfo *copy)
{
    assert_states(copy);
    assert_true(copy->layout == HANDLE(VkPipelineLayout, 6));
    assert_true(copy->pStages[1].module == HANDLE(VkShaderModule, 5));
}

static void graphics_pipeline(void **state)
{
    struct heap heap = {.count = 0};
    struct pm_error error;
    VkGraphicsPipelineCreateInfo info = make_graphics(&heap);
    const VkGraphicsPipelineCreateInfo *copy =
        pm_copy_GraphicsPipelineCreateInfo(*state, &info, NULL, NULL, &error);
    heap_finish(&heap);
    assert_graphics(copy);
}

/* A copy with these states. chained: its rasterization state has a chain. */
static const VkGraphicsPipelineCreateInfo *
copy_shared(struct pm_arena *arena, struct pm_interned *states, float width, bool chained)
{
    struct heap heap = {.count = 0};
    struct pm_error error;
    VkGraphicsPipelineCreateInfo info = make_graphics(&heap);
    ((VkPipelineRasterizationStateCreateInfo *)(uintptr_t)info.pRasterizationState)->lineWidth =
        width;
    if (chained)
        ((VkPipelineRasterizationStateCreateInfo *)(uintptr_t)info.pRasterizationState)->pNext =
            PUT(&heap, VkPipelineRasterizationDepthClipStateCreateInfoEXT,
                {.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT,
                 .depthClipEnable = VK_TRUE});
    const struct pm_copy_sharing sharing = {.states = states};
    const VkGraphicsPipelineCreateInfo *copy =
        pm_copy_GraphicsPipelineCreateInfo(arena, &info, NULL, &sharing, &error);
    heap_finish(&heap);
    return copy;
}

static void states_that_are_the_same(void **state)
{
    struct pm_interned *states = pm_interned_create((size_t)1 << 20);
    struct pm_arena *arena = pm_arena_create(0);
    const VkGraphicsPipelineCreateInfo *first = copy_shared(arena, states, 1.5f, false);
    const VkGraphicsPipelineCreateInfo *same = copy_shared(*state, states, 1.5f, false);
    const VkGraphicsPipelineCreateInfo *wide = copy_shared(*state, states, 2, false);
    assert_states(first);
    assert_ptr_not_equal(same, first);
    assert_ptr_equal(same->pStages[1].pName, first->pStages[1].pName);
    /* Constants are each one's own, and so is what points to them. */
    assert_ptr_not_equal(same->pStages[1].pSpecializationInfo->pData,
                         first->pStages[1].pSpecializationInfo->pData);
    assert_ptr_equal(same->pNext, first->pNext);
    assert_ptr_not_equal(same->pStages, first->pStages);
    assert_ptr_equal(same->pVertexInputState, first->pVertexInputState);
    assert_ptr_equal(same->pInputAssemblyState, first->pInputAssemblyState);
    assert_ptr_equal(same->pViewportState, first->pViewportState);
    assert_ptr_equal(same->pRasterizationState, first->pRasterizationState);
    assert_ptr_equal(same->pMultisampleState, first->pMultisampleState);
    assert_ptr_equal(same->pDepthStencilState, first->pDepthStencilState);
    assert_ptr_equal(same->pColorBlendState, first->pColorBlendState);
    assert_ptr_equal(same->pDynamicState, first->pDynamicState);
    assert_true(wide->pRasterizationState->lineWidth == 2);
    assert_ptr_equal(wide->pColorBlendState, first->pColorBlendState);
    /* The first goes, and the others have what they shared. */
    pm_arena_destroy(arena);
    assert_states(same);
    assert_true(wide->pViewportState->pViewports[0].width == 640.0f);
    pm_interned_destroy(states);
}

static void states_with_chains(void **state)
{
    struct pm_interned *states = pm_interned_create((size_t)1 << 20);
    struct pm_arena *arena = pm_arena_create(0);
    const VkGraphicsPipelineCreateInfo *first = copy_shared(arena, states, 1.5f, true);
    const VkGraphicsPipelineCreateInfo *same = copy_shared(*state, states, 1.5f, true);
    assert_ptr_equal(same->pViewportState, first->pViewportState);
    assert_ptr_equal(same->pRasterizationState, first->pRasterizationState);
    pm_arena_destroy(arena);
    const VkPipelineRasterizationDepthClipStateCreateInfoEXT *clip =
        same->pRasterizationState->pNext;
    assert_int_equal(clip->depthClipEnable, VK_TRUE);
    pm_interned_destroy(states);
}

static bool is_module(VkStructureType type)
{
    return type == VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
}

/* A copy of a pipeline with constants nowhere, and with these handles. */
static const VkGraphicsPipelineCreateInfo *
copy_whole(struct pm_arena *arena, const struct pm_copy_sharing *sharing, uint64_t handle)
{
    struct heap heap = {.count = 0};
    struct pm_error error;
    VkGraphicsPipelineCreateInfo info = make_graphics(&heap);
    VkPipelineShaderStageCreateInfo *stages =
        (VkPipelineShaderStageCreateInfo *)(uintptr_t)info.pStages;
    stages[0].module = stages[1].module = HANDLE(VkShaderModule, handle);
    stages[1].pSpecializationInfo = NULL;
    info.layout = HANDLE(VkPipelineLayout, handle);
    info.basePipelineHandle = HANDLE(VkPipeline, handle);
    info.basePipelineIndex = (int32_t)handle;
    const VkGraphicsPipelineCreateInfo *copy =
        pm_copy_GraphicsPipelineCreateInfo(arena, &info, NULL, sharing, &error);
    heap_finish(&heap);
    assert_non_null(copy);
    return copy;
}

/* Of what differs in its handles alone nothing is a copy's own, what is in chains included. */
static void all_is_the_same_but_handles(void **state)
{
    struct pm_interned *states = pm_interned_create((size_t)1 << 20);
    const struct pm_copy_sharing sharing = {states, is_module};
    const VkGraphicsPipelineCreateInfo *first = copy_whole(*state, &sharing, 5);
    const VkGraphicsPipelineCreateInfo *same = copy_whole(*state, &sharing, 6);
    assert_ptr_equal(same, first);
    assert_int_equal(pm_arena_used(*state), 0);
    assert_true(same->layout == VK_NULL_HANDLE);
    assert_true(same->basePipelineHandle == VK_NULL_HANDLE && same->basePipelineIndex == -1);
    assert_int_equal(same->stageCount, 2);
    assert_true(same->pStages[1].module == VK_NULL_HANDLE);
    assert_string_equal(same->pStages[1].pName, "pixel");
    assert_null(same->pStages[0].pNext);
    const VkPipelineRenderingCreateInfo *rendering = same->pNext;
    assert_int_equal(rendering->pColorAttachmentFormats[0], VK_FORMAT_R8G8B8A8_UNORM);
    assert_int_equal(rendering->depthAttachmentFormat, VK_FORMAT_D32_SFLOAT);
    /* Where there is nowhere to share it is the same, and the copy's own. */
    const struct pm_copy_sharing alone = {NULL, is_module};
    const VkGraphicsPipelineCreateInfo *own = copy_whole(*state, &alone, 7);
    assert_ptr_not_equal(own, first);
    assert_true(own->layout == VK_NULL_HANDLE && own->pStages[1].module == VK_NULL_HANDLE);
    assert_null(own->pStages[0].pNext);
    pm_interned_destroy(states);
}

static void states_that_do_not_fit(void **state)
{
    struct pm_interned *states = pm_interned_create(256);
    const VkGraphicsPipelineCreateInfo *first = copy_shared(*state, states, 1.5f, false);
    const VkGraphicsPipelineCreateInfo *same = copy_shared(*state, states, 1.5f, false);
    assert_states(first);
    assert_states(same);
    assert_ptr_not_equal(same->pDynamicState, first->pDynamicState);
    pm_interned_destroy(states);
}

static void render_pass_2(void **state)
{
    struct heap heap = {.count = 0};
    struct pm_error error;
    const VkAttachmentReference2 *resolve =
        PUT(&heap, VkAttachmentReference2,
            {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, .attachment = 4});
    const VkAttachmentReferenceStencilLayout *stencil =
        PUT(&heap, VkAttachmentReferenceStencilLayout,
            {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_STENCIL_LAYOUT,
             .stencilLayout = VK_IMAGE_LAYOUT_GENERAL});
    const VkSubpassDescriptionDepthStencilResolve *depth_resolve =
        PUT(&heap, VkSubpassDescriptionDepthStencilResolve,
            {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE,
             .pDepthStencilResolveAttachment = resolve});
    const VkSubpassDescription2 *subpass =
        PUT(&heap, VkSubpassDescription2,
            {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
             .pNext = depth_resolve,
             .colorAttachmentCount = 1,
             .pColorAttachments =
                 PUT(&heap, VkAttachmentReference2,
                     {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, .attachment = 2}),
             .pDepthStencilAttachment =
                 PUT(&heap, VkAttachmentReference2,
                     {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2, .pNext = stencil}),
             .preserveAttachmentCount = 2,
             .pPreserveAttachments = PUT_ARRAY(&heap, uint32_t, {8, 9})});
    const VkRenderPassCreateInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
        .attachmentCount = 1,
        .pAttachments = PUT(
            &heap, VkAttachmentDescription2,
            {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2, .format = VK_FORMAT_R8_UNORM}),
        .subpassCount = 1,
        .pSubpasses = subpass,
        .correlatedViewMaskCount = 1,
        .pCorrelatedViewMasks = PUT_ARRAY(&heap, uint32_t, {3}),
    };
    const VkRenderPassCreateInfo2 *copy = pm_copy_RenderPassCreateInfo2(*state, &info, &error);
    heap_finish(&heap);
    assert_non_null(copy);
    assert_int_equal(copy->pAttachments[0].format, VK_FORMAT_R8_UNORM);
    assert_int_equal(copy->pCorrelatedViewMasks[0], 3);
    const VkSubpassDescription2 *copied = &copy->pSubpasses[0];
    assert_int_equal(copied->pColorAttachments[0].attachment, 2);
    assert_null(copied->pResolveAttachments);
    assert_int_equal(copied->pPreserveAttachments[1], 9);
    depth_resolve = copied->pNext;
    assert_int_equal(depth_resolve->pDepthStencilResolveAttachment->attachment, 4);
    stencil = copied->pDepthStencilAttachment->pNext;
    assert_int_equal(stencil->stencilLayout, VK_IMAGE_LAYOUT_GENERAL);
}

static void render_pass(void **state)
{
    struct heap heap = {.count = 0};
    struct pm_error error;
    const VkRenderPassMultiviewCreateInfo *multiview =
        PUT(&heap, VkRenderPassMultiviewCreateInfo,
            {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO,
             .subpassCount = 2,
             .pViewMasks = PUT_ARRAY(&heap, uint32_t, {1, 3})});
    const VkAttachmentReference *colors = PUT_ARRAY(&heap, VkAttachmentReference, {{0, 2}, {1, 2}});
    const VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .pNext = multiview,
        .attachmentCount = 2,
        .pAttachments =
            PUT_ARRAY(&heap, VkAttachmentDescription,
                      {{.format = VK_FORMAT_R8_UNORM}, {.format = VK_FORMAT_R16_UNORM}}),
        .subpassCount = 2,
        .pSubpasses =
            PUT_ARRAY(&heap, VkSubpassDescription,
                      {{.colorAttachmentCount = 2, .pColorAttachments = colors},
                       {.inputAttachmentCount = 1,
                        .pInputAttachments = PUT_ARRAY(&heap, VkAttachmentReference, {{1, 5}}),
                        .colorAttachmentCount = 1,
                        .pColorAttachments = PUT_ARRAY(&heap, VkAttachmentReference, {{0, 2}}),
                        .pResolveAttachments = PUT_ARRAY(&heap, VkAttachmentReference, {{7, 2}})}}),
        .dependencyCount = 1,
        .pDependencies = PUT_ARRAY(&heap, VkSubpassDependency, {{.dstSubpass = 1}}),
    };
    const VkRenderPassCreateInfo *copy = pm_copy_RenderPassCreateInfo(*state, &info, &error);
    heap_finish(&heap);
    assert_non_null(copy);
    assert_int_equal(((const VkRenderPassMultiviewCreateInfo *)copy->pNext)->pViewMasks[1], 3);
    assert_int_equal(copy->pAttachments[1].format, VK_FORMAT_R16_UNORM);
    assert_int_equal(copy->pSubpasses[0].pColorAttachments[1].attachment, 1);
    assert_int_equal(copy->pSubpasses[1].pInputAttachments[0].layout, 5);
    assert_int_equal(copy->pSubpasses[1].pResolveAttachments[0].attachment, 7);
    assert_int_equal(copy->pDependencies[0].dstSubpass, 1);
}

static void layouts_and_samplers(void **state)
{
    struct heap heap = {.count = 0};
    struct pm_error error;
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = PUT(&heap, VkDescriptorSetLayoutBindingFlagsCreateInfo,
                     {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
                      .bindingCount = 1,
                      .pBindingFlags = PUT_ARRAY(&heap, VkDescriptorBindingFlags, {5})}),
        .bindingCount = 1,
        .pBindings = PUT(&heap, VkDescriptorSetLayoutBinding,
                         {.descriptorType = VK_DESCRIPTOR_TYPE_SAMPLER,
                          .descriptorCount = 2,
                          .pImmutableSamplers = PUT_ARRAY(
                              &heap, VkSampler, {HANDLE(VkSampler, 3), HANDLE(VkSampler, 4)})}),
    };
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = PUT_ARRAY(&heap, VkDescriptorSetLayout, {HANDLE(VkDescriptorSetLayout, 8)}),
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = PUT_ARRAY(&heap, VkPushConstantRange, {{16, 4, 12}}),
    };
    const VkSamplerCreateInfo sampler = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .pNext = PUT(&heap, VkSamplerCustomBorderColorCreateInfoEXT,
                     {.sType = VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT,
                      .customBorderColor = {.uint32 = {1, 2, 3, 4}}}),
        .maxLod = 2.0f,
    };
    const VkSamplerYcbcrConversionCreateInfo ycbcr = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_CREATE_INFO,
        .format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM};
    const VkDescriptorSetLayoutCreateInfo *set_copy =
        pm_copy_DescriptorSetLayoutCreateInfo(*state, &set, &error);
    const VkPipelineLayoutCreateInfo *layout_copy =
        pm_copy_PipelineLayoutCreateInfo(*state, &layout, &error);
    const VkSamplerCreateInfo *sampler_copy = pm_copy_SamplerCreateInfo(*state, &sampler, &error);
    const VkSamplerYcbcrConversionCreateInfo *ycbcr_copy =
        pm_copy_SamplerYcbcrConversionCreateInfo(*state, &ycbcr, &error);
    heap_finish(&heap);
    assert_true(set_copy && layout_copy && sampler_copy && ycbcr_copy);
    const VkDescriptorSetLayoutBindingFlagsCreateInfo *flags = set_copy->pNext;
    assert_int_equal(flags->pBindingFlags[0], 5);
    assert_true(set_copy->pBindings[0].pImmutableSamplers[1] == HANDLE(VkSampler, 4));
    assert_true(layout_copy->pSetLayouts[0] == HANDLE(VkDescriptorSetLayout, 8));
    assert_int_equal(layout_copy->pPushConstantRanges[0].size, 12);
    const VkSamplerCustomBorderColorCreateInfoEXT *border = sampler_copy->pNext;
    assert_int_equal(border->customBorderColor.uint32[3], 4);
    assert_int_equal(ycbcr_copy->format, VK_FORMAT_G8_B8R8_2PLANE_420_UNORM);
}

static void compute_pipeline_without_feedback(void **state)
{
    struct heap heap = {.count = 0};
    struct pm_error error;
    VkPipelineCreationFeedback feedback;
    const VkPipelineCreationFeedbackCreateInfo out = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pPipelineCreationFeedback = &feedback};
    const VkPipelineShaderStageCreateInfo *stages = put_stages(&heap);
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .pNext = &out, .stage = stages[0]};
    const VkComputePipelineCreateInfo *copy =
        pm_copy_ComputePipelineCreateInfo(*state, &info, NULL, &error);
    heap_finish(&heap);
    assert_non_null(copy);
    assert_null(copy->pNext);
    assert_string_equal(copy->stage.pName, "main");
    const VkShaderModuleCreateInfo *module = copy->stage.pNext;
    assert_int_equal(module->codeSize, 20);
    const VkShaderModuleCreateInfo *again = pm_copy_ShaderModuleCreateInfo(*state, module, &error);
    assert_non_null(again);
    assert_memory_equal(again->pCode, module->pCode, 20);
    assert_ptr_not_equal(again->pCode, module->pCode);
}

static void an_unknown_structure_is_named(void **state)
{
    struct pm_error error;
    const VkBaseInStructure unknown = {.sType = (VkStructureType)0x7f123456};
    const VkSamplerCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                      .pNext = &unknown};
    assert_null(pm_copy_SamplerCreateInfo(*state, &info, &error));
    assert_int_equal(error.code, PM_ERROR_NEWER);
    assert_non_null(strstr(error.message, "2131899478"));
}

static void a_full_arena_is_an_error(void **state)
{
    (void)state;
    struct heap heap = {.count = 0};
    VkGraphicsPipelineCreateInfo info = make_graphics(&heap);
    size_t needed = 0;
    for (size_t cap = 64; needed == 0; cap += 64) {
        struct pm_error error = {.code = PM_OK};
        struct pm_arena *arena = pm_arena_create(cap);
        assert_non_null(arena);
        if (pm_copy_GraphicsPipelineCreateInfo(arena, &info, NULL, NULL, &error))
            needed = cap;
        else
            assert_int_equal(error.code, PM_ERROR_MEMORY);
        pm_arena_destroy(arena);
        assert_true(cap < 1 << 20);
    }
    assert_true(needed > sizeof(info));
    heap_finish(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(graphics_pipeline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_that_are_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_with_chains, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_is_the_same_but_handles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states_that_do_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(render_pass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(render_pass_2, set_up, tear_down),
        cmocka_unit_test_setup_teardown(layouts_and_samplers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compute_pipeline_without_feedback, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_structure_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_arena_is_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
