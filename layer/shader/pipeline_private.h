/*
 * What pipeline.c, pipeline_remember.c, pipeline_build.c and variant.c share. See pipeline.h and
 * variant.h.
 */
#pragma once

#include "deep_copy.h"
#include "layer/core/lookup.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/shader_record.h"

/* A compile of one batch, or of the record (PM_PREPARE). */
enum pm_making { PM_UNMADE, PM_QUEUED, PM_MADE, PM_FAILED };

struct pm_pipeline_batch {
    _Atomic(struct pm_variant *) variant; /* set once, released with the pipeline */
    _Atomic uint32_t making;              /* enum pm_making */
    _Atomic uint32_t wanted;              /* sampled calls that found no variant */
};

struct pm_pipeline {
    struct pm_device *device;
    _Atomic uint32_t
        references;        /* the game's handle, waiting and running jobs, pipelines that link it */
    VkPipeline handle;     /* the game's; destroyed when `gone` */
    uint32_t handle_count; /* identical pipelines may share a handle; under pipelines->lock */
    _Atomic bool gone;

    /* What to build it from. One of graphics and compute is set; it is a deep copy, read-only,
     * whose handles are the game's and stale: the objects stand for them. */
    struct pm_arena *arena;
    const VkGraphicsPipelineCreateInfo *graphics;
    const VkComputePipelineCreateInfo *compute;
    struct pm_object *layout, *render_pass; /* referenced; NULL: none */
    struct pm_object **modules;             /* referenced, one a stage */
    uint32_t module_count;
    struct pm_pipeline **libraries; /* referenced */
    uint32_t library_count;
    bool is_library;
    bool discards;           /* rasterization is off, statically: its fragment shader never runs */
    pthread_mutex_t copying; /* guards the making of `copy` */
    VkPipeline copy;         /* a library's identical twin of ours; made when first linked */

    /* The shader that variants replace. */
    struct pm_pipeline *shader_owner; /* this pipeline or one of its libraries; NULL: it has none */
    uint32_t shader_stage;            /* index among the shader owner's stages */
    bool may_force_early_tests;       /* HAZARDS 4 */

    /* Variants. `batches` has record->batch_count entries and is set before the record. */
    _Atomic(struct pm_shader_record *) record;
    struct pm_pipeline_batch *batches;
    struct pm_pipeline_batch prepare; /* of the record: variant is unused */
    _Atomic uint32_t fresh;           /* 1 + a batch whose variant no call has used; 0: none */

    /* The specialized variant (optimize.h). */
    _Atomic(struct pm_optimized *) optimized; /* owned; set once; NULL: none, or none yet */
    _Atomic(VkPipeline) best;                 /* its handle once it is proven */
    _Atomic bool best_bound;                  /* at least once */
};

struct pm_pipelines {
    struct pm_device *device;
    struct pm_lookup by_handle; /* VkPipeline to struct pm_pipeline */
    pthread_mutex_t lock;       /* handle counts */
    struct pm_shader_records *records;
    pthread_mutex_t cache_lock;
    VkPipelineCache cache;     /* ours, for variants only; made when first needed */
    _Atomic uint32_t variants; /* made or being made in this session */
    _Atomic bool full; /* no further variants: the limit or the counter memory was reached */
    _Atomic uint64_t thinning; /* state of the choice among calls that count occluded fragments */
};

/* pipeline_remember.c: what to build the pipeline from again, with one reference; NULL and *error
 * filled: it gets no variants. */
struct pm_pipeline *pm_pipeline_remember_graphics(struct pm_device *device,
                                                  const VkGraphicsPipelineCreateInfo *info,
                                                  struct pm_error *error);
struct pm_pipeline *pm_pipeline_remember_compute(struct pm_device *device,
                                                 const VkComputePipelineCreateInfo *info,
                                                 struct pm_error *error);
/* Everything but the game's handle. */
void pm_pipeline_destroy(struct pm_pipeline *pipeline);

void pm_pipeline_reference(struct pm_pipeline *pipeline);
void pm_pipeline_release(struct pm_pipeline *pipeline);

/* A library that the layer remembers, referenced; NULL: unknown. */
struct pm_pipeline *pm_pipeline_find_library(struct pm_device *device, VkPipeline handle);

/* pipeline_build.c: the shader that takes the place of the pipeline's own. */
struct pm_replacement {
    const struct pm_words *words;
    const char *entry_point;
    const VkSpecializationInfo *specialization; /* NULL: none */
    VkPipelineCache cache;                      /* VK_NULL_HANDLE: none */
    const char *name;                           /* debug-utils */
};

/* Builds the pipeline again with its shader replaced. What is in *built is the caller's to destroy,
 * also when building fails. */
bool pm_pipeline_build(struct pm_pipeline *pipeline, const struct pm_replacement *replacement,
                       struct pm_built *built, struct pm_error *error);

/* The cache in which instrumented variants share what their other stages compile to, in memory only
 * (HAZARDS 17). VK_NULL_HANDLE when the driver makes none. */
VkPipelineCache pm_pipelines_variant_cache(struct pm_pipelines *pipelines);

/* variant.c: what the pipeline says of the shader that variants replace. false: the device can make
 * none for its stage. */
bool pm_pipeline_shader_request(const struct pm_pipeline *pipeline,
                                struct pm_shader_request *request);

/* variant.c: builds every variant of a new pipeline now (debug.synchronous). */
void pm_pipeline_build_all(struct pm_pipeline *pipeline);
