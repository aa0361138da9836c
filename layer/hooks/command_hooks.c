/* The hooks of command buffers and their pools: what is recorded anew, given up, or executed. */
#include "layer/frame/binding.h"
#include "layer/frame/command.h"
#include "layer/frame/executed.h"
#include "layer/generate/create_info.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/trial/ab.h"
#include "layer/trial/timing.h"
#include "layer/trial/trial.h"

/* The GPU is done with the command buffer's recording: it names nothing of ours any more. */
static void drop_recording(struct pm_command *command)
{
    if (!pm_command_holds(command))
        return;
    pm_timing_drop(command);
    pm_command_drop(command);
}

/* A recording can only have something to drop when there is something at all. */
static inline bool may_hold(const struct pm_sampling *sampling)
{
    return atomic_load(&sampling->holding) != 0 || atomic_load(&sampling->recording) != 0;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateCommandPool(VkDevice handle,
                                                    const VkCommandPoolCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkCommandPool *out)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.CreateCommandPool(handle, info, allocator, out);
    if (result != VK_SUCCESS || device->sampling == NULL)
        return result;
    if ((info->flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT) != 0)
        pm_registry_be_careful(device);
    pm_command_pool_add(device, *out, info);
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyCommandPool(VkDevice handle, VkCommandPool pool_handle,
                                                 const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command_pool *pool = pm_command_pool_of(device->sampling, pool_handle);
    /* Before the driver may give the handles to someone else. */
    if (pool != NULL)
        pm_command_pool_forget(device->sampling, pool);
    device->dispatch.DestroyCommandPool(handle, pool_handle, allocator);
    if (pool == NULL)
        return;
    for (struct pm_command *command = pool->first; command != NULL; command = command->next)
        pm_timing_drop(command);
    pm_command_pool_destroy(pool);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_ResetCommandPool(VkDevice handle, VkCommandPool pool_handle,
                                                   VkCommandPoolResetFlags flags)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.ResetCommandPool(handle, pool_handle, flags);
    struct pm_sampling *sampling = device->sampling;
    if (result != VK_SUCCESS || sampling == NULL || !may_hold(sampling))
        return result;
    struct pm_command_pool *pool = pm_command_pool_of(sampling, pool_handle);
    for (struct pm_command *command = pool != NULL ? pool->first : NULL; command != NULL;
         command = command->next)
        drop_recording(command);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_AllocateCommandBuffers(VkDevice handle,
                                                         const VkCommandBufferAllocateInfo *info,
                                                         VkCommandBuffer *out)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.AllocateCommandBuffers(handle, info, out);
    struct pm_command_pool *pool = pm_command_pool_of(device->sampling, info->commandPool);
    if (result != VK_SUCCESS || pool == NULL)
        return result;
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        pm_command_add(device, pool, out[i], info->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_FreeCommandBuffers(VkDevice handle, VkCommandPool pool_handle,
                                                 uint32_t count, const VkCommandBuffer *buffers)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *freed = NULL;
    for (uint32_t i = 0; device->sampling != NULL && i < count; i++) {
        struct pm_command *command = NULL;
        if (buffers[i] != VK_NULL_HANDLE)
            command = pm_command_forget(device->sampling, buffers[i]);
        if (command != NULL) {
            command->next = freed;
            freed = command;
        }
    }
    device->dispatch.FreeCommandBuffers(handle, pool_handle, count, buffers);
    for (struct pm_command *command = freed, *next; command != NULL; command = next) {
        next = command->next;
        pm_timing_drop(command);
        pm_command_destroy(command);
    }
}

/* Tells it from others by what it renders to. */
static uint64_t attachments_of(const VkCommandBufferInheritanceRenderingInfo *rendering)
{
    uint64_t what = pm_random_mix(rendering->viewMask);
    for (uint32_t i = 0; i < rendering->colorAttachmentCount; i++)
        what = pm_random_mix(what + (uint64_t)rendering->pColorAttachmentFormats[i]);
    what = pm_random_mix(what + (uint64_t)rendering->depthAttachmentFormat);
    return pm_random_mix(what + (uint64_t)rendering->stencilAttachmentFormat);
}

/* The render pass instance in which a secondary command buffer is to be executed. */
static struct pm_pass_beginning inherited_by(const VkCommandBufferInheritanceInfo *info)
{
    const VkRenderingFlags contents =
        VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT | VK_RENDERING_CONTENTS_INLINE_BIT_KHR;
    if (info == NULL)
        return (struct pm_pass_beginning){.whole = false};
    if (info->renderPass != VK_NULL_HANDLE)
        return (struct pm_pass_beginning){
            .whole = true, .render_pass = info->renderPass, .what = PM_BITS(info->renderPass)};
    const VkCommandBufferInheritanceRenderingInfo *rendering =
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO);
    return (struct pm_pass_beginning){
        .whole = rendering != NULL && (rendering->flags & ~contents) == 0,
        .views = rendering != NULL && rendering->viewMask != 0,
        .what = rendering != NULL ? attachments_of(rendering) : 0,
    };
}

static PM_COLD VKAPI_ATTR VkResult VKAPI_CALL begin_long(VkCommandBuffer handle,
                                                         const VkCommandBufferBeginInfo *info)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.BeginCommandBuffer(handle, info);
    struct pm_command *command =
        device->sampling != NULL ? pm_command_of(device->sampling, handle) : NULL;
    if (command == NULL)
        return result;
    drop_recording(command);
    if (device->ab != NULL)
        pm_ab_recording(device->ab);
    if (result == VK_SUCCESS) {
        const bool may_repeat = pm_command_begin(command, info);
        pm_command_choose(command, may_repeat,
                          pm_trials_time(device) && pm_trial_may_time(command, may_repeat));
        if (command->secondary &&
            (info->flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT) != 0) {
            const struct pm_pass_beginning inherited = inherited_by(info->pInheritanceInfo);
            pm_trial_secondary_begins(command, &inherited);
        }
    }
    return result;
}

