#include "layer/hooks/device.h"

#include "layer/core/compiler.h"
#include "layer/core/session.h"
#include "layer/core/signal_handler.h"
#include "layer/core/trace.h"
#include "layer/counts/constant_source.h"
#include "layer/counts/copy.h"
#include "layer/counts/poller.h"
#include "layer/counts/readback.h"
#include "layer/frame/predicate_update.h"
#include "layer/frame/sampling.h"
#include "layer/hooks/database.h"
#include "layer/hooks/device_abilities.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/instance.h"
#include "layer/hooks/registry.h"
#include "layer/hooks/slow_later_hooks.h"
#include "layer/hooks/state.h"
#include "layer/hooks/unload.h"
#include "layer/memory/counters.h"
#include "layer/memory/predicates.h"
#include "layer/memory/scratch_memory.h"
#include "layer/shader/constant_values.h"
#include "layer/shader/object.h"
#include "layer/shader/optimize.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/slow_later.h"
#include "layer/trial/ab.h"
#include "layer/trial/additive.h"
#include "layer/trial/sessions.h"
#include "layer/trial/trial.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vk_layer.h>

static VkLayerDeviceCreateInfo *find_loader_info(const VkDeviceCreateInfo *info,
                                                 VkLayerFunction function)
{
    for (VkBaseOutStructure *at = (VkBaseOutStructure *)(uintptr_t)info->pNext; at != NULL;
         at = at->pNext) {
        VkLayerDeviceCreateInfo *found = (VkLayerDeviceCreateInfo *)(void *)at;
        if (at->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && found->function == function)
            return found;
    }
    return NULL;
}

/* Whether this session is ever going to sample, or to use what was sampled. */
static bool wants_sampling(const struct pm_instance *instance)
{
    return pm_session_optimizes(instance) || pm_session_samples(instance);
}

/* Creates the device with what we want, else with just what the game wants. *used: the info that it
 * was made with. */
static VkResult create_next(struct pm_arena *arena, const struct pm_instance *instance,
                            VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                            const VkAllocationCallbacks *allocator, VkDevice *out,
                            const VkDeviceCreateInfo **used)
{
    VkLayerDeviceCreateInfo *link = find_loader_info(info, VK_LAYER_LINK_INFO);
    VkLayerDeviceLink *ours = link->u.pLayerInfo;
    struct pm_error error = {0};
    VkDeviceCreateInfo *extended = NULL;
    if (arena != NULL && wants_sampling(instance)) {
        extended = pm_device_extend(arena, instance, physical, info, &error);
        if (extended == NULL)
            pm_log_info(instance->log, "nothing is added to the device: %s", error.message);
    }
    if (extended != NULL) {
        find_loader_info(extended, VK_LAYER_LINK_INFO)->u.pLayerInfo = ours->pNext;
        *used = extended;
        VkResult result = instance->dispatch.CreateDevice(physical, extended, allocator, out);
        if (result == VK_SUCCESS)
            return result;
        pm_log_info(instance->log,
                    "the device was refused with what sampling needs (VkResult %d); trying without",
                    result);
    }
    link->u.pLayerInfo = ours->pNext;
    *used = info;
    return instance->dispatch.CreateDevice(physical, info, allocator, out);
}

/* What the queues of a family can do. */
static VkQueueFlags queue_flags(const struct pm_device *device, uint32_t family)
{
    const struct pm_instance_dispatch *dispatch = &device->instance->dispatch;
    uint32_t count = 0;
    dispatch->GetPhysicalDeviceQueueFamilyProperties(device->physical, &count, NULL);
    VkQueueFamilyProperties *families = calloc(count + 1, sizeof *families);
    if (families == NULL)
        return 0;
    dispatch->GetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
    const VkQueueFlags flags = family < count ? families[family].queueFlags : 0;
    free(families);
    return flags;
}

/* Whether a command buffer of the family may copy and fill: some only bind sparse memory or decode
 * video. */
static bool can_transfer(const struct pm_device *device, uint32_t family)
{
    return (queue_flags(device, family) &
            (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT)) != 0;
}

