/* Commands that the device generates (VK_EXT_device_generated_commands). */
#include "tests/cts/ways.h"

#include <string.h>

enum { TRIANGLES = CTS_VERTICES / 3, GENERATED = TRIANGLES / 2, GROUPS = CTS_WORDS / 32 };

static VkIndirectCommandsLayoutEXT layout;

static VkShaderStageFlags stages_of(const struct cts_case *of)
{
    return of->compute ? VK_SHADER_STAGE_COMPUTE_BIT
                       : VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
}

/* Half of the triangles, or all groups. */
static uint32_t sequences_of(const struct cts_case *of)
{
    return of->compute ? 1 : GENERATED;
}

static void open_generated(struct cts *cts, const struct cts_case *of)
{
    VkPhysicalDeviceDeviceGeneratedCommandsPropertiesEXT can = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEVICE_GENERATED_COMMANDS_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &can};
    vkGetPhysicalDeviceProperties2(cts->gpu.physical, &properties);
    if ((can.supportedIndirectCommandsShaderStages & stages_of(of)) != stages_of(of))
        cts_unsupported("generated commands of these stages");
    const VkIndirectCommandsLayoutTokenEXT token = {
        .sType = VK_STRUCTURE_TYPE_INDIRECT_COMMANDS_LAYOUT_TOKEN_EXT,
        .type = of->compute ? VK_INDIRECT_COMMANDS_TOKEN_TYPE_DISPATCH_EXT
                            : VK_INDIRECT_COMMANDS_TOKEN_TYPE_DRAW_EXT};
    const VkIndirectCommandsLayoutCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_INDIRECT_COMMANDS_LAYOUT_CREATE_INFO_EXT,
        .shaderStages = stages_of(of),
        .indirectStride = sizeof(VkDrawIndirectCommand),
        .tokenCount = 1,
        .pTokens = &token};
    CHECK(cts->vk.CreateIndirectCommandsLayoutEXT(cts->gpu.device, &info, NULL, &layout));
    pm_gpu_buffer_create(&cts->gpu, 256, &cts->way_buffers[0]);
    const VkDispatchIndirectCommand groups = {GROUPS, 1, 1};
    VkDrawIndirectCommand *const draws = cts->way_buffers[0].data;
    for (uint32_t i = 0; i < GENERATED; i++)
        draws[i] =
            (VkDrawIndirectCommand){.vertexCount = 3, .instanceCount = 1, .firstVertex = i * 3};
    if (of->compute)
        memcpy(draws, &groups, sizeof groups);
}

static void close_generated(struct cts *cts)
{
    cts->vk.DestroyIndirectCommandsLayoutEXT(cts->gpu.device, layout, NULL);
}

/* What the driver needs for it; made once. */
static void make_room(struct cts *cts, const struct cts_case *of,
                      const VkGeneratedCommandsPipelineInfoEXT *pipeline)
{
    const VkGeneratedCommandsMemoryRequirementsInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_MEMORY_REQUIREMENTS_INFO_EXT,
        .pNext = pipeline,
        .indirectCommandsLayout = layout,
        .maxSequenceCount = sequences_of(of)};
    VkMemoryRequirements2 needs = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    cts->vk.GetGeneratedCommandsMemoryRequirementsEXT(cts->gpu.device, &info, &needs);
    const VkDeviceSize size = needs.memoryRequirements.size;
    if (size > 0 && !cts->way_buffers[1].buffer)
        pm_gpu_buffer_create_for(&cts->gpu, size, VK_BUFFER_USAGE_2_PREPROCESS_BUFFER_BIT_EXT,
                                 &cts->way_buffers[1]);
}

static void call_generated(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                           VkCommandBuffer commands)
{
    const VkGeneratedCommandsPipelineInfoEXT with = {
        .sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_PIPELINE_INFO_EXT, .pipeline = pipeline};
    make_room(cts, of, &with);
    const VkGeneratedCommandsInfoEXT info = {.sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_INFO_EXT,
                                             .pNext = &with,
                                             .shaderStages = stages_of(of),
                                             .indirectCommandsLayout = layout,
                                             .indirectAddress = cts->way_buffers[0].address,
                                             .indirectAddressSize =
                                                 sequences_of(of) * sizeof(VkDrawIndirectCommand),
                                             .preprocessAddress = cts->way_buffers[1].address,
                                             .preprocessSize = cts->way_buffers[1].size,
                                             .maxSequenceCount = sequences_of(of)};
    cts->vk.CmdExecuteGeneratedCommandsEXT(commands, VK_FALSE, &info);
    if (of->compute)
        return;
    /* What is bound behind them is not said to be the pipeline any more. */
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(commands, CTS_VERTICES - GENERATED * 3, 1, GENERATED * 3, 0);
}

const struct cts_way_of cts_generated = {
    .extensions = {"VK_EXT_device_generated_commands", "VK_KHR_maintenance5"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEVICE_GENERATED_COMMANDS_FEATURES_EXT,
                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_5_FEATURES},
    .flags = VK_PIPELINE_CREATE_2_INDIRECT_BINDABLE_BIT_EXT,
    .open = open_generated,
    .close = close_generated,
    .call = call_generated};
