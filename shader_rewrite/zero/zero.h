/*
 * Zero-value specialization: making the version of a shader that is faster when some of its values
 * are zero (AZP: Stephenson and Rangan, CGO 2021, section 3.3; DESIGN, Contracts; HAZARDS 1, 2 and
 * 6 to 8). Which values may be zero is points.h, counting how often they are instrument.h.
 *
 * Over the canonical module; fragment and compute only.
 * Ownership: outputs are malloc'ed, and freed by the function named beside them.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/config.h" /* enum pm_float_zero */
#include "base/error.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"
#include "shader_rewrite/zero/choose/beyond.h"

/* What is known of a shader. Any numbers are accepted: they cost speed, never correctness. */
struct pm_zero_profile {
    const double *zero;   /* by point: P(zero), 0 to 1; NAN: not known */
    const double *writes; /* by point: subgroup writes over entry subgroups; NULL: not known */
    uint32_t candidate_count;
    /* By block point: subgroups over entry subgroups; NULL: from `writes`, and where that says
     * nothing either, from the structure (analysis_weights.h). */
    const double *blocks;
    uint32_t block_count;
};

struct pm_pass_times; /* pass.h */
struct pm_costs;      /* analysis_costs.h: cycles by class of instruction, by vendor */
struct pm_driver;     /* quirks.h */

struct pm_specialize_zero_info {
    const struct pm_zero_profile *profile;
    /* What the profile is about, of these words (points.h): nothing else is a candidate. NULL:
     * pm_points_zero's, which then are found once more. */
    const struct pm_zero_points *zeros;
    bool all_candidates; /* zeros NULL: all of pm_zero_candidates are points. For tests, oracles */
    const struct pm_costs *costs; /* NULL: the defaults */
    enum pm_float_zero float_zero;
    bool subgroup_quad; /* the device has quad operations in the stage (vote it must have) */
    struct pm_target target;
    const struct pm_driver *driver; /* that will run it; NULL: any, so that every guard is on */
    uint32_t unguarded;          /* enum pm_quirk's bits: no guard against these all the same. For
                                    measuring what guards cost */
    struct pm_pass_times *times; /* how long the passes took is added; NULL: not wanted */
    /* AZP's constants; 0 stands for the paper's: P(zero) 0.32, 25 cycles, 3 transforms. */
    double threshold, least_saving;
    uint32_t most_transforms; /* fewer where the module would grow beyond four times its ids */
    uint64_t most_work;       /* instructions that may be looked at, each time anew; 0 stands for 30
                                 million, which takes some seconds. Beyond it no more is transformed. */
    double least_share; /* of what the shader costs, all transforms together; 0 stands for 0.05 */
    struct pm_zero_beyond beyond;
    bool take_all; /* the estimate is made but not obeyed: whatever may be transformed and has
                      P(zero) at the threshold or above is, best first. For tests and oracles. */
};

struct pm_specialized {
    struct pm_words words; /* validated for the target; count 0 when nothing was transformed, or it
                              was refused (analysis_folded.h) */
    uint32_t transforms;
    char *report; /* JSON, times in cycles: what the shader costs and what all transforms found save
                     of it (T_shader, saved), how many instructions were looked at (work: as
                     most_work, the same on every machine), and for each candidate why it was taken
                     or not: id, block, P(zero), T_R, T_S, T_check, su, MemKilled, |S|, reason.
                     First the points, then the copies of their values that transforms made, with
                     the point's id as copy_of; a copy's values are ids of the changed module */
};
/* false: the module cannot be read, or what came out was not valid (PM_ERROR_STATE: a bug of ours;
 * the message has spirv-val's words). Nothing worth transforming is no failure. */
bool pm_specialize_zero(const uint32_t *words, size_t count,
                        const struct pm_specialize_zero_info *info, struct pm_specialized *out,
                        struct pm_error *error);
void pm_specialized_finish(struct pm_specialized *specialized);
