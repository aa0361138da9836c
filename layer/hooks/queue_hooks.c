/* The hooks of queues: what a submission uses is counted, and what ends a frame is a heartbeat. The
 * game holds a queue while it calls one, so whatever the layer submits to it is submitted here, on
 * the same thread (HAZARDS 13). Of a queue that the driver synchronizes we hold our record. */
#include "base/clock.h"
#include "layer/core/compiler.h"
#include "layer/core/fenced_submit.h"
#include "layer/core/signal_handler.h"
#include "layer/core/trace.h"
#include "layer/counts/constant_source.h"
#include "layer/counts/readback.h"
#include "layer/frame/command.h"
#include "layer/frame/executed.h"
#include "layer/frame/predicate_update.h"
#include "layer/frame/predicated_calls.h"
#include "layer/frame/queue.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/hooks/unload.h"
#include "layer/hooks/wait_hooks.h"
#include "layer/shader/optimize.h"
#include "layer/shader/slow_later.h"
#include "layer/trial/ab.h"
#include "layer/trial/additive.h"
#include "layer/trial/sessions.h"
#include "layer/trial/trial.h"

VKAPI_ATTR void VKAPI_CALL pm_GetDeviceQueue(VkDevice handle, uint32_t family, uint32_t index,
                                             VkQueue *out)
{
    struct pm_device *device = pm_device_of(handle);
    device->dispatch.GetDeviceQueue(handle, family, index, out);
    pm_queue_add(device, *out, family, 0);
}

VKAPI_ATTR void VKAPI_CALL pm_GetDeviceQueue2(VkDevice handle, const VkDeviceQueueInfo2 *info,
                                              VkQueue *out)
{
    struct pm_device *device = pm_device_of(handle);
    device->dispatch.GetDeviceQueue2(handle, info, out);
    /* Ours are not protected submissions, which a protected queue may mix with; but nothing is
     * sampled on one. */
    if ((info->flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT) == 0)
        pm_queue_add(device, *out, info->queueFamilyIndex, info->flags);
}

static void submit_timings(const struct pm_queue *queue, struct pm_command *command, int sign)
{
    if (command->timings == PM_TIMING_NONE)
        return;
    if (sign > 0)
        pm_timing_submit(command, queue);
    else
        pm_timing_submit_failed(command);
}

/* What a primary's secondaries have of their own. */
static void submit_executed(struct pm_queue *queue, const struct pm_command *primary, int sign)
{
    for (uint32_t i = 0; primary->carries && i < primary->executed_count; i++) {
        struct pm_command *secondary = pm_executed_at(primary, i);
        if (secondary == NULL)
            continue;
        submit_timings(queue, secondary, sign);
        if (secondary->predicated != NULL && secondary->predicated->picked.count > 0)
            pm_readback_submit(queue, secondary, true, sign);
    }
}

/* One command buffer of a submission that is about to be made, or that failed. */
static void submit_one(struct pm_queue *queue, VkCommandBuffer handle, int sign)
{
    struct pm_sampling *sampling = queue->device->sampling;
    struct pm_command *command = pm_command_of(sampling, handle);
    if (command == NULL)
        return;
    if (command->scene != PM_SCENE_NONE) {
        queue->scene = command->scene;
        atomic_store_explicit(&sampling->scenes.current, command->scene, memory_order_relaxed);
    }
    if (sign > 0)
        pm_command_submit(command);
    submit_timings(queue, command, sign);
    submit_executed(queue, command, sign);
    if (pm_command_counts(command))
        pm_readback_submit(queue, command, false, sign);
}

/* The scene that a label in the command buffer begins; PM_SCENE_NONE: there is none. */
static uint32_t label_of(const struct pm_queue *queue, VkCommandBuffer handle)
{
    const struct pm_command *command = pm_command_of(queue->device->sampling, handle);
    return command != NULL ? command->scene : (uint32_t)PM_SCENE_NONE;
}

/* Before a submission whose first label begins this scene: what was counted in another one is
 * copied first. */
static void enter_scene(struct pm_queue *queue, uint32_t label)
{
    const struct pm_scenes *scenes = &queue->device->sampling->scenes;
    const uint32_t scene = label != PM_SCENE_NONE
                               ? label
                               : atomic_load_explicit(&scenes->current, memory_order_relaxed);
    if (queue->scene != scene)
        pm_readback_cut(queue);
    queue->scene = scene;
}

static void enter(struct pm_queue *queue, uint32_t count, const VkSubmitInfo *infos)
{
    uint32_t label = PM_SCENE_NONE;
    const bool labels = queue->device->sampling->scenes.labels != NULL;
    for (uint32_t i = 0; labels && i < count; i++) {
        for (uint32_t j = 0; label == PM_SCENE_NONE && j < infos[i].commandBufferCount; j++)
            label = label_of(queue, infos[i].pCommandBuffers[j]);
    }
    enter_scene(queue, label);
}

