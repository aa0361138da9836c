/*
 * Checks that counters equal the ground truth to the last unit: a canonical module, a CPU model's
 * counts of its blocks, and instrumented variants of it that a driver runs (DESIGN, Counters; the
 * issue, "Exact").
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"
#include "tests/gpu/gpu.h"
#include "tests/shader_rewrite/instrument/model.h"

struct exact_shader {
    const char *name;
    enum pm_stage stage;
    struct pm_words original, canonical;
    struct pm_block_points points;
    struct pm_zero_points zeros;
    struct pm_turn_points turns;
    struct pm_target target;
};

/* Loads and canonicalizes a shader of exact/. values as in pm_canonicalize_info. */
void exact_load(const char *name, const struct pm_spec_value *values, size_t value_count,
                struct exact_shader *shader);
/* Canonicalizes what has a name, a stage and its original words, and finds its points. */
void exact_prepare(struct exact_shader *shader, const struct pm_target *target,
                   const struct pm_spec_value *values, size_t value_count);
void exact_finish(struct exact_shader *shader);

/* How one variant is made and what its counters begin with. */
struct exact_variant {
    const uint32_t *points;
    uint32_t point_count;
    uint32_t slot_count;
    bool wide;            /* 64-bit atomics */
    uint64_t first_value; /* every counter starts there: near 2^32 the carry is seen */
    bool may_force_early_tests;
    bool lanes_only;
    const struct pm_flow_points *flow; /* NULL: lanes are counted at all points */
};

/* Whether the model's subgroups are the driver's; where not, only lanes are compared. */
enum exact_subgroups { EXACT_SUBGROUPS_KNOWN, EXACT_SUBGROUPS_UNKNOWN };

struct exact_truth {
    struct model_counts entry;
    const struct model_counts *points; /* of all points of the shader */
    const struct model_counts *turns;  /* of all its points of turns; NULL: not known */
    enum exact_subgroups subgroups;
    double tolerance; /* 0: to the last unit; else the share by which a count may be off, where a
                         driver is known to */
};

/* Instruments, calls run with the shader and the specialization constants that give it its
 * counters, and compares; of all points also with the lanes that follow from those of some
 * (pm_points_flow), and the points of turns. Returns what instrumenting said; its words and units
 * are freed. */
struct pm_instrumented exact_check(struct pm_gpu *gpu, const struct exact_shader *shader,
                                   const struct exact_variant *variant,
                                   const struct exact_truth *truth,
                                   void (*run)(void *user, const struct pm_words *words,
                                               const VkSpecializationInfo *specialization),
                                   void *user);

/* The same where the model runs the variant, in subgroups of any size: run calls lockstep_run for
 * all subgroups, after giving the model its buffers. */
struct exact_modelled {
    void (*run)(void *user, struct model *model);
    void *user;
    uint32_t subgroup_size;   /* that instrument_blocks is told; 0: not known */
    uint32_t most_lanes;      /* likewise */
    bool subgroup_arithmetic; /* likewise */
    bool sums_outlive_loops;  /* likewise */
};
void exact_check_modelled(const struct exact_modelled *modelled, const struct exact_shader *shader,
                          const struct exact_variant *variant, const struct exact_truth *truth);

/* Has the model count turns; and what it has counted: malloc'ed. */
void exact_watch_turns(const struct exact_shader *shader, struct model *model);
struct model_counts *exact_turns(const struct exact_shader *shader, struct model *model);

/* Has the model count the writes of all values that may be zero. */
void exact_watch_zeros(const struct exact_shader *shader, struct model *model);

/* As exact_check, of the values that may be zero: writes and zero writes are the model's. The
 * variant's points are candidates. Once their values are looked at, and once copies. Where
 * subgroups are not known, only what must hold of any. */
void exact_check_zeros(struct pm_gpu *gpu, const struct exact_shader *shader,
                       const struct exact_variant *variant, struct model *model,
                       enum exact_subgroups subgroups,
                       void (*run)(void *user, const struct pm_words *words,
                                   const VkSpecializationInfo *specialization),
                       void *user);

/* The same where the model runs the variant. copies: of values are looked at. */
void exact_check_zeros_modelled(const struct exact_modelled *modelled,
                                const struct exact_shader *shader,
                                const struct exact_variant *variant, struct model *model,
                                enum exact_subgroups subgroups, bool copies);

/* Calls check for all points, in 64-bit form (where the device can) and 32-bit form with and
 * without carry, and unless brief for a random split into batches and for none, with 1 to 256
 * slots. */
void exact_each_variant(bool int64_atomics, const struct exact_shader *shader, bool brief,
                        void (*check)(void *user, const struct exact_variant *variant), void *user);
