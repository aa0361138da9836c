/*
 * Counting the lanes that are at one place, which are those that began the shader, in one atomic:
 * of a whole subgroup, or of a single lane, its leader adds one number; of others a second lane
 * adds how many they are. A driver for CPUs goes over all lanes at each atomic in the code,
 * whatever they do there, so that these, and no additions, are what takes time.
 */
#pragma once

#include "shader_rewrite/instrument/instrument_module.h"

/* Counters of it, in this order: entries with exactly info->subgroup_size lanes, of other numbers
 * of lanes, the lanes of these, and entries of a single lane, which are in neither. */
enum { PM_ENTRY_FULL, PM_ENTRY_OTHERS, PM_ENTRY_LANES, PM_ENTRY_ALONE, PM_ENTRY_COUNTERS };

/* Lanes and entries of PM_ENTRY_COUNTERS sums of counters. size: info->subgroup_size. */
static inline uint64_t pm_entry_lanes(const uint64_t *sums, uint32_t size)
{
    return sums[PM_ENTRY_FULL] * size + sums[PM_ENTRY_LANES] + sums[PM_ENTRY_ALONE];
}

static inline uint64_t pm_entry_subgroups(const uint64_t *sums)
{
    return sums[PM_ENTRY_FULL] + sums[PM_ENTRY_OTHERS] + sums[PM_ENTRY_ALONE];
}

/* Who is at the place, of those who count. */
struct pm_entry_counts {
    const struct pm_counting *counting;
    struct pm_ir_builder *builder;
    struct pm_ir_def *live;        /* the lane counts: it is no helper. A constant in compute */
    struct pm_ir_def *ballot;      /* of these */
    struct pm_ir_def *lanes;       /* how many */
    struct pm_ir_def *rank;        /* how many before this lane */
    struct pm_ir_def *full;        /* all that a subgroup has */
    struct pm_ir_def *full_or_one; /* so that nobody adds how many they are */
};

/* Asks, where the builder is. live NULL: it is asked, too. subgroup_size 0: not known. */
struct pm_entry_counts pm_entry_counts_ask(const struct pm_counting *counting,
                                           struct pm_ir_builder *builder, struct pm_ir_def *live,
                                           uint32_t subgroup_size);

/* The counter, and what is added to it, of the lane with this number among those who count: 0 or 1.
 * The counters lie `apart` from each other. */
struct pm_entry_add {
    struct pm_ir_def *index, *value;
};
struct pm_entry_add pm_entry_counts_of(const struct pm_entry_counts *entry,
                                       struct pm_ir_def *number, uint32_t apart);

/* How many numbers there are to add, 1 or 2. */
struct pm_ir_def *pm_entry_counts_numbers(const struct pm_entry_counts *entry);
