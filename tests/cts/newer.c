/* Ways to draw that Vulkan 1.0 has not, or that few programs take: which there are, and what they
 * share. */
#include "tests/cts/ways.h"

#include <stdlib.h>

enum { VIEWS = 2 };

static void open_views(struct cts *cts, const struct cts_case *of)
{
    VkPhysicalDeviceVulkan11Features features11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features11};
    (void)of;
    vkGetPhysicalDeviceFeatures2(cts->gpu.physical, &features);
    if (!features11.multiview)
        cts_unsupported("several views");
}

static void turn_views(struct cts *cts, bool on)
{
    cts->target.view_mask = on ? (1 << VIEWS) - 1 : 0;
}

static void describe_views(const struct cts *cts, struct cts_description *d)
{
    d->rendering.viewMask = cts->target.view_mask;
}

static const struct cts_way_of multiview = {
    .layers = VIEWS, .open = open_views, .turn = turn_views, .describe = describe_views};
/* That secondaries are in secondaries is use.c's. */
static const struct cts_way_of nested = {
    .extensions = {"VK_EXT_nested_command_buffer"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NESTED_COMMAND_BUFFER_FEATURES_EXT}};

const struct cts_way_of *cts_way(const struct cts_case *of)
{
    static const struct cts_way_of none;
    static const struct cts_way_of *const ways[CTS_WAYS] = {
        [CTS_PUSH_DESCRIPTORS] = &cts_push_descriptors,
        [CTS_TESSELLATION] = &cts_tessellation,
        [CTS_MULTIVIEW] = &multiview,
        [CTS_MESH] = &cts_mesh,
        [CTS_GEOMETRY] = &cts_geometry,
        [CTS_TASK] = &cts_task,
        [CTS_CAPTURED] = &cts_captured,
        [CTS_LOCAL_READ] = &cts_local_read,
        [CTS_COUNTED] = &cts_counted,
        [CTS_RESOLVED_LATER] = &cts_resolved_later,
        [CTS_RESOLVED_BY_PASS] = &cts_resolved_by_pass,
        [CTS_DESCRIPTOR_BUFFERS] = &cts_descriptor_buffers,
        [CTS_CONDITIONAL] = &cts_conditional,
        [CTS_NESTED] = &nested,
        [CTS_GENERATED] = &cts_generated,
        [CTS_MULTI] = &cts_multi,
        [CTS_MULTI_INDEXED] = &cts_multi_indexed,
        [CTS_INDEXED_INDIRECT] = &cts_indexed_indirect,
        [CTS_INDEXED_COUNTED] = &cts_indexed_counted,
        [CTS_ROBUST] = &cts_robust,
        [CTS_STATES] = &cts_states};
    return ways[of->way] ? ways[of->way] : &none;
}

void cts_newer_open(struct cts *cts, const struct cts_case *of)
{
    const struct cts_way_of *way = cts_way(of);
    cts->layouts[0] = cts->gpu.layout;
    for (int i = 0; i < 2; i++) {
        if (way->extensions[i] && !(cts->gpu.extensions & (uint32_t)(i ? CTS_OWN_TOO : CTS_OWN)))
            cts_unsupported(way->extensions[i]);
    }
    if (way->open)
        way->open(cts, of);
}

void cts_newer_close(struct cts *cts, const struct cts_case *of)
{
    VkDevice device = cts->gpu.device;
    const struct cts_way_of *way = cts_way(of);
    cts->gpu.layout = cts->layouts[0];
    if (way->close)
        way->close(cts);
    for (int i = 0; i < 2; i++) {
        vkDestroyShaderModule(device, cts->way_modules[i], NULL);
        pm_gpu_buffer_destroy(&cts->gpu, &cts->way_buffers[i]);
    }
    vkDestroyPipelineLayout(device, cts->layouts[1], NULL);
    vkDestroyDescriptorSetLayout(device, cts->way_set_layout, NULL);
}

void cts_newer_turn(struct cts *cts, const struct cts_case *of, bool on)
{
    const struct cts_way_of *way = cts_way(of);
    if (way->turn)
        way->turn(cts, on);
}

/* ---- what several of them do ---- */

VkShaderModule cts_load(struct cts *cts, const char *file)
{
    uint32_t *words;
    size_t count;
    pm_gpu_load(CTS_SHADERS, file, &words, &count);
    const VkShaderModule module = gpu_module(&cts->gpu, words, count);
    free(words);
    return module;
}

VkPipelineShaderStageCreateInfo cts_stage(VkShaderStageFlagBits stage, VkShaderModule module)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .module = module,
        .pName = "main"};
}

void cts_create_way_layout(struct cts *cts, VkDescriptorSetLayout set_layout)
{
    const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PM_GPU_PUSH_BYTES};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    cts->way_set_layout = set_layout;
    CHECK(vkCreatePipelineLayout(cts->gpu.device, &layout, NULL, &cts->layouts[1]));
}

void cts_turn_layout(struct cts *cts, bool on)
{
    cts->gpu.layout = cts->layouts[on];
}