static bool find_queue_families(struct pm_device *device, const VkDeviceCreateInfo *info)
{
    device->queue_families = calloc(info->queueCreateInfoCount + 1, sizeof *device->queue_families);
    if (device->queue_families == NULL)
        return false;
    bool found = false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo *queue = &info->pQueueCreateInfos[i];
        count += queue->queueCount;
        device->has_other_queues |= count > PM_QUEUES;
        device->has_other_queues |= (queue->flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT) != 0;
        if (!found && (queue->flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT) == 0 &&
            queue->queueCount > 0 && can_transfer(device, queue->queueFamilyIndex)) {
            device->clear_family = queue->queueFamilyIndex;
            device->clear_flags = queue->flags;
            found = true;
        }
        if ((queue_flags(device, queue->queueFamilyIndex) & VK_QUEUE_COMPUTE_BIT) != 0)
            device->compute_queues += queue->queueCount;
        bool known = false;
        for (uint32_t j = 0; j < device->queue_family_count; j++)
            known |= device->queue_families[j] == queue->queueFamilyIndex;
        const uint64_t bit =
            queue->queueFamilyIndex < 64 ? UINT64_C(1) << queue->queueFamilyIndex : 0;
        device->lone_families &= ~bit;
        if (!known && queue->queueCount == 1)
            device->lone_families |= bit;
        if (!known)
            device->queue_families[device->queue_family_count++] = queue->queueFamilyIndex;
    }
    if (!found)
        device->abilities.why_not = "it has no unprotected queue that can copy";
    return found;
}

/* What the optimizer tells of its variants goes to trials and comparison. */
static void variant_built(struct pm_device *device, struct pm_candidate *candidate, bool compute)
{
    pm_trace_instant(device->trace, "specialized", "built", &candidate->original, NULL);
    pm_trials_add(device->trials, candidate, compute);
}

static void variant_proven(struct pm_device *device, struct pm_candidate *candidate, bool compute)
{
    pm_trials_watch(device->trials, candidate, compute);
}

static void shader_used(struct pm_device *device, const struct pm_specialized_shader *shader,
                        bool to_time)
{
    pm_ab_shader(device->ab, &shader->original, &shader->key);
    pm_state_shader(device->state, &shader->original, pm_specialized_counts_as(shader), to_time);
    pm_trace_instant(device->trace, "specialized", "in use", &shader->original, NULL);
}

static enum pm_session_side in_session(struct pm_device *device, struct pm_pipeline *pipeline,
                                       const struct pm_specialized_shader *shader)
{
    return pm_session_trials_join(device->sessions, pipeline, shader);
}

static void bound_in_session(struct pm_device *device, struct pm_pipeline *pipeline,
                             struct pm_candidate *candidate)
{
    pm_session_trials_bound(device->sessions, pipeline, candidate);
}

static void in_passes(struct pm_device *device)
{
    pm_sampling_run_in_passes(device->sampling);
}

static const struct pm_optimizer_calls optimizer_calls = {.built = variant_built,
                                                          .proven = variant_proven,
                                                          .in_passes = in_passes,
                                                          .in_session = in_session,
                                                          .bound_in_session = bound_in_session,
                                                          .used = shader_used,
                                                          .set_binds = pm_registry_set_binds,
                                                          .follow = pm_registry_follow};

/* What proves specialized variants; without it none is bound but those that the database proves. */
static void start_trials(struct pm_device *device)
{
    device->ab = pm_ab_create(device, pm_optimize_pause);
    if (device->optimizer == NULL || !pm_session_tries(device->instance))
        return;
    device->timing = pm_timing_create(device);
    device->trials = pm_trials_create(device);
    device->additive = device->trials != NULL ? pm_additive_create(device) : NULL;
    device->sessions = device->trials != NULL
                           ? pm_session_trials_create(device, pm_trials_budget(device->trials))
                           : NULL;
    if (device->trials != NULL)
        pm_trials_poll_with(device);
    if (device->trials == NULL)
        pm_log_info(device->instance->log,
                    "specialized shaders cannot be tried: the device cannot time them");
}

static void each_second(struct pm_device *device)
{
    if (pm_optimize_shows_life(device))
        pm_optimize_alive(device);
    pm_session_trials_each_second(device->sessions);
    pm_trials_each_second(device->trials);
    pm_database_each_second(device);
    pm_state_tell(device->state);
}

