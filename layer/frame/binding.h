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

/* Whether there may be such a record at all; what asks it first costs few instructions. */
static inline bool pm_commands_are_tracked(const struct pm_device *device)
{
    const struct pm_sampling *sampling = device->sampling;
    return sampling != NULL && (atomic_load_explicit(&sampling->careful, memory_order_relaxed) ||
                                atomic_load_explicit(&sampling->armed, memory_order_relaxed));
}

/* The record of a command buffer of which is known what is bound and active, its recording being
 * sampled or timed, or every one being tracked since the game has what could see a variant; NULL
 * for all others. */
static inline struct pm_command *pm_command_tracked(struct pm_device *device,
                                                    VkCommandBuffer handle)
{
    struct pm_sampling *sampling = device->sampling;
    if (sampling == NULL)
        return NULL;
    const bool careful = atomic_load_explicit(&sampling->careful, memory_order_relaxed);
    if (!careful && !atomic_load_explicit(&sampling->armed, memory_order_relaxed))
        return NULL;
    struct pm_command *command = pm_command_of(sampling, handle);
    if (command == NULL || (!careful && !pm_command_takes_part(command)))
        return NULL;
    command->touched = true;
    return command;
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

/* The pipeline's proven variant; 0: there is none, or it may not be bound. command NULL: the
 * recording is not tracked. */
uint64_t pm_binding_proven(const struct pm_device *device, const struct pm_command *command,
                           int point, struct pm_pipeline *pipeline);

/* The game binds a pipeline: what stands from now on, its proven variant or itself. command NULL:
 * the recording is not tracked. pipeline NULL: it has no variants. Binds nothing yet. */
static inline uint64_t pm_binding_stand(struct pm_device *device, struct pm_command *command,
                                        int point, uint64_t game, struct pm_pipeline *pipeline)
{
    uint64_t best = 0;
    const uint32_t binds = atomic_load_explicit(&device->binds, memory_order_relaxed);
    if (pipeline != NULL && (binds & PM_BINDS_NOTICED) != 0)
        pm_optimize_notice(pipeline);
    if (pipeline != NULL && (binds & PM_BINDS_PROVEN) != 0)
        best = pm_binding_proven(device, command, point, pipeline);
    const uint64_t standing = best != 0 ? best : game;
    if (command != NULL)
        command->bound[point] = (struct pm_bound){
            .pipeline = pipeline,
            .game = game,
            .standing = standing,
            .now = standing,
            .kind = standing != game ? PM_BINDING_PROVEN : PM_BINDING_GAME,
        };
    return standing;
}

/* A variant is bound over what stands, as the kind says; it must be allowed. Binds nothing yet. */
void pm_binding_cover(struct pm_command *command, int point, enum pm_binding kind,
                      uint64_t variant);

/* Binds what pm_binding_cover said. */
void pm_binding_bind(const struct pm_command *command, int point);

/* Binds again what stands, or the game's own where that may not stay, wherever what is bound is of
 * a kind that has ended (bits of enum pm_binding) or is not allowed any more. */
void pm_binding_put_back(struct pm_command *command, uint32_t ended);

/* Something begins that must not see a variant: puts back what it does not allow. Nothing of the
 * render pass instance is tried any more. condition: one that pm_command.active has, or
 * PM_ACTIVE_QUERY, which may begin several times. */
void pm_binding_obstacle_begins(struct pm_command *command, enum pm_condition condition);
void pm_binding_obstacle_ends(struct pm_command *command, enum pm_condition condition);

/* A call at which the countdown of a recording that is sampled was through: draws the next, and
 * binds an instrumented variant where there is one and it is allowed. Afterwards
 * pm_binding_put_back is owed. */
void pm_binding_sample(struct pm_command *command, int point);
