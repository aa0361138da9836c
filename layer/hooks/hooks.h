/*
 * The commands that the layer intercepts, beside the draws and dispatches (draw_hooks.c). `vkName`
 * is implemented by pm_Name, which looks its device up with pm_device_of, does its part, and calls
 * the member of the same name in the device's dispatch. A name is handed out only where the next
 * layer has it, so that member is never NULL. For a device that samples nothing no hook but
 * DestroyDevice is handed out by GetDeviceProcAddr, but one that came from GetInstanceProcAddr may
 * still be called: hooks pass on whatever they know nothing of (HAZARDS 15).
 *
 * Every alias is a hook of its own.
 */
#pragma once

#include <vulkan/vulkan.h>

/* Frames and commands. */
#define PM_FRAME_HOOKS(X)                                                                          \
    X(DestroyDevice)                                                                               \
    X(GetDeviceQueue)                                                                              \
    X(GetDeviceQueue2)                                                                             \
    X(CreateCommandPool)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(ResetCommandPool)                                                                            \
    X(AllocateCommandBuffers)                                                                      \
    X(FreeCommandBuffers)                                                                          \
    X(BeginCommandBuffer)                                                                          \
    X(EndCommandBuffer)                                                                            \
    X(ResetCommandBuffer)                                                                          \
    X(CmdBindPipeline)                                                                             \
    X(CmdBindPipelineShaderGroupNV)                                                                \
    X(CmdBindShadersEXT)                                                                           \
    X(CmdPushConstants)                                                                            \
    X(CmdPushConstants2)                                                                           \
    X(CmdPushConstants2KHR)                                                                        \
    X(CmdBeginRenderPass)                                                                          \
    X(CmdBeginRenderPass2)                                                                         \
    X(CmdBeginRenderPass2KHR)                                                                      \
    X(CmdBeginRendering)                                                                           \
    X(CmdBeginRenderingKHR)                                                                        \
    X(CmdEndRenderPass)                                                                            \
    X(CmdEndRenderPass2)                                                                           \
    X(CmdEndRenderPass2KHR)                                                                        \
    X(CmdEndRendering)                                                                             \
    X(CmdEndRenderingKHR)                                                                          \
    X(CmdExecuteCommands)                                                                          \
    X(CmdBeginQuery)                                                                               \
    X(CmdEndQuery)                                                                                 \
    X(CmdBeginQueryIndexedEXT)                                                                     \
    X(CmdEndQueryIndexedEXT)                                                                       \
    X(CmdBeginTransformFeedbackEXT)                                                                \
    X(CmdEndTransformFeedbackEXT)                                                                  \
    X(CmdExecuteGeneratedCommandsNV)                                                               \
    X(CmdExecuteGeneratedCommandsEXT)                                                              \
    X(CmdPreprocessGeneratedCommandsEXT)                                                           \
    X(CreateIndirectExecutionSetEXT)                                                               \
    X(DestroyIndirectExecutionSetEXT)                                                              \
    X(CreateQueryPool)                                                                             \
    X(DestroyQueryPool)                                                                            \
    X(QueueSubmit)                                                                                 \
    X(QueueSubmit2)                                                                                \
    X(QueueSubmit2KHR)                                                                             \
    X(QueueBindSparse)                                                                             \
    X(QueueWaitIdle)                                                                               \
    X(DeviceWaitIdle)                                                                              \
    X(QueuePresentKHR)                                                                             \
    X(CreateSwapchainKHR)                                                                          \
    X(CreateSharedSwapchainsKHR)                                                                   \
    X(AcquireNextImageKHR)                                                                         \
    X(AcquireNextImage2KHR)                                                                        \
    X(WaitForPresentKHR)                                                                           \
    X(AntiLagUpdateAMD)                                                                            \
    X(GetSwapchainStatusKHR)                                                                       \
    X(GetSwapchainCounterEXT)                                                                      \
    X(GetRefreshCycleDurationGOOGLE)                                                               \
    X(GetPastPresentationTimingGOOGLE)                                                             \
    X(GetQueryPoolResults)                                                                         \
    X(GetEventStatus)                                                                              \
    X(GetFenceStatus)                                                                              \
    X(ResetFences)                                                                                 \
    X(DestroyFence)                                                                                \
    X(WaitForFences)                                                                               \
    X(GetSemaphoreCounterValue)                                                                    \
    X(GetSemaphoreCounterValueKHR)                                                                 \
    X(WaitSemaphores)                                                                              \
    X(WaitSemaphoresKHR)

/* Objects that pipelines are made of, and pipelines. */
#define PM_OBJECT_HOOKS(X)                                                                         \
    X(CreateShaderModule)                                                                          \
    X(DestroyShaderModule)                                                                         \
    X(SetDebugUtilsObjectNameEXT)                                                                  \
    X(CreateSampler)                                                                               \
    X(DestroySampler)                                                                              \
    X(CreateSamplerYcbcrConversion)                                                                \
    X(CreateSamplerYcbcrConversionKHR)                                                             \
    X(DestroySamplerYcbcrConversion)                                                               \
    X(DestroySamplerYcbcrConversionKHR)                                                            \
    X(CreateDescriptorSetLayout)                                                                   \
    X(DestroyDescriptorSetLayout)                                                                  \
    X(CreatePipelineLayout)                                                                        \
    X(DestroyPipelineLayout)                                                                       \
    X(CreateRenderPass)                                                                            \
    X(CreateRenderPass2)                                                                           \
    X(CreateRenderPass2KHR)                                                                        \
    X(DestroyRenderPass)                                                                           \
    X(CreateGraphicsPipelines)                                                                     \
    X(CreateComputePipelines)                                                                      \
    X(DestroyPipeline)                                                                             \
    X(CreateShadersEXT)                                                                            \
    X(DestroyShaderEXT)

