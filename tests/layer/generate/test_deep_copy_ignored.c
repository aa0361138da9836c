/* What is not copied: members that the specification says are ignored, in which games leave
 * garbage. Every such pointer here is one that faults when it is followed. */
#include "deep_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define GARBAGE ((void *)(uintptr_t)0x13)

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

struct fixture {
    VkPipelineShaderStageCreateInfo stages[3];
    VkPipelineRasterizationStateCreateInfo rasterization;
    VkPipelineMultisampleStateCreateInfo multisample;
    VkPipelineViewportStateCreateInfo viewport;
    VkPipelineVertexInputStateCreateInfo vertex_input;
    VkPipelineInputAssemblyStateCreateInfo assembly;
    VkPipelineDepthStencilStateCreateInfo depth;
    VkPipelineColorBlendStateCreateInfo blend;
    VkPipelineColorBlendAttachmentState attachment;
    VkPipelineDynamicStateCreateInfo dynamic;
    VkDynamicState states[8];
    VkViewport view;
    VkRect2D scissor;
    VkGraphicsPipelineCreateInfo info;
};

/* A valid pipeline for a render pass, in which only pTessellationState is garbage. */
static void make(struct fixture *f)
{
    *f = (struct fixture){
        .stages = {{.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                    .stage = VK_SHADER_STAGE_VERTEX_BIT,
                    .pName = "main"},
                   {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                    .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
                    .pName = "main"}},
        .rasterization = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO},
        .multisample = {.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT},
        .viewport = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                     .viewportCount = 1,
                     .scissorCount = 1},
        .vertex_input = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO},
        .assembly = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO},
        .depth = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO},
        .blend = {.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                  .attachmentCount = 1},
        .dynamic = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO},
    };
    f->viewport.pViewports = &f->view;
    f->viewport.pScissors = &f->scissor;
    f->blend.pAttachments = &f->attachment;
    f->dynamic.pDynamicStates = f->states;
    f->info = (VkGraphicsPipelineCreateInfo){
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = 2,
        .pStages = f->stages,
        .pVertexInputState = &f->vertex_input,
        .pInputAssemblyState = &f->assembly,
        .pTessellationState = GARBAGE,
        .pViewportState = &f->viewport,
        .pRasterizationState = &f->rasterization,
        .pMultisampleState = &f->multisample,
        .pDepthStencilState = &f->depth,
        .pColorBlendState = &f->blend,
        .pDynamicState = &f->dynamic,
        .renderPass = (VkRenderPass)(uintptr_t)4,
    };
}

static void add_dynamic(struct fixture *f, VkDynamicState dynamic)
{
    f->states[f->dynamic.dynamicStateCount++] = dynamic;
}

static const struct pm_copy_subpass both = {.color = true, .depth_stencil = true};

static const VkGraphicsPipelineCreateInfo *copy_of(void **state, const struct fixture *f,
                                                   const struct pm_copy_subpass *subpass)
{
    struct pm_error error = {.code = PM_OK};
    const VkGraphicsPipelineCreateInfo *copy =
        pm_copy_GraphicsPipelineCreateInfo(*state, &f->info, subpass, NULL, &error);
    if (!copy)
        fail_msg("%s", error.message);
    return copy;
}

static void tessellation_without_its_stages(void **state)
{
    struct fixture f;
    make(&f);
    const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, &both);
    assert_null(copy->pTessellationState);
    assert_non_null(copy->pDepthStencilState);
    assert_non_null(copy->pColorBlendState);
    assert_non_null(copy->pViewportState->pViewports);
}

static void tessellation_with_its_stages(void **state)
{
    struct fixture f;
    make(&f);
    const VkPipelineTessellationStateCreateInfo tessellation = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
        .patchControlPoints = 3};
    VkPipelineShaderStageCreateInfo stages[4] = {f.stages[0], f.stages[0], f.stages[0],
                                                 f.stages[1]};
    stages[1].stage = VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT;
    stages[2].stage = VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT;
    f.info.stageCount = 4;
    f.info.pStages = stages;
    f.info.pTessellationState = &tessellation;
    assert_int_equal(copy_of(state, &f, &both)->pTessellationState->patchControlPoints, 3);
}

