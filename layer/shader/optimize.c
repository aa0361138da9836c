#include "layer/shader/optimize.h"

#include "base/clock.h"
#include "layer/core/compiler.h"
#include "layer/core/session.h"
#include "layer/shader/pipeline_build.h"
#include "layer/shader/pipeline_cache.h"
#include "layer/shader/specialized_shader.h"
#include "layer/shader/variant_make.h"
#include <stdlib.h>

/* A pipeline that waits for its variant. */
struct waiting {
    struct pm_pipeline *pipeline; /* referenced */
    struct waiting *next;
};

struct pm_optimizer {
    struct pm_device *device;
    struct pm_optimizer_calls calls;
    struct pm_journal *journal; /* the instance's */
    struct pm_specialized_shaders *shaders;
    struct pm_pipeline_cache *cache;
    struct pm_job job; /* takes one waiting pipeline after another */
    pthread_mutex_t lock;
    /* guarded by lock: */
    struct waiting *first, *last;
    bool queued;         /* the job is, or runs */
    bool proven, paused; /* device->optimizes: proven and not paused */
};

/* ---- one pipeline ---- */

static void set_optimizes(struct pm_optimizer *optimizer)
{
    atomic_store_explicit(&optimizer->device->optimizes, optimizer->proven && !optimizer->paused,
                          memory_order_relaxed);
}

static void log_of(const struct pm_optimized *optimized, const char *what)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&optimized->shader->record->key, key);
    pm_log_info(optimized->pipeline->device->instance->log, "shader %.12s, specialized, %s", key,
                what);
}

/* A candidate's verdict. */
static void decide(struct pm_candidate *candidate, bool faster)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    struct pm_pipeline *pipeline = optimized->pipeline;
    struct pm_optimizer *optimizer = pipeline->device->optimizer;
    if (atomic_exchange(&optimized->decided, true))
        return;
    atomic_store(&pipeline->candidate, NULL);
    if (!faster) {
        log_of(optimized, "is not faster, and is dropped");
        return;
    }
    atomic_store_explicit(&pipeline->best, optimized->built.handle, memory_order_release);
    pthread_mutex_lock(&optimizer->lock);
    optimizer->proven = true;
    set_optimizes(optimizer);
    pthread_mutex_unlock(&optimizer->lock);
    log_of(optimized, "is used from now on");
}

static struct pm_optimized *build(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                                  const struct pm_specialized_shader *shader,
                                  struct pm_error *error)
{
    struct pm_optimized *optimized = calloc(1, sizeof *optimized);
    if (!optimized) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory for a variant");
        return NULL;
    }
    optimized->pipeline = pipeline;
    optimized->shader = shader;
    const struct pm_replacement replacement = {
        .words = &shader->module.words,
        .entry_point = shader->record->entry_point,
        .cache = pm_pipeline_cache_get(optimizer->cache),
        .name = "piecemeal specialized",
    };
    if (pm_pipeline_build(pipeline, &replacement, &optimized->built, error)) {
        optimized->candidate = (struct pm_candidate){
            .handle = optimized->built.handle,
            .key = shader->key,
            .original = shader->record->key,
            .environment = shader->environment,
            .entry = shader->entry,
            .verdict = decide,
        };
        pm_pipeline_cache_grown(optimizer->cache);
        return optimized;
    }
    pm_built_destroy(pipeline->device, &optimized->built);
    free(optimized);
    return NULL;
}

static void give_back(struct pm_pipelines *pipelines)
{
    atomic_fetch_sub(&pipelines->optimized, 1);
}

/* Takes one of limits.variants. Instrumented variants are counted by themselves: a window must not
 * leave nothing for these, nor the other way round. */
static bool reserve(struct pm_optimizer *optimizer)
{
    struct pm_pipelines *pipelines = optimizer->device->pipelines;
    if (atomic_fetch_add(&pipelines->optimized, 1) <
        optimizer->device->instance->config.limits.variants)
        return true;
    give_back(pipelines);
    pm_log_debug(optimizer->device->instance->log,
                 "a pipeline is not specialized: limits.variants is reached");
    return false;
}

/* Makes the pipeline's variant. Called once for a pipeline. */
static void optimize(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    struct pm_device *device = optimizer->device;
    struct pm_shader_request request;
    if (!device->abilities.subgroup_vote || !pm_pipeline_shader_request(pipeline, &request))
        return;
    const struct pm_specialized_shader *shader =
        pm_specialized_shaders_get(optimizer->shaders, &request);
    if (!shader || !reserve(optimizer))
        return;
    struct pm_error error = {0};
    struct pm_optimized *optimized = build(optimizer, pipeline, shader, &error);
    if (!optimized) {
        give_back(device->pipelines);
        pm_log_info(device->instance->log, "a pipeline is not specialized: %s", error.message);
        return;
    }
    const bool proven =
        shader->timing == PM_TIMING_FASTER || device->instance->config.debug.trust_variants;
    atomic_store(&pipeline->optimized, optimized);
    if (proven) {
        decide(&optimized->candidate, true);
        return;
    }
    optimizer->calls.built(device, &optimized->candidate, pipeline->compute != NULL);
    atomic_store(&pipeline->candidate, &optimized->candidate);
    /* The verdict may have come meanwhile: others have the shader, too. */
    if (atomic_load(&optimized->decided))
        atomic_store(&pipeline->candidate, NULL);
}

/* ---- use ---- */

void pm_optimize_bound(struct pm_pipeline *pipeline)
{
    const struct pm_specialized_shader *shader = atomic_load(&pipeline->optimized)->shader;
    pm_journal_used(shader->entry);
    pipeline->device->optimizer->calls.used(pipeline->device, &shader->record->key);
    atomic_store_explicit(&pipeline->best_bound, true, memory_order_relaxed);
}

