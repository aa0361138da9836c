/* Trials in recordings: which pipeline is bound for a timed use. trial.h. */
#include "layer/hooks/hooks.h"
#include "layer/shader/object.h"
#include "layer/trial/additive.h"
#include "layer/trial/trial.h"

static bool is_free(const struct pm_command *command)
{
    return command->obstacles == 0 && command->active_queries == 0 &&
           !atomic_load_explicit(&command->device->lost, memory_order_relaxed);
}

/* The candidate for what is bound whose trial goes on; NULL: there is none. */
static struct pm_candidate *candidate_of(const struct pm_command *command, int point)
{
    struct pm_candidate *candidate =
        command->pipeline[point] != NULL ? pm_pipeline_candidate(command->pipeline[point]) : NULL;
    return candidate != NULL && pm_trial_is_awake(candidate->trial) ? candidate : NULL;
}

/* ---- calls ---- */

/* Whether a draw in the open instance may be timed by itself. */
static bool times_draws(const struct pm_pass *pass)
{
    return pass->open && pass->draws && !pass->spoilt;
}

/* While a call may have to be timed every one takes the long way. */
static void count_down(struct pm_command *command)
{
    command->countdown =
        candidate_of(command, PM_COMPUTE) != NULL ||
                (times_draws(&command->pass) && candidate_of(command, PM_GRAPHICS) != NULL)
            ? 1
            : PM_NEVER;
}

/* Whether there is a measurement for the call that follows. Inside a render pass instance it may
 * have to be one that was reserved before it. */
static bool may_reserve(const struct pm_command *command, int point)
{
    return point == PM_COMPUTE || pm_timing_needs_no_reset(command) ||
           command->pass.measurement != PM_TIMING_NONE;
}

static uint32_t reserve(struct pm_command *command, int point)
{
    if (point == PM_COMPUTE || pm_timing_needs_no_reset(command))
        return pm_timing_reserve(command);
    const uint32_t reserved = command->pass.measurement;
    command->pass.measurement = PM_TIMING_NONE;
    return reserved;
}

static void time_call(struct pm_command *command, int point, const struct pm_candidate *candidate,
                      struct pm_sampled *sampled)
{
    if (!may_reserve(command, point) || !pm_trial_next(candidate->trial, false, &sampled->timed))
        return;
    const uint32_t measurement = reserve(command, point);
    if (measurement == PM_TIMING_NONE)
        return;
    sampled->measurement = measurement;
    pm_timing_start(command, measurement);
    if (!sampled->timed.variant)
        return;
    pm_journal_used(candidate->entry);
    command->device->dispatch.CmdBindPipeline(command->handle,
                                              point == PM_GRAPHICS ? VK_PIPELINE_BIND_POINT_GRAPHICS
                                                                   : VK_PIPELINE_BIND_POINT_COMPUTE,
                                              candidate->handle);
    sampled->original = command->bound[point];
}

void pm_trial_call(struct pm_command *command, int point, struct pm_sampled *sampled)
{
    const struct pm_candidate *candidate =
        (point == PM_COMPUTE || times_draws(&command->pass)) && is_free(command)
            ? candidate_of(command, point)
            : NULL;
    if (candidate != NULL)
        time_call(command, point, candidate, sampled);
    count_down(command);
}

/* ---- render pass instances ---- */

/* Which of the two to bind in an open instance. */
static VkPipeline choose(struct pm_command *command, const struct pm_candidate *candidate)
{
    const VkPipeline otherwise = command->bound[PM_GRAPHICS];
    struct pm_pass *pass = &command->pass;
    pass->worth = true;
    if (pass->draws || pass->measurement == PM_TIMING_NONE || pass->spoilt)
        return otherwise;
    /* The first one that is awaited is what this instance is about. */
    if (pass->timed.trial == NULL &&
        (!is_free(command) || !pm_trial_next(candidate->trial, true, &pass->timed))) {
        pass->spoilt = true;
        return otherwise;
    }
    pass->bound = pass->timed.trial == candidate->trial && pass->timed.variant;
    if (!pass->bound)
        return otherwise;
    pm_journal_used(candidate->entry);
    return candidate->handle;
}

VkPipeline pm_trial_bind(struct pm_command *command, int point)
{
    if (point == PM_COMPUTE) {
        count_down(command);
        return command->bound[point];
    }
    command->pass.bound = false;
    const struct pm_candidate *candidate = command->pass.open ? candidate_of(command, point) : NULL;
    if (candidate != NULL)
        command->bound[point] = choose(command, candidate);
    count_down(command);
    return command->bound[point];
}

static void bind_graphics(const struct pm_command *command)
{
    command->device->dispatch.CmdBindPipeline(command->handle, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                              command->bound[PM_GRAPHICS]);
}

/* Back to what would be bound without the trial. Only a pipeline that is not proven is tried, so
 * that is the game's own. */
static void bind_back(struct pm_command *command)
{
    if (command->pass.bound && command->pipeline[PM_GRAPHICS] != NULL) {
        command->bound[PM_GRAPHICS] = command->game[PM_GRAPHICS];
        bind_graphics(command);
    }
    command->pass.bound = false;
}

void pm_trial_interrupt(struct pm_command *command)
{
    command->pass.bound = false;
    command->pass.spoilt = true;
}

