/*
 * Cutting a large compute or fragment shader into passes, each a shader of its own, that together
 * compute what it computes: the multipass partitioning problem, by Mio (Riffel et al. 2004) and
 * what goes beyond it (schedule/). The limits then were a card's instructions; today they are
 * registers, and compilers that take seconds over one large kernel.
 *
 * Over the canonical module. Between two passes the caller waits for all that the first wrote, as a
 * memory barrier from compute to compute does; of a fragment shader each pass draws the same, in a
 * render pass instance of its own, where no two fragments of a pixel both count.
 *
 * Units: words are of 32 bits.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"
#include "shader_rewrite/partition/schedule/limits.h"
#include "shader_rewrite/partition/schedule/plan.h"

enum pm_partition_method {
    PM_PARTITION_BEYOND,   /* the best of three (schedule/beyond.h) */
    PM_PARTITION_MIO,      /* the paper's */
    PM_PARTITION_IN_ORDER, /* the paper's without its ready list */
    PM_PARTITION_METHODS,
};

/* "beyond", "mio", "in-order"; false for anything else. */
bool pm_partition_method_parse(const char *name, enum pm_partition_method *method);

struct pm_partitioned;

struct pm_partition_info {
    const struct pm_pass_limits *limits;
    enum pm_partition_method method;
    struct pm_target target; /* the outputs are validated for it */
    /* Of a compute shader: the memory has regions, and a dispatch in region r begins at workgroup
     * (0, 0, r times its workgroups in z), which the shader does not notice. Without, a dispatch
     * begins at 0. */
    bool regions;
    /* Called when a pass has been made, the last one of those so far, so that it can be compiled
     * while the next is made. All but the passes is known by then. The call that fails later has
     * made them in vain. NULL: nobody wants it. */
    void (*made)(void *user, const struct pm_partitioned *so_far);
    void *user;
};

/* A color attachment that a pass leaves for later ones. */
struct pm_partition_target {
    uint32_t location, image;
};

struct pm_partition_pass {
    struct pm_words words;
    uint32_t operations;                /* of the shader, that it runs */
    uint32_t spec_id_low, spec_id_high; /* SpecIds (32-bit unsigned) of the memory's address */
    uint32_t spec_id_region;            /* likewise, of how many words a region has */
    /* of a fragment shader */
    uint32_t outputs; /* by bit: locations of the shader's own outputs that it writes, whole; the
                         others that it declares it does not write */
    struct pm_partition_target *targets;
    uint32_t target_count;
    uint32_t *reads; /* images */
    uint32_t read_count;
};

struct pm_partitioned {
    struct pm_partition_pass *passes; /* in the order in which they run */
    uint32_t count;
    uint32_t operations; /* of the whole shader */
    /* The memory between passes: so many words for each invocation of the dispatch, at an address
     * that is a multiple of 4. Indices into it are 32 bits: words times invocations must be below
     * 2^32. 0: none is used. Number of invocations of a workgroup. */
    uint32_t scratch_words, workgroup_invocations;
    uint32_t own_words; /* of these, of variables of the shader's own */
    /* Of a fragment shader the memory is images instead, of VK_FORMAT_R32G32B32A32_UINT and as
     * large as the framebuffer: so many, sampled ones at binding i of descriptor set image_set. */
    bool fragment;
    uint32_t image_count, image_set;
    uint32_t opened;   /* selections that were cut open */
    uint32_t switches; /* that became selections, so that the shader could be cut */
    struct pm_plan_cost cost;
};

/* false: PM_ERROR_UNSUPPORTED with the reason why the shader cannot be cut, or fits no limits;
 * PM_ERROR_INPUT for words that are no canonical shader; PM_ERROR_STATE where an output was
 * not valid (a bug of ours). Freed by the function below. */
bool pm_partition(const uint32_t *words, size_t count, const struct pm_partition_info *info,
                  struct pm_partitioned *out, struct pm_error *error);
void pm_partitioned_finish(struct pm_partitioned *partitioned);
