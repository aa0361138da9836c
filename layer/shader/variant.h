/*
 * Variants: further pipelines, built in the background from what the layer remembers of one of the
 * game's, that the layer may bind in its place for a call. Made by variant.c on the compiler's
 * threads; used by the draw hooks.
 *
 * Lifetime: a variant is referenced by its pipeline's table and by every recording that names it;
 * it is destroyed when the last reference goes (HAZARDS 12: limits block new ones, they never evict
 * one that is named). A recording's reference is dropped when the command buffer is reset, freed,
 * or begun again, which Vulkan allows only once it is complete.
 */
#pragma once

#include "layer/core/layer.h"
#include "layer/memory/counters.h"

struct pm_pipeline;

/* Libraries that are made for one variant may be nested this deep. */
enum { PM_LIBRARY_DEPTH = 4 };

/* A pipeline of ours, built from what is remembered of one of the game's (pipeline_build.c). */
struct pm_built {
    VkPipeline handle;
    VkPipeline libraries[PM_LIBRARY_DEPTH]; /* with the replaced shader, that it was linked from;
                                               lavapipe 22.3 reads them when it draws */
    uint32_t library_count;
};

struct pm_variant {
    struct pm_built built;
    struct pm_device *device;
    _Atomic uint32_t references;
    uint64_t
        calls; /* sampled calls submitted and not yet copied out; readback.h's, under its lock */
    uint32_t dirty_on, copied_on; /* bits of queues; readback.h's, under its lock */
    uint8_t copies[PM_QUEUES];    /* under way, by queue; likewise */
    uint32_t scene;               /* of the counts that are not copied out yet; likewise */
    uint32_t used_on,
        switches; /* the queue that used it last, and how often that changed; likewise */

    /* what its counters mean */
    struct pm_shader_key key;
    struct pm_environment environment;
    enum pm_kind kind;
    uint32_t flags; /* enum pm_profile_flag */
    uint32_t space;
    const uint8_t *at_most_once; /* owned by the shader record, which outlives its variants */
    uint32_t *points;            /* point_count of them; owned */
    uint32_t point_count;
    uint32_t slot_count, slot_stride; /* shader_rewrite.h, struct pm_instrumented */
    struct pm_counter_block block;
};

/* A sampled draw or dispatch with this pipeline bound: the variant to bind for it, referenced for
 * the recording, or NULL when there is none yet or may be none. Where the batch whose turn it is
 * has none yet, its compile is queued and a batch stands in that had none when it was its turn.
 * Never blocks (with debug.synchronous the variant was built when the pipeline was created). Any
 * thread.
 */
struct pm_variant *pm_pipeline_sample(struct pm_pipeline *pipeline);

/* Destroys what there is of it; all of it may be null. */
void pm_built_destroy(struct pm_device *device, struct pm_built *built);

void pm_variant_reference(struct pm_variant *variant);
void pm_variant_release(struct pm_variant *variant);

/* The pipeline the layer remembers for a handle, NULL when it knows none or can make no variants of
 * it. The pointer stays valid until the game destroys the pipeline. Any thread, without a lock. */
struct pm_pipeline *pm_pipeline_find(struct pm_device *device, VkPipeline handle);
