#include "layer/shader/optimize_passes.h"
#include "layer/shader/optimize_build.h"

#include "layer/shader/passes_build.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/specialized_shader.h"
#include "layer/shader/variant_make.h"
#include <stdlib.h>

/* The verdict. */
static const char *decide(struct pm_candidate *candidate, bool faster)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    struct pm_pipeline *pipeline = optimized->pipeline;
    if (atomic_exchange(&optimized->decided, true))
        return NULL;
    atomic_store(&pipeline->passes_candidate, NULL);
    if (!faster) {
        pm_optimizer_drop(optimized);
        return "is not faster in several passes, which are dropped";
    }
    atomic_store_explicit(&pipeline->passes_best, optimized, memory_order_release);
    pm_standing_change(pipeline->device->standing, &pipeline->stands);
    pipeline->device->optimizer->calls.in_passes(pipeline->device);
    return "runs in several passes from now on";
}

/* NULL: see *error. */
static struct pm_optimized *build(struct pm_pipeline *pipeline,
                                  const struct pm_specialized_shader *shader,
                                  struct pm_error *error)
{
    struct pm_optimized *optimized = pm_optimized_begin(pipeline, shader, error);
    if (!optimized)
        return NULL;
    if (!pm_passes_build(pipeline, shader, &optimized->passes, error)) {
        pm_passes_destroy(pipeline->device, &optimized->passes);
        free(optimized);
        return NULL;
    }
    optimized->candidate =
        pm_optimizer_candidate(shader, optimized->passes.built[0].handle, decide);
    optimized->candidate.passes = &optimized->passes;
    return optimized;
}

bool pm_optimizer_make_passes(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    struct pm_device *device = optimizer->device;
    struct pm_shader_request request;
    struct pm_error error = {0};
    if (!pm_passes_possible(pipeline) || atomic_load(&pipeline->passes) ||
        !pm_pipeline_shader_request(pipeline, &request))
        return true;
    if (!pipeline->specialized_passes)
        pipeline->specialized_passes =
            pm_specialized_shaders_get(optimizer->shaders, &request, PM_USE_PASSES);
    if (!pipeline->specialized_passes)
        return true;
    if (!pm_optimizer_reserve(optimizer, PM_ROOM_OPTIMIZED))
        return false;
    struct pm_optimized *optimized = build(pipeline, pipeline->specialized_passes, &error);
    if (!optimized) {
        pm_optimizer_give_back(optimizer, PM_ROOM_OPTIMIZED);
        pm_log_info(device->instance->log, "a pipeline stays whole: %s", error.message);
        return true;
    }
    atomic_store(&pipeline->passes, optimized);
    if (optimized->shader->timing == PM_TIMING_FASTER ||
        device->instance->config.debug.trust_variants)
        pm_candidate_log(device, optimized->shader, decide(&optimized->candidate, true));
    else
        pm_optimizer_offer(optimizer, optimized, &pipeline->passes_candidate);
    return true;
}
