#include "layer/shader/optimize_private.h"

#include "base/clock.h"
#include "layer/core/compiler.h"
#include "layer/core/session.h"
#include "layer/core/thread.h"
#include "layer/core/trace.h"
#include "layer/shader/optimize_passes.h"
#include "layer/shader/passes_build.h"
#include "layer/shader/pipeline_build.h"
#include "layer/shader/specialized_shader.h"
#include "layer/shader/variant_files.h"
#include "layer/shader/variant_make.h"
#include "profile/journal_asked.h"
#include "profile/variant_parts.h"
#include <stdio.h>
#include <stdlib.h>

static struct pm_optimizer *optimizer_of(struct pm_job *job)
{
    return (struct pm_optimizer *)((char *)job - offsetof(struct pm_optimizer, job));
}

/* ---- one pipeline ---- */

/* A candidate's verdict. */
const char *pm_optimizer_decide(struct pm_candidate *candidate, bool faster)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    struct pm_pipeline *pipeline = optimized->pipeline;
    struct pm_optimizer *optimizer = pipeline->device->optimizer;
    if (atomic_exchange(&optimized->decided, true))
        return NULL;
    const bool pushed = optimized->watch.count > 0;
    atomic_store(pushed ? &pipeline->folded_candidate : &pipeline->candidate, NULL);
    if (!faster) {
        if (pushed)
            atomic_store(&pipeline->folded_best, NULL);
        else
            atomic_store(&pipeline->best, 0);
        pm_optimizer_drop(optimized);
        return "is not faster, and is dropped";
    }
    if (pushed)
        atomic_store_explicit(&pipeline->folded_best, optimized, memory_order_release);
    else
        atomic_store_explicit(&pipeline->best, optimized->built.handle, memory_order_release);
    pm_optimizer_has_proven(optimizer);
    return pipeline->keeps_side ? "is used in this session, to be timed" : "is used from now on";
}

/* It is used without a trial. */
static void trust(struct pm_optimized *optimized)
{
    pm_candidate_log(optimized->pipeline->device, &optimized->shader->original,
                     pm_optimizer_decide(&optimized->candidate, true));
}

static void try_again(struct pm_candidate *candidate)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    struct pm_pipeline *pipeline = optimized->pipeline;
    atomic_store(&optimized->decided, false);
    atomic_store(optimized->watch.count > 0 ? &pipeline->folded_candidate : &pipeline->candidate,
                 candidate);
}

/* What a variant that runs only where push constants have values is to watch. */
static struct pm_watch watch_of(const struct pm_pipeline *pipeline,
                                const struct pm_known_words *known)
{
    struct pm_watch watch = {.ranges = pipeline->push_ranges, .count = known->count};
    for (uint32_t i = 0; i < known->count; i++) {
        const uint32_t word = known->words[i].point.offset / 4;
        watch.words[i].word = word;
        watch.words[i].value = known->words[i].value;
        watch.mask |= UINT64_C(1) << word;
    }
    return watch;
}

/* Where and how much is compiled (pipeline_build.h). */
enum compiling {
    IN_BACKGROUND, /* what has to be */
    AT_ONCE,       /* the variant, and nothing else */
    IF_COMPILED,   /* nothing at all */
};