/* While not armed: for a recording that cannot be chosen. The driver may refuse to begin, which the
 * record need not know then. behind_…: for one whose record is not where its hash points. */
#define BEGIN(way, begins)                                                                         \
    static PM_COLD VkResult behind_##way(VkCommandBuffer handle,                                   \
                                         const VkCommandBufferBeginInfo *info)                     \
    {                                                                                              \
        const struct pm_device *device = pm_one.device;                                            \
        struct pm_command *command = pm_lookup_find(pm_one.commands, PM_KEY(handle));              \
        if (command == NULL || !(begins))                                                          \
            return begin_long(handle, info);                                                       \
        return device->dispatch.BeginCommandBuffer(handle, info);                                  \
    }                                                                                              \
    static PM_FAST VKAPI_ATTR VkResult VKAPI_CALL begin_##way(                                     \
        VkCommandBuffer handle, const VkCommandBufferBeginInfo *info)                              \
    {                                                                                              \
        const struct pm_device *device = pm_one.device;                                            \
        struct pm_command *command = pm_glance_at(handle);                                         \
        if (PM_UNLIKELY(command == NULL))                                                          \
            return behind_##way(handle, info);                                                     \
        if (PM_UNLIKELY(!(begins)))                                                                \
            return begin_long(handle, info);                                                       \
        return device->dispatch.BeginCommandBuffer(handle, info);                                  \
    }

BEGIN(again, pm_command_begin_again(command, info))
BEGIN(learning, pm_command_begin_learning(command, info, device->sampling))
BEGIN(followed, pm_command_begin_followed(command, info))
/* Apart, what asks for more: it has a frame on the stack. */
static PM_COLD VkResult begin_touched(VkCommandBuffer handle, const VkCommandBufferBeginInfo *info)
{
    return begin_followed(handle, info);
}
#define BEGIN_OR_TOUCHED(way, begins)                                                              \
    static PM_FAST VKAPI_ATTR VkResult VKAPI_CALL begin_##way(                                     \
        VkCommandBuffer handle, const VkCommandBufferBeginInfo *info)                              \
    {                                                                                              \
        const struct pm_device *device = pm_one.device;                                            \
        struct pm_command *command = pm_glance_at(handle);                                         \
        if (PM_UNLIKELY(command == NULL) || PM_UNLIKELY(!(begins)))                                \
            return begin_touched(handle, info);                                                    \
        return device->dispatch.BeginCommandBuffer(handle, info);                                  \
    }
BEGIN_OR_TOUCHED(careful, pm_command_begin_careful(command, info))
BEGIN_OR_TOUCHED(unpushed,
                 pm_command_begin_unpushed(command, info, PM_READ(uint64_t, device->watched)))