void pm_optimize_pause(struct pm_device *device, bool paused)
{
    struct pm_optimizer *optimizer = device->optimizer;
    if (!optimizer)
        return;
    pthread_mutex_lock(&optimizer->lock);
    optimizer->paused = paused;
    set_optimizes(optimizer);
    pthread_mutex_unlock(&optimizer->lock);
}

void pm_optimize_heartbeat(struct pm_device *device)
{
    if (device->optimizer)
        pm_journal_heartbeat(device->optimizer->journal, pm_now() / PM_SECOND,
                             device->instance->config.debug.settle_seconds);
}

void pm_optimize_ends(struct pm_device *device, bool crashes)
{
    if (device->optimizer && (crashes || pm_hang_watch_hangs(&device->hang_watch, pm_now())))
        pm_journal_crashed(device->optimizer->journal);
}

/* ---- the queue ---- */

static struct pm_pipeline *take(struct pm_optimizer *optimizer)
{
    pthread_mutex_lock(&optimizer->lock);
    struct waiting *waiting = optimizer->first;
    if (waiting) {
        optimizer->first = waiting->next;
        if (!optimizer->first)
            optimizer->last = NULL;
    }
    pthread_mutex_unlock(&optimizer->lock);
    struct pm_pipeline *pipeline = waiting ? waiting->pipeline : NULL;
    free(waiting);
    return pipeline;
}

/* Queues the job when pipelines wait. The compiler refuses it only when it stops. */
static void continue_job(struct pm_optimizer *optimizer)
{
    pthread_mutex_lock(&optimizer->lock);
    optimizer->queued = optimizer->first != NULL;
    const bool wanted = optimizer->queued;
    pthread_mutex_unlock(&optimizer->lock);
    if (wanted && !pm_compiler_queue(optimizer->device->compiler, &optimizer->job)) {
        pthread_mutex_lock(&optimizer->lock);
        optimizer->queued = false;
        pthread_mutex_unlock(&optimizer->lock);
    }
    if (!wanted)
        pm_pipeline_cache_save(optimizer->cache);
}

static struct pm_optimizer *optimizer_of(struct pm_job *job)
{
    return (struct pm_optimizer *)((char *)job - offsetof(struct pm_optimizer, job));
}

/* One pipeline at a time, so that more urgent jobs get their turn. */
static void run_job(struct pm_job *job)
{
    struct pm_optimizer *optimizer = optimizer_of(job);
    struct pm_pipeline *pipeline = take(optimizer);
    if (pipeline && !atomic_load(&pipeline->gone) && !atomic_load(&optimizer->device->lost))
        optimize(optimizer, pipeline);
    pm_pipeline_release(pipeline);
    continue_job(optimizer);
}

static void drop_job(struct pm_job *job)
{
    struct pm_optimizer *optimizer = optimizer_of(job);
    pthread_mutex_lock(&optimizer->lock);
    optimizer->queued = false;
    pthread_mutex_unlock(&optimizer->lock);
}

static void enqueue(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting)
        return;
    pm_pipeline_reference(pipeline);
    waiting->pipeline = pipeline;
    pthread_mutex_lock(&optimizer->lock);
    if (optimizer->last)
        optimizer->last->next = waiting;
    else
        optimizer->first = waiting;
    optimizer->last = waiting;
    const bool idle = !optimizer->queued;
    optimizer->queued = true;
    pthread_mutex_unlock(&optimizer->lock);
    if (idle && !pm_compiler_queue(optimizer->device->compiler, &optimizer->job))
        drop_job(&optimizer->job);
}

void pm_optimize_pipeline(struct pm_pipeline *pipeline)
{
    struct pm_device *device = pipeline->device;
    struct pm_optimizer *optimizer = device->optimizer;
    if (!optimizer || pipeline->is_library || atomic_load(&device->lost))
        return;
    if (device->instance->config.debug.synchronous)
        optimize(optimizer, pipeline);
    else
        enqueue(optimizer, pipeline);
}

/* ---- lifetime ---- */

struct pm_optimizer *pm_optimizer_create(struct pm_device *device,
                                         const struct pm_optimizer_calls *calls)
{
    struct pm_journal *journal =
        pm_session_optimizes(device->instance) ? pm_session_journal(device->instance) : NULL;
    struct pm_optimizer *optimizer = journal ? calloc(1, sizeof *optimizer) : NULL;
    if (!optimizer)
        return NULL;
    optimizer->device = device;
    optimizer->calls = *calls;
    optimizer->journal = journal;
    optimizer->shaders = pm_specialized_shaders_create(device, journal);
    optimizer->cache = pm_pipeline_cache_create(device);
    optimizer->job =
        (struct pm_job){.run = run_job, .drop = drop_job, .owner = optimizer, .always = true};
    pthread_mutex_init(&optimizer->lock, NULL);
    pm_hang_watch_init(&device->hang_watch);
    pm_journal_begin(journal);
    if (optimizer->shaders && optimizer->cache)
        return optimizer;
    pm_optimizer_destroy(optimizer);
    return NULL;
}

void pm_optimizer_destroy(struct pm_optimizer *optimizer)
{
    if (!optimizer)
        return;
    for (struct pm_pipeline *pipeline; (pipeline = take(optimizer)) != NULL;)
        pm_pipeline_release(pipeline);
    pm_pipeline_cache_destroy(optimizer->cache);
    pm_specialized_shaders_destroy(optimizer->shaders);
    pm_hang_watch_finish(&optimizer->device->hang_watch);
    pm_journal_end(optimizer->journal);
    pthread_mutex_destroy(&optimizer->lock);
    free(optimizer);
}
