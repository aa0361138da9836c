#include "layer/shader/optimize.h"

#include "base/clock.h"
#include "layer/core/compiler.h"
#include "layer/core/session.h"
#include "layer/core/trace.h"
#include "layer/shader/optimize_at_once.h"
#include "layer/shader/optimize_passes.h"
#include "layer/shader/optimize_private.h"
#include "layer/shader/optimize_retired.h"
#include "layer/shader/passes_build.h"
#include "layer/shader/specialized_shader.h"
#include "layer/shader/variant_make.h"
#include "profile/journal_asked.h"
#include <stdlib.h>

static struct pm_optimizer *optimizer_of(struct pm_job *job)
{
    return (struct pm_optimizer *)((char *)job - offsetof(struct pm_optimizer, job));
}

/* ---- one pipeline ---- */

/* What the pipeline would run; NULL: there is nothing to make of it. */
static const struct pm_specialized_shader *find_shader(const struct pm_optimizer *optimizer,
                                                       const struct pm_pipeline *pipeline,
                                                       enum pm_specialized_use use)
{
    struct pm_shader_request request;
    const struct pm_specialized_shader *found =
        use == PM_USE_PUSHED ? pipeline->specialized_folded : pipeline->specialized;
    if (found)
        return found;
    if (use == PM_USE_PUSHED && !pm_optimizer_may_fold(pipeline))
        return NULL;
    return pm_pipeline_shader_request(pipeline, &request)
               ? pm_specialized_shaders_get(optimizer->shaders, &request, use)
               : NULL;
}

/* Makes one of the pipeline's variants, unless it was. false: there is no room. */
static bool optimize_for(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                         enum pm_specialized_use use)
{
    struct pm_device *device = optimizer->device;
    const bool pushed = use == PM_USE_PUSHED;
    if (atomic_load(pushed ? &pipeline->folded : &pipeline->optimized))
        return pushed || pm_optimizer_enter_over(optimizer, pipeline);
    const struct pm_specialized_shader *shader = find_shader(optimizer, pipeline, use);
    *(pushed ? &pipeline->specialized_folded : &pipeline->specialized) = shader;
    if (!shader)
        return pushed || pm_optimizer_enter_contest(optimizer, pipeline);
    if (!pm_optimizer_reserve(optimizer, PM_ROOM_OPTIMIZED))
        return false;
    struct pm_error error = {0};
    struct pm_optimized *optimized =
        pm_optimizer_build(optimizer, optimizer->cache, pipeline, shader, use, &error);
    if (optimized) {
        pm_optimizer_publish(optimizer, pipeline, optimized);
        return pushed || pm_optimizer_enter_over(optimizer, pipeline);
    }
    pm_optimizer_give_back(optimizer, PM_ROOM_OPTIMIZED);
    pm_log_info(device->instance->log, "a pipeline is not specialized: %s", error.message);
    return true;
}

/* Makes the pipeline's variants, or has it wait until there is room. Called by one thread at a time
 * for a pipeline, and not any more once they were made. */
static void optimize(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    if (optimize_for(optimizer, pipeline, PM_USE_ANYWHERE) &&
        optimize_for(optimizer, pipeline, PM_USE_PUSHED) &&
        pm_optimizer_make_passes(optimizer, pipeline))
        atomic_store(&pipeline->wish, PM_WISH_NONE);
    else
        pm_waiting_put(&optimizer->waiting, pipeline, true);
}

/* ---- use ---- */

void pm_optimize_bound(struct pm_optimized *optimized)
{
    const struct pm_specialized_shader *shader = optimized->shader;
    struct pm_device *device = optimized->pipeline->device;
    pm_journal_used(shader->entry);
    if (shader->is_private)
        pm_log_debug(device->instance->log, "a variant for known words is bound");
    if (*shader->recipe)
        pm_log_debug(device->instance->log, "the recipe %s is in use", shader->recipe);
    device->optimizer->calls.used(device, shader,
                                  optimized->pipeline->keeps_side && !(shader->part.ratio > 0));
    atomic_store_explicit(&optimized->bound, true, memory_order_relaxed);
}

/* What stands for it (standing.h). */
static struct pm_stand find_standing(const struct pm_pipeline *pipeline)
{
    const struct pm_stand own = {.stands = pipeline->handle, .careful = pipeline->handle};
    const struct pm_stand unknown = {.stands = 0};
    if (pm_optimize_counts_binds(pipeline) || pipeline->device->ab || pipeline->device->trace ||
        pipeline->object || atomic_load(&pipeline->folded) || atomic_load(&pipeline->passes_best))
        return unknown;
    const struct pm_optimized *best = pm_optimize_best_of(pipeline);
    if (!best)
        return own;
    if (!atomic_load(&best->bound))
        return unknown;
    return (struct pm_stand){.stands = best->built.handle,
                             .careful = pm_pipeline_stands_itself(pipeline) ? own.careful
                                                                            : best->built.handle};
}

