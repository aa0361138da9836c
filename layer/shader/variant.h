/*
 * Variants: further pipelines, built in the background from what the layer remembers of one of the
 * game's, that the layer may bind in its place for a call. Made by variant_make.c on the compiler's
 * threads; used by the draw hooks.
 *
 * Lifetime: a variant is referenced by its pipeline's table (variant_table.h) and by every
 * recording that names it; it is destroyed when the last reference goes (HAZARDS 12: limits block
 * new ones, they never evict one that is named). A recording's reference is dropped when the
 * command buffer is reset, freed, or begun again, which Vulkan allows only once it is complete.
 */
#pragma once

#include "layer/memory/counters.h"
#include "layer/shader/built.h"
#include "shader_rewrite/instrument/instrument.h"

/* What became of a variant's counters: under the readback's lock (counts/count_state.h). */
struct pm_variant_counts {
    uint64_t calls;            /* sampled calls submitted and not yet copied out */
    uint32_t scene;            /* of those */
    uint32_t user;             /* 1 + the index of the queue that used it last; 0: none has */
    uint32_t user_changes;     /* how often that was another than before */
    uint8_t state[PM_QUEUES];  /* by queue: enum pm_count_state */
    uint8_t copies[PM_QUEUES]; /* by queue: that are under way */
};

struct pm_variant {
    struct pm_built built;
    struct pm_device *device;
    _Atomic uint32_t references;
    struct pm_variant_counts counted;

    /* what its counters mean */
    struct pm_shader_key key;
    struct pm_environment environment;
    enum pm_kind kind;
    uint32_t flags;              /* enum pm_profile_flag */
    uint32_t space, candidates;  /* as in struct pm_shader_profile */
    const uint8_t *at_most_once; /* owned by the shader record, which outlives its variants */
    uint32_t *points;            /* point_count of them; owned */
    uint32_t point_count;
    struct pm_constant_values *values; /* PM_KIND_CONSTANT: what takes them; the shader record's */
    const struct pm_flow_points *flow; /* lanes are counted at these, those of the other points
                                          follow; NULL: at all. The shader record's */
    uint32_t slot_count, slot_stride;  /* shader_rewrite.h, struct pm_instrumented */
    struct pm_block_layout blocks;     /* of PM_KIND_BLOCK and PM_KIND_TURNS */
    struct pm_zero_layout zeros;       /* of PM_KIND_ZERO */
    struct pm_counter_block block;

    uint32_t words;     /* of its module */
    _Atomic bool drawn; /* something is, or was, drawn with it (first_draws.h) */

    /* what it takes of the budget, and what it brought (variant_table.h) */
    struct pm_variant_budget *budget; /* NULL: it was not made yet */
    struct pm_batch_use *use;         /* of its batch; the shader record's */
    _Atomic uint32_t taken;           /* calls that it was bound for */
    _Atomic int64_t used_at;          /* CLOCK_MONOTONIC, nanoseconds: the latest of them */
    /* while it is in the table; under the budget's lock */
    struct pm_pipeline *pipeline;
    uint32_t batch;
    struct pm_variant *next, *previous;
};

/* Any thread. NULL is allowed for the second. */
void pm_variant_reference(struct pm_variant *variant);
void pm_variant_release(struct pm_variant *variant);

/* How many counters a slot of the variant's has that are read, and what their sums over slots come
 * to: entry lanes and subgroups, then PM_COUNTS of each point; of lanes alone all others are 0. */
uint32_t pm_variant_units(const struct pm_variant *variant);
void pm_variant_totals(const struct pm_variant *variant, const uint64_t *sums, uint64_t *totals);

/* The lanes of points that follow from those of others (flow), into the counts of all points, and
 * which of them were counted alone; nothing where all was counted. Any thread. false: they
 * contradict each other (PM_ERROR_STATE), or memory is out. */
bool pm_variant_follow_lanes(const struct pm_variant *variant, struct pm_point_counts *points,
                             struct pm_error *error);