VKAPI_ATTR PM_FAST VkResult VKAPI_CALL pm_BeginCommandBuffer(VkCommandBuffer handle,
                                                             const VkCommandBufferBeginInfo *info)
{
    if (PM_UNLIKELY(!PM_IS_OF_ONE(handle)))
        return begin_long(handle, info);
    return PM_READ(PFN_vkBeginCommandBuffer, pm_recording_targets.begin)(handle, info);
}

static PM_COLD VKAPI_ATTR VkResult VKAPI_CALL end_long(VkCommandBuffer handle)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_sampling *sampling = device->sampling;
    if (sampling != NULL && atomic_load_explicit(&sampling->recording, memory_order_relaxed) != 0) {
        struct pm_command *command = pm_command_of(sampling, handle);
        if (command != NULL)
            pm_command_end(command);
    }
    return device->dispatch.EndCommandBuffer(handle);
}

VKAPI_ATTR PM_FAST VkResult VKAPI_CALL pm_EndCommandBuffer(VkCommandBuffer handle)
{
    if (PM_UNLIKELY(!PM_IS_OF_ONE(handle)))
        return end_long(handle);
    return PM_READ(PFN_vkEndCommandBuffer, pm_recording_targets.end)(handle);
}

static PM_COLD VKAPI_ATTR VkResult VKAPI_CALL reset_long(VkCommandBuffer handle,
                                                         VkCommandBufferResetFlags flags)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.ResetCommandBuffer(handle, flags);
    struct pm_command *command =
        device->sampling != NULL ? pm_command_of(device->sampling, handle) : NULL;
    if (command != NULL && result == VK_SUCCESS)
        drop_recording(command);
    return result;
}

VKAPI_ATTR PM_FAST VkResult VKAPI_CALL pm_ResetCommandBuffer(VkCommandBuffer handle,
                                                             VkCommandBufferResetFlags flags)
{
    if (PM_UNLIKELY(!PM_IS_OF_ONE(handle)))
        return reset_long(handle, flags);
    return PM_READ(PFN_vkResetCommandBuffer, pm_recording_targets.reset)(handle, flags);
}

static bool holds_any(const struct pm_sampling *sampling)
{
    return atomic_load(&sampling->holding) != 0;
}

/* Whether it matters what a recording executes. */
static bool executions_matter(const struct pm_device *device)
{
    return pm_commands_are_tracked(device) ||
           (device->sampling != NULL &&
            (holds_any(device->sampling) || pm_sampling_counts_executions(device->sampling)));
}

static PM_COLD VKAPI_ATTR void VKAPI_CALL execute_long(VkCommandBuffer handle, uint32_t count,
                                                       const VkCommandBuffer *buffers)
{
    struct pm_device *device = pm_device_of(handle);
    device->dispatch.CmdExecuteCommands(handle, count, buffers);
    struct pm_command *primary =
        executions_matter(device) ? pm_command_of(device->sampling, handle) : NULL;
    if (primary == NULL)
        return;
    pm_command_execute(primary, count, buffers);
    pm_trial_executes(device, handle, count, buffers);
}

/* While not armed, and nothing is held: it is noted what is executed; or what was bound is
 * forgotten, where every recording is tracked; or both. */
static PM_FAST inline __attribute__((always_inline)) bool
may_forget(const struct pm_device *device, const struct pm_command *primary)
{
    return primary != NULL && primary->pass.place == PM_PLACE_OUTSIDE &&
           PM_READ(uint32_t, device->sampling->trials) == 0;
}

static PM_FAST VKAPI_ATTR void VKAPI_CALL execute_forgetting(VkCommandBuffer handle, uint32_t count,
                                                             const VkCommandBuffer *buffers)
{
    const struct pm_device *device = pm_one.device;
    struct pm_command *primary = pm_glance_at(handle);
    if (PM_UNLIKELY(!may_forget(device, primary))) {
        execute_long(handle, count, buffers);
        return;
    }
    pm_command_forget_bound(primary);
    device->dispatch.CmdExecuteCommands(handle, count, buffers);
}

/* More than one, or without room. Out of memory: as execute_long has it. */
static PM_COLD VKAPI_ATTR void VKAPI_CALL execute_several(VkCommandBuffer handle, uint32_t count,
                                                          const VkCommandBuffer *buffers)
{
    const struct pm_device *device = pm_one.device;
    struct pm_command *primary = pm_lookup_find(pm_one.commands, PM_KEY(handle));
    if (primary != NULL)
        pm_command_note_all_executed(primary, count, buffers);
    device->dispatch.CmdExecuteCommands(handle, count, buffers);
}

