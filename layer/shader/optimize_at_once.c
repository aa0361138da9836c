#include "layer/shader/optimize_at_once.h"

#include "base/clock.h"
#include "layer/shader/optimize_build.h"
#include "layer/shader/variant_make.h"

/* ---- the game's own creation ---- */

struct pm_creation_start pm_optimize_before_creation(const struct pm_device *device)
{
    if (!device->optimizer || !pm_specialized_shaders_any_proven(device->optimizer->shaders))
        return (struct pm_creation_start){0};
    return (struct pm_creation_start){.at = pm_now(), .used = pm_used_by_thread()};
}

struct pm_creation pm_optimize_after_creation(const struct pm_creation_start *start, uint32_t count,
                                              bool loads)
{
    struct pm_creation creation = {.loads = loads};
    if (start->at != 0 && count > 0) {
        const int64_t used = pm_used_by_thread() - start->used;
        const int64_t waited = pm_now() - start->at - used;
        creation.waited = waited > 0 ? waited / count : 0;
    }
    return creation;
}

/* ---- variants ---- */

/* One pipeline's. */
struct soon {
    struct pm_optimizer *optimizer;
    struct pm_pipeline *pipeline;
    int64_t waited; /* nanoseconds that it is to wait besides */
    struct pm_grant grant;
};

/* On the thread that creates the pipeline: where the driver need not compile (shader objects are
 * never asked about), or took so short when it made one with the shader last that there is time.
 * That is the processor time of its thread: whatever the thread waited for was another session's,
 * who drew. To it comes what the game's own thread has just waited for in the same place. */
static struct pm_optimized *build_soon(struct soon *soon,
                                       const struct pm_specialized_shader *shader,
                                       enum pm_specialized_use use,
                                       const struct pm_making_cost *cost)
{
    struct pm_optimizer *optimizer = soon->optimizer;
    struct pm_pipeline *pipeline = soon->pipeline;
    struct pm_optimized_build how = {
        .use = use,
        .cache = pm_pipeline_cache_now(optimizer->cache),
        .compiling = PM_COMPILE_NOTHING,
    };
    struct pm_error error = {0};
    struct pm_optimized *optimized = NULL;
    if (!how.cache)
        return NULL;
    if (optimizer->device->abilities.cache_control && !pipeline->object) {
        optimized = pm_optimizer_build_with(pipeline, shader, &how, &error);
        if (optimized)
            pm_pipeline_cache_grown(optimizer->cache);
        if (optimized || error.code != PM_ERROR_STATE)
            return optimized;
    }
    if (cost->took == 0 || !pm_at_once_fits(&optimizer->at_once, &soon->grant,
                                            cost->took + soon->waited, cost->worth, pm_now()))
        return NULL;
    how.compiling = PM_COMPILE_VARIANT;
    const int64_t start = pm_now(), before = pm_used_by_thread();
    optimized = pm_optimizer_build_with(pipeline, shader, &how, &error);
    if (optimized) {
        pm_pipeline_cache_grown(optimizer->cache);
        const int64_t took = pm_at_once_took(&soon->grant, cost->took, soon->waited,
                                             pm_used_by_thread() - before, pm_now() - start);
        pm_specialized_shaders_took(optimizer->shaders, shader, took, true);
    }
    return optimized;
}

/* What the session times is this side and nothing else: whatever were made in the background would
 * run in what is recorded later. */
static enum pm_session_side join_session(struct pm_optimizer *optimizer,
                                         struct pm_pipeline *pipeline,
                                         const struct pm_specialized_shader *shader)
{
    const enum pm_session_side side =
        optimizer->calls.in_session(optimizer->device, pipeline, shader);
    pipeline->keeps_side = side != PM_SESSION_NONE;
    /* It is as any other that nothing proves. */
    return side == PM_SESSION_NONE ? shader->session : side;
}

static bool make_soon(struct soon *soon, enum pm_specialized_use use)
{
    struct pm_optimizer *optimizer = soon->optimizer;
    struct pm_pipeline *pipeline = soon->pipeline;
    struct pm_shader_request request;
    struct pm_making_cost cost = {0};
    if (!pm_pipeline_shader_request(pipeline, &request) ||
        (use == PM_USE_PUSHED && !pm_optimizer_may_fold(pipeline)))
        return false;
    const struct pm_specialized_shader *shader =
        pm_specialized_shaders_proven(optimizer->shaders, &request, use, &cost);
    /* What is only tried again can wait. */
    if (!shader || (shader->timing != PM_TIMING_FASTER && shader->session == PM_SESSION_NONE))
        return false;
    if (!pm_optimizer_reserve(optimizer, PM_ROOM_OPTIMIZED))
        return false;
    struct pm_optimized *optimized = build_soon(soon, shader, use, &cost);
    if (!optimized) {
        pm_optimizer_give_back(optimizer, PM_ROOM_OPTIMIZED);
        return false;
    }
    const enum pm_session_side side = shader->session != PM_SESSION_NONE
                                          ? join_session(optimizer, pipeline, shader)
                                          : PM_SESSION_NONE;
    if (side == PM_SESSION_ORIGINAL || side == PM_SESSION_LOOK) {
        /* It was made to see that it could be: else only sessions with this side would be timed
         * where there is often no time, and none would find its other half. */
        pm_optimized_destroy(optimizer->device, optimized);
        optimizer->device->pipelines->released(optimizer->device);
        return pipeline->keeps_side;
    }
    pm_optimizer_publish(optimizer, pipeline, optimized);
    if (pipeline->keeps_side)
        optimizer->calls.bound_in_session(optimizer->device, pipeline, &optimized->candidate);
    return true;
}

bool pm_optimizer_make_at_once(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                               const struct pm_creation *creation)
{
    if (!pm_specialized_shaders_any_proven(optimizer->shaders))
        return false;
    struct soon soon = {
        .optimizer = optimizer,
        .pipeline = pipeline,
        .waited = pm_at_once_wait(&optimizer->at_once, creation->waited, creation->loads),
        .grant = pm_at_once_begin(&optimizer->at_once, creation->loads, pm_now()),
    };
    const bool any = pm_grant_any(&soon.grant);
    bool made = any && make_soon(&soon, PM_USE_ANYWHERE);
    made |= any && !pipeline->keeps_side && make_soon(&soon, PM_USE_PUSHED);
    pm_at_once_end(&optimizer->at_once, &soon.grant, pm_now());
    return made;
}
