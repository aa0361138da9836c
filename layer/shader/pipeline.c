#include "layer/shader/pipeline.h"
#include "layer/core/compiler.h"
#include "layer/hooks/hooks.h"
#include "layer/core/session.h"
#include "layer/shader/optimize.h"
#include "layer/shader/pipeline_private.h"
#include <stdlib.h>

struct pm_pipelines *pm_pipelines_create(struct pm_device *device)
{
    struct pm_pipelines *pipelines = calloc(1, sizeof *pipelines);
    if (!pipelines)
        return NULL;
    pipelines->device = device;
    pipelines->records = pm_shader_records_create(device);
    if (!pipelines->records) {
        free(pipelines);
        return NULL;
    }
    pm_lookup_init(&pipelines->by_handle);
    pthread_mutex_init(&pipelines->lock, NULL);
    pthread_mutex_init(&pipelines->cache_lock, NULL);
    return pipelines;
}

static void release_leftover(void *user, void *value)
{
    (void)user;
    pm_pipeline_release(value);
}

void pm_pipelines_destroy(struct pm_pipelines *pipelines)
{
    if (!pipelines)
        return;
    struct pm_device *device = pipelines->device;
    pm_lookup_each(&pipelines->by_handle, release_leftover, NULL);
    pm_lookup_finish(&pipelines->by_handle);
    if (pipelines->cache)
        device->dispatch.DestroyPipelineCache(device->handle, pipelines->cache, NULL);
    pm_shader_records_destroy(pipelines->records);
    pthread_mutex_destroy(&pipelines->cache_lock);
    pthread_mutex_destroy(&pipelines->lock);
    free(pipelines);
}

/* ---- lifetime ---- */

void pm_pipeline_reference(struct pm_pipeline *pipeline)
{
    atomic_fetch_add(&pipeline->references, 1);
}

void pm_pipeline_destroy(struct pm_pipeline *pipeline)
{
    if (!pipeline)
        return;
    struct pm_device *device = pipeline->device;
    struct pm_shader_record *record = atomic_load(&pipeline->record);
    for (uint32_t i = 0; record && i < record->batch_count; i++)
        pm_variant_release(atomic_load(&pipeline->batches[i].variant));
    free(pipeline->batches);
    pm_optimized_destroy(atomic_load(&pipeline->optimized));
    if (pipeline->copy)
        device->dispatch.DestroyPipeline(device->handle, pipeline->copy, NULL);
    for (uint32_t i = 0; i < pipeline->module_count; i++)
        pm_object_release(pipeline->modules[i]);
    for (uint32_t i = 0; i < pipeline->library_count; i++)
        pm_pipeline_release(pipeline->libraries[i]);
    pm_object_release(pipeline->layout);
    pm_object_release(pipeline->render_pass);
    pthread_mutex_destroy(&pipeline->copying);
    pm_arena_destroy(pipeline->arena);
    free(pipeline);
}

void pm_pipeline_release(struct pm_pipeline *pipeline)
{
    if (pipeline && atomic_fetch_sub(&pipeline->references, 1) == 1)
        pm_pipeline_destroy(pipeline);
}

/* ---- handles ---- */

struct pm_pipeline *pm_pipeline_find(struct pm_device *device, VkPipeline handle)
{
    if (!device->pipelines || !handle)
        return NULL;
    struct pm_pipeline *pipeline = pm_lookup_find(&device->pipelines->by_handle, PM_BITS(handle));
    return pipeline && !pipeline->is_library ? pipeline : NULL;
}

struct pm_pipeline *pm_pipeline_find_library(struct pm_device *device, VkPipeline handle)
{
    struct pm_pipelines *pipelines = device->pipelines;
    if (!handle)
        return NULL;
    pthread_mutex_lock(&pipelines->lock);
    struct pm_pipeline *pipeline = pm_lookup_find(&pipelines->by_handle, PM_BITS(handle));
    if (pipeline && !pipeline->is_library)
        pipeline = NULL;
    if (pipeline)
        pm_pipeline_reference(pipeline);
    pthread_mutex_unlock(&pipelines->lock);
    return pipeline;
}

