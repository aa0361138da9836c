/* The hooks of device-generated commands, which run with the game's own shaders (HAZARDS 11). */
#include "layer/frame/binding.h"
#include "layer/generate/create_info.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include <stdlib.h>

static void bind_own(struct pm_device *device, VkCommandBuffer handle,
                     const struct pm_pipeline *pipeline)
{
    if (pipeline->object != NULL) {
        const VkShaderEXT shader = PM_TO_HANDLE(VkShaderEXT, pipeline->handle);
        device->dispatch.CmdBindShadersEXT(handle, 1, &pipeline->object->stage, &shader);
        return;
    }
    device->dispatch.CmdBindPipeline(handle,
                                     pm_pipeline_computes(pipeline)
                                         ? VK_PIPELINE_BIND_POINT_COMPUTE
                                         : VK_PIPELINE_BIND_POINT_GRAPHICS,
                                     PM_TO_HANDLE(VkPipeline, pipeline->handle));
}

/* Generated commands come, which run with the game's own pipeline and name it: it is bound where a
 * variant may stand in its place, of a contest too, which the pipeline itself does not name. What
 * it returns is to be given to generated_end. NULL is allowed. */
static struct pm_command *generated_begin(struct pm_device *device, VkCommandBuffer handle,
                                          struct pm_pipeline *known)
{
    if (known == NULL)
        return NULL;
    struct pm_command *command = pm_command_tracked(device, handle);
    const int point = pm_pipeline_computes(known) ? PM_COMPUTE : PM_GRAPHICS;
    const struct pm_bound *bound =
        command != NULL && command->bound[point].pipeline == known ? &command->bound[point] : NULL;
    if (atomic_load(&known->optimized) == NULL && atomic_load(&known->folded) == NULL &&
        (bound == NULL || bound->now == bound->game))
        return NULL;
    if (command != NULL)
        pm_binding_generated_begins(command, point);
    if (bound == NULL)
        bind_own(device, handle, known);
    return command;
}

static void generated_end(struct pm_command *command)
{
    if (command != NULL)
        pm_binding_obstacle_ends(command, PM_ACTIVE_GENERATED_COMMANDS);
}

/* Generated commands may have pushed constants. */
static void forget_pushed(struct pm_device *device, VkCommandBuffer handle)
{
    struct pm_command *command = pm_command_tracked(device, handle);
    if (command == NULL)
        return;
    pm_pushed_forget(&command->pushed);
    pm_binding_pushed(command);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdExecuteGeneratedCommandsNV(VkCommandBuffer handle,
                                                            VkBool32 preprocessed,
                                                            const VkGeneratedCommandsInfoNV *info)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *command =
        generated_begin(device, handle, pm_pipeline_find(device, info->pipeline));
    device->dispatch.CmdExecuteGeneratedCommandsNV(handle, preprocessed, info);
    generated_end(command);
    forget_pushed(device, handle);
}

/* The pipeline that VK_EXT_device_generated_commands wants bound: the one that the info's chain
 * names, or else the one that the execution set was made with. VK_NULL_HANDLE: shader objects,
 * of which those that a set may hold never have a variant stand in their place. */
static VkPipeline generated_pipeline(struct pm_device *device,
                                     const VkGeneratedCommandsInfoEXT *info)
{
    const VkGeneratedCommandsPipelineInfoEXT *named =
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_GENERATED_COMMANDS_PIPELINE_INFO_EXT);
    if (named != NULL)
        return named->pipeline;
    const VkPipeline *first =
        device->sampling != NULL
            ? pm_lookup_find(&device->sampling->execution_sets, PM_KEY(info->indirectExecutionSet))
            : NULL;
    return first != NULL ? *first : VK_NULL_HANDLE;
}

static struct pm_command *generated_begin_ext(struct pm_device *device, VkCommandBuffer handle,
                                              const VkGeneratedCommandsInfoEXT *info)
{
    const VkGeneratedCommandsShaderInfoEXT *named =
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_GENERATED_COMMANDS_SHADER_INFO_EXT);
    if (named == NULL)
        return generated_begin(device, handle,
                               pm_pipeline_find(device, generated_pipeline(device, info)));
    struct pm_command *command = NULL;
    for (uint32_t i = 0; i < named->shaderCount; i++) {
        struct pm_command *found =
            generated_begin(device, handle, pm_pipeline_find_shader(device, named->pShaders[i]));
        if (found != NULL)
            command = found;
    }
    return command;
}

VKAPI_ATTR void VKAPI_CALL pm_CmdExecuteGeneratedCommandsEXT(VkCommandBuffer handle,
                                                             VkBool32 preprocessed,
                                                             const VkGeneratedCommandsInfoEXT *info)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *command = generated_begin_ext(device, handle, info);
    device->dispatch.CmdExecuteGeneratedCommandsEXT(handle, preprocessed, info);
    generated_end(command);
    forget_pushed(device, handle);
}

/* What is bound is taken from another command buffer, which is being recorded. */
VKAPI_ATTR void VKAPI_CALL pm_CmdPreprocessGeneratedCommandsEXT(
    VkCommandBuffer handle, const VkGeneratedCommandsInfoEXT *info, VkCommandBuffer state)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *command = generated_begin_ext(device, state, info);
    device->dispatch.CmdPreprocessGeneratedCommandsEXT(handle, info, state);
    generated_end(command);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateIndirectExecutionSetEXT(
    VkDevice handle, const VkIndirectExecutionSetCreateInfoEXT *info,
    const VkAllocationCallbacks *allocator, VkIndirectExecutionSetEXT *out)
{
    struct pm_device *device = pm_device_of(handle);
    VkPipeline *first = malloc(sizeof *first);
    if (first == NULL)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    const VkResult result =
        device->dispatch.CreateIndirectExecutionSetEXT(handle, info, allocator, out);
    *first = info->type == VK_INDIRECT_EXECUTION_SET_INFO_TYPE_PIPELINES_EXT
                 ? info->info.pPipelineInfo->initialPipeline
                 : VK_NULL_HANDLE;
    if (result != VK_SUCCESS || device->sampling == NULL ||
        !pm_lookup_put(&device->sampling->execution_sets, PM_KEY(*out), first))
        free(first);
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyIndirectExecutionSetEXT(VkDevice handle,
                                                             VkIndirectExecutionSetEXT set,
                                                             const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    if (device->sampling != NULL && set != VK_NULL_HANDLE)
        free(pm_lookup_remove(&device->sampling->execution_sets, PM_KEY(set)));
    device->dispatch.DestroyIndirectExecutionSetEXT(handle, set, allocator);
}
