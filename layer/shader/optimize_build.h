/*
 * A pipeline's specialized variant is built, and from then on proven, tried, or the session's side
 * (optimizer.h).
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/shader/optimizer.h"
#include "layer/shader/specialized_shader.h"

/* ---- where a pipeline has its variants ---- */

/* Of the variant's kind, and which of them is to be tried. */
static inline _Atomic(struct pm_optimized *) *
pm_optimizer_place(const struct pm_optimized *optimized)
{
    struct pm_pipeline *pipeline = optimized->pipeline;
    return optimized->watch.count > 0   ? &pipeline->folded
           : optimized->candidate.rival ? &pipeline->over
                                        : &pipeline->optimized;
}

static inline _Atomic(struct pm_candidate *) *
pm_optimizer_candidate_place(const struct pm_optimized *optimized)
{
    struct pm_pipeline *pipeline = optimized->pipeline;
    return optimized->watch.count > 0   ? &pipeline->folded_candidate
           : optimized->candidate.rival ? &pipeline->over_candidate
                                        : &pipeline->candidate;
}

/* ---- building ---- */

/* Builds a pipeline with a specialized shader in the background, through a cache, and notes how
 * long it took, which later sessions are to know. NULL: see *error. */
struct pm_optimized *pm_optimizer_build(struct pm_optimizer *optimizer,
                                        struct pm_pipeline_cache *cache,
                                        struct pm_pipeline *pipeline,
                                        const struct pm_specialized_shader *shader,
                                        enum pm_specialized_use use, struct pm_error *error);
/* A variant of the pipeline with the shader, of which nothing is built yet; malloc'ed. NULL: see
 * *error. */
struct pm_optimized *pm_optimized_begin(struct pm_pipeline *pipeline,
                                        const struct pm_specialized_shader *shader,
                                        struct pm_error *error);

/* The same where, and with as much compiled as, the caller says. */
enum pm_compiling {
    PM_COMPILE_ALL,     /* what has to be: in the background */
    PM_COMPILE_VARIANT, /* the variant, and nothing else (pipeline_build.h) */
    PM_COMPILE_NOTHING,
};
struct pm_optimized_build {
    enum pm_specialized_use use;
    VkPipelineCache cache;
    enum pm_compiling compiling;
};
struct pm_optimized *pm_optimizer_build_with(struct pm_pipeline *pipeline,
                                             const struct pm_specialized_shader *shader,
                                             const struct pm_optimized_build *how,
                                             struct pm_error *error);
/* Whether there may be a variant of it for values of push constants. */
bool pm_optimizer_may_fold(const struct pm_pipeline *pipeline);
/* The pipeline's variant of its kind from now on: proven, the session's side, or to be tried. */
void pm_optimizer_publish(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                          struct pm_optimized *optimized);
/* Its verdict. */
const char *pm_optimizer_decide(struct pm_candidate *candidate, bool faster);
