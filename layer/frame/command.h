/*
 * Command buffers: which are chosen for sampling, what is bound in them, and which variants they
 * name. A record is made when a command buffer is allocated and dies with it or its pool.
 *
 * Thread safety: a record has its command buffer's: Vulkan's external synchronization. `submits`
 * and what a queue reads of a finished recording may be used by several queues at once.
 */
#pragma once

#include "layer/frame/sampling.h"
#include "layer/hooks/registry.h"
#include "layer/shader/variant.h"
#include "layer/trial/timing.h"

/* A variant that a recording names: it holds a reference. */
struct pm_use {
    struct pm_variant *variant;
    uint32_t calls; /* sampled calls in one submission of the recording */
};

/* Why a rebind is illegal or would be seen just now (HAZARDS 11). */
enum pm_obstacle {
    PM_OBSTACLE_PROTECTED = 1,       /* a protected command buffer */
    PM_OBSTACLE_INHERITED_QUERY = 2, /* a secondary that runs inside pipeline-statistics queries */
    PM_OBSTACLE_QUERY = 4,           /* a query is active whose result a variant could change */
    PM_OBSTACLE_TRANSFORM_FEEDBACK = 8, /* active */
};

enum { PM_GRAPHICS, PM_COMPUTE, PM_BIND_POINTS };

/* A render pass instance in a recording that takes part in trials (trial.h). */
struct pm_pass {
    bool open;
    bool worth;           /* something was bound in it that is awaited */
    bool spoilt;          /* its time says nothing */
    bool bound;           /* the variant that is tried is bound just now */
    bool draws;           /* its draws are timed one by one, and not itself */
    uint32_t place;       /* in the frame */
    uint32_t measurement; /* of it, or reserved for one of its draws; PM_TIMING_NONE */
    struct pm_timed timed;
};

struct pm_command {
    uint64_t countdown; /* calls until one that is not just passed on; PM_NEVER: none will be */
    struct pm_device *device;
    VkCommandBuffer handle;
    struct pm_command_pool *pool;
    struct pm_command *next, *previous; /* in the pool */
    struct pm_random random;
    bool secondary;
    bool chosen; /* and recording */
    bool begun;  /* at least once */
    bool once;   /* the recording is for one submission */
    bool trying; /* chosen, to take part in trials; nothing is sampled in it then */
    uint8_t obstacles;
    uint32_t active_queries;          /* that are an obstacle */
    VkPipeline bound[PM_BIND_POINTS]; /* what is: the game's pipeline, or the variant that is used
                                         in its place; VK_NULL_HANDLE: unknown */
    VkPipeline game[PM_BIND_POINTS];  /* what the game bound */
    struct pm_pipeline *pipeline[PM_BIND_POINTS]; /* NULL: no variants */
    struct pm_pass pass;
    uint32_t timings; /* the latest measurement that the recording names; PM_TIMING_NONE */
    struct pm_use *uses;
    uint32_t use_count, use_capacity;
    uint32_t scene;           /* that the last label in it began (scene.h) */
    _Atomic uint32_t submits; /* since it began last */
};

struct pm_command_pool {
    VkCommandPool handle;
    uint32_t family;
    bool is_protected;
    struct pm_command *first;
};

static inline struct pm_command *pm_command_of(struct pm_sampling *sampling, VkCommandBuffer handle)
{
    return pm_lookup_find(&sampling->commands, PM_KEY(handle));
}

/* One draw or dispatch in a command buffer. The record when it is the one to sample. */
static inline struct pm_command *pm_command_due(const struct pm_lookup *commands,
                                                VkCommandBuffer handle)
{
    struct pm_command *command = pm_lookup_find(commands, PM_KEY(handle));
    if (command == NULL || --command->countdown != 0)
        return NULL;
    return command;
}

/* What a sampled or timed call changes and puts back. */
struct pm_sampled {
    struct pm_device *device;
    VkPipeline original;  /* VK_NULL_HANDLE: nothing was changed */
    uint32_t measurement; /* PM_TIMING_NONE: it is not timed */
    struct pm_timed timed;
};

/* Draws the next countdown and, when all is well, binds a variant for the call that follows. point:
 * PM_GRAPHICS or PM_COMPUTE. */
struct pm_sampled pm_command_sample(struct pm_command *command, int point);

/* After that call. */
void pm_command_sampled(const struct pm_sampled *sampled, VkCommandBuffer handle,
                        VkPipelineBindPoint point);

/* Frees every record and pool, dropping their references. */
void pm_commands_destroy(struct pm_sampling *sampling);