static void rasterizer_discard(void **state)
{
    struct fixture f;
    make(&f);
    f.rasterization.rasterizerDiscardEnable = VK_TRUE;
    f.info.pViewportState = GARBAGE;
    f.info.pMultisampleState = GARBAGE;
    f.info.pDepthStencilState = GARBAGE;
    f.info.pColorBlendState = GARBAGE;
    const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, NULL);
    assert_null(copy->pViewportState);
    assert_null(copy->pMultisampleState);
    assert_null(copy->pDepthStencilState);
    assert_null(copy->pColorBlendState);
    assert_non_null(copy->pRasterizationState);
}

/* Discard that is dynamic may be off at the draw: the states are there, and copied. */
static void dynamic_rasterizer_discard(void **state)
{
    struct fixture f;
    make(&f);
    f.rasterization.rasterizerDiscardEnable = VK_TRUE;
    add_dynamic(&f, VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE);
    const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, &both);
    assert_non_null(copy->pViewportState);
    assert_non_null(copy->pMultisampleState);
    assert_non_null(copy->pDepthStencilState);
    assert_non_null(copy->pColorBlendState);
}

static void dynamic_viewport_and_scissor(void **state)
{
    const VkDynamicState pairs[2][2] = {
        {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR},
        {VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT, VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT}};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        make(&f);
        f.viewport.pViewports = GARBAGE;
        f.viewport.pScissors = GARBAGE;
        add_dynamic(&f, pairs[i][0]);
        add_dynamic(&f, pairs[i][1]);
        const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, &both);
        assert_int_equal(copy->pViewportState->viewportCount, 1);
        assert_null(copy->pViewportState->pViewports);
        assert_null(copy->pViewportState->pScissors);
    }
}

static void attachments_of_the_subpass(void **state)
{
    struct fixture f;
    make(&f);
    f.info.pDepthStencilState = GARBAGE;
    const struct pm_copy_subpass color = {.color = true}, depth = {.depth_stencil = true};
    const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, &color);
    assert_null(copy->pDepthStencilState);
    assert_non_null(copy->pColorBlendState->pAttachments);
    make(&f);
    f.info.pColorBlendState = GARBAGE;
    copy = copy_of(state, &f, &depth);
    assert_non_null(copy->pDepthStencilState);
    assert_null(copy->pColorBlendState);
}

static void an_unknown_render_pass_is_refused(void **state)
{
    struct fixture f;
    struct pm_error error;
    make(&f);
    assert_null(pm_copy_GraphicsPipelineCreateInfo(*state, &f.info, NULL, NULL, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
}

static void dynamic_rendering(void **state)
{
    struct fixture f;
    make(&f);
    const VkFormat format = VK_FORMAT_R8_UNORM;
    VkPipelineRenderingCreateInfo rendering = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                               .colorAttachmentCount = 1,
                                               .pColorAttachmentFormats = &format};
    f.info.renderPass = VK_NULL_HANDLE;
    f.info.pNext = &rendering;
    f.info.pDepthStencilState = GARBAGE;
    const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, NULL);
    assert_null(copy->pDepthStencilState);
    assert_non_null(copy->pColorBlendState);
    rendering.colorAttachmentCount = 0;
    rendering.stencilAttachmentFormat = VK_FORMAT_S8_UINT;
    f.info.pDepthStencilState = &f.depth;
    f.info.pColorBlendState = GARBAGE;
    copy = copy_of(state, &f, NULL);
    assert_non_null(copy->pDepthStencilState);
    assert_null(copy->pColorBlendState);
    /* With a render pass the whole structure is ignored. */
    make(&f);
    rendering.colorAttachmentCount = 3;
    rendering.pColorAttachmentFormats = GARBAGE;
    f.info.pNext = &rendering;
    copy = copy_of(state, &f, &both);
    assert_null(((const VkPipelineRenderingCreateInfo *)copy->pNext)->pColorAttachmentFormats);
}