/* Everything that sampling needs; false: something could not be had, and nothing is left. */
static bool start_sampling(struct pm_device *device)
{
    struct pm_error error = {0};
    if (!device->abilities.sample)
        return false;
    device->sampling = pm_sampling_create(device, pm_registry_arm);
    device->poller = pm_poller_create(device);
    device->readback = device->poller != NULL ? pm_readback_create(device) : NULL;
    if (device->poller != NULL)
        pm_constants_poll_with(device);
    device->counters = pm_counters_create(device, &error);
    device->objects = pm_objects_create(device);
    device->pipelines = pm_pipelines_create(device);
    device->compiler = pm_compiler_create(device);
    if (device->abilities.conditional_rendering && pm_session_samples(device->instance))
        device->predicates = pm_predicates_create(device);
    if (pm_session_partitions(device->instance))
        device->scratch = pm_scratch_memory_create(device, device->compute_queues);
    if (device->sampling != NULL && device->readback != NULL && device->counters != NULL &&
        device->objects != NULL && device->pipelines != NULL && device->compiler != NULL) {
        pm_slow_later_hook(device);
        device->optimizer = pm_optimizer_create(device, &optimizer_calls);
        /* Not from the first such pool on: a query of it may begin in a recording that has bound a
         * specialized pipeline before, and what is bound must be known then. */
        if (device->optimizer != NULL &&
            (device->abilities.queries_see_shaders || device->scratch != NULL))
            pm_registry_be_careful(device);
        start_trials(device);
        pm_poller_each_second(device->poller, each_second);
        return true;
    }
    device->abilities.sample = false;
    device->abilities.why_not = "there is no memory for it";
    if (error.code != PM_OK)
        pm_log_warning(device->instance->log, "%s", error.message);
    return false;
}

/* What was made for the queues. */
static void release_queues(const struct pm_sampling *sampling)
{
    for (uint32_t i = 0; sampling != NULL && i < sampling->queue_count; i++) {
        pm_copies_release(sampling->queue_list[i]);
        pm_predicate_update_release(sampling->queue_list[i]);
    }
}

/* Ends it. The device is idle and its handles are the game's no more. */
static void stop_sampling(struct pm_device *device)
{
    pm_compiler_stop(device->compiler);
    pm_constants_finish(device);
    pm_readback_stop(device->readback);
    /* The poller's thread, which ended with the readback, may have asked it for more until then. */
    pm_compiler_destroy(device->compiler);
    device->compiler = NULL;
    if (device->sampling != NULL) {
        pm_trials_end(device->trials);
        pm_session_trials_end(device->sessions);
    }
    pm_state_end(device->state);
    release_queues(device->sampling);
    pm_sampling_destroy(device->sampling);
    device->sampling = NULL;
    pm_optimizer_destroy(device->optimizer);
    device->optimizer = NULL;
    pm_pipelines_destroy(device->pipelines);
    pm_slow_later_destroy(device->slow_later);
    device->slow_later = NULL;
    pm_additive_destroy(device->additive);
    pm_session_trials_destroy(device->sessions);
    pm_trials_destroy(device->trials);
    pm_timing_destroy(device->timing);
    pm_ab_destroy(device->ab);
    device->additive = NULL;
    device->trials = NULL;
    device->sessions = NULL;
    device->timing = NULL;
    device->ab = NULL;
    pm_objects_destroy(device->objects);
    pm_counters_destroy(device->counters);
    pm_predicates_destroy(device->predicates);
    pm_scratch_memory_destroy(device->scratch);
    pm_readback_destroy(device->readback);
    pm_poller_destroy(device->poller);
    device->pipelines = NULL;
    device->objects = NULL;
    device->counters = NULL;
    device->predicates = NULL;
    device->scratch = NULL;
    device->readback = NULL;
    device->poller = NULL;
}

static void free_device(struct pm_device *device)
{
    pm_state_destroy(device->state);
    pm_trace_destroy(device->trace);
    pm_instance_release(device->instance);
    free(device->queue_families);
    free(device);
}

