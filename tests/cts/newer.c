/* Ways to draw that Vulkan 1.0 has not, or that few programs take: what of a device, a pipeline and
 * a recording is other for them. */
#include "tests/cts/describe.h"

#include <stdlib.h>

enum { VIEWS = 2, PUSHED_SET = 1 };

/* ---- what they need ---- */

static VkShaderModule load(struct cts *cts, const char *file)
{
    uint32_t *words;
    size_t count;
    pm_gpu_load(CTS_SHADERS, file, &words, &count);
    const VkShaderModule module = gpu_module(&cts->gpu, words, count);
    free(words);
    return module;
}

/* As the layout of all, but for the descriptors, which are pushed. */
static void create_pushed_layout(struct cts *cts)
{
    VkDescriptorSetLayoutBinding bindings[PM_GPU_BUFFERS + 2];
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR,
        .bindingCount = gpu_bindings(bindings),
        .pBindings = bindings};
    CHECK(vkCreateDescriptorSetLayout(cts->gpu.device, &set, NULL, &cts->pushed_set_layout));
    const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PM_GPU_PUSH_BYTES};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &cts->pushed_set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    CHECK(vkCreatePipelineLayout(cts->gpu.device, &layout, NULL, &cts->layouts[PUSHED_SET]));
}

void cts_newer_open(struct cts *cts, const struct cts_case *of)
{
    VkPhysicalDeviceVulkan11Features features11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features11};
    vkGetPhysicalDeviceFeatures2(cts->gpu.physical, &features);
    cts->layouts[0] = cts->gpu.layout;
    cts->layers = of->way == CTS_MULTIVIEW ? VIEWS : 1;
    pm_device_dispatch_load(&cts->vk, cts->gpu.device, vkGetDeviceProcAddr);
    switch (of->way) {
    case CTS_PUSH_DESCRIPTORS:
        if (!(cts->gpu.extensions & CTS_OWN))
            cts_unsupported("VK_KHR_push_descriptor");
        create_pushed_layout(cts);
        break;
    case CTS_TESSELLATION:
        if (!features.features.tessellationShader)
            cts_unsupported("tessellation shaders");
        cts->way_modules[0] = load(cts, "whole.tesc");
        cts->way_modules[1] = load(cts, "whole.tese");
        break;
    case CTS_MULTIVIEW:
        if (!features11.multiview)
            cts_unsupported("several views");
        break;
    case CTS_MESH:
        if (!(cts->gpu.extensions & CTS_OWN))
            cts_unsupported("VK_EXT_mesh_shader");
        cts->way_modules[0] = load(cts, "triangles.mesh");
        break;
    default:
        break;
    }
}

void cts_newer_close(struct cts *cts)
{
    cts->gpu.layout = cts->layouts[0];
    for (int i = 0; i < 2; i++)
        vkDestroyShaderModule(cts->gpu.device, cts->way_modules[i], NULL);
    vkDestroyPipelineLayout(cts->gpu.device, cts->layouts[PUSHED_SET], NULL);
    vkDestroyDescriptorSetLayout(cts->gpu.device, cts->pushed_set_layout, NULL);
}

/* ---- how they are used ---- */

void cts_newer_begin(struct cts *cts, const struct cts_case *of)
{
    cts->gpu.layout = cts->layouts[of->way == CTS_PUSH_DESCRIPTORS ? PUSHED_SET : 0];
    cts->target.view_mask = of->way == CTS_MULTIVIEW ? (1 << VIEWS) - 1 : 0;
}

static VkPipelineShaderStageCreateInfo stage_of(VkShaderStageFlagBits stage, VkShaderModule module)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .module = module,
        .pName = "main"};
}

void cts_newer_describe(const struct cts *cts, const struct cts_case *of, struct cts_description *d)
{
    d->rendering.viewMask = cts->target.view_mask;
    if (of->way == CTS_TESSELLATION) {
        d->stages[2] = stage_of(VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, cts->way_modules[0]);
        d->stages[3] = stage_of(VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, cts->way_modules[1]);
        d->tessellation = (VkPipelineTessellationStateCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
            .patchControlPoints = 3};
        d->fixed.assembly.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
        d->info.stageCount = 4;
        d->info.pTessellationState = &d->tessellation;
    } else if (of->way == CTS_MESH) {
        d->stages[0] = stage_of(VK_SHADER_STAGE_MESH_BIT_EXT, cts->way_modules[0]);
        d->info.pVertexInputState = NULL;
        d->info.pInputAssemblyState = NULL;
    }
}

void cts_newer_push(const struct cts *cts, VkCommandBuffer commands, VkPipelineBindPoint point)
{
    struct gpu_writes writes;
    gpu_writes_fill(&cts->gpu, &cts->buffers, &cts->given, VK_NULL_HANDLE, &writes);
    cts->vk.CmdPushDescriptorSetKHR(commands, point, cts->gpu.layout, 0, writes.count,
                                    writes.writes);
}
