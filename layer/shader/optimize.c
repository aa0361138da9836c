#include "layer/shader/optimize.h"

#include "base/clock.h"
#include "layer/core/compiler.h"
#include "layer/core/session.h"
#include "layer/shader/pipeline_build.h"
#include "layer/shader/pipeline_cache.h"
#include "layer/shader/specialized_shader.h"
#include "layer/shader/variant_make.h"
#include "layer/shader/waiting.h"
#include <stdlib.h>

struct pm_optimizer {
    struct pm_device *device;
    struct pm_optimizer_calls calls;
    struct pm_journal *journal; /* the instance's */
    struct pm_specialized_shaders *shaders;
    struct pm_pipeline_cache *cache;
    struct pm_waiting waiting;
    _Atomic bool was_full; /* said once */
    struct pm_job job;     /* takes one waiting pipeline after another */
    pthread_mutex_t lock;
    /* guarded by lock: */
    bool queued;         /* the job is, or runs */
    bool stopping;       /* it will not be any more */
    bool proven, paused; /* device->binds has PM_BINDS_PROVEN: proven and not paused */
};

static struct pm_optimizer *optimizer_of(struct pm_job *job)
{
    return (struct pm_optimizer *)((char *)job - offsetof(struct pm_optimizer, job));
}

/* ---- one pipeline ---- */

/* Under the lock. */
static void set_binds(struct pm_optimizer *optimizer)
{
    const bool noticed = !optimizer->device->instance->config.debug.synchronous;
    const bool proven = optimizer->proven && !optimizer->paused;
    atomic_store_explicit(&optimizer->device->binds,
                          (noticed ? (uint32_t)PM_BINDS_NOTICED : 0) |
                              (proven ? (uint32_t)PM_BINDS_PROVEN : 0),
                          memory_order_relaxed);
}

static void log_of(const struct pm_optimized *optimized, const char *what)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&optimized->shader->record->key, key);
    pm_log_info(optimized->pipeline->device->instance->log, "shader %.12s, specialized, %s", key,
                what);
}

/* It keeps what names it alive, but takes no room from what may be faster; up to as many as that.
 */
static void drop(struct pm_optimized *optimized)
{
    struct pm_device *device = optimized->pipeline->device;
    struct pm_pipelines *pipelines = device->pipelines;
    if (atomic_fetch_add(&pipelines->dropped, 1) >= device->instance->config.limits.variants) {
        atomic_fetch_sub(&pipelines->dropped, 1);
        return;
    }
    atomic_store(&optimized->dropped, true);
    atomic_fetch_sub(&pipelines->optimized, 1);
    pipelines->released(device);
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
        drop(optimized);
        return;
    }
    atomic_store_explicit(&pipeline->best, optimized->built.handle, memory_order_release);
    pthread_mutex_lock(&optimizer->lock);
    optimizer->proven = true;
    set_binds(optimizer);
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
    if (!atomic_exchange(&optimizer->was_full, true))
        pm_log_debug(optimizer->device->instance->log,
                     "limits.variants is reached: what is bound often is specialized first, the "
                     "rest when there is room");
    return false;
}

/* What the pipeline would run; NULL: there is nothing to make of it. */
static const struct pm_specialized_shader *find_shader(const struct pm_optimizer *optimizer,
                                                       const struct pm_pipeline *pipeline)
{
    struct pm_shader_request request;
    if (pipeline->specialized)
        return pipeline->specialized;
    if (!optimizer->device->abilities.subgroup_vote ||
        !pm_pipeline_shader_request(pipeline, &request))
        return NULL;
    return pm_specialized_shaders_get(optimizer->shaders, &request);
}

/* Makes the pipeline's variant, or has it wait until there is room. Called by one thread at a time
 * for a pipeline, and not any more once it was made. */
static void optimize(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    struct pm_device *device = optimizer->device;
    const struct pm_specialized_shader *shader = find_shader(optimizer, pipeline);
    pipeline->specialized = shader;
    if (shader && !reserve(optimizer)) {
        pm_waiting_put(&optimizer->waiting, pipeline, true);
        return;
    }
    atomic_store(&pipeline->wish, PM_WISH_NONE);
    if (!shader)
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
    optimizer->calls.built(device, &optimized->candidate, pm_pipeline_computes(pipeline));
    atomic_store(&pipeline->candidate, &optimized->candidate);
    /* The verdict may have come meanwhile: others have the shader, too. */
    if (atomic_load(&optimized->decided))
        atomic_store(&pipeline->candidate, NULL);
}

/* ---- use ---- */