static void mesh_shaders_and_dynamic_vertex_input(void **state)
{
    struct fixture f;
    make(&f);
    f.stages[0].stage = VK_SHADER_STAGE_MESH_BIT_EXT;
    f.info.pVertexInputState = GARBAGE;
    f.info.pInputAssemblyState = GARBAGE;
    const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, &both);
    assert_null(copy->pVertexInputState);
    assert_null(copy->pInputAssemblyState);
    make(&f);
    f.info.pVertexInputState = GARBAGE;
    add_dynamic(&f, VK_DYNAMIC_STATE_VERTEX_INPUT_EXT);
    copy = copy_of(state, &f, &both);
    assert_null(copy->pVertexInputState);
    assert_non_null(copy->pInputAssemblyState);
}

static void dynamic_masks_and_blending(void **state)
{
    struct fixture f;
    make(&f);
    f.multisample.pSampleMask = GARBAGE;
    f.blend.pAttachments = GARBAGE;
    add_dynamic(&f, VK_DYNAMIC_STATE_SAMPLE_MASK_EXT);
    add_dynamic(&f, VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT);
    add_dynamic(&f, VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT);
    add_dynamic(&f, VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT);
    const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, &both);
    assert_null(copy->pMultisampleState->pSampleMask);
    /* Nothing of the garbage; but as many attachments, which some read all the same. */
    assert_int_equal(copy->pColorBlendState->attachmentCount, 1);
    assert_non_null(copy->pColorBlendState->pAttachments);
    assert_int_equal(copy->pColorBlendState->pAttachments[0].colorWriteMask, 0);
    f.blend.attachmentCount = 0xdeadbeef;
    copy = copy_of(state, &f, &both);
    assert_int_equal(copy->pColorBlendState->attachmentCount, 0);
}

/* The static number of samples is ignored with a dynamic one, and may be anything. */
static void dynamic_samples(void **state)
{
    struct fixture f;
    make(&f);
    const VkSampleMask mask = 0x55;
    f.multisample.rasterizationSamples = (VkSampleCountFlagBits)0x7fffffff;
    f.multisample.pSampleMask = &mask;
    add_dynamic(&f, VK_DYNAMIC_STATE_RASTERIZATION_SAMPLES_EXT);
    assert_int_equal(copy_of(state, &f, &both)->pMultisampleState->pSampleMask[0], 0x55);
    f.multisample.rasterizationSamples = VK_SAMPLE_COUNT_4_BIT;
    assert_int_equal(copy_of(state, &f, &both)->pMultisampleState->rasterizationSamples, 4);
}

static void states_of_extensions(void **state)
{
    struct fixture f;
    make(&f);
    VkPipelineDiscardRectangleStateCreateInfoEXT rectangles = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DISCARD_RECTANGLE_STATE_CREATE_INFO_EXT,
        .discardRectangleCount = 2,
        .pDiscardRectangles = GARBAGE};
    VkPipelineSampleLocationsStateCreateInfoEXT locations = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT,
        .sampleLocationsInfo = {
            .pNext = GARBAGE, .sampleLocationsCount = 9, .pSampleLocations = GARBAGE}};
    VkPipelineColorWriteCreateInfoEXT writes = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT,
        .attachmentCount = 1,
        .pColorWriteEnables = GARBAGE};
    f.info.pNext = &rectangles;
    f.multisample.pNext = &locations;
    f.blend.pNext = &writes;
    add_dynamic(&f, VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT);
    add_dynamic(&f, VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT);
    const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, &both);
    const VkPipelineSampleLocationsStateCreateInfoEXT *copied = copy->pMultisampleState->pNext;
    assert_int_equal(copied->sampleLocationsInfo.sampleLocationsCount, 0);
    assert_null(copied->sampleLocationsInfo.pNext);
    assert_int_equal(
        ((const VkPipelineDiscardRectangleStateCreateInfoEXT *)copy->pNext)->discardRectangleCount,
        2);
    const VkPipelineColorWriteCreateInfoEXT *written = copy->pColorBlendState->pNext;
    assert_int_equal(written->attachmentCount, copy->pColorBlendState->attachmentCount);
    assert_int_equal(written->pColorWriteEnables[0], VK_TRUE);
}

/* A part of a pipeline reads only its part of the info; a pipeline linked from parts reads nothing.
 */