static void enter2(struct pm_queue *queue, uint32_t count, const VkSubmitInfo2 *infos)
{
    uint32_t label = PM_SCENE_NONE;
    const bool labels = queue->device->sampling->scenes.labels != NULL;
    for (uint32_t i = 0; labels && i < count; i++) {
        for (uint32_t j = 0; label == PM_SCENE_NONE && j < infos[i].commandBufferInfoCount; j++)
            label = label_of(queue, infos[i].pCommandBufferInfos[j].commandBuffer);
    }
    enter_scene(queue, label);
}

/* What of a recording that holds calls twice is sampled in the submission that is about to be made.
 * Returns how many calls it has. */
static uint64_t pick_of(struct pm_queue *queue, struct pm_command *command)
{
    if (command == NULL || command->predicated == NULL)
        return 0;
    pm_predicate_update_add(queue, command);
    return command->predicated->recorded;
}

/* Likewise, and of what it executes. */
static uint64_t pick(struct pm_queue *queue, VkCommandBuffer handle)
{
    struct pm_command *command = pm_command_of(queue->device->sampling, handle);
    uint64_t calls = pick_of(queue, command);
    for (uint32_t i = 0; command != NULL && i < command->executed_count; i++)
        calls += pick_of(queue, pm_executed_at(command, i));
    return calls;
}

static bool may_pick(const struct pm_queue *queue)
{
    return atomic_load_explicit(&queue->device->sampling->twice, memory_order_relaxed) != 0;
}

/* People are told of so many calls; returns of how many they are. */
static uint64_t tell(const struct pm_queue *queue, uint64_t calls)
{
    struct pm_sampling *sampling = queue->device->sampling;
    if (!pm_sampling_is_on(sampling))
        return 0;
    atomic_fetch_add_explicit(&sampling->calls, calls, memory_order_relaxed);
    return calls;
}

/* The submission of which they were told failed. */
static void untell(const struct pm_queue *queue, uint64_t calls)
{
    atomic_fetch_sub_explicit(&queue->device->sampling->calls, calls, memory_order_relaxed);
}

/* Returns of how many calls people are told. */
static uint64_t pick_all(struct pm_queue *queue, uint32_t count, const VkSubmitInfo *infos)
{
    uint64_t calls = 0;
    if (!may_pick(queue))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < infos[i].commandBufferCount; j++)
            calls += pick(queue, infos[i].pCommandBuffers[j]);
    }
    pm_predicate_update_submit(queue);
    return tell(queue, calls);
}

static uint64_t pick_all2(struct pm_queue *queue, uint32_t count, const VkSubmitInfo2 *infos)
{
    uint64_t calls = 0;
    if (!may_pick(queue))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < infos[i].commandBufferInfoCount; j++)
            calls += pick(queue, infos[i].pCommandBufferInfos[j].commandBuffer);
    }
    pm_predicate_update_submit(queue);
    return tell(queue, calls);
}

static void submit_all(struct pm_queue *queue, uint32_t count, const VkSubmitInfo *infos, int sign)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < infos[i].commandBufferCount; j++)
            submit_one(queue, infos[i].pCommandBuffers[j], sign);
    }
}

static void submit_all2(struct pm_queue *queue, uint32_t count, const VkSubmitInfo2 *infos,
                        int sign)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < infos[i].commandBufferInfoCount; j++)
            submit_one(queue, infos[i].pCommandBufferInfos[j].commandBuffer, sign);
    }
}

/* A frame's end, to all that count by frames. */
static void heartbeat(struct pm_device *device)
{
    const uint64_t number = pm_sampling_heartbeat(device->sampling);
    if (number == 0)
        return;
    if (device->trace != NULL)
        pm_trace_frame(device->trace, number, atomic_load(&device->sampling->calls),
                       pm_compiler_waiting(device->compiler));
    if (device->slow_later != NULL)
        pm_slow_later_heartbeat(device->slow_later, number);
    pm_first_draws_heartbeat(&device->pipelines->first_draws);
    pm_ab_heartbeat(device->ab, number);
    pm_trials_heartbeat(device->trials, number);
    pm_session_trials_heartbeat(device->sessions);
    pm_optimize_heartbeat(device);
    pm_constants_follow(device);
}

static void submitted(struct pm_queue *queue, VkFence fence)
{
    const struct pm_sampling *sampling = queue->device->sampling;
    const int64_t now = pm_now();
    if (queue->device->optimizer != NULL)
        pm_hang_watch_submitted(&queue->device->hang_watch, fence, now);
    /* After the first one, in which most that there is in other layers was used once, the second,
     * the fourth, the eighth… */
    pm_timing_submitted(queue->device->timing, queue);
    queue->submits++;
    if ((queue->submits & (queue->submits - 1)) == 0) {
        pm_process_watch_exit_again();
        pm_signal_handler_learn();
    }
    if (pm_sampling_counts_submissions(sampling, now))
        heartbeat(queue->device);
    pm_readback_follow(queue, false);
    pm_additive_follow(queue->device->additive, queue);
}

