/* The hooks of render passes, for trials: which instance a recording is in (trial.h). */
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/shader/object.h"
#include "layer/trial/trial.h"

#define EXECUTES ((VkRenderingFlags)VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT)
#define INLINE ((VkRenderingFlags)VK_RENDERING_CONTENTS_INLINE_BIT_KHR)
#define BOTH VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_KHR

/* Whether it is known where its calls are. */
static bool is_whole(VkSubpassContents contents)
{
    return contents == VK_SUBPASS_CONTENTS_INLINE ||
           contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS || contents == BOTH;
}

/* Whether some of them are in secondary command buffers. */
static bool executes(VkSubpassContents contents)
{
    return contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS || contents == BOTH;
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

/* Whether it is of the one device, while nothing is tried there: the call can just be passed on;
 * needs PM_FAST. */
#define IS_PLAIN(handle)                                                                           \
    (PM_IS_OF_ONE(handle) && PM_READ(uint32_t, pm_one.device->sampling->trials) == 0)

/* What of a beginning is told by a VkSubpassContents. */
static struct pm_pass_beginning beginning_of(const VkRenderPassBeginInfo *info,
                                             VkSubpassContents contents)
{
    return (struct pm_pass_beginning){
        .whole = is_whole(contents),
        .executes = executes(contents),
        .both = contents == BOTH,
        .render_pass = info->renderPass,
        .what = PM_BITS(info->renderPass),
        .work = work_of(&info->renderArea, 1),
    };
}

static struct pm_pass_beginning beginning_of_rendering(const VkRenderingInfo *info)
{
    return (struct pm_pass_beginning){
        .whole = (info->flags & ~(EXECUTES | INLINE)) == 0,
        .executes = (info->flags & EXECUTES) != 0,
        .both = (info->flags & EXECUTES) != 0 && (info->flags & INLINE) != 0,
        .views = info->viewMask != 0,
        .what = first_view(info),
        .work = work_of(&info->renderArea, info->layerCount),
    };
}

/* Each of what begins one, and of what ends one: X(name, (parameters), (arguments), its beginning)
 */
#define BEGIN_PASS_2                                                                               \
    (VkCommandBuffer handle, const VkRenderPassBeginInfo *info, const VkSubpassBeginInfo *subpass)
#define BEGIN_COMMANDS(X)                                                                          \
    X(CmdBeginRenderPass,                                                                          \
      (VkCommandBuffer handle, const VkRenderPassBeginInfo *info, VkSubpassContents contents),     \
      (handle, info, contents), beginning_of(info, contents))                                      \
    X(CmdBeginRenderPass2, BEGIN_PASS_2, (handle, info, subpass),                                  \
      beginning_of(info, subpass->contents))                                                       \
    X(CmdBeginRenderPass2KHR, BEGIN_PASS_2, (handle, info, subpass),                               \
      beginning_of(info, subpass->contents))                                                       \
    X(CmdBeginRendering, (VkCommandBuffer handle, const VkRenderingInfo *info), (handle, info),    \
      beginning_of_rendering(info))                                                                \
    X(CmdBeginRenderingKHR, (VkCommandBuffer handle, const VkRenderingInfo *info), (handle, info), \
      beginning_of_rendering(info))
#define END_COMMANDS(X)                                                                            \
    X(CmdEndRenderPass, (VkCommandBuffer handle), (handle))                                        \
    X(CmdEndRenderPass2, (VkCommandBuffer handle, const VkSubpassEndInfo *info), (handle, info))   \
    X(CmdEndRenderPass2KHR, (VkCommandBuffer handle, const VkSubpassEndInfo *info),                \
      (handle, info))                                                                              \
    X(CmdEndRendering, (VkCommandBuffer handle), (handle))                                         \
    X(CmdEndRenderingKHR, (VkCommandBuffer handle), (handle))

#define BEGIN(name, parameters, arguments, beginning)                                              \
    static PM_COLD VKAPI_ATTR void VKAPI_CALL long_##name parameters                               \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        if (!pm_trials_time(device)) {                                                             \
            device->dispatch.name arguments;                                                       \
            return;                                                                                \
        }                                                                                          \
        const struct pm_pass_beginning begins = beginning;                                         \
        struct pm_command *command = pm_trial_pass_begins(device, handle, &begins);                \
        device->dispatch.name arguments;                                                           \
        pm_trial_pass_began(command);                                                              \
    }                                                                                              \
    PM_HOOK_UNLESS_PLAIN(name, parameters, arguments, IS_PLAIN)
#define END(name, parameters, arguments)                                                           \
    static PM_COLD VKAPI_ATTR void VKAPI_CALL long_##name parameters                               \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        device->dispatch.name arguments;                                                           \
        if (pm_trials_time(device))                                                                \
            pm_trial_pass_ended(device, handle);                                                   \
    }                                                                                              \
    PM_HOOK_UNLESS_PLAIN(name, parameters, arguments, IS_PLAIN)

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

BEGIN_COMMANDS(BEGIN)
END_COMMANDS(END)
END_RENDERING2(CmdEndRendering2KHR)
END_RENDERING2(CmdEndRendering2EXT)
