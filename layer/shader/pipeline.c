#include "layer/shader/pipeline.h"

#include "base/clock.h"
#include "layer/core/compiler.h"
#include "layer/core/session.h"
#include "layer/shader/optimized.h"
#include "layer/shader/variant_table.h"
#include <stdlib.h>

/* Bytes of what pipelines share: thousands of states or more. Beyond that each has its own. */
enum { MOST_STATES = 1 << 20 };

struct pm_pipelines *pm_pipelines_create(struct pm_device *device)
{
    struct pm_pipelines *pipelines = calloc(1, sizeof *pipelines);
    if (!pipelines)
        return NULL;
    pipelines->device = device;
    device->standing = pm_standing_create(&device->stands);
    pipelines->records = pm_shader_records_create(device);
    if (!pipelines->records || !device->standing) {
        pm_shader_records_destroy(pipelines->records);
        pm_standing_destroy(device->standing);
        device->standing = NULL;
        free(pipelines);
        return NULL;
    }
    pipelines->states = pm_interned_create(MOST_STATES);
    pm_lookup_init(&pipelines->by_handle);
    pm_lookup_init(&pipelines->by_shader);
    pm_push_layouts_init(&pipelines->push_layouts);
    pm_dynamic_states_init(&pipelines->dynamic);
    pthread_mutex_init(&pipelines->lock, NULL);
    pthread_mutex_init(&pipelines->cache_lock, NULL);
    const struct pm_config *config = &device->instance->config;
    pm_variant_budget_init(&pipelines->budget, config->limits.variants,
                           config->limits.variants_per_minute, pm_now());
    pipelines->budget.first_come = config->debug.synchronous;
    /* There every call is to be counted, and who waits for compiles waits for these, too. */
    pipelines->first_draws.most = config->debug.synchronous ? 0 : config->limits.first_draw_words;
    pm_ahead_init(&pipelines->ahead, config->limits.creation_ms, config->limits.loading_ms,
                  pm_session_seed(device->instance), pm_now());
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
    pm_lookup_each(&pipelines->by_shader, release_leftover, NULL);
    pm_lookup_finish(&pipelines->by_handle);
    pm_lookup_finish(&pipelines->by_shader);
    pm_push_layouts_finish(&pipelines->push_layouts);
    pm_dynamic_states_finish(&pipelines->dynamic);
    if (pipelines->cache)
        device->dispatch.DestroyPipelineCache(device->handle, pipelines->cache, NULL);
    pm_shader_records_destroy(pipelines->records);
    pm_ahead_finish(&pipelines->ahead);
    pm_variant_budget_finish(&pipelines->budget);
    pthread_mutex_destroy(&pipelines->cache_lock);
    pthread_mutex_destroy(&pipelines->lock);
    pm_standing_destroy(device->standing);
    device->standing = NULL;
    pm_interned_destroy(pipelines->states);
    free(pipelines);
}

/* ---- lifetime ---- */

struct pm_pipeline *pm_pipeline_create(struct pm_device *device, uint32_t most_modules,
                                       struct pm_error *error)
{
    struct pm_pipeline *pipeline =
        calloc(1, sizeof *pipeline + most_modules * sizeof *pipeline->modules);
    struct pm_arena *arena = pm_arena_create(0);
    if (!pipeline || !arena) {
        free(pipeline);
        pm_arena_destroy(arena);
        pm_fail(error, PM_ERROR_MEMORY, "no memory");
        return NULL;
    }
    pipeline->device = device;
    pipeline->arena = arena;
    pipeline->lot = 1;
    atomic_init(&pipeline->references, 1);
    pthread_mutex_init(&pipeline->copying, NULL);
    return pipeline;
}

void pm_pipeline_trim(struct pm_pipeline *pipeline)
{
    if (pm_arena_used(pipeline->arena) > 0)
        return;
    pm_arena_destroy(pipeline->arena);
    pipeline->arena = NULL;
}

void pm_pipeline_reference(struct pm_pipeline *pipeline)
{
    atomic_fetch_add(&pipeline->references, 1);
}

bool pm_pipeline_try_reference(struct pm_pipeline *pipeline)
{
    uint32_t references = atomic_load(&pipeline->references);
    while (references > 0)
        if (atomic_compare_exchange_weak(&pipeline->references, &references, references + 1))
            return true;
    return false;
}

static void destroy_optimized(struct pm_device *device, struct pm_optimized *optimized)
{
    if (!optimized)
        return;
    pm_optimized_destroy(device, optimized);
    if (device->pipelines->released)
        device->pipelines->released(device);
}