void pm_optimize_find_out(struct pm_pipeline *pipeline)
{
    pm_standing_learn(pipeline->device->standing, &pipeline->stands, pipeline, pipeline->handle,
                      find_standing);
}

void pm_optimize_pause(struct pm_device *device, bool paused)
{
    struct pm_optimizer *optimizer = device->optimizer;
    if (!optimizer)
        return;
    pthread_mutex_lock(&optimizer->lock);
    optimizer->paused = paused;
    pm_optimizer_set_binds(optimizer);
    pthread_mutex_unlock(&optimizer->lock);
}

bool pm_optimize_shows_life(const struct pm_device *device)
{
    return device->optimizer && pm_run_name() != NULL;
}

void pm_optimize_alive(struct pm_device *device)
{
    pm_journal_alive(device->optimizer->journal);
}

void pm_optimize_ends(struct pm_device *device, bool crashes)
{
    if (device->optimizer && (crashes || pm_hang_watch_hangs(&device->hang_watch, pm_now())))
        pm_journal_crashed(device->optimizer->journal);
}

/* ---- the queue ---- */

static bool has_room(const struct pm_optimizer *optimizer)
{
    return pm_optimizer_has_room(optimizer, PM_ROOM_OPTIMIZED);
}

/* Whether a pipeline waits that something can be done for. None can while nobody knows what the
 * database says. */
static bool any_waits(struct pm_optimizer *optimizer)
{
    return !atomic_load(&optimizer->device->instance->database_due) &&
           pm_waiting_any(&optimizer->waiting, has_room(optimizer));
}

static struct pm_pipeline *take_one(struct pm_optimizer *optimizer)
{
    return !atomic_load(&optimizer->device->instance->database_due)
               ? pm_waiting_take(&optimizer->waiting, has_room(optimizer))
               : NULL;
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
                        (atomic_load(&optimizer->unsaved) || atomic_load(&optimizer->contest_due) ||
                         atomic_load(&optimizer->retired_due) || any_waits(optimizer));
    const bool idle = runs || !optimizer->queued;
    optimizer->queued = wanted || (optimizer->queued && !runs);
    pthread_mutex_unlock(&optimizer->lock);
    if (wanted && idle && !pm_compiler_queue(compiler, &optimizer->job))
        drop_job(&optimizer->job);
    return wanted;
}

/* The same from where the game draws, who must not wait for a thread of the lowest priority: where
 * one is at it, the next heartbeat tries again. */
static void try_queue_job(struct pm_optimizer *optimizer)
{
    struct pm_compiler *compiler = optimizer->device->compiler;
    bool done = false;
    if (pthread_mutex_trylock(&optimizer->lock) == 0) {
        done = optimizer->queued || optimizer->stopping || !compiler;
        if (!done)
            done = optimizer->queued = pm_compiler_try_queue(compiler, &optimizer->job);
        pthread_mutex_unlock(&optimizer->lock);
    }
    if (!done)
        atomic_store(&optimizer->due, true);
}

void pm_optimize_heartbeat(struct pm_device *device)
{
    struct pm_optimizer *optimizer = device->optimizer;
    if (!optimizer)
        return;
    pm_journal_heartbeat(optimizer->journal, pm_now() / PM_SECOND,
                         device->instance->config.debug.settle_seconds);
    if (atomic_load_explicit(&optimizer->retired_count, memory_order_relaxed) > 0 &&
        pm_optimizer_look_at_retired(optimizer))
        atomic_store(&optimizer->due, true);
    if (atomic_load_explicit(&optimizer->due, memory_order_relaxed) &&
        atomic_exchange(&optimizer->due, false))
        try_queue_job(optimizer);
}

/* One pipeline at a time, so that more urgent jobs get their turn. */
static void run_job(struct pm_job *job)
{
    struct pm_optimizer *optimizer = optimizer_of(job);
    pm_optimizer_go_on(optimizer);
    struct pm_pipeline *pipeline = take_one(optimizer);
    if (pipeline && !atomic_load(&pipeline->gone) && !atomic_load(&optimizer->device->lost))
        optimize(optimizer, pipeline);
    pm_pipeline_release(pipeline);
    if (!pipeline && atomic_exchange(&optimizer->unsaved, false)) {
        pm_journal_sync(optimizer->journal);
        pm_specialized_shaders_save(optimizer->shaders);
    }
    if (!queue_job(optimizer, true))
        pm_pipeline_cache_save(optimizer->cache);
}

