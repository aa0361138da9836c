/*
 * Zero-value specialization: which values of a shader may be zero, counting how often they are, and
 * making the version of the shader that is faster when they are (AZP: Stephenson and Rangan, CGO
 * 2021, section 3; DESIGN, Contracts; HAZARDS 1, 2 and 6 to 8).
 *
 * A candidate's check is one thing here: what instrument_zero counts as a zero write is exactly
 * what the branch that specialize_zero adds would have taken.
 *
 * Everything is over the canonical module; fragment and compute only.
 * Ownership: outputs are malloc'ed, and freed by the function named beside them.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/config.h" /* enum pm_float_zero */
#include "shader_rewrite/shader_rewrite.h"

/* ---- points_zero (AZP 3.1) ---- */

enum { PM_ZERO_ELEMENTS = 4 }; /* at most, of a vector candidate */

/* One versioning variable: a value, the leading components of one, or several scalars together. */
struct pm_zero_candidate {
    uint32_t values[PM_ZERO_ELEMENTS]; /* result ids in the canonical module, in module order */
    uint32_t value_count; /* 1; more: scalars that belong together (Larsen and Amarasinghe's packs) */
    uint32_t components;  /* of the one value: 1 for a scalar, its width for a whole vector, less for
                             a prefix (2: .xy, 3: .xyz); 1 when there are several values */
    uint32_t block;       /* block point (points_blocks) in which the last of the values is written */
    bool at_most_once;    /* as of that block */
    bool is_float;
    bool quad; /* HAZARDS 2: a derivative or implicit-LOD read may follow, so that the check is ANDed
                  over the quad first; a device without quad operations neither counts nor uses it */
};
struct pm_zero_points {
    struct pm_zero_candidate *candidates;
    uint32_t count;
};
/* The candidates in a stable order: scalars and vectors by the module's order of their last value,
 * a value before its prefixes and these before packs. */
bool pm_points_zero(const uint32_t *words, size_t count, struct pm_zero_points *out,
                    struct pm_error *error);
void pm_zero_points_finish(struct pm_zero_points *points);

/* ---- instrument_zero (AZP 3.2) ---- */

/* As pm_instrument_blocks; info->points are indices of candidates, and a point's counters are
 * PM_ZERO_WRITES and PM_ZERO_ZERO_WRITES (profile.h), subgroups each; the third stays 0. Needs
 * subgroup vote besides; without info->subgroup_quad a candidate with `quad` counts nothing. */
bool pm_instrument_zero(const uint32_t *words, size_t count, const struct pm_instrument_info *info,
                        struct pm_instrumented *out, struct pm_error *error);

/* ---- specialize_zero (AZP 3.3) ---- */

/* What is known of a shader. Any numbers are accepted: they cost speed, never correctness. */
struct pm_zero_profile {
    const double *zero;   /* by candidate: P(zero), 0 to 1; NAN: not known */
    const double *writes; /* by candidate: subgroup writes over entry subgroups; NULL: not known */
    uint32_t candidate_count;
    const double *blocks; /* by block point: subgroups over entry subgroups; NULL: from `writes`, and
                             where that says nothing either, from the structure (costs.h) */
    uint32_t block_count;
};

/* What goes beyond AZP; each is off unless set (docs/specialized.md says what was measured). */
struct pm_zero_beyond {
    bool fit_regions;  /* a region begins and ends where that pays best, not only where S differs */
    bool hoist_across; /* a check may be in an earlier block than its candidate */
    bool pairs;        /* two candidates may be tested by one check */
};

struct pm_costs; /* costs.h: cycles by class of instruction, by vendor */

struct pm_specialize_zero_info {
    const struct pm_zero_profile *profile;
    const struct pm_costs *costs; /* NULL: the defaults */
    enum pm_float_zero float_zero;
    bool subgroup_quad; /* the device has quad operations in the stage (vote it must have) */
    struct pm_target target;
    /* AZP's constants; 0 stands for the paper's: P(zero) 0.32, 25 cycles, 3 transforms. */
    double threshold, least_saving;
    uint32_t most_transforms;
    double least_share; /* of what the shader costs, all transforms together; 0 stands for 0.05 */
    struct pm_zero_beyond beyond;
    bool take_all; /* the estimate is made but not obeyed: whatever may be transformed and has
                      P(zero) at the threshold or above is, best first. For tests and oracles. */
};

struct pm_specialized {
    struct pm_words words; /* validated for the target; count 0 when nothing was transformed */
    uint32_t transforms;
    char *report; /* JSON, times in cycles: what the shader costs and what all transforms found save
                     of it (T_shader, saved), and for each candidate why it was taken or not: id,
                     block, P(zero), T_R, T_S, T_check, su, MemKilled, |S|, reason */
};
/* false: the module cannot be read, or what came out was not valid (PM_ERROR_STATE: a bug of ours;
 * the message has spirv-val's words). Nothing worth transforming is no failure. */
bool pm_specialize_zero(const uint32_t *words, size_t count,
                        const struct pm_specialize_zero_info *info, struct pm_specialized *out,
                        struct pm_error *error);
void pm_specialized_finish(struct pm_specialized *specialized);