void pm_pipeline_destroy(struct pm_pipeline *pipeline)
{
    if (!pipeline)
        return;
    struct pm_device *device = pipeline->device;
    pm_variants_drop(pipeline);
    free(pipeline->batches);
    /* A verdict on the specialized one drops what was made of it: there is none from here on. */
    struct pm_optimized *optimized = atomic_load(&pipeline->optimized);
    if (optimized && optimized->candidate.gone) {
        optimized->candidate.gone(&optimized->candidate);
        optimized->candidate.gone = NULL;
    }
    /* What names the specialized one as its rival goes first. */
    for (struct pm_optimized *arm = pipeline->arms, *next; arm; arm = next) {
        next = arm->next;
        destroy_optimized(device, arm);
    }
    destroy_optimized(device, atomic_load(&pipeline->over));
    destroy_optimized(device, optimized);
    destroy_optimized(device, atomic_load(&pipeline->folded));
    destroy_optimized(device, atomic_load(&pipeline->passes));
    if (pipeline->copy)
        device->dispatch.DestroyPipeline(device->handle, pipeline->copy, NULL);
    for (uint32_t i = 0; i < pipeline->module_count; i++)
        pm_object_release(pipeline->modules[i]);
    for (uint32_t i = 0; i < pipeline->library_count; i++)
        pm_pipeline_release(pipeline->libraries[i]);
    for (uint32_t i = 0; i < pipeline->set_layout_count; i++)
        pm_object_release(pipeline->set_layouts[i]);
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

struct pm_candidate *pm_pipeline_candidate(const struct pm_pipeline *pipeline)
{
    return atomic_load(&pipeline->candidate);
}

struct pm_candidate *pm_pipeline_over_candidate(const struct pm_pipeline *pipeline)
{
    /* Its rival stands while it is the best alone. */
    return atomic_load(&pipeline->best) != 0
               ? atomic_load_explicit(&pipeline->over_candidate, memory_order_acquire)
               : NULL;
}

struct pm_candidate *pm_pipeline_folded_candidate(const struct pm_pipeline *pipeline)
{
    return atomic_load(&pipeline->folded_candidate);
}

struct pm_candidate *pm_pipeline_passes_candidate(const struct pm_pipeline *pipeline)
{
    return atomic_load(&pipeline->passes_candidate);
}

/* ---- handles ---- */

struct pm_pipeline *pm_pipeline_find(struct pm_device *device, VkPipeline handle)
{
    if (!device->pipelines || !handle)
        return NULL;
    struct pm_pipeline *pipeline = pm_lookup_find(&device->pipelines->by_handle, PM_BITS(handle));
    return pipeline && !pipeline->is_library ? pipeline : NULL;
}

struct pm_pipeline *pm_pipeline_find_shader(struct pm_device *device, VkShaderEXT handle)
{
    if (!device->pipelines || !handle)
        return NULL;
    return pm_lookup_find(&device->pipelines->by_shader, PM_BITS(handle));
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

void pm_pipelines_leave(struct pm_pipelines *pipelines,
                        const VkPipelineDynamicStateCreateInfo *info,
                        VkGraphicsPipelineLibraryFlagsEXT own,
                        uint64_t set[static PM_DYNAMIC_WORDS])
{
    if (pm_dynamic_states_add(&pipelines->dynamic, info, own, set))
        pm_standing_change_all(pipelines->device->standing);
}

void pm_pipelines_are_seen(struct pm_pipelines *pipelines)
{
    /* Whoever makes a second pool meanwhile may not have it before all is changed. */
    if (atomic_load(&pipelines->seen_by_all))
        return;
    atomic_store(&pipelines->seen, true);
    pm_standing_change_all(pipelines->device->standing);
    atomic_store(&pipelines->seen_by_all, true);
}

void pm_pipelines_leave_all(struct pm_pipelines *pipelines)
{
    if (pm_dynamic_states_add_all(&pipelines->dynamic))
        pm_standing_change_all(pipelines->device->standing);
}

bool pm_pipelines_put(struct pm_pipelines *pipelines, uint64_t handle, struct pm_pipeline *pipeline)
{
    struct pm_lookup *all = pipeline->object ? &pipelines->by_shader : &pipelines->by_handle;
    pthread_mutex_lock(&pipelines->lock);
    struct pm_pipeline *known = pm_lookup_find(all, handle);
    bool kept = false;
    if (known) {
        known->handle_count++;
    } else {
        pipeline->handle = handle;
        pipeline->handle_count = 1;
        kept = pm_lookup_put(all, handle, pipeline);
    }
    pthread_mutex_unlock(&pipelines->lock);
    const struct pm_pipeline *owner = kept ? pipeline->shader_owner : NULL;
    if (owner && owner->shader_stage < owner->module_count && owner->modules[owner->shader_stage] &&
        pm_object_note(owner->modules[owner->shader_stage]))
        atomic_fetch_add_explicit(&pipelines->shaders, 1, memory_order_relaxed);
    if (!kept)
        pm_pipeline_release(pipeline);
    return kept;
}

static void remove_from(struct pm_device *device, struct pm_lookup *all, uint64_t handle)
{
    struct pm_pipelines *pipelines = device->pipelines;
    pthread_mutex_lock(&pipelines->lock);
    struct pm_pipeline *pipeline = pm_lookup_find(all, handle);
    if (pipeline && --pipeline->handle_count == 0) {
        (void)pm_lookup_remove(all, handle);
        pm_standing_forget(&pipeline->stands);
    } else
        pipeline = NULL;
    pthread_mutex_unlock(&pipelines->lock);
    if (!pipeline)
        return;
    atomic_store(&pipeline->gone, true);
    if (device->compiler)
        pm_compiler_cancel(device->compiler, pipeline);
    if (pipelines->forget)
        pipelines->forget(pipeline);
    pm_pipeline_release(pipeline);
}

void pm_pipelines_remove(struct pm_device *device, VkPipeline handle)
{
    if (device->pipelines && handle)
        remove_from(device, &device->pipelines->by_handle, PM_BITS(handle));
}

void pm_pipelines_remove_shader(struct pm_device *device, VkShaderEXT handle)
{
    if (device->pipelines && handle)
        remove_from(device, &device->pipelines->by_shader, PM_BITS(handle));
}
