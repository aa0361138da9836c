/* What is bound and active in a chosen recording, and the sampled call itself. */
#include "layer/frame/command.h"
#include "layer/hooks/hooks.h"
#include "layer/shader/optimize.h"
#include "layer/shader/variant_make.h"
#include "layer/trial/ab.h"
#include "layer/trial/trial.h"

#include <stdlib.h>

/* The record of a command buffer whose recording is followed; NULL for all others. */
static struct pm_command *followed(struct pm_device *device, VkCommandBuffer handle)
{
    struct pm_sampling *sampling = device->sampling;
    if (sampling == NULL || !atomic_load_explicit(&sampling->armed, memory_order_relaxed))
        return NULL;
    struct pm_command *command = pm_command_of(sampling, handle);
    return command != NULL && command->chosen ? command : NULL;
}

static int point_index(VkPipelineBindPoint point)
{
    return point == VK_PIPELINE_BIND_POINT_GRAPHICS  ? PM_GRAPHICS
           : point == VK_PIPELINE_BIND_POINT_COMPUTE ? PM_COMPUTE
                                                     : PM_BIND_POINTS;
}

/* As followed, but also where a proven variant must not be bound (HAZARDS 11): the game has queries
 * that would see it, or protected command buffers. */
static struct pm_command *watched(struct pm_device *device, VkCommandBuffer handle)
{
    struct pm_command *command = followed(device, handle);
    struct pm_sampling *sampling = device->sampling;
    if (command == NULL && sampling != NULL &&
        atomic_load_explicit(&sampling->careful, memory_order_relaxed))
        command = pm_command_of(sampling, handle);
    return command;
}

/* The pipeline's proven variant; VK_NULL_HANDLE: there is none, or it must not be bound here. */
static VkPipeline best_of(const struct pm_device *device, const struct pm_command *command,
                          struct pm_pipeline *pipeline)
{
    if (pipeline == NULL || !atomic_load_explicit(&device->optimizes, memory_order_relaxed))
        return VK_NULL_HANDLE;
    if (command == NULL ? atomic_load_explicit(&device->sampling->careful, memory_order_relaxed)
                        : (command->obstacles != 0 || command->active_queries != 0))
        return VK_NULL_HANDLE;
    return pm_optimize_best(pipeline);
}

/* While recordings are followed or watched. */
static __attribute__((noinline)) void bind_watched(struct pm_device *device, VkCommandBuffer handle,
                                                   VkPipelineBindPoint point, VkPipeline pipeline)
{
    struct pm_command *command = watched(device, handle);
    const int index = point_index(point);
    VkPipeline effective = pipeline;
    if (index < PM_BIND_POINTS) {
        struct pm_pipeline *known = pm_pipeline_find(device, pipeline);
        const VkPipeline best = best_of(device, command, known);
        if (best != VK_NULL_HANDLE) {
            effective = best;
            pm_ab_bound(device->ab);
        }
        if (command != NULL) {
            command->bound[index] = effective;
            command->game[index] = pipeline;
            command->pipeline[index] = known;
            if (command->trying)
                effective = pm_trial_bind(command, index);
        }
    }
    device->dispatch.CmdBindPipeline(handle, point, effective);
}

static __attribute__((noinline)) void bind_best(struct pm_device *device, VkCommandBuffer handle,
                                                VkPipelineBindPoint point, VkPipeline pipeline)
{
    struct pm_pipeline *known = pm_pipeline_find(device, pipeline);
    const VkPipeline best = known != NULL ? pm_optimize_best(known) : VK_NULL_HANDLE;
    if (best != VK_NULL_HANDLE)
        pm_ab_bound(device->ab);
    device->dispatch.CmdBindPipeline(handle, point, best != VK_NULL_HANDLE ? best : pipeline);
}

