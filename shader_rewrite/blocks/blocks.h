/*
 * Optimizations by how often blocks run, and how: in whole subgroups or not (the cooperative
 * paper's 4.1, and the offload RFC, whose point is that a rare block costs nothing only where
 * subgroups skip it whole). Each is a pass of its own; _optimize_blocks runs those that are asked
 * for. Any numbers of a profile are accepted: they cost speed, never correctness, and what comes
 * out computes the same bits, as far as drivers keep them (HAZARDS 3).
 *
 * Over the canonical module; fragment and compute only.
 * Ownership: outputs are malloc'ed, and freed by the function named beside them.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"

struct pm_block_points; /* points.h */
struct pm_costs;        /* analysis_costs.h */
struct pm_driver;       /* quirks.h */
struct pm_pass_times;   /* pass.h */
struct pm_turn_points;  /* points.h */

/* What is known of a shader: lists by block point (points.h), NAN where nothing is; NULL: of none.
 */
struct pm_block_profile {
    const double *frequency;  /* lanes over entry lanes */
    const double *low, *high; /* the ends of its interval; NULL: it is exact */
    const double *uniform;    /* the share of these lanes that entered with their whole subgroup */
    const double *subgroups;  /* subgroups over entry subgroups */
    uint32_t block_count;
    /* The histograms of loops' turns, by point of turns (points.h); NULL: of none. */
    const double *reached;                    /* lanes that make the turn over entry lanes */
    const double *reached_low, *reached_high; /* the ends of its interval; NULL: it is exact */
    const double *reached_uniform; /* the share of these that do with their whole subgroup */
    uint32_t turn_count;
};

/* The passes, in the order in which they run. */
enum pm_block_pass {
    PM_BLOCK_FLATTEN, /* selections: DontFlatten around rare blocks, Flatten of short balanced ones
                       */
    PM_BLOCK_SINK,    /* what only rare uniform blocks need is computed there */
    PM_BLOCK_VERSION, /* rare bodies go behind a vote of their own */
    PM_BLOCK_UNROLL,  /* loops: DontUnroll of rare ones, Unroll and PartialCount of steady ones */
    PM_BLOCK_PEEL,    /* steady loops: as many turns as there always are, in front of the loop */
    PM_BLOCK_LAYOUT,  /* rare blocks last, weights of branches */
    PM_BLOCK_PASSES,
};

/* Its name on the command line and in reports, as "optimize_flatten"; and without that, as
 * "flatten". */
const char *pm_block_pass_name(enum pm_block_pass pass);
const char *pm_block_pass_short(enum pm_block_pass pass);

/* The pass of a name, as a bit of struct pm_optimize_blocks_info's passes; all of them of
 * "optimize_blocks"; 0: there is none. */
uint32_t pm_block_passes_named(const char *name);

/* The passes with commas between them, as optimize.block_passes names them: "sink,layout". */
enum { PM_BLOCK_PASSES_TEXT = 48 };
void pm_block_passes_format(uint32_t passes, char text[static PM_BLOCK_PASSES_TEXT]);

#define PM_BLOCK_ALL ((1u << PM_BLOCK_PASSES) - 1)

struct pm_optimize_blocks_info {
    const struct pm_block_profile *profile; /* NULL: nothing is known */
    /* The blocks that the profile is of, where the words were made of theirs and kept the ids of
     * what is left of them. Of what else the words have nothing is known. NULL: of these words. */
    const struct pm_block_points *points;
    const struct pm_turn_points *turns; /* likewise, of the turns that it is of */
    uint32_t passes;                    /* 1 << enum pm_block_pass, each */
    double uniform_share; /* optimize.uniform_share; from which on a block is uniform */
    double
        cold_share; /* of subgroups, below which a block is rare; 0 stands for the paper's 0.01 */
    /* As for a processor that has no subgroups: blocks are rare by their lanes, and are sunk into
     * whether they are uniform or not. For measuring. */
    bool ignore_uniformity;
    /* Every body counts as rare, whatever is known: votes without a profile, for A-Z testing. */
    bool all_rare;
    bool subgroup_vote; /* the device has it in the stage; without it nothing is versioned */
    /* Nothing is made where all changes together save less than specialize_zero asks for, by the
     * most favourable of estimates: that drivers do what they are asked for, and did not before. */
    bool weigh;
    const struct pm_costs *costs;   /* NULL: the defaults */
    struct pm_target target;        /* the output is validated for it */
    const struct pm_driver *driver; /* that will run it; NULL: any, so that every guard is on */
    struct pm_pass_times *times;    /* how long the passes took is added; NULL: not wanted */
};

struct pm_optimized_blocks {
    struct pm_words words; /* validated for the target; count 0 where nothing was changed, or that
                              is not worth it */
    uint32_t changes;      /* in these words */
    uint32_t changes_by[PM_BLOCK_PASSES]; /* each pass */
    double cycles, saved; /* of one subgroup: what the shader costs by the profile, and what all
                             changes may save of it */
    char *report; /* JSON: {"changes": n, "cycles": c, "saved": s, "decisions": [{"pass", "block"
                     (its point), "value" (an id, of what is sunk), "done", "what", "reason"}]}, of
                     each selection, loop, value and branch that a pass looked at */
};

/* The passes of info, one after another. false: PM_ERROR_INPUT for words that are no SPIR-V, or a
 * profile of another number of blocks; PM_ERROR_STATE where the output was not valid (a bug of
 * ours). That nothing is worth changing is no failure. */
bool pm_optimize_blocks(const uint32_t *words, size_t count,
                        const struct pm_optimize_blocks_info *info, struct pm_optimized_blocks *out,
                        struct pm_error *error);
void pm_optimized_blocks_finish(struct pm_optimized_blocks *optimized);