/* Through the cache. */
static struct pm_optimized *build(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                                  const struct pm_specialized_shader *shader,
                                  enum pm_specialized_use use, VkPipelineCache cache,
                                  enum compiling compiling, struct pm_error *error)
{
    struct pm_optimized *optimized = calloc(1, sizeof *optimized);
    if (!optimized) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory for a variant");
        return NULL;
    }
    optimized->pipeline = pipeline;
    optimized->shader = shader;
    pm_variant_files_write(pipeline, shader);
    if (use == PM_USE_PUSHED)
        optimized->watch = watch_of(pipeline, &shader->known);
    char parts[PM_PARTS_TEXT], name[sizeof PM_TRACE_BUILDS + PM_PARTS_TEXT];
    pm_parts_format(pm_specialized_parts(shader), parts);
    snprintf(name, sizeof name, PM_TRACE_BUILDS "%s", parts);
    const struct pm_replacement replacement = {
        .words = &shader->module.words,
        .entry_point = shader->entry_point,
        .cache = cache,
        .name = name,
        .subgroup_size = shader->subgroup_size,
        .original = &shader->original,
        .if_compiled = compiling == IF_COMPILED,
        .at_once = compiling != IN_BACKGROUND,
    };
    if (pm_pipeline_build(pipeline, &replacement, &optimized->built, error)) {
        optimized->candidate =
            pm_optimizer_candidate(shader, optimized->built.handle, pm_optimizer_decide);
        optimized->candidate.again = try_again;
        if (use == PM_USE_PUSHED)
            optimized->candidate.watch = &optimized->watch;
        pm_pipeline_cache_grown(optimizer->cache);
        return optimized;
    }
    pm_built_destroy(pipeline->device, &optimized->built);
    free(optimized);
    return NULL;
}

/* Whether there may be a variant of it for values of push constants. */
static bool may_fold(const struct pm_pipeline *pipeline)
{
    return pipeline->push_ranges && pm_session_knows_values(pipeline->device->instance);
}

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
    if (use == PM_USE_PUSHED && !may_fold(pipeline))
        return NULL;
    return pm_pipeline_shader_request(pipeline, &request)
               ? pm_specialized_shaders_get(optimizer->shaders, &request, use)
               : NULL;
}

/* The same with how long it took, which later sessions are to know. What others' threads took
 * meanwhile is left out: this one is of the lowest priority. */
static struct pm_optimized *build_slowly(struct pm_optimizer *optimizer,
                                         struct pm_pipeline *pipeline,
                                         const struct pm_specialized_shader *shader,
                                         enum pm_specialized_use use, struct pm_error *error)
{
    const VkPipelineCache cache = pm_pipeline_cache_get(optimizer->cache);
    const int64_t delayed = pm_thread_delayed(), start = pm_now();
    struct pm_optimized *optimized =
        build(optimizer, pipeline, shader, use, cache, IN_BACKGROUND, error);
    const int64_t took = pm_now() - start - (pm_thread_delayed() - delayed);
    if (optimized) {
        pm_specialized_shaders_took(optimizer->shaders, shader, took > 0 ? took : 1, false);
        atomic_store(&optimizer->unsaved, true);
    }
    return optimized;
}

struct pm_optimized *pm_optimizer_build(struct pm_optimizer *optimizer,
                                        struct pm_pipeline *pipeline,
                                        const struct pm_specialized_shader *shader,
                                        struct pm_error *error)
{
    return build_slowly(optimizer, pipeline, shader, PM_USE_ANYWHERE, error);
}

/* Recordings follow what is pushed before there is anything that asks for it. */
static void watch(struct pm_optimizer *optimizer, const struct pm_watch *of)
{
    atomic_fetch_or(&of->ranges->watched, of->mask);
    optimizer->calls.follow(optimizer->device, of->mask);
    pthread_mutex_lock(&optimizer->lock);
    optimizer->watched = true;
    pm_optimizer_set_binds(optimizer);
    pthread_mutex_unlock(&optimizer->lock);
}

/* It is built: proven, the session's side, or to be tried. */
static void publish(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                    struct pm_optimized *optimized, enum pm_specialized_use use)
{
    struct pm_device *device = optimizer->device;
    const bool pushed = use == PM_USE_PUSHED,
               proven = optimized->shader->timing == PM_TIMING_FASTER;
    if (pushed)
        watch(optimizer, &optimized->watch);
    atomic_store(pushed ? &pipeline->folded : &pipeline->optimized, optimized);
    if (proven || pipeline->keeps_side || device->instance->config.debug.trust_variants ||
        device->instance->config.debug.recipe) {
        trust(optimized);
        if (proven)
            optimizer->calls.proven(device, &optimized->candidate, pm_pipeline_computes(pipeline));
        return;
    }
    pm_optimizer_offer(optimizer, optimized,
                       pushed ? &pipeline->folded_candidate : &pipeline->candidate);
}

