/*
 * The points of one kind that a shader has: what a record's space means, and how its batches are
 * instrumented.
 *
 * Thread safety: no state; finding points and instrumenting take as long as a compiler does.
 */
#pragma once

#include "layer/core/layer.h"
#include "shader_rewrite/shader_rewrite.h"

struct pm_record_points {
    enum pm_kind kind;
    uint32_t flags;              /* enum pm_profile_flag: what every profile of it says */
    uint32_t space;              /* number of points; 0: the kind is not measured on this shader */
    uint32_t first, counted;     /* points from `first` on, so many, are counted by the shader; the
                                    others the CPU sees for itself */
    uint32_t candidates;         /* as in struct pm_shader_profile */
    uint8_t *at_most_once;       /* bitmap of `space` bits */
    bool lanes_only;             /* of PM_KIND_BLOCK: lanes alone are counted */
    struct pm_flow_points flow;  /* of PM_KIND_BLOCK in whole batches: where lanes are counted;
                                    empty: everywhere, as it saves too little otherwise */
    struct pm_turn_points turns; /* of PM_KIND_TURNS: what its points are */
    struct pm_zero_points zeros; /* of PM_KIND_ZERO: what its points are */
    struct pm_constant_points constants; /* of PM_KIND_CONSTANT: likewise */
};

/* Kinds that count, a space each, in their order: not timing, which trials take. */
enum { PM_RECORD_KINDS = 4 };

/* The points of the canonical module with the key, of each kind that the configuration asks for and
 * the device is able to count; finish them also after a failure. A kind whose points cannot be
 * found is logged, and left out; false: out of memory. */
bool pm_record_points_find(const struct pm_device *device, const struct pm_shader_key *key,
                           const struct pm_environment *environment,
                           const struct pm_words *canonical,
                           struct pm_record_points points[static PM_RECORD_KINDS],
                           struct pm_error *error);
/* What the points of PM_KIND_ZERO are; NULL: that kind is not measured. */
const struct pm_zero_points *
pm_record_points_zeros(const struct pm_record_points points[static PM_RECORD_KINDS]);

/* The points of PM_KIND_CONSTANT; NULL: that kind is not measured. */
const struct pm_record_points *
pm_record_points_constants(const struct pm_record_points points[static PM_RECORD_KINDS]);

void pm_record_points_finish(struct pm_record_points points[static PM_RECORD_KINDS]);

/* What a variant that counts so many of the points has in each slot (struct pm_instrumented), in
 * 64-bit units. */
uint32_t pm_record_points_units(const struct pm_record_points *points, uint32_t count);

/* Where lanes are counted of a batch of so many points, since those of the others follow; NULL: at
 * all points. */
const struct pm_flow_points *pm_record_points_flow(const struct pm_record_points *points,
                                                   uint32_t point_count);

/* As pm_instrument_blocks, pm_instrument_turns, pm_instrument_zero and pm_instrument_constants;
 * info->points are numbers of those that are counted, from 0 on. */
bool pm_record_points_instrument(const struct pm_record_points *points,
                                 const struct pm_words *canonical,
                                 const struct pm_instrument_info *info, struct pm_instrumented *out,
                                 struct pm_error *error);
