/*
 * Cases for runs in the style of the conformance suite: every way to make a pipeline, on every kind
 * of target, used in every way. A case is a path of words,
 * "pm.graphics.linked.samples.indirect.zeros"; what it draws must be what the plainest way draws,
 * and what it is a hash of must not depend on the layer (run.py compares).
 *
 * A case is a process of its own. It ends in cts_pass, cts_fail or cts_unsupported, which do not
 * return, and in cmocka's failures, which end the process.
 *
 * Thread safety: a struct cts belongs to one thread.
 */
#pragma once

#include "tests/gpu/gpu_objects.h"
#include "tests/gpu/gpu_private.h"

enum { CTS_SIDE = 32, CTS_WORDS = 1024, CTS_VERTICES = 12 };

/* Bits of pm_gpu.extensions. */
enum {
    CTS_LIBRARIES = 1 << 0,          /* VK_KHR_pipeline_library */
    CTS_GRAPHICS_LIBRARIES = 1 << 1, /* VK_EXT_graphics_pipeline_library, and its feature */
    CTS_COLOR_WRITES = 1 << 2,       /* VK_EXT_color_write_enable, and its feature */
    CTS_OWN = 1 << 3, /* the case's own: VK_EXT_shader_object, …_mesh_shader, … */
    CTS_OWN_TOO = 1 << 4,
};

/* ---- what a case is made of; each list's order is that of the names in cases.c ---- */

enum cts_make {
    CTS_DIRECT,
    CTS_CACHED,    /* through a cache, the second time */
    CTS_DERIVED,   /* from another one */
    CTS_BATCH,     /* the second of three in one call */
    CTS_LINKED,    /* of four libraries */
    CTS_OPTIMIZED, /* likewise, with link-time optimization */
    CTS_HALVES,    /* of two libraries */
    CTS_INLINED,   /* SPIR-V in the stages */
    CTS_EARLY,     /* everything it is made of destroyed at once */
    CTS_RETRIED,   /* refused first, where it must be compiled */
    CTS_FEEDBACK,  /* with creation feedback */
    CTS_CONSTANTS, /* with a specialization constant */
    CTS_ALLOCATOR, /* with the game's allocator */
    CTS_DYNAMIC,   /* with dynamic state */
    CTS_AGAIN,     /* made, destroyed, made again */
    CTS_MAKES,
    /* no pipeline (cts_objects_at) */
    CTS_OBJECTS = CTS_MAKES,
    CTS_LINKED_OBJECTS
};

enum cts_target_kind {
    CTS_PASS,
    CTS_PASS2,
    CTS_RENDERING,
    CTS_DEPTH,
    CTS_SAMPLES,
    CTS_TWO,    /* color attachments */
    CTS_SECOND, /* subpass */
    CTS_BLEND,
    CTS_TARGETS
};

enum cts_use {
    CTS_ONCE,
    CTS_INDEXED, /* compute: with a base group */
    CTS_INDIRECT,
    CTS_INSTANCED,
    CTS_SECONDARY,
    CTS_REPEATED,   /* recorded once, submitted three times */
    CTS_POOL_RESET, /* recorded three times, the pool reset between */
    CTS_RESET,      /* likewise, the command buffer */
    CTS_QUERIED,    /* inside queries */
    CTS_REBOUND,    /* another pipeline in turn with it */
    CTS_PUSHED,     /* in parts, push constants between them */
    CTS_SPLIT,      /* in parts, each in a submission of its own that nobody waits for */
    CTS_USES
};

/* Cases of each of them, with a few uses: ways.h. */
enum cts_way {
    CTS_PLAINLY,
    CTS_SUBMIT2, /* vkQueueSubmit2 */
    CTS_PUSH_DESCRIPTORS,
    CTS_TESSELLATION,
    CTS_MULTIVIEW, /* two views */
    CTS_MESH,
    CTS_GEOMETRY,
    CTS_TASK,               /* and mesh */
    CTS_CAPTURED,           /* transform feedback */
    CTS_LOCAL_READ,         /* in dynamic rendering */
    CTS_COUNTED,            /* vkCmdDrawIndirectCount */
    CTS_RESOLVED_LATER,     /* vkCmdResolveImage */
    CTS_RESOLVED_BY_PASS,   /* at a subpass's end */
    CTS_DESCRIPTOR_BUFFERS, /* VK_EXT_descriptor_buffer */
    CTS_CONDITIONAL,        /* the game's own conditional rendering */
    CTS_NESTED,             /* secondaries in secondaries */
    CTS_GENERATED,          /* device-generated commands */
    CTS_MULTI,              /* vkCmdDrawMultiEXT */
    CTS_MULTI_INDEXED,      /* vkCmdDrawMultiIndexedEXT */
    CTS_INDEXED_INDIRECT,   /* vkCmdDrawIndexedIndirect */
    CTS_INDEXED_COUNTED,    /* vkCmdDrawIndexedIndirectCount */
    CTS_PENDING,            /* recorded once, and pending several times at once */
    CTS_SHARED,             /* a secondary in several primaries */
    CTS_SUSPENDED,          /* and resumed dynamic rendering */
    CTS_NESTED_LIBRARIES,   /* libraries of libraries */
    CTS_ROBUST,             /* VK_EXT_pipeline_robustness */
    CTS_STATES,             /* VK_EXT_extended_dynamic_state3 */
    CTS_WAYS
};

enum { CTS_FRAGMENT_SHADERS = 10, CTS_COMPUTE_SHADERS = 6 };

struct cts_case {
    bool compute;
    enum cts_make make;
    enum cts_target_kind target;
    enum cts_use use;
    enum cts_way way;
    const char *shader; /* "zeros" */
};

