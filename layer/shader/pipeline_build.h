/*
 * Builds a remembered pipeline again, with our own objects in place of the game's, and with another
 * shader.
 *
 * Thread safety: any thread; takes as long as the driver's compiler does.
 */
#pragma once

#include "layer/shader/built.h"
#include "layer/shader/pipeline.h"

/* The shader that takes the place of the pipeline's own. */
struct pm_replacement {
    const struct pm_words *words;
    const char *entry_point;
    const VkSpecializationInfo *specialization; /* NULL: none */
    VkPipelineCache cache;                      /* VK_NULL_HANDLE: none */
    const char *name;                           /* debug-utils */
    uint32_t subgroup_size; /* that it is to require; 0: as the game's. Of a pipeline that
                               pm_pipeline_may_require_size alone */
    const struct pm_shader_key *original; /* what the shader was made of */
    bool dispatch_base; /* dispatches with it may begin at another workgroup than 0 */
    bool if_compiled;   /* refused with PM_ERROR_STATE where the driver would have to compile; needs
                           abilities.cache_control */
    bool at_once;       /* likewise where a library's twin is not made yet: a game's thread neither
                           compiles these nor waits for who does */
};

/* Whether its shader may be built with a required subgroup size: a compute pipeline whose game asks
 * for nothing about subgroups, on a device that has several sizes. */
bool pm_pipeline_may_require_size(const struct pm_pipeline *pipeline);

/* Builds the pipeline again with its shader replaced. What is in *built is the caller's to destroy,
 * also when building fails. */
bool pm_pipeline_build(struct pm_pipeline *pipeline, const struct pm_replacement *replacement,
                       struct pm_built *built, struct pm_error *error);

/* The flags that a copy of it is built with, wherever they stand. */
VkPipelineCreateFlags2 pm_pipeline_lasting_flags(const struct pm_pipeline *pipeline);

/* The cache in which instrumented variants share what their other stages compile to, in memory only
 * (HAZARDS 17). VK_NULL_HANDLE when the driver makes none. */
VkPipelineCache pm_pipelines_variant_cache(struct pm_pipelines *pipelines);
