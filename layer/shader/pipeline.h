/*
 * The game's pipelines: what the layer remembers of each so that it can build it again with another
 * shader (pipeline_remember.h, pipeline_build.h). The game gets its own pipeline untouched and at
 * once; variants come later and elsewhere (variant_make.h, optimize.h).
 *
 * A shader object (VkShaderEXT) of the fragment or compute stage is a pipeline to all that makes
 * and binds variants: one of a single stage, remembered by shader_object.h, whose handles are of
 * another type.
 *
 * A pipeline library is remembered too. A pipeline linked from libraries is built again by linking
 * copies of its libraries, of which the one with the fragment shader is instrumented.
 *
 * Thread safety: all functions may be called from any thread.
 */
#pragma once

#include "deep_copy.h"
#include "layer/core/lookup.h"
#include "layer/shader/ahead.h"
#include "layer/shader/dynamic_states.h"
#include "layer/shader/first_draws.h"
#include "layer/shader/object.h"
#include "layer/shader/push_ranges.h"
#include "layer/shader/shader_record.h"
#include "layer/shader/standing.h"
#include "layer/shader/variant.h"
#include "layer/shader/variant_budget.h"

struct pm_candidate;          /* candidate.h */
struct pm_contest;            /* contest.h */
struct pm_optimized;          /* optimized.h */
struct pm_session_trial;      /* trial/sessions.h */
struct pm_specialized_shader; /* specialized_shader.h */

/* A compile of one batch, or of the record (PM_PREPARE). */
enum pm_making { PM_UNMADE, PM_QUEUED, PM_MADE, PM_FAILED };

struct pm_pipeline_batch {
    _Atomic(struct pm_variant *) variant; /* variant_table.h */
    _Atomic uint32_t making;              /* enum pm_making */
    _Atomic uint32_t wanted;              /* how urgent it is (variant_make.c) */
};

struct pm_pipeline {
    struct pm_device *device;
    _Atomic uint32_t
        references;        /* the game's handle, waiting and running jobs, pipelines that link it */
    uint64_t handle;       /* PM_BITS of the game's; destroyed when `gone` */
    uint32_t handle_count; /* identical pipelines may share a handle; under pipelines->lock */
    _Atomic bool gone;

    /* What to build it from. One of graphics, compute and object is set; it is a deep copy,
     * read-only, without handles: the objects stand for them. It is shared with other pipelines
     * where they are the same (pm_pipelines.states). */
    struct pm_arena *arena; /* of what is its own; NULL: nothing is */
    const VkGraphicsPipelineCreateInfo *graphics;
    const VkComputePipelineCreateInfo *compute;
    const VkShaderCreateInfoEXT *object;    /* without its code */
    VkPipelineCreateFlags2 flags;           /* the game's; the deep copy's are not to be used */
    struct pm_object *layout, *render_pass; /* referenced; NULL: none */
    struct pm_push_ranges *push_ranges;     /* of the layout, or the object; NULL: not known */
    struct pm_object **set_layouts;         /* referenced, as many as the object has */
    uint32_t set_layout_count;
    uint32_t module_count;
    struct pm_pipeline **libraries; /* referenced; of an object: what it is linked to */
    uint32_t library_count;
    bool is_library;
    bool discards;           /* rasterization is off, statically: its fragment shader never runs */
    pthread_mutex_t copying; /* guards the making of `copy` */
    VkPipeline copy;         /* a library's identical twin of ours; made when first linked */

    /* The shader that variants replace. */
    struct pm_pipeline *shader_owner; /* this pipeline or one of its libraries; NULL: it has none */
    uint32_t shader_stage;            /* index among the shader owner's stages */
    bool may_force_early_tests;       /* HAZARDS 4; of a library: it does not forbid it */
    bool never_stands; /* variants are bound for a sampled call only: none is specialized */
    uint64_t dynamic[PM_DYNAMIC_WORDS]; /* of a graphics pipeline: what it leaves to commands */

    /* Variants. `batches` has record->batch_count entries and is set before the record. */
    _Atomic(struct pm_shader_record *) record;
    struct pm_pipeline_batch *batches;
    struct pm_pipeline_batch prepare; /* of the record: variant is unused */
    _Atomic uint32_t fresh;           /* 1 + a batch whose variant no call has used; 0: none */
    _Atomic uint32_t stand_ins;       /* calls for which one stood in for others … */
    _Atomic uint32_t stand_in;        /* … and the batch from which the next one is looked for */
    _Atomic bool awaited;             /* its first variant is, or was not begun yet (ahead.h) */
    _Atomic uint32_t variants;        /* in `batches` */
    _Atomic uint32_t missed;          /* chosen calls that found no record yet (owed.h) */
    _Atomic uint64_t missed_at;       /* pm_owed_when of the latest */
    _Atomic bool told;                /* a recording holds a call of it twice, or did */
    _Atomic bool seen; /* a recording has bound it that could have held one of it twice */
    bool won;          /* its first is made ahead. Set before the game has it */
    double lot; /* the chance by which it won that its first is made ahead (ahead.h); 0: it lost,
                   and recordings that are kept hold no call of it twice; 1: it was not by lot. Set
                   before the game has it */