/* When there are several devices. */
static __attribute__((noinline)) void bind_any(VkCommandBuffer handle, VkPipelineBindPoint point,
                                               VkPipeline pipeline)
{
    bind_watched(pm_device_of(handle), handle, point, pipeline);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBindPipeline(VkCommandBuffer handle, VkPipelineBindPoint point,
                                              VkPipeline pipeline)
{
    if (*(const void *const *)handle != atomic_load_explicit(&pm_one_key, memory_order_acquire)) {
        bind_any(handle, point, pipeline);
        return;
    }
    struct pm_device *device = pm_one.device;
    const struct pm_sampling *sampling = device->sampling;
    if (atomic_load_explicit(&sampling->armed, memory_order_relaxed) ||
        atomic_load_explicit(&sampling->careful, memory_order_relaxed))
        bind_watched(device, handle, point, pipeline);
    else if (atomic_load_explicit(&device->optimizes, memory_order_relaxed))
        bind_best(device, handle, point, pipeline);
    else
        device->dispatch.CmdBindPipeline(handle, point, pipeline);
}

/* Something begins that must not see a variant: what the game bound is bound again. */
static void put_back(struct pm_command *command)
{
    static const VkPipelineBindPoint points[PM_BIND_POINTS] = {
        [PM_GRAPHICS] = VK_PIPELINE_BIND_POINT_GRAPHICS,
        [PM_COMPUTE] = VK_PIPELINE_BIND_POINT_COMPUTE,
    };
    for (int i = 0; i < PM_BIND_POINTS; i++) {
        if (command->pipeline[i] == NULL || command->bound[i] == command->game[i])
            continue;
        command->bound[i] = command->game[i];
        command->device->dispatch.CmdBindPipeline(command->handle, points[i], command->game[i]);
    }
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBindPipelineShaderGroupNV(VkCommandBuffer handle,
                                                           VkPipelineBindPoint point,
                                                           VkPipeline pipeline, uint32_t group)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *command = watched(device, handle);
    int index = point_index(point);
    if (command != NULL && index < PM_BIND_POINTS)
        command->pipeline[index] = NULL;
    device->dispatch.CmdBindPipelineShaderGroupNV(handle, point, pipeline, group);
}

/* Shader objects take the place of the pipelines that were bound (HAZARDS 11). All are forgotten
 * rather than looked at by stage: a game that uses them has few pipelines. */
VKAPI_ATTR void VKAPI_CALL pm_CmdBindShadersEXT(VkCommandBuffer handle, uint32_t count,
                                                const VkShaderStageFlagBits *stages,
                                                const void *shaders)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *command = watched(device, handle);
    for (int i = 0; command != NULL && i < PM_BIND_POINTS; i++)
        command->pipeline[i] = NULL;
    PFN_vkVoidFunction found =
        device->sampling != NULL
            ? device->sampling->bind_shaders
            : device->dispatch.GetDeviceProcAddr(device->handle, "vkCmdBindShadersEXT");
    pm_bind_shaders next = (pm_bind_shaders)found;
    if (next != NULL)
        next(handle, count, stages, shaders);
}

/* false: out of memory. */
static bool reserve_use(struct pm_command *command)
{
    if (command->use_count < command->use_capacity)
        return true;
    uint32_t capacity = command->use_capacity > 0 ? command->use_capacity * 2 : 8;
    struct pm_use *uses = realloc(command->uses, capacity * sizeof *uses);
    if (uses == NULL)
        return false;
    command->uses = uses;
    command->use_capacity = capacity;
    return true;
}

/* Takes over one reference to the variant. false: out of memory, and the reference stays the
 * caller's. */
static bool add_use(struct pm_command *command, struct pm_variant *variant, uint32_t calls)
{
    /* The latest first: the same pipeline is often drawn with many times in a row. */
    for (uint32_t i = command->use_count; i-- > 0;) {
        if (command->uses[i].variant == variant) {
            command->uses[i].calls += calls;
            pm_variant_release(variant);
            return true;
        }
    }
    if (!reserve_use(command))
        return false;
    if (command->use_count == 0)
        atomic_fetch_add(&command->device->sampling->tracked, 1);
    command->uses[command->use_count++] = (struct pm_use){variant, calls};
    return true;
}

