/*
 * What is bound in a recording, and putting it back. At each bind point stands the game's own
 * pipeline or shader object (pipeline.h) or its proven variant. Another may be bound over it for a
 * call, or for what is left of a render pass instance; and something may begin that allows the
 * game's own only (may_bind.h). Whatever ends or begins, pm_binding_put_back is what binds again.
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization.
 */
#pragma once

#include "layer/frame/command.h"
#include "layer/shader/optimize.h"

/* Whether every recording is tracked for what it pushes. */
static inline bool pm_commands_are_watched(const struct pm_device *device)
{
    return pm_binds_any(device, PM_BINDS_WATCHED);
}

/* Whether there may be such a record at all; what asks it first costs few instructions. */
static inline bool pm_commands_are_tracked(const struct pm_device *device)
{
    return device->sampling != NULL &&
           pm_binds_any(device, PM_BINDS_ARMED | PM_BINDS_CAREFUL | PM_BINDS_WATCHED);
}

/* The record says what was bound lately, too, and it is no more where nothing else may be done. */
void pm_binding_catch_up(struct pm_command *command);

/* The record of a command buffer in which a call is looked at; it is known. */
static inline struct pm_command *pm_command_caught_up(struct pm_device *device,
                                                      VkCommandBuffer handle)
{
    struct pm_command *command = pm_command_of(device->sampling, handle);
    if (command->plain_points != 0)
        pm_binding_catch_up(command);
    return command;
}

/* The record of a command buffer of which is known what is bound and active, its recording being
 * sampled or timed, or every one being tracked since the game has what could see a variant, or
 * there are variants for what it pushes; NULL for all others. binds: what device->binds said. */
static inline struct pm_command *pm_command_tracked_by(struct pm_device *device,
                                                       VkCommandBuffer handle, uint32_t binds)
{
    struct pm_sampling *sampling = device->sampling;
    if (sampling == NULL)
        return NULL;
    const bool all = (binds & (PM_BINDS_CAREFUL | PM_BINDS_WATCHED)) != 0;
    if (!all && (binds & PM_BINDS_ARMED) == 0)
        return NULL;
    struct pm_command *command = pm_command_of(sampling, handle);
    if (command == NULL || (!all && !pm_command_takes_part(command)))
        return NULL;
    command->touched = true;
    if (command->plain_points != 0)
        pm_binding_catch_up(command);
    return command;
}

static inline struct pm_command *pm_command_tracked(struct pm_device *device,
                                                    VkCommandBuffer handle)
{
    const uint32_t binds = atomic_load_explicit(&device->binds, memory_order_relaxed);
    return pm_command_tracked_by(device, handle, binds);
}

/* The bind point's index; PM_BIND_POINTS: nothing is known of what is bound there. */
static inline int pm_bind_point_index(VkPipelineBindPoint point)
{
    return point == VK_PIPELINE_BIND_POINT_GRAPHICS  ? PM_GRAPHICS
           : point == VK_PIPELINE_BIND_POINT_COMPUTE ? PM_COMPUTE
                                                     : PM_BIND_POINTS;
}

/* Bits of enum pm_binding: what may be bound for the next call at the bind point. The rest of what
 * is asked for, that there is such a variant, is the caller's. */
uint32_t pm_binding_allowed(const struct pm_command *command, int point);

/* Whether a trial's variant could be bound where the place were this one. */
bool pm_binding_may_try(const struct pm_command *command, enum pm_condition place);

/* The pipeline's proven variant, that for what was pushed before any other; 0: there is none, or it
 * may not be bound. command NULL: the recording is not tracked. */
uint64_t pm_binding_proven(const struct pm_device *device, const struct pm_command *command,
                           int point, struct pm_pipeline *pipeline);

/* Whether a variant for values of push constants may be bound: pushes of its words are noticed
 * since the pipeline was bound, and they have these values. */
static inline bool pm_binding_fits(const struct pm_command *command, int point,
                                   const struct pm_watch *watch)
{
    return (watch->mask & ~command->bound[point].watch) == 0 &&
           pm_pushed_fits(&command->pushed, point, watch);
}

/* From now on pushes of the words that the pipeline's variant watches are noticed. */
static inline void pm_binding_watch(struct pm_command *command, int point,
                                    const struct pm_pipeline *pipeline)
{
    uint64_t watch = pipeline != NULL ? pm_optimize_watched(pipeline) : 0;
    if (watch != 0 && !pm_pipeline_may_be_bound_again(pipeline))
        watch = 0;
    command->bound[point].watch = watch;
    command->watched = command->bound[PM_GRAPHICS].watch | command->bound[PM_COMPUTE].watch;
    pm_pushed_disarm(&command->pushed);
}

/* The game pushes constants, before it does: binds at once what stands by the words that are known
 * then, or where that may not be has the next draw do so (put_off.h). Where the short way is open
 * (pushed.h) it need not be called for what takes it. true: words that are watched may have
 * changed. */
