/*
 * Specialized variants in use (DESIGN, A shader; HAZARDS 17, 21, 22): for each of the game's
 * pipelines whose shader has a published zero profile, one pipeline with the shader that
 * specialize_zero made of it, which vkCmdBindPipeline binds in the game's place once it is proven
 * faster.
 *
 * A pipeline's variant is queued when the game binds the pipeline for the first time, since engines
 * make thousands that they never bind; what is bound most often goes first (waiting.h). It is
 * specialized and compiled on the compiler's threads, and then waits for its trial (candidate.h),
 * unless this machine's own trial of an earlier session decides at once. Where limits.variants is
 * reached a pipeline waits until another one's variant goes.
 *
 * Everything is made from the record's canonical module and the PGO database of the session's
 * start, or once it is packed (hooks/database.h). Where the database has no zero profile there is
 * no optimizer, and nothing happens at all.
 *
 * Thread safety: any thread, but for creating and destroying the optimizer.
 */
#pragma once

#include "layer/shader/optimized.h"
#include "layer/shader/optimizer_calls.h"
#include "layer/shader/pipeline.h"

struct pm_creation; /* optimize_at_once.h */
struct pm_optimizer;

/* NULL: nothing is optimized on the device, and where that is not for lack of anything to do, why
 * was logged. calls are copied. */
struct pm_optimizer *pm_optimizer_create(struct pm_device *device,
                                         const struct pm_optimizer_calls *calls);
/* After pm_compiler_destroy, before pm_pipelines_destroy. The session has ended properly for this
 * device. NULL is allowed. */
void pm_optimizer_destroy(struct pm_optimizer *optimizer);

/* The game has made a pipeline: its first bind will queue its variant, or it is built now
 * (debug.synchronous). Called before the game has the handle. */
void pm_optimize_pipeline(struct pm_pipeline *pipeline, const struct pm_creation *creation);

/* A pipeline with a wish is bound, and does not wait yet. Where a thread of ours is at it, the next
 * bind tries again. */
void pm_optimize_first_bind(struct pm_pipeline *pipeline);

/* Whether pm_optimize_notice has anything to do. */
static inline bool pm_optimize_counts_binds(const struct pm_pipeline *pipeline)
{
    const uint32_t wish = atomic_load_explicit(&pipeline->wish, memory_order_relaxed);
    return wish != PM_WISH_NONE &&
           (wish != PM_WISH_WAITING ||
            atomic_load_explicit(&pipeline->heat, memory_order_relaxed) < PM_MOST_HEAT);
}

/* The game binds a pipeline. Asked while device->binds has PM_BINDS_NOTICED. Binds that several
 * threads make at once may count as one. */
static inline void pm_optimize_notice(struct pm_pipeline *pipeline)
{
    const uint32_t wish = atomic_load_explicit(&pipeline->wish, memory_order_relaxed);
    if (wish == PM_WISH_NONE)
        return;
    const uint32_t heat = atomic_load_explicit(&pipeline->heat, memory_order_relaxed);
    if (heat < PM_MOST_HEAT)
        atomic_store_explicit(&pipeline->heat, heat + 1, memory_order_relaxed);
    if (wish == PM_WISH_BOUND)
        pm_optimize_first_bind(pipeline);
}

/* The database is there now: what was bound meanwhile is specialized. The device has an optimizer.
 */
void pm_optimize_goes_on(struct pm_device *device);

/* A heartbeat, for safe mode and what a bind left to do. */
void pm_optimize_heartbeat(struct pm_device *device);

/* Whether pm_optimize_alive is to be called: `piecemeal run` may have to know (safe mode). */
bool pm_optimize_shows_life(const struct pm_device *device);
/* About once a second, on a thread of ours. */
void pm_optimize_alive(struct pm_device *device);

/* The device or the process is about to end: notes it where that is no proper end
 * (docs/specialized.md, Safe mode), because a crash's handler does it (crashes), or the device
 * hangs. Makes no Vulkan calls and takes no locks, for exit handlers and signal handlers. */
void pm_optimize_ends(struct pm_device *device, bool crashes);

/* For a while the game's own pipelines are bound, or their proven variants again. */
void pm_optimize_pause(struct pm_device *device, bool paused);

/* A proven variant is bound for the first time. */
void pm_optimize_bound(struct pm_optimized *optimized);

/* Its handle, to be bound now. */
static inline uint64_t pm_optimize_use(struct pm_optimized *optimized)
{
    if (!atomic_load_explicit(&optimized->bound, memory_order_relaxed))
        pm_optimize_bound(optimized);
    return optimized->built.handle;
}

/* A bind has found what stands for the pipeline, and done what else there was to do: says so
 * (standing.h). Nothing is said while its binds are counted. */
void pm_optimize_find_out(struct pm_pipeline *pipeline);
static inline void pm_optimize_learn(struct pm_pipeline *pipeline)
{
    /* With a variant for what is pushed nothing is ever said. */
    if (pm_standing_wants(pipeline->device->standing, &pipeline->stands) &&
        !pm_optimize_counts_binds(pipeline) &&
        atomic_load_explicit(&pipeline->folded, memory_order_relaxed) == NULL)
        pm_optimize_find_out(pipeline);
}

/* The pipeline's proven variant for values of push constants; NULL: there is none. */
static inline struct pm_optimized *pm_optimize_folded(const struct pm_pipeline *pipeline)
{
    return atomic_load_explicit(&pipeline->folded_best, memory_order_acquire);
}

/* Its proven variant in several passes; NULL: there is none. */
static inline struct pm_optimized *pm_optimize_passes(const struct pm_pipeline *pipeline)
{
    return atomic_load_explicit(&pipeline->passes_best, memory_order_acquire);
}

/* The words that a variant for values of push constants watches, proven or not, as bits. */
static inline uint64_t pm_optimize_watched(const struct pm_pipeline *pipeline)
{
    const struct pm_optimized *folded =
        atomic_load_explicit(&pipeline->folded, memory_order_acquire);
    return folded ? folded->watch.mask : 0;
}

/* Its proven variant, or what is proven to be faster than that; NULL: there is none. */
static inline struct pm_optimized *pm_optimize_best_of(const struct pm_pipeline *pipeline)
{
    if (atomic_load_explicit(&pipeline->best, memory_order_acquire) == 0)
        return NULL;
    struct pm_optimized *over = atomic_load_explicit(&pipeline->over_best, memory_order_acquire);
    return over ? over : atomic_load_explicit(&pipeline->optimized, memory_order_relaxed);
}

/* What to bind of that when the game binds the pipeline; 0: itself. Only asked while device->binds
 * has PM_BINDS_PROVEN. */
static inline uint64_t pm_optimize_best(const struct pm_pipeline *pipeline)
{
    struct pm_optimized *best = pm_optimize_best_of(pipeline);
    return best ? pm_optimize_use(best) : 0;
}