static void sample(struct pm_command *command, int point, struct pm_sampled *sampled)
{
    struct pm_device *device = command->device;
    if (command->obstacles != 0 || command->active_queries != 0 ||
        command->pipeline[point] == NULL ||
        atomic_load_explicit(&device->lost, memory_order_relaxed))
        return;
    struct pm_variant *variant = pm_pipeline_sample(command->pipeline[point]);
    if (variant == NULL)
        return;
    /* Once it is in the list another thread cannot take it away, but the list may hold the only
     * reference. */
    VkPipeline handle = variant->built.handle;
    if (!add_use(command, variant, 1)) {
        pm_variant_release(variant);
        return;
    }
    device->dispatch.CmdBindPipeline(command->handle,
                                     point == PM_GRAPHICS ? VK_PIPELINE_BIND_POINT_GRAPHICS
                                                          : VK_PIPELINE_BIND_POINT_COMPUTE,
                                     handle);
    sampled->original = command->bound[point];
}

struct pm_sampled pm_command_sample(struct pm_command *command, int point)
{
    struct pm_device *device = command->device;
    struct pm_sampled sampled = {.device = device, .measurement = PM_TIMING_NONE};
    if (command->trying) {
        pm_trial_call(command, point, &sampled);
    } else {
        command->countdown = pm_geometric(&command->random, device->sampling->probability);
        sample(command, point, &sampled);
    }
    return sampled;
}

void pm_command_sampled(const struct pm_sampled *sampled, VkCommandBuffer handle,
                        VkPipelineBindPoint point)
{
    const struct pm_device *device = sampled->device;
    if (sampled->measurement != PM_TIMING_NONE)
        pm_timing_end(pm_command_of(device->sampling, handle), sampled->measurement,
                      &sampled->timed);
    if (sampled->original != VK_NULL_HANDLE)
        device->dispatch.CmdBindPipeline(handle, point, sampled->original);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdExecuteCommands(VkCommandBuffer handle, uint32_t count,
                                                 const VkCommandBuffer *buffers)
{
    struct pm_device *device = pm_device_of(handle);
    device->dispatch.CmdExecuteCommands(handle, count, buffers);
    struct pm_sampling *sampling = device->sampling;
    if (sampling == NULL || (atomic_load(&sampling->tracked) == 0 &&
                             !atomic_load(&sampling->armed) && !atomic_load(&sampling->careful)))
        return;
    struct pm_command *primary = pm_command_of(sampling, handle);
    if (primary == NULL)
        return;
    /* What was bound is undefined from here on, and what ran is not known. */
    primary->pass.spoilt = true;
    primary->pass.bound = false;
    for (int i = 0; i < PM_BIND_POINTS; i++)
        primary->pipeline[i] = NULL;
    /* The primary counts and holds what its secondaries name, so that a submission looks at
     * primaries only, and a secondary that is reset first takes nothing away from a primary that
     * the GPU still runs. */
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_command *secondary = pm_command_of(sampling, buffers[i]);
        if (secondary != NULL && secondary->scene != PM_SCENE_NONE)
            primary->scene = secondary->scene;
        for (uint32_t j = 0; secondary != NULL && j < secondary->use_count; j++) {
            struct pm_use use = secondary->uses[j];
            pm_variant_reference(use.variant);
            /* Out of memory: the reference is never given back, which is safe; only these calls go
             * uncounted. */
            add_use(primary, use.variant, use.calls);
        }
    }
}

static bool changes_query(const struct pm_sampling *sampling, VkQueryPool pool)
{
    return pm_lookup_find(&sampling->queries, PM_KEY(pool)) == NULL;
}

static void query_begins(struct pm_device *device, VkCommandBuffer handle, VkQueryPool pool)
{
    struct pm_command *command = watched(device, handle);
    if (command == NULL || !changes_query(device->sampling, pool))
        return;
    put_back(command);
    pm_trial_interrupt(command);
    command->active_queries++;
}

