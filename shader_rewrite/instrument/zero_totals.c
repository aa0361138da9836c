/* What counters of zeros say. instrument.h. */
#include "shader_rewrite/instrument/entry_counts.h"

#include "profile/profile.h"

struct pm_zero_layout pm_zero_layout(const struct pm_instrument_info *info)
{
    return (struct pm_zero_layout){
        .point_count = info->point_count,
        .lanes = info->subgroup_size,
        .pair_count = info->point_count,
        .entered_count = info->point_count > 0,
    };
}

/* Counters before those of the points. */
static uint32_t of_entry(const struct pm_zero_layout *layout)
{
    return layout->entered_count > 0 ? 2 * PM_ENTRY_COUNTERS : PM_ENTRY_COUNTERS;
}

uint32_t pm_zero_pair(const struct pm_zero_layout *layout, uint32_t number)
{
    return of_entry(layout) + 2 * (number - (layout->entered_count > 0));
}

uint32_t pm_zero_units(const struct pm_zero_layout *layout)
{
    return of_entry(layout) + 2 * (layout->pair_count - (layout->entered_count > 0));
}

void pm_zero_totals(const struct pm_zero_layout *layout, const uint64_t *sums, uint64_t *totals)
{
    uint64_t entries[PM_ENTRY_COUNTERS], first = 0;
    for (uint32_t i = 0; i < PM_ENTRY_COUNTERS; i++)
        entries[i] = sums[i];
    for (uint32_t i = 0; i < PM_ENTRY_COUNTERS && layout->entered_count > 0; i++)
        entries[i] += sums[PM_ENTRY_COUNTERS + i];
    if (layout->entered_count > 0)
        first = pm_entry_subgroups(sums + PM_ENTRY_COUNTERS);
    totals[0] = pm_entry_lanes(entries, layout->lanes);
    totals[1] = pm_entry_subgroups(entries);
    for (uint32_t i = 0; i < layout->point_count; i++) {
        const uint32_t number = layout->pairs[i] & ~PM_ZERO_ENTERED;
        const bool entered = layout->pairs[i] & PM_ZERO_ENTERED;
        const bool is_first = entered && number == 0;
        const uint64_t *pair = sums + (is_first ? 0 : pm_zero_pair(layout, number));
        uint64_t *counts = totals + 2 + PM_COUNTS * (size_t)i;
        counts[PM_ZERO_ZERO_WRITES] = is_first ? first : pair[1];
        counts[PM_ZERO_WRITES] = entered ? totals[1] : pair[0] + pair[1];
        counts[2] = 0;
    }
}
