/* Shader objects: made, bound by stage, and what of them must be bound together. */
#include "tests/null_driver/internal.h"

struct shader {
    struct pm_null_object object;
    VkShaderStageFlagBits stage;
    uint64_t set;              /* that it is linked in; 0: it is not */
    VkShaderStageFlags linked; /* the stages of that */
};

static _Atomic uint64_t sets;

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateShadersEXT(VkDevice device, uint32_t createInfoCount,
                                                          const VkShaderCreateInfoEXT *pCreateInfos,
                                                          const VkAllocationCallbacks *pAllocator,
                                                          VkShaderEXT *pShaders)
{
    (void)device;
    (void)pAllocator;
    const uint64_t set = atomic_fetch_add(&sets, 1) + 1;
    VkShaderStageFlags linked = 0;
    for (uint32_t i = 0; i < createInfoCount; i++) {
        pShaders[i] = VK_NULL_HANDLE;
        if (pCreateInfos[i].flags & VK_SHADER_CREATE_LINK_STAGE_BIT_EXT)
            linked |= (VkShaderStageFlags)pCreateInfos[i].stage;
    }
    pm_null_compile();
    for (uint32_t i = 0; i < createInfoCount; i++) {
        struct shader *shader = pm_null_object_create(VK_OBJECT_TYPE_SHADER_EXT, sizeof *shader);
        if (!shader)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        if (pCreateInfos[i].codeSize == 0 || !pCreateInfos[i].pCode)
            pm_null_error("a shader object without code is made");
        for (uint32_t j = 0; j < pCreateInfos[i].setLayoutCount; j++) {
            if (!pm_null_object_alive(PM_NULL_OBJECT(pCreateInfos[i].pSetLayouts[j]),
                                      VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT))
                pm_null_error("a shader object names a set layout that does not exist");
        }
        shader->stage = pCreateInfos[i].stage;
        if (pCreateInfos[i].flags & VK_SHADER_CREATE_LINK_STAGE_BIT_EXT) {
            shader->set = set;
            shader->linked = linked;
        }
        pShaders[i] = PM_NULL_HANDLE(VkShaderEXT, shader);
    }
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkCmdBindShadersEXT(VkCommandBuffer commandBuffer,
                                                       uint32_t stageCount,
                                                       const VkShaderStageFlagBits *pStages,
                                                       const VkShaderEXT *pShaders)
{
    for (uint32_t i = 0; i < stageCount; i++) {
        const VkShaderEXT handle = pShaders ? pShaders[i] : VK_NULL_HANDLE;
        const struct shader *shader = PM_NULL_OBJECT(handle);
        const int slot = __builtin_ctz(pStages[i]);
        if (slot >= PM_NULL_STAGES) {
            pm_null_error("a shader object is bound at a stage that has none");
            continue;
        }
        if (handle && !pm_null_object_alive(shader, VK_OBJECT_TYPE_SHADER_EXT))
            pm_null_error("a shader object that does not exist is bound");
        else if (handle && shader->stage != pStages[i])
            pm_null_error("a shader object is bound at another stage than its own");
        commandBuffer->shaders[slot] = handle;
        commandBuffer->objects = true;
        pm_null_shader_recorded(commandBuffer, handle, pStages[i] == VK_SHADER_STAGE_COMPUTE_BIT,
                                pStages[i] == VK_SHADER_STAGE_FRAGMENT_BIT);
    }
}

void pm_null_shaders_disturbed(VkCommandBuffer buffer, VkPipelineBindPoint point)
{
    for (int slot = 0; slot < PM_NULL_STAGES; slot++) {
        const bool compute = 1 << slot == VK_SHADER_STAGE_COMPUTE_BIT;
        if (compute == (point == VK_PIPELINE_BIND_POINT_COMPUTE))
            buffer->shaders[slot] = VK_NULL_HANDLE;
    }
}

void pm_null_shaders_check(VkCommandBuffer buffer)
{
    for (int slot = 0; slot < PM_NULL_STAGES; slot++) {
        const struct shader *shader = PM_NULL_OBJECT(buffer->shaders[slot]);
        if (!shader || !pm_null_object_alive(shader, VK_OBJECT_TYPE_SHADER_EXT) || shader->set == 0)
            continue;
        for (int other = 0; other < PM_NULL_STAGES; other++) {
            const struct shader *with = PM_NULL_OBJECT(buffer->shaders[other]);
            if ((shader->linked & 1u << other) != 0 &&
                (!with || !pm_null_object_alive(with, VK_OBJECT_TYPE_SHADER_EXT) ||
                 with->set != shader->set))
                pm_null_error("a draw has a part of a linked set of shader objects only");
        }
    }
}