/* info: what it was made with; asked: what the game asked for. */
static void set_up(struct pm_device *device, const VkDeviceCreateInfo *info,
                   const VkDeviceCreateInfo *asked)
{
    struct pm_instance *instance = device->instance;
    const struct pm_instance_dispatch *dispatch = &instance->dispatch;
    dispatch->GetPhysicalDeviceProperties(device->physical, &device->properties);
    dispatch->GetPhysicalDeviceMemoryProperties(device->physical, &device->memory);
    pm_device_find_abilities(device, info, asked);
    if (!find_queue_families(device, info) || device->set_loader_data == NULL)
        device->abilities.sample = false;
    device->state = pm_state_create(device);
    device->trace = pm_trace_create(device);
    device->database_at = pm_database_due_at(instance);
    if (start_sampling(device)) {
        pm_log_info(instance->log, "sampling on %s", device->properties.deviceName);
        pm_poller_start(device->poller);
        return;
    }
    stop_sampling(device);
    pm_state_nothing(device->state);
    pm_log_info(instance->log, "no sampling on %s: %s", device->properties.deviceName,
                device->abilities.why_not != NULL ? device->abilities.why_not
                                                  : "the loader is too old");
}

/* Nothing is to be done on the device, which is told. */
static void set_up_nothing(struct pm_device *device)
{
    device->instance->dispatch.GetPhysicalDeviceProperties(device->physical, &device->properties);
    device->state = pm_state_create(device);
    device->trace = pm_trace_create(device);
    pm_state_nothing(device->state);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateDevice(VkPhysicalDevice physical,
                                               const VkDeviceCreateInfo *info,
                                               const VkAllocationCallbacks *allocator,
                                               VkDevice *out)
{
    struct pm_instance *instance = pm_instance_of(physical);
    const VkLayerDeviceCreateInfo *link = find_loader_info(info, VK_LAYER_LINK_INFO);
    const VkLayerDeviceCreateInfo *loader = find_loader_info(info, VK_LOADER_DATA_CALLBACK);
    if (instance == NULL || link == NULL || link->u.pLayerInfo == NULL)
        return VK_ERROR_INITIALIZATION_FAILED;
    pm_database_open(instance);
    pm_constant_values_open(instance);
    PFN_vkGetDeviceProcAddr gdpa = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkSetDeviceLoaderData set_loader_data =
        loader != NULL ? loader->u.pfnSetDeviceLoaderData : NULL;
    struct pm_arena *arena = pm_arena_create(0);
    const VkDeviceCreateInfo *used;
    const VkAllocationCallbacks *passed = pm_instance_callbacks(instance, allocator);
    VkResult result = create_next(arena, instance, physical, info, passed, out, &used);
    if (result != VK_SUCCESS) {
        pm_arena_destroy(arena);
        return result;
    }
    struct pm_device *device = calloc(1, sizeof *device);
    if (device != NULL) {
        device->handle = *out;
        device->physical = physical;
        device->instance = pm_instance_reference(instance);
        device->process = getpid();
        device->set_loader_data = set_loader_data;
        pm_device_dispatch_load(&device->dispatch, *out, gdpa);
        if (wants_sampling(instance))
            set_up(device, used, info);
        else
            set_up_nothing(device);
    }
    pm_arena_destroy(arena);
    pm_process_watch_exit();
    pm_registry_swap_recordings(pm_recording_table_swap);
    pm_signal_handler_learn();
    if (device == NULL || !pm_registry_add_device(device)) {
        PFN_vkDestroyDevice destroy = (PFN_vkDestroyDevice)gdpa(*out, "vkDestroyDevice");
        if (device != NULL) {
            stop_sampling(device);
            free_device(device);
        }
        destroy(*out, passed);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return VK_SUCCESS;
}

void pm_device_abandon(struct pm_device *device)
{
    bool ours = getpid() == device->process;
    /* First: should the process exit in the middle, pm_registry_exit does not find the device. */
    pm_optimize_ends(device, pm_signal_handler_runs());
    pm_registry_remove_device(device);
    /* In a forked child there are no threads to join and no objects that are its own: they are left
     * alone. */
    if (ours) {
        stop_sampling(device);
        free_device(device);
    }
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyDevice(VkDevice handle, const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = handle != VK_NULL_HANDLE ? pm_device_of(handle) : NULL;
    if (device == NULL)
        return;
    PFN_vkDestroyDevice destroy = device->dispatch.DestroyDevice;
    const VkAllocationCallbacks *passed = pm_instance_callbacks(device->instance, allocator);
    pm_device_abandon(device);
    destroy(handle, passed);
}