bool pm_binding_push(struct pm_command *command, const struct pm_push *push);

/* The same where more than words may have changed. */
void pm_binding_pushed(struct pm_command *command);

/* Pushes go the short way from here on, if they may (pm_pushed_arm). */
void pm_binding_arm(struct pm_command *command);

/* The game bound that pipeline, and that stands for it. watch: as in struct pm_bound. One by one: a
 * structure as a whole goes over the stack. */
static inline void pm_binding_set(struct pm_bound *bound, struct pm_pipeline *pipeline,
                                  uint64_t game, uint64_t standing, uint64_t watch)
{
    bound->pipeline = pipeline;
    bound->game = game;
    bound->standing = standing;
    bound->now = standing;
    bound->kind = standing != game ? PM_BINDING_PROVEN : PM_BINDING_GAME;
    bound->own = false;
    bound->built = NULL;
    bound->cover = NULL;
    bound->passes = NULL;
    bound->watch = watch;
}

/* The game binds a pipeline: what stands from now on, its proven variant or itself. command NULL:
 * the recording is not tracked. pipeline NULL: it has no variants. Binds nothing yet. */
static inline uint64_t pm_binding_stand(struct pm_device *device, struct pm_command *command,
                                        int point, uint64_t game, struct pm_pipeline *pipeline)
{
    uint64_t best = 0;
    const uint32_t binds = atomic_load_explicit(&device->binds, memory_order_relaxed);
    if (command != NULL)
        pm_binding_watch(command, point, pipeline);
    if (pipeline != NULL && (binds & PM_BINDS_NOTICED) != 0)
        pm_optimize_notice(pipeline);
    if (pipeline != NULL && (binds & PM_BINDS_PROVEN) != 0)
        best = pm_binding_proven(device, command, point, pipeline);
    const uint64_t standing = best != 0 ? best : game;
    if (command != NULL)
        pm_binding_set(&command->bound[point], pipeline, game, standing,
                       command->bound[point].watch);
    if (command != NULL && command->pushed.ranges != NULL)
        pm_binding_arm(command);
    return standing;
}

/* The same in few instructions, where it is known what stands (standing.h), of a recording whose
 * pushes decide nothing, in which nothing is active that could see a variant: what most binds are
 * that are to be known at all; from then on in fewer words (pm_command.lately). careful: something
 * may begin in any recording that could see one, so that those are noted too of which nothing is
 * sampled; what stands must be what may be put back. false: it is not so, and nothing was done. */
static inline bool pm_binding_stand_as(struct pm_command *command, int point, uint64_t game,
                                       uint64_t standing, struct pm_pipeline *pipeline,
                                       bool careful)
{
    /* Where the next call is looked at without being sampled, it may run in several passes. Pushes
     * go the short way in none that is sampled (pm_binding_arm). */
    const bool sampled = command->recording == PM_RECORDING_SAMPLED;
    const bool noted = sampled || (careful && command->recording == PM_RECORDING_TRACKED &&
                                   command->countdown != 1 && command->pushed.ranges == NULL);
    if (!noted || (command->behind | command->watched | command->active | command->active_queries |
                   command->pushed.stays) != 0)
        return false;
    command->touched = true;
    command->plain_points = sampled || command->pushed.wanted == 0 ? PM_BIND_POINTS : 0;
    /* This is newer: a bind that found nothing said left the record as it was, and what stands may
     * have been said since. */
    command->lately.game[point] = 0;
    pm_binding_set(&command->bound[point], pipeline, game, standing, 0);
    return true;
}

/* The same for what was looked up. */
static inline bool pm_binding_stand_alone(uint32_t binds, struct pm_command *command, int point,
                                          uint64_t game, struct pm_pipeline *pipeline)
{
    uint64_t standing = game;
    if (pipeline != NULL && (binds & PM_BINDS_STAND) != 0)
        standing = (binds & PM_BINDS_PROVEN) != 0
                       ? atomic_load_explicit(&pipeline->stands.now, memory_order_acquire)
                       : 0;
    if ((binds & PM_BINDS_CAREFUL) != 0 && standing != 0 && standing != game &&
        pm_pipeline_stands_itself(pipeline))
        standing = game;
    return standing != 0 && (binds & PM_BINDS_WATCHED) == 0 &&
           pm_binding_stand_as(command, point, game, standing, pipeline,
                               (binds & PM_BINDS_CAREFUL) != 0);
}

/* Whether binds of the pipeline do nothing but bind its variant for what is pushed, or the best of
 * the others, which was bound before. */
static inline bool pm_binding_is_only_watched(const struct pm_pipeline *pipeline,
                                              const struct pm_optimized *folded)
{
    const struct pm_optimized *best = pm_optimize_best_of(pipeline);
    return folded != NULL &&
           folded == atomic_load_explicit(&pipeline->folded, memory_order_relaxed) &&
           atomic_load_explicit(&folded->bound, memory_order_relaxed) &&
           (best == NULL || atomic_load_explicit(&best->bound, memory_order_relaxed)) &&
           pipeline->object == NULL && pm_optimize_passes(pipeline) == NULL &&
           !pm_optimize_counts_binds(pipeline) && pm_pipeline_may_be_bound_again(pipeline);
}