static PM_FAST VKAPI_ATTR void VKAPI_CALL execute_noted(VkCommandBuffer handle, uint32_t count,
                                                        const VkCommandBuffer *buffers)
{
    struct pm_command *primary = pm_glance_at(handle);
    if (PM_UNLIKELY(count != 1) || PM_UNLIKELY(primary == NULL) ||
        PM_UNLIKELY(!pm_command_note_executed(primary, buffers[0]))) {
        execute_several(handle, count, buffers);
        return;
    }
    pm_one.device->dispatch.CmdExecuteCommands(handle, count, buffers);
}

static PM_FAST VKAPI_ATTR void VKAPI_CALL execute_noted_forgetting(VkCommandBuffer handle,
                                                                   uint32_t count,
                                                                   const VkCommandBuffer *buffers)
{
    const struct pm_device *device = pm_one.device;
    struct pm_command *primary = pm_glance_at(handle);
    if (PM_UNLIKELY(count != 1) || PM_UNLIKELY(!may_forget(device, primary))) {
        execute_long(handle, count, buffers);
        return;
    }
    pm_command_forget_bound(primary);
    if (PM_UNLIKELY(!pm_command_note_executed(primary, buffers[0]))) {
        execute_several(handle, count, buffers);
        return;
    }
    device->dispatch.CmdExecuteCommands(handle, count, buffers);
}

VKAPI_ATTR PM_FAST void VKAPI_CALL pm_CmdExecuteCommands(VkCommandBuffer handle, uint32_t count,
                                                         const VkCommandBuffer *buffers)
{
    if (PM_UNLIKELY(!PM_IS_OF_ONE(handle))) {
        execute_long(handle, count, buffers);
        return;
    }
    PM_READ(PFN_vkCmdExecuteCommands, pm_recording_targets.execute)(handle, count, buffers);
}

/* For ever, once it is so, and before any recording follows some. */
static bool follows_pushes(const struct pm_device *device)
{
    return pm_binds_any(device, PM_BINDS_WATCHED) || atomic_load(&device->watched) != 0;
}

static PFN_vkBeginCommandBuffer begin_of(const struct pm_device *device, bool armed, bool tracked)
{
    const bool learned = atomic_load(&device->sampling->learned);
    if (armed || device->ab != NULL)
        return begin_long;
    if (!tracked)
        return learned ? begin_again : begin_learning;
    return !learned ? begin_followed : follows_pushes(device) ? begin_unpushed : begin_careful;
}

/* A label in a secondary command buffer is one of what executes it, too. Where every recording is
 * tracked and it is known whether the game keeps recordings, none is noted: what then executes a
 * secondary one is not counted as a submission of it, whose `submits` stay 0. Where that is known
 * by `again` alone, none is noted from the next time on that the hooks are armed, or no more. */
static PFN_vkCmdExecuteCommands execute_of(const struct pm_device *device, bool armed, bool tracked)
{
    const bool notes = pm_sampling_counts_executions(device->sampling);
    if (armed || holds_any(device->sampling) || device->sampling->scenes.labels != NULL)
        return execute_long;
    if (tracked)
        return notes ? execute_noted_forgetting : execute_forgetting;
    return notes ? execute_noted : device->dispatch.CmdExecuteCommands;
}

void pm_recording_table_swap(struct pm_recording_table *now, const struct pm_device *device)
{
    const bool armed = pm_binds_any(device, PM_BINDS_ARMED);
    const bool tracked = follows_pushes(device) || pm_binds_any(device, PM_BINDS_CAREFUL);
    /* Whoever finds the way finds what it is for. */
    __atomic_store_n(&now->bind, pm_bind_way(device, atomic_load(&device->binds)),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&now->begin, begin_of(device, armed, tracked), __ATOMIC_RELAXED);
    __atomic_store_n(&now->end, armed ? end_long : device->dispatch.EndCommandBuffer,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&now->execute, execute_of(device, armed, tracked), __ATOMIC_RELAXED);
    /* As armed, it stays the long one as long as there may be something to drop; so does executing,
     * as what is executed may hold it. */
    __atomic_store_n(&now->reset,
                     armed || holds_any(device->sampling) ? reset_long
                                                          : device->dispatch.ResetCommandBuffer,
                     __ATOMIC_RELAXED);
}
