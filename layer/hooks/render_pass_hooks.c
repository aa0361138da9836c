/* The hooks of render passes, for trials: which instance a recording is in (trial.h). */
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/shader/object.h"
#include "layer/trial/trial.h"

#define EXECUTES ((VkRenderingFlags)VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT)

/* Whether its calls are all in the command buffer, or all in secondary ones. */
static bool is_whole(VkSubpassContents contents)
{
    return contents == VK_SUBPASS_CONTENTS_INLINE ||
           contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS;
}

/* The view of what it draws to. */
static uint64_t first_view(const VkRenderingInfo *info)
{
    for (uint32_t i = 0; i < info->colorAttachmentCount; i++) {
        if (info->pColorAttachments[i].imageView != VK_NULL_HANDLE)
            return PM_BITS(info->pColorAttachments[i].imageView);
    }
    return info->pDepthAttachment != NULL ? PM_BITS(info->pDepthAttachment->imageView) : 0;
}

static uint64_t work_of(const VkRect2D *area, uint32_t layers)
{
    return pm_trial_work(area->extent.width, area->extent.height, layers);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBeginRenderPass(VkCommandBuffer handle,
                                                 const VkRenderPassBeginInfo *info,
                                                 VkSubpassContents contents)
{
    struct pm_device *device = pm_device_of(handle);
    if (!pm_trials_time(device)) {
        device->dispatch.CmdBeginRenderPass(handle, info, contents);
        return;
    }
    const struct pm_pass_beginning beginning = {
        .whole = is_whole(contents),
        .executes = contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS,
        .render_pass = info->renderPass,
        .what = PM_BITS(info->renderPass),
        .work = work_of(&info->renderArea, 1),
    };
    struct pm_command *command = pm_trial_pass_begins(device, handle, &beginning);
    device->dispatch.CmdBeginRenderPass(handle, info, contents);
    pm_trial_pass_began(command);
}

#define BEGIN_RENDER_PASS(name)                                                                    \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle,                                   \
                                         const VkRenderPassBeginInfo *info,                        \
                                         const VkSubpassBeginInfo *subpass)                        \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        if (!pm_trials_time(device)) {                                                             \
            device->dispatch.name(handle, info, subpass);                                          \
            return;                                                                                \
        }                                                                                          \
        const struct pm_pass_beginning beginning = {                                               \
            .whole = is_whole(subpass->contents),                                                  \
            .executes = subpass->contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS,        \
            .render_pass = info->renderPass,                                                       \
            .what = PM_BITS(info->renderPass),                                                     \
            .work = work_of(&info->renderArea, 1),                                                 \
        };                                                                                         \
        struct pm_command *command = pm_trial_pass_begins(device, handle, &beginning);             \
        device->dispatch.name(handle, info, subpass);                                              \
        pm_trial_pass_began(command);                                                              \
    }

#define BEGIN_RENDERING(name)                                                                      \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle, const VkRenderingInfo *info)      \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        if (!pm_trials_time(device)) {                                                             \
            device->dispatch.name(handle, info);                                                   \
            return;                                                                                \
        }                                                                                          \
        const struct pm_pass_beginning beginning = {                                               \
            .whole = (info->flags & ~EXECUTES) == 0,                                               \
            .executes = (info->flags & EXECUTES) != 0,                                             \
            .views = info->viewMask != 0,                                                          \
            .what = first_view(info),                                                              \
            .work = work_of(&info->renderArea, info->layerCount)};                                 \
        struct pm_command *command = pm_trial_pass_begins(device, handle, &beginning);             \
        device->dispatch.name(handle, info);                                                       \
        pm_trial_pass_began(command);                                                              \
    }

#define END_RENDER_PASS(name)                                                                      \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle, const VkSubpassEndInfo *info)     \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        device->dispatch.name(handle, info);                                                       \
        if (pm_trials_time(device))                                                                \
            pm_trial_pass_ended(device, handle);                                                   \
    }

/* Newer than the headers (hooks.h). */
#define END_RENDERING2(name)                                                                       \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle, const void *info)                 \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        const pm_end_rendering2 next =                                                             \
            (pm_end_rendering2)(device->sampling != NULL ? device->sampling->end_rendering2        \
                                                         : device->dispatch.GetDeviceProcAddr(     \
                                                               device->handle, "vk" #name));       \
        if (next != NULL)                                                                          \
            next(handle, info);                                                                    \
        if (pm_trials_time(device))                                                                \
            pm_trial_pass_ended(device, handle);                                                   \
    }

#define END(name)                                                                                  \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle)                                   \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        device->dispatch.name(handle);                                                             \
        if (pm_trials_time(device))                                                                \
            pm_trial_pass_ended(device, handle);                                                   \
    }

BEGIN_RENDER_PASS(CmdBeginRenderPass2)
BEGIN_RENDER_PASS(CmdBeginRenderPass2KHR)
BEGIN_RENDERING(CmdBeginRendering)
BEGIN_RENDERING(CmdBeginRenderingKHR)
END_RENDER_PASS(CmdEndRenderPass2)
END_RENDER_PASS(CmdEndRenderPass2KHR)
END(CmdEndRenderPass)
END_RENDERING2(CmdEndRendering2KHR)
END_RENDERING2(CmdEndRendering2EXT)
END(CmdEndRendering)
END(CmdEndRenderingKHR)