/* The same as pm_binding_stand in fewer instructions, for a pipeline with a proven variant for what
 * is pushed, or NULL for one of which nobody need know that it is bound; where the short way for
 * pushes is open and stays so, and there is nothing else to do. Not while anything is compared or
 * traced. Inline, so that there is one frame on the stack. false: it is not so, and nothing was
 * done. */
static inline __attribute__((always_inline)) bool
pm_binding_stand_watched(struct pm_command *command, int point, uint64_t game,
                         struct pm_pipeline *pipeline)
{
    struct pm_optimized *folded = pipeline != NULL ? pm_optimize_folded(pipeline) : NULL;
    const struct pm_watch *watch = folded != NULL ? &folded->watch : NULL;
    bool fits;
    if (command->recording != PM_RECORDING_TRACKED || command->put_off ||
        (command->behind | command->active | command->active_queries |
         command->bound[!point].watch) != 0 ||
        (pipeline != NULL && !pm_binding_is_only_watched(pipeline, folded)) ||
        !pm_pushed_go_on(&command->pushed, point, watch, &fits))
        return false;
    const uint64_t best = pipeline != NULL && !fits ? pm_optimize_best(pipeline) : 0;
    const uint64_t standing = fits ? folded->built.handle : best != 0 ? best : game;
    command->touched = true;
    command->watched = watch != NULL ? watch->mask : 0;
    pm_binding_set(&command->bound[point], pipeline, game, standing, command->watched);
    return true;
}

/* A variant is bound over what stands, as the kind says; it must be allowed. watch: what it must go
 * on to fit; NULL: nothing. Binds nothing yet. */
void pm_binding_cover(struct pm_command *command, int point, enum pm_binding kind, uint64_t variant,
                      const struct pm_watch *watch);

/* Binds what pm_binding_cover said. */
void pm_binding_bind(const struct pm_command *command, int point);

/* Whether what is bound may be bound again other than around its own draws. */
static inline bool pm_binding_may_be_again(const struct pm_command *command, int point)
{
    const struct pm_pipeline *pipeline = command->bound[point].pipeline;
    return pipeline == NULL || pm_pipeline_may_be_bound_again(pipeline);
}

/* Binds again what stands, or the game's own where that may not stay, wherever what is bound is of
 * a kind that has ended (bits of enum pm_binding; 0: something begins) or is not allowed any more.
 */
void pm_binding_put_back(struct pm_command *command, uint32_t ended);

/* Something begins that must not see a variant: puts back what it does not allow, or has the next
 * draw in a query do so (put_off.h). Nothing of the render pass instance is tried any more.
 * condition: one that pm_command.active has, or PM_ACTIVE_QUERY, which may begin several times. */
void pm_binding_obstacle_begins(struct pm_command *command, enum pm_condition condition);
/* Behind that of a query pm_passes_count_down is owed. */
void pm_binding_obstacle_ends(struct pm_command *command, enum pm_condition condition);

/* A draw comes that something was put off to: puts back what its query must not see, or binds what
 * fits what was pushed. Where nothing can be bound, in transform feedback, it is put off further.
 */
void pm_binding_put_back_at_draw(struct pm_command *command);

/* The same as pm_binding_obstacle_begins for PM_ACTIVE_GENERATED_COMMANDS, which run with what is
 * bound at the point and name the game's own: there that is bound, whatever states it leaves. */
void pm_binding_generated_begins(struct pm_command *command, int point);

/* Whether an instrumented variant may be bound for the next call. */
bool pm_binding_may_sample(const struct pm_command *command, int point);

/* An instrumented variant for the next call of a recording that holds it twice, which it must
 * allow, named in the recording; *use: pm_command_use. NULL: there is none. Binds nothing. */
const struct pm_built *pm_binding_take(struct pm_command *command, int point, uint32_t *use);

/* Binds it over what stands. */
void pm_binding_instrument(struct pm_command *command, int point, const struct pm_built *variant);

/* Notes what the next call's push constants are, where they are known. */
void pm_binding_sample_pushed(struct pm_command *command, int point);

/* Whether a call at which the countdown was through has nothing to do with us: it was looked at for
 * what shaders are owed, and not chosen, and its pipeline has nothing to count that with. Then the
 * next is drawn. Else it is known from here on whether it is chosen, or pm_binding_sample finds
 * out. */
bool pm_binding_lets_by(struct pm_command *command, int point);

/* A call at which the countdown of a recording that is sampled was through: draws the next, and
 * binds an instrumented variant where there is one and it is allowed, if the call is chosen or
 * taken for what its shader is owed. Afterwards pm_binding_put_back is owed. */
void pm_binding_sample(struct pm_command *command, int point);