/* The variants are counted before the submission and not after it: as soon as it is made, another
 * thread may see it complete and begin its command buffers anew. */
VKAPI_ATTR VkResult VKAPI_CALL pm_QueueSubmit(VkQueue handle, uint32_t count,
                                              const VkSubmitInfo *infos, VkFence fence)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_queue *queue = pm_queue_of(device, handle);
    if (queue == NULL)
        return device->dispatch.QueueSubmit(handle, count, infos, fence);
    pm_queue_hold(queue);
    pm_cpu_watch_submit(&device->sampling->watch, handle);
    enter(queue, count, infos);
    const uint64_t told = pick_all(queue, count, infos);
    submit_all(queue, count, infos, 1);
    VkResult result = pm_checked(device, pm_fenced_submit(device, handle, count, infos, fence));
    if (result == VK_SUCCESS) {
        submitted(queue, fence);
    } else {
        submit_all(queue, count, infos, -1);
        untell(queue, told);
    }
    pm_queue_let_go(queue);
    pm_messages_deliver(device->instance);
    return result;
}

static VkResult submit2(struct pm_device *device, PFN_vkQueueSubmit2 next, VkQueue handle,
                        uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
    struct pm_queue *queue = pm_queue_of(device, handle);
    if (queue == NULL)
        return next(handle, count, infos, fence);
    pm_queue_hold(queue);
    pm_cpu_watch_submit(&device->sampling->watch, handle);
    enter2(queue, count, infos);
    const uint64_t told = pick_all2(queue, count, infos);
    submit_all2(queue, count, infos, 1);
    VkResult result =
        pm_checked(device, pm_fenced_submit2(device, next, handle, count, infos, fence));
    if (result == VK_SUCCESS) {
        submitted(queue, fence);
    } else {
        submit_all2(queue, count, infos, -1);
        untell(queue, told);
    }
    pm_queue_let_go(queue);
    pm_messages_deliver(device->instance);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_QueueSubmit2(VkQueue handle, uint32_t count,
                                               const VkSubmitInfo2 *infos, VkFence fence)
{
    struct pm_device *device = pm_device_of(handle);
    return submit2(device, device->dispatch.QueueSubmit2, handle, count, infos, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_QueueSubmit2KHR(VkQueue handle, uint32_t count,
                                                  const VkSubmitInfo2 *infos, VkFence fence)
{
    struct pm_device *device = pm_device_of(handle);
    return submit2(device, device->dispatch.QueueSubmit2KHR, handle, count, infos, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_QueueBindSparse(VkQueue handle, uint32_t count,
                                                  const VkBindSparseInfo *infos, VkFence fence)
{
    struct pm_device *device = pm_device_of(handle);
    if (pm_queue_of(device, handle) == NULL)
        return pm_checked(device, device->dispatch.QueueBindSparse(handle, count, infos, fence));
    return pm_checked(device, pm_fenced_bind_sparse(device, handle, count, infos, fence));
}

VKAPI_ATTR VkResult VKAPI_CALL pm_QueuePresentKHR(VkQueue handle, const VkPresentInfoKHR *info)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_queue *queue = pm_queue_of(device, handle);
    int64_t begin = pm_wait_begins(device);
    VkResult result = device->dispatch.QueuePresentKHR(handle, info);
    pm_wait_ends(device, begin, result);
    if (queue != NULL && result != VK_ERROR_DEVICE_LOST) {
        pm_queue_hold(queue);
        pm_cpu_watch_present(&device->sampling->watch, handle);
        atomic_store_explicit(&device->sampling->presented, pm_now(), memory_order_relaxed);
        heartbeat(device);
        pm_readback_follow(queue, false);
        pm_queue_let_go(queue);
        pm_messages_deliver(device->instance);
    }
    return result;
}

/* From here on presents are the heartbeats. */
static void will_present(struct pm_device *device, VkResult result)
{
    if (pm_checked(device, result) == VK_SUCCESS && device->sampling != NULL)
        atomic_store(&device->sampling->presented, pm_now());
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateSwapchainKHR(VkDevice handle,
                                                     const VkSwapchainCreateInfoKHR *info,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkSwapchainKHR *out)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.CreateSwapchainKHR(handle, info, allocator, out);
    will_present(device, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateSharedSwapchainsKHR(VkDevice handle, uint32_t count,
                                                            const VkSwapchainCreateInfoKHR *infos,
                                                            const VkAllocationCallbacks *allocator,
                                                            VkSwapchainKHR *out)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result =
        device->dispatch.CreateSharedSwapchainsKHR(handle, count, infos, allocator, out);
    will_present(device, result);
    return result;
}
