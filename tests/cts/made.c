/* Pipelines with what few have: a robustness of their own, and states of
 * VK_EXT_extended_dynamic_state3. */
#include "tests/cts/ways.h"

/* ---- VK_EXT_pipeline_robustness: of the pipeline, and of the case's stage ---- */

static void describe_robust(const struct cts *cts, struct cts_description *d)
{
    (void)cts;
    const VkPipelineRobustnessCreateInfo robust = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO,
        .storageBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS,
        .uniformBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_DISABLED,
        .vertexInputs = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS,
        .images = VK_PIPELINE_ROBUSTNESS_IMAGE_BEHAVIOR_DEVICE_DEFAULT};
    d->robust[0] = d->robust[1] = robust;
    d->robust[0].pNext = (void *)(uintptr_t)d->info.pNext;
    d->info.pNext = &d->robust[0];
    d->robust[1].uniformBuffers = VK_PIPELINE_ROBUSTNESS_BUFFER_BEHAVIOR_ROBUST_BUFFER_ACCESS;
    d->stages[1].pNext = &d->robust[1];
}

const struct cts_way_of cts_robust = {
    .extensions = {"VK_EXT_pipeline_robustness"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES},
    .describe = describe_robust};

/* ---- VK_EXT_extended_dynamic_state3 ---- */

static const VkDynamicState states[] = {
    VK_DYNAMIC_STATE_POLYGON_MODE_EXT,       VK_DYNAMIC_STATE_RASTERIZATION_SAMPLES_EXT,
    VK_DYNAMIC_STATE_SAMPLE_MASK_EXT,        VK_DYNAMIC_STATE_ALPHA_TO_COVERAGE_ENABLE_EXT,
    VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT, VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT,
    VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT,   VK_DYNAMIC_STATE_DEPTH_CLAMP_ENABLE_EXT};

static void open_states(struct cts *cts, const struct cts_case *of)
{
    VkPhysicalDeviceExtendedDynamicState3FeaturesEXT can = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &can};
    (void)of;
    vkGetPhysicalDeviceFeatures2(cts->gpu.physical, &features);
    if (!can.extendedDynamicState3PolygonMode || !can.extendedDynamicState3RasterizationSamples ||
        !can.extendedDynamicState3SampleMask || !can.extendedDynamicState3AlphaToCoverageEnable ||
        !can.extendedDynamicState3ColorBlendEnable ||
        !can.extendedDynamicState3ColorBlendEquation || !can.extendedDynamicState3ColorWriteMask ||
        !can.extendedDynamicState3DepthClampEnable)
        cts_unsupported("eight of the dynamic states");
}

/* What is dynamic says something else, or nothing. */
static void describe_states(const struct cts *cts, struct cts_description *d)
{
    (void)cts;
    d->dynamics = (VkPipelineDynamicStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = sizeof states / sizeof states[0],
        .pDynamicStates = states};
    d->info.pDynamicState = &d->dynamics;
    d->fixed.rasterization.depthClampEnable = VK_TRUE;
    d->multisample.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    d->multisample.alphaToCoverageEnable = VK_TRUE;
    d->blends.pAttachments = NULL;
}

static void set_states(const struct cts *cts, VkCommandBuffer commands)
{
    const struct pm_device_dispatch *vk = &cts->vk;
    const VkSampleCountFlagBits samples = (VkSampleCountFlagBits)cts->target.samples;
    const VkSampleMask mask = UINT32_MAX;
    const VkBool32 blends = cts->target.kind == CTS_BLEND;
    const VkColorBlendEquationEXT added = {VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE,
                                           VK_BLEND_OP_ADD,     VK_BLEND_FACTOR_ONE,
                                           VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD};
    const VkColorComponentFlags all = 0xf;
    vk->CmdSetPolygonModeEXT(commands, VK_POLYGON_MODE_FILL);
    vk->CmdSetRasterizationSamplesEXT(commands, samples);
    vk->CmdSetSampleMaskEXT(commands, samples, &mask);
    vk->CmdSetAlphaToCoverageEnableEXT(commands, VK_FALSE);
    vk->CmdSetColorBlendEnableEXT(commands, 0, 1, &blends);
    vk->CmdSetColorBlendEquationEXT(commands, 0, 1, &added);
    vk->CmdSetColorWriteMaskEXT(commands, 0, 1, &all);
    vk->CmdSetDepthClampEnableEXT(commands, VK_FALSE);
}

/* Set before each half; nothing is drawn of what is set in between. */
static void draw_with_states(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                             VkCommandBuffer commands)
{
    static const VkColorComponentFlags none = 0;
    const uint32_t half = CTS_VERTICES / 2;
    (void)of, (void)pipeline;
    set_states(cts, commands);
    vkCmdDraw(commands, half, 1, 0, 0);
    cts->vk.CmdSetColorWriteMaskEXT(commands, 0, 1, &none);
    cts->vk.CmdSetAlphaToCoverageEnableEXT(commands, VK_TRUE);
    set_states(cts, commands);
    vkCmdDraw(commands, half, 1, half, 0);
}

const struct cts_way_of cts_states = {
    .extensions = {"VK_EXT_extended_dynamic_state3"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTENDED_DYNAMIC_STATE_3_FEATURES_EXT},
    .open = open_states,
    .describe = describe_states,
    .call = draw_with_states};