/* The n-th case of the tree; false: there are no more. */
bool cts_case_at(uint32_t n, struct cts_case *out, char name[static 128]);
/* Likewise, of those with shader objects. */
bool cts_objects_at(uint32_t n, struct cts_case *out, char name[static 128]);
/* Likewise, of the other ways to draw. */
bool cts_newer_at(uint32_t n, struct cts_case *out, char name[static 128]);
static inline bool cts_has_objects(const struct cts_case *of)
{
    return of->make == CTS_OBJECTS || of->make == CTS_LINKED_OBJECTS;
}

/* ---- ending ---- */

void cts_pass(uint64_t hash) __attribute__((noreturn));
void cts_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void cts_unsupported(const char *why) __attribute__((noreturn));
uint64_t cts_hash(uint64_t hash, const void *data, size_t size);
#define CTS_HASH UINT64_C(0xcbf29ce484222325)

/* ---- a device ---- */

struct cts_target {
    enum cts_target_kind kind;
    uint32_t samples, colors, subpass, view_mask;
    bool has_depth;
    bool has_middle;        /* color[1] is drawn to as well, and read in between */
    bool resolves_later;    /* by a command of its own */
    VkRenderingFlags flags; /* of the next dynamic rendering that begins */
    struct gpu_image color[2], resolved, depth;
    VkRenderPass pass, loading; /* NULL: dynamic rendering; loading: what is there stays */
    VkFramebuffer framebuffer;
};

struct cts {
    struct pm_gpu gpu;
    struct cts_target target;
    struct pm_gpu_buffer vertices, indices, indirect, given, stored, texels;
    uint64_t queried[2]; /* what CTS_QUERIED's queries said: samples, invocations; or the way */
    VkPipeline libraries[16]; /* that were linked: lavapipe still needs them, until the end */
    uint32_t library_count;
    VkPipelineLayout part_layouts[2]; /* of libraries without the fragment shader, and with it
                                         alone: gpu.layout's twins */
    VkDescriptorSet set;
    VkShaderModule module; /* the case's shader */
    VkShaderModule way_modules[2];
    struct pm_gpu_buffer way_buffers[2];
    VkPipelineLayout layouts[2]; /* of all, and the way's own; gpu.layout: in use */
    VkDescriptorSetLayout way_set_layout;
    struct pm_gpu_shader buffers; /* what the descriptors are of */
    uint32_t layers;              /* of the target */
    bool keeps_instance;          /* which is the caller's */
    VkShaderEXT objects[2];       /* vertex; fragment or compute */
    struct pm_device_dispatch vk;
    uint32_t *words;
    size_t word_count;
};

void cts_open(struct cts *cts, const struct cts_case *of);
/* Likewise, a device of this instance, which stays. */
void cts_open_of(struct cts *cts, const struct cts_case *of, VkInstance instance);
void cts_close(struct cts *cts, const struct cts_case *of);

/* ---- allocator.c ---- */

/* What a game allocates with; CTS_ALLOCATOR's. fail_at: the allocation that fails, and with
 * fails_on all behind it; 0: none. live: those that were not freed. */
extern const VkAllocationCallbacks cts_allocator;
extern _Atomic int64_t cts_allocations, cts_fail_at, cts_live;
extern _Atomic bool cts_fails_on;

/* ---- target.c ---- */

void cts_target_create(struct cts *cts, enum cts_target_kind kind);
void cts_target_destroy(struct cts *cts);
/* Begins and ends drawing to it. `first`: cleared. */
void cts_target_begin(const struct cts *cts, VkCommandBuffer commands, bool first,
                      bool secondaries);
void cts_target_end(const struct cts *cts, VkCommandBuffer commands);
/* What was drawn, into cts->texels. */
void cts_target_read(struct cts *cts);

/* ---- make.c ---- */

/* NULL: the case has shader objects, which are made. */
VkPipeline cts_make_pipeline(struct cts *cts, const struct cts_case *of);
/* One that does something else, made directly. */
VkPipeline cts_make_other(struct cts *cts, const struct cts_case *of);

/* ---- newer.c ---- */

void cts_newer_open(struct cts *cts, const struct cts_case *of);
void cts_newer_close(struct cts *cts, const struct cts_case *of);
/* What is made and recorded from here on goes the case's way (on), or plainly, as until then. */
void cts_newer_turn(struct cts *cts, const struct cts_case *of, bool on);

/* ---- objects.c ---- */

void cts_objects_create(struct cts *cts, const struct cts_case *of);
void cts_objects_destroy(struct cts *cts);
/* With the state that they need. */
void cts_objects_bind(const struct cts *cts, const struct cts_case *of, VkCommandBuffer commands);

/* ---- use.c ---- */

/* Uses the pipeline, or the case's objects, and hashes what it wrote. */
uint64_t cts_run(struct cts *cts, const struct cts_case *of, VkPipeline pipeline, VkPipeline other);

VkCommandBuffer cts_allocate(const struct cts *cts, VkCommandPool pool, VkCommandBufferLevel level);

/* The same in two steps: the recording, on any thread with its command buffer, and the rest. */
void cts_record(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                VkCommandBuffer commands);
uint64_t cts_submit(struct cts *cts, const struct cts_case *of, VkCommandBuffer commands);

/* ---- special.c ---- */

/* The cases that are no product: threads, destruction, failing allocations, devices, forks,
 * instances. */
bool cts_special_at(uint32_t n, char name[static 128]);
/* false: there is no such case. Does not return otherwise. */
bool cts_special_run(const char *name);