void pm_optimize_first_bind(struct pm_pipeline *pipeline)
{
    struct pm_optimizer *optimizer = pipeline->device->optimizer;
    uint32_t wish = PM_WISH_BOUND;
    if (!atomic_compare_exchange_strong(&pipeline->wish, &wish, PM_WISH_TOLD))
        return;
    if (pm_waiting_try_put(&optimizer->waiting, pipeline)) {
        if (!atomic_load(&pipeline->device->instance->database_due))
            try_queue_job(optimizer);
        return;
    }
    atomic_store(&pipeline->wish, PM_WISH_BOUND);
}

void pm_optimize_pipeline(struct pm_pipeline *pipeline, const struct pm_creation *creation)
{
    struct pm_device *device = pipeline->device;
    struct pm_optimizer *optimizer = device->optimizer;
    if (!optimizer || pipeline->is_library || pipeline->never_stands || atomic_load(&device->lost))
        return;
    if (!device->instance->config.debug.synchronous) {
        if (pm_optimizer_make_at_once(optimizer, pipeline, creation)) {
            atomic_store(&optimizer->unsaved, true);
            try_queue_job(optimizer);
            if (pipeline->keeps_side ||
                (!pm_session_knows_values(device->instance) && !pm_passes_possible(pipeline) &&
                 !pm_session_tests_variants(device->instance)))
                return;
        }
        atomic_store(&pipeline->wish, PM_WISH_BOUND);
        return;
    }
    atomic_store(&pipeline->wish, PM_WISH_WAITING);
    optimize(optimizer, pipeline);
}

static void forget(struct pm_pipeline *pipeline)
{
    pm_waiting_remove(&pipeline->device->optimizer->waiting, pipeline);
    pm_optimizer_leave_contest(pipeline->device->optimizer, pipeline);
}

static void released(struct pm_device *device)
{
    if (atomic_exchange(&device->optimizer->contest_blocked, false))
        atomic_store(&device->optimizer->contest_due, true);
    queue_job(device->optimizer, false);
}

void pm_optimize_goes_on(struct pm_device *device)
{
    queue_job(device->optimizer, false);
}

static void wake(struct pm_optimizer *optimizer)
{
    queue_job(optimizer, false);
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
    if (pm_session_tests_variants(device->instance) && !device->instance->config.debug.synchronous)
        optimizer->contests = pm_contests_create(device, journal);
    optimizer->cache = pm_pipeline_cache_create(device, true);
    optimizer->cache_of_contests = pm_pipeline_cache_create(device, false);
    optimizer->job = (struct pm_job){.run = run_job,
                                     .drop = drop_job,
                                     .owner = optimizer,
                                     .name = "specialized variants",
                                     .always = true};
    optimizer->wake = wake;
    pm_waiting_init(&optimizer->waiting);
    const struct pm_config *config = &device->instance->config;
    pm_at_once_init(&optimizer->at_once, config->limits.proven_ms_per_pipeline,
                    config->limits.proven_ms_per_second, &device->pipelines->ahead, pm_now());
    pthread_mutex_init(&optimizer->lock, NULL);
    pm_optimizer_set_binds(optimizer);
    device->pipelines->forget = forget;
    device->pipelines->released = released;
    pm_hang_watch_init(&device->hang_watch);
    pm_journal_begin(journal);
    if (optimizer->shaders && optimizer->cache && optimizer->cache_of_contests) {
        if (pm_specialized_shaders_any_proven(optimizer->shaders)) {
            pm_pipeline_cache_prepare(optimizer->cache);
            if (config->limits.proven_ms_per_second > 0)
                pm_ahead_reserve(&device->pipelines->ahead,
                                 pm_specialized_shaders_take(optimizer->shaders));
        }
        return optimizer;
    }
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
    pm_binds_set(optimizer->device, PM_BINDS_OF_VARIANTS, 0);
    optimizer->device->pipelines->forget = NULL;
    optimizer->device->pipelines->released = NULL;
    pm_waiting_finish(&optimizer->waiting);
    pm_at_once_finish(&optimizer->at_once);
    pm_pipeline_cache_destroy(optimizer->cache_of_contests);
    pm_pipeline_cache_destroy(optimizer->cache);
    pm_optimizer_forget_retired(optimizer);
    pm_contests_destroy(optimizer->contests);
    pm_specialized_shaders_destroy(optimizer->shaders);
    pm_hang_watch_finish(&optimizer->device->hang_watch);
    pm_journal_end(optimizer->journal);
    pthread_mutex_destroy(&optimizer->lock);
    free(optimizer);
}