/* Takes over the reference. A driver may give identical pipelines one handle, and what is
 * remembered of them is the same then: the first stays. true: this one is it. */
static bool put(struct pm_pipelines *pipelines, VkPipeline handle, struct pm_pipeline *pipeline)
{
    pthread_mutex_lock(&pipelines->lock);
    struct pm_pipeline *known = pm_lookup_find(&pipelines->by_handle, PM_BITS(handle));
    bool kept = false;
    if (known) {
        known->handle_count++;
    } else {
        pipeline->handle = handle;
        pipeline->handle_count = 1;
        kept = pm_lookup_put(&pipelines->by_handle, PM_BITS(handle), pipeline);
    }
    pthread_mutex_unlock(&pipelines->lock);
    if (!kept)
        pm_pipeline_release(pipeline);
    return kept;
}

static void forget(struct pm_device *device, VkPipeline handle)
{
    struct pm_pipelines *pipelines = device->pipelines;
    if (!pipelines || !handle)
        return;
    pthread_mutex_lock(&pipelines->lock);
    struct pm_pipeline *pipeline = pm_lookup_find(&pipelines->by_handle, PM_BITS(handle));
    if (pipeline && --pipeline->handle_count == 0)
        (void)pm_lookup_remove(&pipelines->by_handle, PM_BITS(handle));
    else
        pipeline = NULL;
    pthread_mutex_unlock(&pipelines->lock);
    if (!pipeline)
        return;
    atomic_store(&pipeline->gone, true);
    if (device->compiler)
        pm_compiler_cancel(device->compiler, pipeline);
    pm_pipeline_release(pipeline);
}

/* ---- hooks ---- */

static void remember(struct pm_device *device, VkPipeline handle, struct pm_pipeline *pipeline,
                     const struct pm_error *error)
{
    if (!pipeline) {
        /* PM_ERROR_STATE: there is nothing to sample, which is nothing to tell. */
        pm_logf(device->instance->log, error->code == PM_ERROR_STATE ? PM_LOG_DEBUG : PM_LOG_INFO,
                "a pipeline gets no variants: %s", error->message);
        return;
    }
    if (device->instance->config.debug.synchronous && !pipeline->is_library &&
        pm_session_samples(device->instance))
        pm_pipeline_build_all(pipeline);
    /* The game has not seen the handle yet, so it stays. */
    if (put(device->pipelines, handle, pipeline))
        pm_optimize_pipeline(pipeline);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateGraphicsPipelines(VkDevice handle, VkPipelineCache cache,
                                                          uint32_t count,
                                                          const VkGraphicsPipelineCreateInfo *infos,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkPipeline *pipelines)
{
    struct pm_device *device = pm_device_of(handle);
    const VkResult result =
        device->dispatch.CreateGraphicsPipelines(handle, cache, count, infos, allocator, pipelines);
    /* VK_PIPELINE_COMPILE_REQUIRED leaves null handles; after an error they need not even be that.
     */
    for (uint32_t i = 0; result >= 0 && device->pipelines && i < count; i++) {
        struct pm_error error = {0};
        if (pipelines[i])
            remember(device, pipelines[i], pm_pipeline_remember_graphics(device, &infos[i], &error),
                     &error);
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
    const VkResult result =
        device->dispatch.CreateComputePipelines(handle, cache, count, infos, allocator, pipelines);
    for (uint32_t i = 0; result >= 0 && device->pipelines && i < count; i++) {
        struct pm_error error = {0};
        if (pipelines[i])
            remember(device, pipelines[i], pm_pipeline_remember_compute(device, &infos[i], &error),
                     &error);
    }
    pm_messages_deliver(device->instance);
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyPipeline(VkDevice handle, VkPipeline pipeline,
                                              const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    forget(device, pipeline);
    device->dispatch.DestroyPipeline(handle, pipeline, allocator);
}
