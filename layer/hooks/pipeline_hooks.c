/* The hooks of pipelines and shader objects: the game gets its own untouched and at once, and what
 * it is made of is remembered, for variants. */
#include "layer/core/session.h"
#include "layer/frame/sampling.h"
#include "layer/generate/create_info.h"
#include "layer/hooks/caller.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/shader/optimize.h"
#include "layer/shader/optimize_at_once.h"
#include "layer/shader/pipeline_remember.h"
#include "layer/shader/shader_object.h"
#include "layer/shader/variant_all.h"
#include "layer/shader/variant_make.h"

/* An overlay has a few pipelines. What makes more has the game's pipelines pass through it,
 * whatever it is called. */
enum { MOST_OVERLAID = 64 };

static const char pipeline_left_out[] = "a pipeline gets no variants";

/* Whether pipelines that were just made are an overlay's; caller: the hook's return address. */
static bool are_overlaid(struct pm_device *device, const void *caller, uint32_t count)
{
    if (!pm_caller_is_overlay(caller) ||
        atomic_fetch_add(&device->pipelines->overlaid, count) + count > MOST_OVERLAID)
        return false;
    pm_log_debug(device->instance->log, "%u pipelines are an overlay's, and left alone", count);
    return true;
}

/* Of so many pipelines that were just made. */
static struct pm_creation created(const struct pm_device *device,
                                  const struct pm_creation_start *start, uint32_t count)
{
    return pm_optimize_after_creation(
        start, count, device->sampling && pm_sampling_loads(device->sampling, count));
}

/* pipeline NULL: *error says why the game's `what` gets no variants. */
static void remember(struct pm_device *device, uint64_t handle, struct pm_pipeline *pipeline,
                     const struct pm_creation *creation, const char *what,
                     const struct pm_error *error)
{
    if (!pipeline) {
        pm_left_out(device->instance, what, error);
        return;
    }
    if (device->instance->config.debug.synchronous && !pipeline->is_library &&
        pm_session_samples(device->instance))
        pm_pipeline_build_all(pipeline);
    /* The game has not seen the handle yet, so it stays. */
    if (!pm_pipelines_put(device->pipelines, handle, pipeline))
        return;
    pm_optimize_pipeline(pipeline, creation);
    if (pm_session_samples(device->instance))
        pm_pipeline_make_ahead(pipeline, pm_sampling_chance_ahead(device->sampling),
                               creation->loads);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateGraphicsPipelines(VkDevice handle, VkPipelineCache cache,
                                                          uint32_t count,
                                                          const VkGraphicsPipelineCreateInfo *infos,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkPipeline *pipelines)
{
    struct pm_device *device = pm_device_of(handle);
    const struct pm_creation_start start = pm_optimize_before_creation(device);
    const VkResult result =
        device->dispatch.CreateGraphicsPipelines(handle, cache, count, infos, allocator, pipelines);
    const struct pm_creation creation = created(device, &start, count);
    const bool wanted = result >= 0 && device->pipelines &&
                        !are_overlaid(device, __builtin_return_address(0), count);
    /* Also of those that get no variants: their states may be set while another is bound. */
    for (uint32_t i = 0; device->pipelines && i < count; i++)
        pm_pipelines_leave(device->pipelines, infos[i].pDynamicState, pm_own_state(&infos[i]),
                           (uint64_t[PM_DYNAMIC_WORDS]){0});
    /* VK_PIPELINE_COMPILE_REQUIRED leaves null handles; after an error they need not even be that.
     */
    for (uint32_t i = 0; wanted && i < count; i++) {
        struct pm_error error = {0};
        if (pipelines[i])
            remember(device, PM_BITS(pipelines[i]),
                     pm_pipeline_remember_graphics(device, &infos[i], &error), &creation,
                     pipeline_left_out, &error);
    }
    pm_messages_deliver(device->instance);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateComputePipelines(VkDevice handle, VkPipelineCache cache,
                                                         uint32_t count,
                                                         const VkComputePipelineCreateInfo *infos,
                                                         const VkAllocationCallbacks *allocator,
                                                         VkPipeline *pipelines)
{
    struct pm_device *device = pm_device_of(handle);
    const struct pm_creation_start start = pm_optimize_before_creation(device);
    const VkResult result =
        device->dispatch.CreateComputePipelines(handle, cache, count, infos, allocator, pipelines);
    const struct pm_creation creation = created(device, &start, count);
    const bool wanted = result >= 0 && device->pipelines &&
                        !are_overlaid(device, __builtin_return_address(0), count);
    for (uint32_t i = 0; wanted && i < count; i++) {
        struct pm_error error = {0};
        if (pipelines[i])
            remember(device, PM_BITS(pipelines[i]),
                     pm_pipeline_remember_compute(device, &infos[i], &error), &creation,
                     pipeline_left_out, &error);
    }
    pm_messages_deliver(device->instance);
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyPipeline(VkDevice handle, VkPipeline pipeline,
                                              const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    pm_pipelines_remove(device, pipeline);
    device->dispatch.DestroyPipeline(handle, pipeline, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateShadersEXT(VkDevice handle, uint32_t count,
                                                   const VkShaderCreateInfoEXT *infos,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkShaderEXT *shaders)
{
    struct pm_device *device = pm_device_of(handle);
    const struct pm_creation_start start = pm_optimize_before_creation(device);
    const VkResult result =
        device->dispatch.CreateShadersEXT(handle, count, infos, allocator, shaders);
    const struct pm_creation creation = created(device, &start, count);
    for (uint32_t i = 0; device->pipelines && i < count; i++)
        if (infos[i].stage != VK_SHADER_STAGE_COMPUTE_BIT)
            pm_pipelines_leave_all(device->pipelines);
    const bool wanted = result >= 0 && device->pipelines &&
                        !are_overlaid(device, __builtin_return_address(0), count);
    for (uint32_t i = 0; wanted && i < count; i++) {
        struct pm_error error = {0};
        if (shaders[i])
            remember(device, PM_BITS(shaders[i]),
                     pm_shader_object_remember(device, count, infos, shaders, i, &error), &creation,
                     "a shader object gets no variants", &error);
    }
    pm_messages_deliver(device->instance);
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyShaderEXT(VkDevice handle, VkShaderEXT shader,
                                               const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    pm_pipelines_remove_shader(device, shader);
    device->dispatch.DestroyShaderEXT(handle, shader, allocator);
}