void pm_optimizer_publish(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                          struct pm_optimized *optimized)
{
    publish(optimizer, pipeline, optimized, PM_USE_ANYWHERE);
}

/* Makes one of the pipeline's variants, unless it was. false: there is no room. */
static bool optimize_for(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                         enum pm_specialized_use use)
{
    struct pm_device *device = optimizer->device;
    const bool pushed = use == PM_USE_PUSHED;
    if (atomic_load(pushed ? &pipeline->folded : &pipeline->optimized))
        return true;
    const struct pm_specialized_shader *shader = find_shader(optimizer, pipeline, use);
    *(pushed ? &pipeline->specialized_folded : &pipeline->specialized) = shader;
    if (!shader)
        return pushed || pm_optimizer_enter_contest(optimizer, pipeline);
    if (!pm_optimizer_reserve(optimizer, PM_ROOM_OPTIMIZED))
        return false;
    struct pm_error error = {0};
    struct pm_optimized *optimized = build_slowly(optimizer, pipeline, shader, use, &error);
    if (optimized) {
        publish(optimizer, pipeline, optimized, use);
        return true;
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

/* ---- at once ---- */

/* On the thread that creates the pipeline: where the driver need not compile (shader objects are
 * never asked about), or took so short when it made one with the shader last that there is time. */
static struct pm_optimized *build_soon(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                                       const struct pm_specialized_shader *shader,
                                       enum pm_specialized_use use, int64_t took, int64_t until)
{
    const VkPipelineCache cache = pm_pipeline_cache_now(optimizer->cache);
    struct pm_error error = {0};
    struct pm_optimized *optimized = NULL;
    if (!cache)
        return NULL;
    if (optimizer->device->abilities.cache_control && !pipeline->object) {
        optimized = build(optimizer, pipeline, shader, use, cache, IF_COMPILED, &error);
        if (optimized || error.code != PM_ERROR_STATE)
            return optimized;
    }
    const int64_t start = pm_now();
    if (took == 0 || start + took > until)
        return NULL;
    optimized = build(optimizer, pipeline, shader, use, cache, AT_ONCE, &error);
    if (optimized)
        pm_specialized_shaders_took(optimizer->shaders, shader, pm_now() - start, true);
    return optimized;
}

/* What the session times is this side and nothing else: whatever were made in the background would
 * run in what is recorded later. */
static void join_session(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                         const struct pm_specialized_shader *shader)
{
    pipeline->keeps_side = optimizer->calls.in_session(optimizer->device, pipeline, shader);
}

static bool make_soon(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                      enum pm_specialized_use use, int64_t until)
{
    const bool pushed = use == PM_USE_PUSHED;
    struct pm_shader_request request;
    int64_t took = 0;
    if (!pm_pipeline_shader_request(pipeline, &request) || (pushed && !may_fold(pipeline)))
        return false;
    const struct pm_specialized_shader *shader =
        pm_specialized_shaders_proven(optimizer->shaders, &request, use, &took);
    /* What is only tried again can wait. */
    if (!shader || (shader->timing != PM_TIMING_FASTER && shader->session == PM_SESSION_NONE))
        return false;
    if (shader->session == PM_SESSION_ORIGINAL) {
        join_session(optimizer, pipeline, shader);
        return pipeline->keeps_side;
    }
    if (!pm_optimizer_reserve(optimizer, PM_ROOM_OPTIMIZED))
        return false;
    struct pm_optimized *optimized = build_soon(optimizer, pipeline, shader, use, took, until);
    if (!optimized) {
        pm_optimizer_give_back(optimizer, PM_ROOM_OPTIMIZED);
        return false;
    }
    if (shader->session == PM_SESSION_VARIANT)
        join_session(optimizer, pipeline, shader);
    publish(optimizer, pipeline, optimized, use);
    return true;
}

/* What an earlier session found faster, before the game has its pipeline, so that what is recorded
 * a moment later binds it. false: it is made in the background, if at all. */
static bool make_at_once(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    if (!pm_specialized_shaders_any_proven(optimizer->shaders))
        return false;
    const int64_t start = pm_now();
    const int64_t granted = pm_at_once_begin(&optimizer->at_once, start);
    bool made = granted > 0 && make_soon(optimizer, pipeline, PM_USE_ANYWHERE, start + granted);
    made |= granted > 0 && !pipeline->keeps_side &&
            make_soon(optimizer, pipeline, PM_USE_PUSHED, start + granted);
    pm_at_once_end(&optimizer->at_once, granted, pm_now() - start);
    return made;
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
    device->optimizer->calls.used(device, shader);
    atomic_store_explicit(&optimized->bound, true, memory_order_relaxed);
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
                         pm_waiting_any(&optimizer->waiting, has_room(optimizer)));
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
    if (atomic_load_explicit(&optimizer->due, memory_order_relaxed) &&
        atomic_exchange(&optimizer->due, false))
        try_queue_job(optimizer);
}

/* One pipeline at a time, so that more urgent jobs get their turn. */
static void run_job(struct pm_job *job)
{
    struct pm_optimizer *optimizer = optimizer_of(job);
    pm_optimizer_go_on(optimizer);
    struct pm_pipeline *pipeline = pm_waiting_take(&optimizer->waiting, has_room(optimizer));
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
    if (!atomic_compare_exchange_strong(&pipeline->wish, &wish, PM_WISH_WAITING))
        return;
    if (pm_waiting_try_put(&optimizer->waiting, pipeline)) {
        try_queue_job(optimizer);
        return;
    }
    atomic_store(&pipeline->wish, PM_WISH_BOUND);
}

void pm_optimize_pipeline(struct pm_pipeline *pipeline)
{
    struct pm_device *device = pipeline->device;
    struct pm_optimizer *optimizer = device->optimizer;
    if (!optimizer || pipeline->is_library || pipeline->never_stands || atomic_load(&device->lost))
        return;
    if (!device->instance->config.debug.synchronous) {
        if (make_at_once(optimizer, pipeline)) {
            atomic_store(&optimizer->unsaved, true);
            try_queue_job(optimizer);
            if (pipeline->keeps_side ||
                (!pm_session_knows_values(device->instance) && !pm_passes_possible(pipeline)))
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

void pm_optimizer_wake(struct pm_optimizer *optimizer)
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
    optimizer->cache = pm_pipeline_cache_create(device);
    optimizer->job = (struct pm_job){.run = run_job,
                                     .drop = drop_job,
                                     .owner = optimizer,
                                     .name = "specialized variants",
                                     .always = true};
    pm_waiting_init(&optimizer->waiting);
    const struct pm_config *config = &device->instance->config;
    pm_at_once_init(&optimizer->at_once, config->limits.proven_ms_per_pipeline,
                    config->limits.proven_ms_per_second, pm_now());
    pthread_mutex_init(&optimizer->lock, NULL);
    pm_optimizer_set_binds(optimizer);
    device->pipelines->forget = forget;
    device->pipelines->released = released;
    pm_hang_watch_init(&device->hang_watch);
    pm_journal_begin(journal);
    if (optimizer->shaders && optimizer->cache) {
        if (pm_specialized_shaders_any_proven(optimizer->shaders))
            pm_pipeline_cache_prepare(optimizer->cache);
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
    pm_pipeline_cache_destroy(optimizer->cache);
    pm_contests_destroy(optimizer->contests);
    pm_specialized_shaders_destroy(optimizer->shaders);
    pm_hang_watch_finish(&optimizer->device->hang_watch);
    pm_journal_end(optimizer->journal);
    pthread_mutex_destroy(&optimizer->lock);
    free(optimizer);
}