    /* The specialized variant (optimized.h). */
    _Atomic(struct pm_optimized *) optimized; /* owned; set once; NULL: none, or none yet */
    _Atomic(struct pm_candidate *) candidate; /* it, while it is to be tried; NULL: it is not */
    _Atomic uint64_t best;                    /* its handle once it is proven */
    struct pm_stands stands;                  /* of a bind, if nothing else is to do */
    _Atomic(struct pm_contest *) contest;     /* that it is measured for; NULL: none */
    struct pm_optimized
        *arms; /* variants of a contest (contest.h); owned; the optimizer's thread */
    /* The variant that a recipe made of the specialized one, likewise: used where that would be. */
    _Atomic(struct pm_optimized *) over;
    _Atomic(struct pm_candidate *) over_candidate;
    _Atomic(struct pm_optimized *) over_best; /* it, once it is proven */
    /* The variant for values of push constants, likewise. */
    _Atomic(struct pm_optimized *) folded;
    _Atomic(struct pm_candidate *) folded_candidate;
    _Atomic(struct pm_optimized *) folded_best; /* it, once it is proven */
    /* The variant in several passes, likewise. */
    _Atomic(struct pm_optimized *) passes;
    _Atomic(struct pm_candidate *) passes_candidate;
    _Atomic(struct pm_optimized *) passes_best;
    _Atomic(struct pm_session_trial *) session; /* trial/sessions.h; NULL: none */
    bool keeps_side; /* part of a trial over sessions: nothing else is made of it. Set before the
                        game has the pipeline */
    _Atomic uint32_t wish; /* enum pm_wish */
    _Atomic uint32_t heat; /* binds while there was a wish, PM_MOST_HEAT at most */
    const struct pm_specialized_shader *specialized; /* what it would run; the optimizer's */
    const struct pm_specialized_shader *specialized_folded;
    const struct pm_specialized_shader *specialized_passes;
    /* while it waits; under the lock of who waits (waiting.h) */
    struct pm_pipeline *next_waiting, *previous_waiting;
    bool waits, held; /* held: nothing but room is missing */

    struct pm_object *modules[]; /* module_count of them; referenced, one a stage */
};

/* Whether a specialized variant is to be made. */
enum pm_wish {
    PM_WISH_NONE,    /* no, or not any more */
    PM_WISH_BOUND,   /* once the game binds the pipeline: many are made that never are */
    PM_WISH_TOLD,    /* somebody is just saying so */
    PM_WISH_WAITING, /* yes */
};

/* Binds beyond these are not counted, so that those of a pipeline that waits for long do not go on
 * writing. */
#define PM_MOST_HEAT UINT32_C(65536)

/* What a specialized variant takes room of; limits.variants of each. */
enum pm_room {
    PM_ROOM_OPTIMIZED, /* it is to be used, or tried; or there was no room among those dropped */
    PM_ROOM_DROPPED,   /* it is no faster */
    PM_ROOM_ARMS,      /* a contest (contest.h) measures it, or did, and a recording holds it */
    PM_ROOMS,
    PM_ROOM_NONE = PM_ROOMS, /* nothing of it is built any more */
};

struct pm_pipelines {
    struct pm_device *device;
    struct pm_lookup by_handle; /* VkPipeline to struct pm_pipeline */
    struct pm_lookup by_shader; /* VkShaderEXT likewise */
    struct pm_interned *states; /* of what pipelines are built from; NULL: each has its own */
    struct pm_push_layouts push_layouts;
    struct pm_dynamic_states dynamic;
    _Atomic bool seen;        /* there was a pool of queries that see what is bound */
    _Atomic bool seen_by_all; /* and what stands for pipelines goes by it */
    pthread_mutex_t lock;     /* handle counts */
    struct pm_shader_records *records;
    pthread_mutex_t cache_lock;
    VkPipelineCache cache;           /* ours, for variants only; made when first needed */
    struct pm_variant_budget budget; /* of instrumented variants */
    struct pm_first_draws first_draws;
    struct pm_ahead ahead;
    _Atomic uint32_t specialized[PM_ROOMS]; /* variants that live or are being made */
    /* The optimizer's, while there is one. The game has destroyed a pipeline, as its `gone` says;
     * and a specialized variant was destroyed. */
    void (*forget)(struct pm_pipeline *pipeline);
    void (*released)(struct pm_device *device);
    _Atomic uint32_t shaders;     /* modules whose fragment or compute shader a pipeline has */
    _Atomic uint32_t overlaid;    /* that overlays above us have made */
    _Atomic uint32_t unknown;     /* chosen calls that found no record yet (went_by.h) */
    _Atomic bool keeps_nothing;   /* the game records everything anew (pm_sampling_keeps_nothing) */
    _Atomic bool was_full;        /* that a limit was reached was said */
    _Atomic uint64_t large_words; /* in the modules of large shaders' variants, of all there were */
    _Atomic uint64_t thinning; /* state of the choice among calls that count occluded fragments */
};