/* The record of a primary command buffer whose recording takes part in trials. */
static struct pm_command *trying(struct pm_device *device, VkCommandBuffer handle)
{
    if (device->trials == NULL || !pm_sampling_is_trying(device->sampling))
        return NULL;
    struct pm_command *command = pm_command_of(device->sampling, handle);
    return command != NULL && command->trying ? command : NULL;
}

/* An instance that begins. */
struct beginning {
    bool whole;               /* in this command buffer alone, and neither suspended nor resumed */
    bool views;               /* several */
    VkRenderPass render_pass; /* which says of its subpasses how many; VK_NULL_HANDLE: none */
    uint64_t what;            /* tells it from others of the frame */
};

/* The view of what it draws to. */
static uint64_t first_view(const VkRenderingInfo *info)
{
    for (uint32_t i = 0; i < info->colorAttachmentCount; i++) {
        if (info->pColorAttachments[i].imageView != VK_NULL_HANDLE)
            return PM_BITS(info->pColorAttachments[i].imageView);
    }
    return info->pDepthAttachment != NULL ? PM_BITS(info->pDepthAttachment->imageView) : 0;
}

static bool has_views(const struct pm_device *device, const struct beginning *beginning)
{
    if (beginning->render_pass == VK_NULL_HANDLE)
        return beginning->views;
    struct pm_object *found =
        pm_objects_find(device->objects, PM_OBJECT_RENDER_PASS, PM_BITS(beginning->render_pass));
    const bool views = found == NULL || pm_object_has_views(found);
    pm_object_release(found);
    return views;
}

static struct pm_command *pass_begins(struct pm_device *device, VkCommandBuffer handle,
                                      const struct beginning *beginning)
{
    struct pm_command *command = trying(device, handle);
    if (command == NULL)
        return NULL;
    const enum pm_additive_outcome additive = pm_additive_outcome(device->additive);
    bool worth;
    struct pm_pass *pass = &command->pass;
    *pass = (struct pm_pass){
        .open = true,
        .place = pm_trials_pass(device->trials, beginning->what, &worth),
        .measurement = PM_TIMING_NONE,
        .spoilt = !beginning->whole || additive == PM_ADDITIVE_UNKNOWN,
    };
    if (pass->spoilt || !is_free(command))
        return command;
    pass->draws = additive == PM_ADDITIVE_YES && !has_views(device, beginning);
    if (worth && !(pass->draws && pm_timing_needs_no_reset(command)))
        pass->measurement = pm_timing_reserve(command);
    if (pass->measurement != PM_TIMING_NONE && !pass->draws)
        pm_timing_start(command, pass->measurement);
    return command;
}

/* What was bound before the instance began takes part in it. */
static void pass_began(struct pm_command *command)
{
    if (command == NULL || command->pipeline[PM_GRAPHICS] == NULL)
        return;
    const VkPipeline before = command->bound[PM_GRAPHICS];
    if (pm_trial_bind(command, PM_GRAPHICS) != before)
        bind_graphics(command);
}

static void pass_ended(struct pm_device *device, VkCommandBuffer handle)
{
    struct pm_command *command = trying(device, handle);
    if (command == NULL || !command->pass.open)
        return;
    struct pm_pass *pass = &command->pass;
    if (pass->spoilt)
        pass->timed.trial = NULL;
    if (pass->measurement != PM_TIMING_NONE && !pass->draws)
        pm_timing_end(command, pass->measurement, &pass->timed);
    pm_trials_pass_was(device->trials, pass->place, pass->worth);
    bind_back(command);
    pass->open = false;
    count_down(command);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBeginRenderPass(VkCommandBuffer handle,
                                                 const VkRenderPassBeginInfo *info,
                                                 VkSubpassContents contents)
{
    struct pm_device *device = pm_device_of(handle);
    const struct beginning beginning = {.whole = contents == VK_SUBPASS_CONTENTS_INLINE,
                                        .render_pass = info->renderPass,
                                        .what = PM_BITS(info->renderPass)};
    struct pm_command *command = pass_begins(device, handle, &beginning);
    device->dispatch.CmdBeginRenderPass(handle, info, contents);
    pass_began(command);
}

#define BEGIN_RENDER_PASS(name)                                                                    \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle,                                   \
                                         const VkRenderPassBeginInfo *info,                        \
                                         const VkSubpassBeginInfo *subpass)                        \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        const struct beginning beginning = {                                                       \
            .whole = subpass->contents == VK_SUBPASS_CONTENTS_INLINE,                              \
            .render_pass = info->renderPass,                                                       \
            .what = PM_BITS(info->renderPass),                                                     \
        };                                                                                         \
        struct pm_command *command = pass_begins(device, handle, &beginning);                      \
        device->dispatch.name(handle, info, subpass);                                              \
        pass_began(command);                                                                       \
    }

#define BEGIN_RENDERING(name)                                                                      \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle, const VkRenderingInfo *info)      \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        const struct beginning beginning = {                                                       \
            .whole = info->flags == 0, .views = info->viewMask != 0, .what = first_view(info)};    \
        struct pm_command *command = pass_begins(device, handle, &beginning);                      \
        device->dispatch.name(handle, info);                                                       \
        pass_began(command);                                                                       \
    }

#define END_RENDER_PASS(name)                                                                      \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle, const VkSubpassEndInfo *info)     \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        device->dispatch.name(handle, info);                                                       \
        pass_ended(device, handle);                                                                \
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
        pass_ended(device, handle);                                                                \
    }

#define END(name)                                                                                  \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle)                                   \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        device->dispatch.name(handle);                                                             \
        pass_ended(device, handle);                                                                \
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
