/* Trials in recordings: which pipeline is bound for a timed use. trial.h. */
#include "layer/hooks.h"
#include "layer/optimize.h"
#include "layer/trial.h"

static bool is_free(const struct pm_command *command)
{
    return command->obstacles == 0 && command->active_queries == 0 &&
           !atomic_load_explicit(&command->device->lost, memory_order_relaxed);
}

/* The candidate for what is bound whose trial goes on; NULL: there is none. */
static struct pm_optimized *candidate_of(const struct pm_command *command, int point)
{
    struct pm_optimized *candidate =
        command->pipeline[point] != NULL ? pm_optimize_candidate(command->pipeline[point]) : NULL;
    return candidate != NULL && pm_trial_is_awake(candidate->trial) ? candidate : NULL;
}

/* ---- calls ---- */

/* While a dispatch may have to be timed every call takes the long way. */
static void count_down(struct pm_command *command)
{
    command->countdown = candidate_of(command, PM_COMPUTE) != NULL ? 1 : PM_NEVER;
}

static void time_call(struct pm_command *command, const struct pm_optimized *candidate,
                      struct pm_sampled *sampled)
{
    if (!pm_trial_next(candidate->trial, &sampled->timed))
        return;
    sampled->measurement = pm_timing_begin(command);
    if (sampled->measurement == PM_TIMING_NONE || !sampled->timed.variant)
        return;
    pm_journal_used(candidate->shader->entry);
    command->device->dispatch.CmdBindPipeline(command->handle, VK_PIPELINE_BIND_POINT_COMPUTE,
                                              candidate->built.handle);
    sampled->original = command->bound[PM_COMPUTE];
}

void pm_trial_call(struct pm_command *command, int point, struct pm_sampled *sampled)
{
    const struct pm_optimized *candidate =
        point == PM_COMPUTE && is_free(command) ? candidate_of(command, point) : NULL;
    if (candidate != NULL)
        time_call(command, candidate, sampled);
    count_down(command);
}

/* ---- render pass instances ---- */

/* Which of the two to bind in an open instance. */
static VkPipeline choose(struct pm_command *command, const struct pm_optimized *candidate)
{
    const VkPipeline otherwise = command->bound[PM_GRAPHICS];
    struct pm_pass *pass = &command->pass;
    pass->worth = true;
    if (pass->measurement == PM_TIMING_NONE || pass->spoilt)
        return otherwise;
    /* The first one that is awaited is what this instance is about. */
    if (pass->timed.trial == NULL &&
        (!is_free(command) || !pm_trial_next(candidate->trial, &pass->timed))) {
        pass->spoilt = true;
        return otherwise;
    }
    pass->bound = pass->timed.trial == candidate->trial && pass->timed.variant;
    if (!pass->bound)
        return otherwise;
    pm_journal_used(candidate->shader->entry);
    return candidate->built.handle;
}

VkPipeline pm_trial_bind(struct pm_command *command, int point)
{
    if (point == PM_COMPUTE) {
        count_down(command);
        return command->bound[point];
    }
    command->pass.bound = false;
    const struct pm_optimized *candidate = command->pass.open ? candidate_of(command, point) : NULL;
    if (candidate != NULL)
        command->bound[point] = choose(command, candidate);
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

static struct pm_command *pass_begins(struct pm_device *device, VkCommandBuffer handle, bool whole)
{
    struct pm_command *command = trying(device, handle);
    if (command == NULL)
        return NULL;
    bool worth;
    command->pass = (struct pm_pass){
        .open = true,
        .place = pm_trials_pass(device->trials, &worth),
        .measurement = PM_TIMING_NONE,
        .spoilt = !whole,
    };
    if (whole && worth && is_free(command))
        command->pass.measurement = pm_timing_begin(command);
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
    if (pass->measurement != PM_TIMING_NONE)
        pm_timing_end(command, pass->measurement, &pass->timed);
    pm_trials_pass_was(device->trials, pass->place, pass->worth);
    bind_back(command);
    pass->open = false;
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBeginRenderPass(VkCommandBuffer handle,
                                                 const VkRenderPassBeginInfo *info,
                                                 VkSubpassContents contents)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *command =
        pass_begins(device, handle, contents == VK_SUBPASS_CONTENTS_INLINE);
    device->dispatch.CmdBeginRenderPass(handle, info, contents);
    pass_began(command);
}

#define BEGIN_RENDER_PASS(name)                                                                    \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle,                                   \
                                         const VkRenderPassBeginInfo *info,                        \
                                         const VkSubpassBeginInfo *subpass)                        \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        struct pm_command *command =                                                               \
            pass_begins(device, handle, subpass->contents == VK_SUBPASS_CONTENTS_INLINE);          \
        device->dispatch.name(handle, info, subpass);                                              \
        pass_began(command);                                                                       \
    }

#define BEGIN_RENDERING(name)                                                                      \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkCommandBuffer handle, const VkRenderingInfo *info)      \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        struct pm_command *command = pass_begins(device, handle, info->flags == 0);                \
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
END(CmdEndRendering)
END(CmdEndRenderingKHR)
