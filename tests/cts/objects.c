/* Shader objects in the place of a pipeline: each by itself, or linked. */
#include "tests/cts/cts.h"

#include <stdlib.h>

static void make(struct cts *cts, const struct cts_case *of, VkShaderEXT out[2])
{
    static const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PM_GPU_PUSH_BYTES};
    uint32_t *vertex;
    size_t vertex_count;
    pm_gpu_load(PM_GPU_SHADERS, "pass.vert", &vertex, &vertex_count);
    VkShaderCreateInfoEXT infos[2];
    for (int i = 0; i < 2; i++)
        infos[i] = (VkShaderCreateInfoEXT){
            .sType = VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT,
            .flags = of->make == CTS_LINKED_OBJECTS ? VK_SHADER_CREATE_LINK_STAGE_BIT_EXT : 0,
            .stage = of->compute ? VK_SHADER_STAGE_COMPUTE_BIT
                     : i         ? VK_SHADER_STAGE_FRAGMENT_BIT
                                 : VK_SHADER_STAGE_VERTEX_BIT,
            .nextStage = i || of->compute ? 0 : VK_SHADER_STAGE_FRAGMENT_BIT,
            .codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT,
            .codeSize = (i ? cts->word_count : vertex_count) * sizeof(uint32_t),
            .pCode = i ? cts->words : vertex,
            .pName = "main",
            .setLayoutCount = 1,
            .pSetLayouts = &cts->gpu.set_layout,
            .pushConstantRangeCount = 1,
            .pPushConstantRanges = &push};
    if (of->compute && of->use == CTS_INDEXED)
        infos[1].flags = VK_SHADER_CREATE_DISPATCH_BASE_BIT_EXT;
    out[0] = VK_NULL_HANDLE;
    if (of->compute)
        CHECK(cts->vk.CreateShadersEXT(cts->gpu.device, 1, &infos[1], NULL, &out[1]));
    else
        CHECK(cts->vk.CreateShadersEXT(cts->gpu.device, 2, infos, NULL, out));
    free(vertex);
}

void cts_objects_create(struct cts *cts, const struct cts_case *of)
{
    if (!(cts->gpu.extensions & CTS_OWN))
        cts_unsupported("VK_EXT_shader_object");
    make(cts, of, cts->objects);
}

void cts_objects_destroy(struct cts *cts)
{
    for (int i = 0; i < 2; i++) {
        if (cts->objects[i])
            cts->vk.DestroyShaderEXT(cts->gpu.device, cts->objects[i], NULL);
    }
}

void cts_objects_bind(const struct cts *cts, const struct cts_case *of, VkCommandBuffer commands)
{
    static const VkShaderStageFlagBits stages[2] = {VK_SHADER_STAGE_VERTEX_BIT,
                                                    VK_SHADER_STAGE_FRAGMENT_BIT},
                                       compute = VK_SHADER_STAGE_COMPUTE_BIT;
    if (of->compute) {
        cts->vk.CmdBindShadersEXT(commands, 1, &compute, &cts->objects[1]);
        return;
    }
    const struct gpu_object_state state = {.width = CTS_SIDE,
                                           .height = CTS_SIDE,
                                           .samples = cts->target.samples,
                                           .depth_test = cts->target.has_depth,
                                           .blend_add = cts->target.kind == CTS_BLEND};
    cts->vk.CmdBindShadersEXT(commands, 2, stages, cts->objects);
    gpu_objects_set_state(&cts->vk, commands, &state);
}