void pm_optimize_bound(struct pm_optimized *optimized)
{
    const struct pm_specialized_shader *shader = optimized->shader;
    struct pm_device *device = optimized->pipeline->device;
    pm_journal_used(shader->entry);
    device->optimizer->calls.used(device, &shader->record->key);
    atomic_store_explicit(&optimized->bound, true, memory_order_relaxed);
}

void pm_optimize_pause(struct pm_device *device, bool paused)
{
    struct pm_optimizer *optimizer = device->optimizer;
    if (!optimizer)
        return;
    pthread_mutex_lock(&optimizer->lock);
    optimizer->paused = paused;
    set_binds(optimizer);
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

static bool has_room(const struct pm_optimizer *optimizer)
{
    return atomic_load(&optimizer->device->pipelines->optimized) <
           optimizer->device->instance->config.limits.variants;
}

static void drop_job(struct pm_job *job)
{
    struct pm_optimizer *optimizer = optimizer_of(job);
    pthread_mutex_lock(&optimizer->lock);
    optimizer->queued = false;
    pthread_mutex_unlock(&optimizer->lock);
}

/* Queues the job if it is not, and a pipeline waits that something can be done for. false: it is
 * not queued. The compiler refuses it only when it stops. */
static bool queue_job(struct pm_optimizer *optimizer, bool runs)
{
    struct pm_compiler *compiler = optimizer->device->compiler;
    pthread_mutex_lock(&optimizer->lock);
    const bool wanted = !optimizer->stopping && compiler &&
                        pm_waiting_any(&optimizer->waiting, has_room(optimizer));
    const bool idle = runs || !optimizer->queued;
    optimizer->queued = wanted || (optimizer->queued && !runs);
    pthread_mutex_unlock(&optimizer->lock);
    if (wanted && idle && !pm_compiler_queue(compiler, &optimizer->job))
        drop_job(&optimizer->job);
    return wanted;
}

/* One pipeline at a time, so that more urgent jobs get their turn. */
static void run_job(struct pm_job *job)
{
    struct pm_optimizer *optimizer = optimizer_of(job);
    struct pm_pipeline *pipeline = pm_waiting_take(&optimizer->waiting, has_room(optimizer));
    if (pipeline && !atomic_load(&pipeline->gone) && !atomic_load(&optimizer->device->lost))
        optimize(optimizer, pipeline);
    pm_pipeline_release(pipeline);
    if (!queue_job(optimizer, true))
        pm_pipeline_cache_save(optimizer->cache);
}

void pm_optimize_first_bind(struct pm_pipeline *pipeline)
{
    struct pm_optimizer *optimizer = pipeline->device->optimizer;
    uint32_t wish = PM_WISH_BOUND;
    if (!atomic_compare_exchange_strong(&pipeline->wish, &wish, PM_WISH_WAITING))
        return;
    pm_waiting_put(&optimizer->waiting, pipeline, false);
    queue_job(optimizer, false);
}

void pm_optimize_pipeline(struct pm_pipeline *pipeline)
{
    struct pm_device *device = pipeline->device;
    struct pm_optimizer *optimizer = device->optimizer;
    if (!optimizer || pipeline->is_library || pipeline->never_stands || atomic_load(&device->lost))
        return;
    if (!device->instance->config.debug.synchronous) {
        atomic_store(&pipeline->wish, PM_WISH_BOUND);
        return;
    }
    atomic_store(&pipeline->wish, PM_WISH_WAITING);
    optimize(optimizer, pipeline);
}

static void forget(struct pm_pipeline *pipeline)
{
    pm_waiting_remove(&pipeline->device->optimizer->waiting, pipeline);
}

static void released(struct pm_device *device)
{
    queue_job(device->optimizer, false);
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
    pm_waiting_init(&optimizer->waiting);
    pthread_mutex_init(&optimizer->lock, NULL);
    set_binds(optimizer);
    device->pipelines->forget = forget;
    device->pipelines->released = released;
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
    pthread_mutex_lock(&optimizer->lock);
    optimizer->stopping = true;
    pthread_mutex_unlock(&optimizer->lock);
    atomic_store(&optimizer->device->binds, 0);
    optimizer->device->pipelines->forget = NULL;
    optimizer->device->pipelines->released = NULL;
    pm_waiting_finish(&optimizer->waiting);
    pm_pipeline_cache_destroy(optimizer->cache);
    pm_specialized_shaders_destroy(optimizer->shaders);
    pm_hang_watch_finish(&optimizer->device->hang_watch);
    pm_journal_end(optimizer->journal);
    pthread_mutex_destroy(&optimizer->lock);
    free(optimizer);
}