/* Whether it, or what stands for it, may be bound away from its draws (dynamic_states.h). Shader
 * objects set no state. */
static inline bool pm_pipeline_may_be_bound_again(const struct pm_pipeline *pipeline)
{
    return pipeline->graphics == NULL ||
           pm_dynamic_states_are_all(&pipeline->device->pipelines->dynamic, pipeline->dynamic);
}

/* Whether nothing may stand for it: a query may begin that would see it, and it could be put back
 * at a draw alone (frame/put_off.h), up to which draws would cost more. Before the device has a
 * pool of such queries none can; what was bound then is put back so. Direct3D games over DXVK
 * always might make one, and hardly ever do; DXVK does so right before the first such query begins.
 */
static inline bool pm_pipeline_stands_itself(const struct pm_pipeline *pipeline)
{
    return !pm_pipeline_may_be_bound_again(pipeline) &&
           atomic_load_explicit(&pipeline->device->pipelines->seen, memory_order_relaxed);
}

/* The device gets its first pool of such queries: what stands for pipelines may be another then. */
void pm_pipelines_are_seen(struct pm_pipelines *pipelines);

/* A pipeline with these parts of its own, or a shader object, leaves states to commands
 * (dynamic_states.h): what stands for others may be another then. set: what is to have them. */
void pm_pipelines_leave(struct pm_pipelines *pipelines,
                        const VkPipelineDynamicStateCreateInfo *info,
                        VkGraphicsPipelineLibraryFlagsEXT own,
                        uint64_t set[static PM_DYNAMIC_WORDS]);
void pm_pipelines_leave_all(struct pm_pipelines *pipelines);

/* NULL: out of memory. */
struct pm_pipelines *pm_pipelines_create(struct pm_device *device);
/* After pm_compiler_destroy and after every recording dropped its variants. NULL is allowed. */
void pm_pipelines_destroy(struct pm_pipelines *pipelines);

/* What a new pipeline starts from, with one reference and room for so many modules. NULL: out of
 * memory. */
struct pm_pipeline *pm_pipeline_create(struct pm_device *device, uint32_t most_modules,
                                       struct pm_error *error);
/* All of it is copied: frees its arena unless there is something in it. */
void pm_pipeline_trim(struct pm_pipeline *pipeline);

/* Whether the shader that variants replace is a compute shader. */
static inline bool pm_pipeline_computes(const struct pm_pipeline *pipeline)
{
    const struct pm_pipeline *owner = pipeline->shader_owner;
    return owner->compute != NULL ||
           (owner->object != NULL && owner->object->stage == VK_SHADER_STAGE_COMPUTE_BIT);
}

/* The game has made a pipeline: takes over the reference to what is remembered of it. A driver may
 * give identical pipelines one handle, and what is remembered of them is the same then: the first
 * stays. true: this one is it. */
bool pm_pipelines_put(struct pm_pipelines *pipelines, uint64_t handle,
                      struct pm_pipeline *pipeline);
/* The game destroys the handle, which may be unknown. */
void pm_pipelines_remove(struct pm_device *device, VkPipeline handle);
void pm_pipelines_remove_shader(struct pm_device *device, VkShaderEXT handle);

/* The pipeline the layer remembers for a handle, NULL when it knows none or can make no variants of
 * it. The pointer stays valid until the game destroys the pipeline. Without a lock. */
struct pm_pipeline *pm_pipeline_find(struct pm_device *device, VkPipeline handle);
struct pm_pipeline *pm_pipeline_find_shader(struct pm_device *device, VkShaderEXT handle);

/* A library that the layer remembers, referenced; NULL: unknown. */
struct pm_pipeline *pm_pipeline_find_library(struct pm_device *device, VkPipeline handle);

/* NULL is allowed for the last. */
void pm_pipeline_reference(struct pm_pipeline *pipeline);
/* false: nobody has a reference any more; it is being destroyed, and nothing was taken. For who has
 * none, but knows that it is not yet freed. */
bool pm_pipeline_try_reference(struct pm_pipeline *pipeline);
void pm_pipeline_release(struct pm_pipeline *pipeline);

/* Everything but the game's handle. NULL is allowed. */
void pm_pipeline_destroy(struct pm_pipeline *pipeline);
