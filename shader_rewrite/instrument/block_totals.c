/* What counters of blocks say. instrument.h. */
#include "shader_rewrite/instrument/instrument.h"

#include "profile/profile.h"

struct pm_block_layout pm_block_layout(const struct pm_instrument_info *info)
{
    return (struct pm_block_layout){
        .point_count = info->point_count,
        .lanes = info->subgroup_size,
        .unit_count = info->point_count + 1,
        .has_entry = !info->turns && info->point_count > 0 && info->points[0] == 0,
        .lanes_only = info->lanes_only,
    };
}

static uint32_t groups(const struct pm_block_layout *layout)
{
    return layout->lanes_only ? 2 : 4;
}

uint32_t pm_block_units(const struct pm_block_layout *layout)
{
    return groups(layout) * layout->unit_count;
}

static void count_unit(const struct pm_block_layout *layout, const uint64_t *sums, uint32_t unit,
                       uint64_t counts[PM_COUNTS])
{
    const uint32_t units = layout->unit_count;
    const uint64_t full = sums[unit] * layout->lanes;
    if (layout->lanes_only) {
        counts[PM_BLOCK_LANES] = full + sums[units + unit];
        return;
    }
    /* The entry is always whole, so that its last counter is of entries of a single lane. */
    const uint64_t last = sums[3 * units + unit], alone = unit == 0 ? last : 0;
    counts[PM_BLOCK_SUBGROUPS] = sums[unit] + sums[units + unit] + alone;
    counts[PM_BLOCK_UNIFORM_LANES] = full + sums[2 * units + unit] + alone;
    counts[PM_BLOCK_LANES] = counts[PM_BLOCK_UNIFORM_LANES] + last - alone;
}

static uint32_t unit_of(const struct pm_block_layout *layout, uint32_t point)
{
    if (layout->units)
        return layout->units[point];
    return point == 0 && layout->has_entry ? 0 : point + 1;
}

void pm_block_totals(const struct pm_block_layout *layout, const uint64_t *sums, uint64_t *totals)
{
    const uint32_t each = layout->lanes_only ? 1 : PM_COUNTS;
    uint64_t counts[PM_COUNTS] = {0};
    count_unit(layout, sums, 0, counts);
    totals[0] = counts[PM_BLOCK_LANES];
    totals[1] = counts[PM_BLOCK_SUBGROUPS];
    for (uint32_t i = 0; i < layout->point_count; i++) {
        count_unit(layout, sums, unit_of(layout, i), counts);
        for (uint32_t n = 0; n < each; n++)
            totals[2 + each * i + n] = counts[n];
    }
}
