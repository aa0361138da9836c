/*
 * Specialized variants in use (DESIGN, A shader; HAZARDS 17, 21, 22): for each of the game's
 * pipelines whose shader has a published zero profile, one pipeline with the shader that
 * specialize_zero made of it, which vkCmdBindPipeline binds in the game's place once it is proven
 * faster.
 *
 * A pipeline's variant is queued when the game has made the pipeline, specialized and compiled on
 * the compiler's threads, and then waits for its trial (pm_optimize_candidate,
 * pm_optimize_verdict), unless a published timing profile of exactly this module on this device
 * decides at once. It lives as long as the game's pipeline, whatever the verdict: recordings may
 * name it as they may name the game's.
 *
 * Everything is made from the record's canonical module and the PGO database of the session's
 * start. Where the database has no zero profile there is no optimizer, and nothing happens at all.
 *
 * Thread safety: any thread, but for creating and destroying the optimizer.
 */
#pragma once

#include "layer/shader/pipeline_private.h"
#include "layer/shader/specialized_shader.h"

struct pm_optimizer;

enum pm_optimized_state {
    PM_OPTIMIZED_BUILT,   /* and untried */
    PM_OPTIMIZED_PROVEN,  /* bound in the game's place */
    PM_OPTIMIZED_DROPPED, /* not faster */
};

/* A pipeline's specialized variant. */
struct pm_optimized {
    struct pm_pipeline *pipeline; /* that it stands for, and that owns it */
    struct pm_built built;
    const struct pm_specialized_shader *shader;
    _Atomic uint32_t state; /* enum pm_optimized_state */
    struct pm_trial *trial; /* trial.h; NULL: it is not tried */
};

/* NULL: nothing is optimized on the device, and where that is not for lack of anything to do, why
 * was logged. */
struct pm_optimizer *pm_optimizer_create(struct pm_device *device);
/* After pm_compiler_destroy, before pm_pipelines_destroy. The session has ended properly for this
 * device. NULL is allowed. */
void pm_optimizer_destroy(struct pm_optimizer *optimizer);

/* The game has made a pipeline: queues its variant, or builds it now (debug.synchronous). Called
 * before the game has the handle. */
void pm_optimize_pipeline(struct pm_pipeline *pipeline);

/* The pipeline's variant when it is built and untried, to be bound for a timed call; NULL else.
 * Never blocks. */
struct pm_optimized *pm_optimize_candidate(struct pm_pipeline *pipeline);

/* The trial's outcome; the first one counts. faster: vkCmdBindPipeline binds it from now on. */
void pm_optimize_verdict(struct pm_optimized *optimized, bool faster);

/* A heartbeat, for safe mode. */
void pm_optimize_heartbeat(struct pm_device *device);

/* The device or the process is about to end: notes it where that is no proper end
 * (docs/specialized.md, Safe mode), because a crash's handler does it (crashes), or the device
 * hangs. Makes no Vulkan calls and takes no locks, for exit handlers and signal handlers. */
void pm_optimize_ends(struct pm_device *device, bool crashes);

/* For a while the game's own pipelines are bound, or their proven variants again. */
void pm_optimize_pause(struct pm_device *device, bool paused);

/* The proven variant of a pipeline that is bound for the first time. */
void pm_optimize_bound(struct pm_pipeline *pipeline);

/* What to bind when the game binds the pipeline: its proven variant; VK_NULL_HANDLE: itself. Only
 * asked while device->optimizes. */
static inline VkPipeline pm_optimize_best(struct pm_pipeline *pipeline)
{
    const VkPipeline best = atomic_load_explicit(&pipeline->best, memory_order_acquire);
    if (best && !atomic_load_explicit(&pipeline->best_bound, memory_order_relaxed))
        pm_optimize_bound(pipeline);
    return best;
}

/* pipeline.c: the pipeline is gone. NULL is allowed. */
void pm_optimized_destroy(struct pm_optimized *optimized);