/* Labels, where the configuration says that some begin scenes. */
#define PM_LABEL_HOOKS(X)                                                                          \
    X(QueueBeginDebugUtilsLabelEXT)                                                                \
    X(QueueInsertDebugUtilsLabelEXT)                                                               \
    X(CmdBeginDebugUtilsLabelEXT)                                                                  \
    X(CmdInsertDebugUtilsLabelEXT)

#define PM_HOOK_DECLARE(name) __typeof__(*(PFN_vk##name)0) pm_##name;
PM_FRAME_HOOKS(PM_HOOK_DECLARE)
PM_OBJECT_HOOKS(PM_HOOK_DECLARE)
PM_LABEL_HOOKS(PM_HOOK_DECLARE)
#undef PM_HOOK_DECLARE

/* Newer than the headers that vk.xml is of (VK_KHR_maintenance10, and
 * VK_EXT_fragment_density_map_offset, whose alias it is). */
typedef void(VKAPI_PTR *pm_end_rendering2)(VkCommandBuffer, const void *info);
VKAPI_ATTR void VKAPI_CALL pm_CmdEndRendering2KHR(VkCommandBuffer handle, const void *info);
VKAPI_ATTR void VKAPI_CALL pm_CmdEndRendering2EXT(VkCommandBuffer handle, const void *info);

/* Likewise (VK_KHR_device_address_commands). */
typedef void(VKAPI_PTR *pm_transform_feedback2)(VkCommandBuffer, uint32_t first, uint32_t count,
                                                const void *infos);
VKAPI_ATTR void VKAPI_CALL pm_CmdBeginTransformFeedback2EXT(VkCommandBuffer handle, uint32_t first,
                                                            uint32_t count, const void *infos);
VKAPI_ATTR void VKAPI_CALL pm_CmdEndTransformFeedback2EXT(VkCommandBuffer handle, uint32_t first,
                                                          uint32_t count, const void *infos);

/* Likewise, and draws and the dispatch of that extension: X(name, index, point, parameters,
 * arguments). */
#define PM_NEWER_DRAWS(X)                                                                          \
    X(CmdDrawIndirect2KHR, PM_DRAW_INDIRECT2, GRAPHICS,                                            \
      (VkCommandBuffer handle, const void *info), (handle, info))                                  \
    X(CmdDrawIndexedIndirect2KHR, PM_DRAW_INDEXED_INDIRECT2, GRAPHICS,                             \
      (VkCommandBuffer handle, const void *info), (handle, info))                                  \
    X(CmdDrawIndirectCount2KHR, PM_DRAW_INDIRECT_COUNT2, GRAPHICS,                                 \
      (VkCommandBuffer handle, const void *info), (handle, info))                                  \
    X(CmdDrawIndexedIndirectCount2KHR, PM_DRAW_INDEXED_INDIRECT_COUNT2, GRAPHICS,                  \
      (VkCommandBuffer handle, const void *info), (handle, info))                                  \
    X(CmdDrawIndirectByteCount2EXT, PM_DRAW_INDIRECT_BYTE_COUNT2, GRAPHICS,                        \
      (VkCommandBuffer handle, uint32_t instances, uint32_t first, const void *info,               \
       uint32_t offset, uint32_t stride),                                                          \
      (handle, instances, first, info, offset, stride))                                            \
    X(CmdDrawMeshTasksIndirect2EXT, PM_DRAW_MESH_TASKS_INDIRECT2, GRAPHICS,                        \
      (VkCommandBuffer handle, const void *info), (handle, info))                                  \
    X(CmdDrawMeshTasksIndirectCount2EXT, PM_DRAW_MESH_TASKS_INDIRECT_COUNT2, GRAPHICS,             \
      (VkCommandBuffer handle, const void *info), (handle, info))                                  \
    X(CmdDispatchIndirect2KHR, PM_DISPATCH_INDIRECT2, COMPUTE,                                     \
      (VkCommandBuffer handle, const void *info), (handle, info))
#define PM_HOOK_DECLARE(name, index, point, parameters, arguments)                                 \
    VKAPI_ATTR void VKAPI_CALL pm_##name parameters;
PM_NEWER_DRAWS(PM_HOOK_DECLARE)
#undef PM_HOOK_DECLARE

/* Likewise (VK_KHR_present_wait2). */
typedef VkResult(VKAPI_PTR *pm_wait_for_present2)(VkDevice, VkSwapchainKHR, const void *info);
VKAPI_ATTR VkResult VKAPI_CALL pm_WaitForPresent2KHR(VkDevice handle, VkSwapchainKHR swapchain,
                                                     const void *info);

struct pm_hook {
    const char *name; /* with the vk prefix */
    PFN_vkVoidFunction function;
};

/* Every draw and dispatch under each of its names; draw_hooks.c. */
extern const struct pm_hook pm_draw_hooks[];
extern const uint32_t pm_draw_hook_count;