static void libraries(void **state)
{
    struct fixture f;
    make(&f);
    VkGraphicsPipelineLibraryCreateInfoEXT part = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
        .flags = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT};
    f.info.flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
    f.info.pNext = &part;
    f.info.pVertexInputState = GARBAGE;
    f.info.pInputAssemblyState = GARBAGE;
    f.info.pViewportState = GARBAGE;
    f.info.pRasterizationState = GARBAGE;
    f.info.pColorBlendState = GARBAGE;
    const VkGraphicsPipelineCreateInfo *copy = copy_of(state, &f, &both);
    assert_int_equal(copy->stageCount, 2);
    assert_non_null(copy->pMultisampleState);
    assert_non_null(copy->pDepthStencilState);
    assert_null(copy->pRasterizationState);
    assert_null(copy->pColorBlendState);

    const VkPipeline parts[2] = {(VkPipeline)(uintptr_t)1, (VkPipeline)(uintptr_t)2};
    const VkPipelineLibraryCreateInfoKHR linked = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
        .libraryCount = 2,
        .pLibraries = parts};
    f.info.flags = 0;
    f.info.pNext = &linked;
    f.info.pStages = GARBAGE;
    f.info.pMultisampleState = GARBAGE;
    f.info.pDepthStencilState = GARBAGE;
    copy = copy_of(state, &f, NULL);
    assert_int_equal(copy->stageCount, 0);
    assert_null(copy->pMultisampleState);
    const VkPipelineLibraryCreateInfoKHR *copied = copy->pNext;
    assert_true(copied->pLibraries != parts && copied->pLibraries[1] == parts[1]);
}

/* The fragment shader's part does not read the formats, but its input attachments' indices count
 * as many attachments. */
static void a_library_with_input_attachments(void **state)
{
    struct fixture f;
    make(&f);
    const uint32_t indices[2] = {1, 0};
    VkRenderingInputAttachmentIndexInfo inputs = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO,
        .colorAttachmentCount = 2,
        .pColorAttachmentInputIndices = indices};
    VkPipelineRenderingCreateInfo rendering = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                               .pNext = &inputs,
                                               .colorAttachmentCount = 2,
                                               .pColorAttachmentFormats = GARBAGE};
    const VkGraphicsPipelineLibraryCreateInfoEXT part = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
        .pNext = &rendering,
        .flags = VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT};
    f.info.flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
    f.info.pNext = &part;
    f.info.renderPass = VK_NULL_HANDLE;
    const VkBaseInStructure *copy = copy_of(state, &f, NULL)->pNext;
    const VkPipelineRenderingCreateInfo *copied = (const void *)copy->pNext;
    assert_int_equal(copied->colorAttachmentCount, 2);
    assert_int_equal(copied->pColorAttachmentFormats[1], VK_FORMAT_UNDEFINED);
    /* Without them the number is not read either. */
    rendering.pNext = NULL;
    copy = copy_of(state, &f, NULL)->pNext;
    copied = (const void *)copy->pNext;
    assert_int_equal(copied->colorAttachmentCount, 0);
}

static void immutable_samplers_of_other_types(void **state)
{
    struct pm_error error;
    const VkDescriptorSetLayoutBinding bindings[2] = {
        {.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
         .descriptorCount = 4,
         .pImmutableSamplers = GARBAGE},
        {.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .descriptorCount = 0,
         .pImmutableSamplers = GARBAGE}};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings};
    const VkDescriptorSetLayoutCreateInfo *copy =
        pm_copy_DescriptorSetLayoutCreateInfo(*state, &info, &error);
    assert_non_null(copy);
    assert_null(copy->pBindings[0].pImmutableSamplers);
    assert_int_equal(copy->pBindings[0].descriptorCount, 4);
    assert_null(copy->pBindings[1].pImmutableSamplers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(tessellation_without_its_stages),
        TEST(tessellation_with_its_stages),
        TEST(rasterizer_discard),
        TEST(dynamic_rasterizer_discard),
        TEST(dynamic_viewport_and_scissor),
        TEST(attachments_of_the_subpass),
        TEST(an_unknown_render_pass_is_refused),
        TEST(dynamic_rendering),
        TEST(mesh_shaders_and_dynamic_vertex_input),
        TEST(dynamic_masks_and_blending),
        TEST(dynamic_samples),
        TEST(states_of_extensions),
        TEST(libraries),
        TEST(a_library_with_input_attachments),
        TEST(immutable_samplers_of_other_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
