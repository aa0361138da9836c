/* How a game names scenes (scene.h): our own function for games, and debug labels. */
#include "layer/hooks/scene_hooks.h"

#include "layer/frame/command.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"

VKAPI_ATTR void VKAPI_CALL pm_SetScenePIECEMEAL(VkDevice handle, const char *scene)
{
    struct pm_device *device = handle != VK_NULL_HANDLE ? pm_device_of(handle) : NULL;
    if (device == NULL || device->sampling == NULL)
        return;
    struct pm_scenes *scenes = &device->sampling->scenes;
    atomic_store(&scenes->current, pm_scenes_find(scenes, scene));
}

/* A label of a queue: it is submitted at once. */
static void queue_label(VkQueue queue, const VkDebugUtilsLabelEXT *label)
{
    struct pm_sampling *sampling = pm_device_of(queue)->sampling;
    const uint32_t scene =
        sampling != NULL ? pm_scenes_of_label(&sampling->scenes, label->pLabelName) : PM_SCENE_NONE;
    if (scene != PM_SCENE_NONE)
        atomic_store(&sampling->scenes.current, scene);
}

/* A label of a command buffer: its recording remembers it. */
static void command_label(VkCommandBuffer handle, const VkDebugUtilsLabelEXT *label)
{
    struct pm_sampling *sampling = pm_device_of(handle)->sampling;
    const uint32_t scene =
        sampling != NULL ? pm_scenes_of_label(&sampling->scenes, label->pLabelName) : PM_SCENE_NONE;
    struct pm_command *command = scene != PM_SCENE_NONE ? pm_command_of(sampling, handle) : NULL;
    if (command == NULL)
        return;
    command->scene = scene;
    command->touched = true;
}

VKAPI_ATTR void VKAPI_CALL pm_QueueBeginDebugUtilsLabelEXT(VkQueue queue,
                                                           const VkDebugUtilsLabelEXT *label)
{
    queue_label(queue, label);
    pm_device_of(queue)->dispatch.QueueBeginDebugUtilsLabelEXT(queue, label);
}

VKAPI_ATTR void VKAPI_CALL pm_QueueInsertDebugUtilsLabelEXT(VkQueue queue,
                                                            const VkDebugUtilsLabelEXT *label)
{
    queue_label(queue, label);
    pm_device_of(queue)->dispatch.QueueInsertDebugUtilsLabelEXT(queue, label);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBeginDebugUtilsLabelEXT(VkCommandBuffer handle,
                                                         const VkDebugUtilsLabelEXT *label)
{
    command_label(handle, label);
    pm_device_of(handle)->dispatch.CmdBeginDebugUtilsLabelEXT(handle, label);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdInsertDebugUtilsLabelEXT(VkCommandBuffer handle,
                                                          const VkDebugUtilsLabelEXT *label)
{
    command_label(handle, label);
    pm_device_of(handle)->dispatch.CmdInsertDebugUtilsLabelEXT(handle, label);
}