static void query_ends(struct pm_device *device, VkCommandBuffer handle, VkQueryPool pool)
{
    struct pm_command *command = watched(device, handle);
    if (command != NULL && command->active_queries > 0 && changes_query(device->sampling, pool))
        command->active_queries--;
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBeginQuery(VkCommandBuffer handle, VkQueryPool pool,
                                            uint32_t query, VkQueryControlFlags flags)
{
    struct pm_device *device = pm_device_of(handle);
    query_begins(device, handle, pool);
    device->dispatch.CmdBeginQuery(handle, pool, query, flags);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBeginQueryIndexedEXT(VkCommandBuffer handle, VkQueryPool pool,
                                                      uint32_t query, VkQueryControlFlags flags,
                                                      uint32_t index)
{
    struct pm_device *device = pm_device_of(handle);
    query_begins(device, handle, pool);
    device->dispatch.CmdBeginQueryIndexedEXT(handle, pool, query, flags, index);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdEndQuery(VkCommandBuffer handle, VkQueryPool pool, uint32_t query)
{
    struct pm_device *device = pm_device_of(handle);
    device->dispatch.CmdEndQuery(handle, pool, query);
    query_ends(device, handle, pool);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdEndQueryIndexedEXT(VkCommandBuffer handle, VkQueryPool pool,
                                                    uint32_t query, uint32_t index)
{
    struct pm_device *device = pm_device_of(handle);
    device->dispatch.CmdEndQueryIndexedEXT(handle, pool, query, index);
    query_ends(device, handle, pool);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdBeginTransformFeedbackEXT(VkCommandBuffer handle, uint32_t first,
                                                           uint32_t count, const VkBuffer *buffers,
                                                           const VkDeviceSize *offsets)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *command = watched(device, handle);
    if (command != NULL) {
        /* While it is active nothing can be bound, so not when a query begins either. */
        put_back(command);
        pm_trial_interrupt(command);
        command->obstacles |= PM_OBSTACLE_TRANSFORM_FEEDBACK;
    }
    device->dispatch.CmdBeginTransformFeedbackEXT(handle, first, count, buffers, offsets);
}

VKAPI_ATTR void VKAPI_CALL pm_CmdEndTransformFeedbackEXT(VkCommandBuffer handle, uint32_t first,
                                                         uint32_t count, const VkBuffer *buffers,
                                                         const VkDeviceSize *offsets)
{
    struct pm_device *device = pm_device_of(handle);
    device->dispatch.CmdEndTransformFeedbackEXT(handle, first, count, buffers, offsets);
    struct pm_command *command = watched(device, handle);
    if (command != NULL)
        command->obstacles &= (uint8_t)~PM_OBSTACLE_TRANSFORM_FEEDBACK;
}

/* What is bound must be the pipeline that the info names. */
VKAPI_ATTR void VKAPI_CALL pm_CmdExecuteGeneratedCommandsNV(VkCommandBuffer handle,
                                                            VkBool32 preprocessed,
                                                            const VkGeneratedCommandsInfoNV *info)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_pipeline *known = pm_pipeline_find(device, info->pipeline);
    const int index = point_index(info->pipelineBindPoint);
    if (known != NULL && index < PM_BIND_POINTS && atomic_load(&known->optimized) != NULL) {
        struct pm_command *command = watched(device, handle);
        if (command != NULL) {
            pm_trial_interrupt(command);
            command->bound[index] = info->pipeline;
        }
        device->dispatch.CmdBindPipeline(handle, info->pipelineBindPoint, info->pipeline);
    }
    device->dispatch.CmdExecuteGeneratedCommandsNV(handle, preprocessed, info);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateQueryPool(VkDevice handle,
                                                  const VkQueryPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkQueryPool *out)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.CreateQueryPool(handle, info, allocator, out);
    if (result != VK_SUCCESS || device->sampling == NULL)
        return result;
    switch ((int)info->queryType) {
    case VK_QUERY_TYPE_OCCLUSION:
    case VK_QUERY_TYPE_TIMESTAMP:
    case VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT:
    case VK_QUERY_TYPE_PRIMITIVES_GENERATED_EXT:
    case VK_QUERY_TYPE_MESH_PRIMITIVES_GENERATED_EXT:
        pm_lookup_put(&device->sampling->queries, PM_KEY(*out), device);
        break;
    default:
        /* Pipeline statistics, performance, and what is not known count what a variant does. */
        atomic_store_explicit(&device->sampling->careful, true, memory_order_relaxed);
        break;
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyQueryPool(VkDevice handle, VkQueryPool pool,
                                               const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    if (device->sampling != NULL && pool != VK_NULL_HANDLE)
        pm_lookup_remove(&device->sampling->queries, PM_KEY(pool));
    device->dispatch.DestroyQueryPool(handle, pool, allocator);
}
