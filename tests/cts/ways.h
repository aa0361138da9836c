/*
 * The other ways to draw and dispatch, a file a kind: what of a device, a pipeline and a recording
 * is other for each. All that a way may be without is NULL or 0.
 *
 * Thread safety: as struct cts.
 */
#pragma once

#include "tests/cts/describe.h"

struct cts_way_of {
    const char *extensions[2];    /* that the device needs */
    VkStructureType features[2];  /* the structure that enables each */
    VkPipelineCreateFlags2 flags; /* of each pipeline */
    uint32_t layers;              /* of the target; 0: one */

    /* What it needs is made, behind all else, and destroyed. */
    void (*open)(struct cts *cts, const struct cts_case *of);
    void (*close)(struct cts *cts);
    /* What is made and recorded from here on is this way (on), or plainly. */
    void (*turn)(struct cts *cts, bool on);
    void (*describe)(const struct cts *cts, struct cts_description *d);

    /* In a recording: the descriptors; and all triangles or groups, in the place of a plain call,
     * with the pipeline bound. */
    void (*bind)(const struct cts *cts, VkCommandBuffer commands, VkPipelineBindPoint point);
    void (*call)(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                 VkCommandBuffer commands);
    /* All is done: what else it left goes into cts->queried. */
    void (*finish)(struct cts *cts);
};

/* Of a way that is none everything is 0. */
const struct cts_way_of *cts_way(const struct cts_case *of);

extern const struct cts_way_of cts_tessellation, cts_geometry, cts_mesh, cts_task; /* stages.c */
extern const struct cts_way_of cts_push_descriptors, cts_descriptor_buffers;       /* bound.c */
extern const struct cts_way_of cts_conditional, cts_counted;                       /* indirect.c */
extern const struct cts_way_of cts_generated;                                      /* generated.c */
extern const struct cts_way_of cts_multi, cts_multi_indexed, cts_indexed_indirect,
    cts_indexed_counted;                                                 /* draws.c */
extern const struct cts_way_of cts_robust, cts_states;                   /* made.c */
extern const struct cts_way_of cts_local_read;                           /* local_read.c */
extern const struct cts_way_of cts_captured;                             /* captured.c */
extern const struct cts_way_of cts_resolved_later, cts_resolved_by_pass; /* resolved.c */

/* ---- what several of them do ---- */

/* A module of tests/cts/shaders. */
VkShaderModule cts_load(struct cts *cts, const char *file);
VkPipelineShaderStageCreateInfo cts_stage(VkShaderStageFlagBits stage, VkShaderModule module);
/* A layout like that of all, with one set of this layout, which the way then has. */
void cts_create_way_layout(struct cts *cts, VkDescriptorSetLayout set_layout);
/* cts->gpu.layout: the way's own, or that of all. */
void cts_turn_layout(struct cts *cts, bool on);
