#include "layer/shader/variant.h"

#include "layer/shader/variant_budget.h"
#include "shader_rewrite/shader_rewrite.h"
#include <stdlib.h>
#include <string.h>

void pm_variant_reference(struct pm_variant *variant)
{
    atomic_fetch_add(&variant->references, 1);
}

void pm_variant_release(struct pm_variant *variant)
{
    if (!variant || atomic_fetch_sub(&variant->references, 1) != 1)
        return;
    struct pm_device *device = variant->device;
    pm_built_destroy(device, &variant->built);
    if (variant->block.bytes > 0)
        pm_counters_free(device->counters, &variant->block);
    if (variant->budget)
        pm_variant_budget_release(variant->budget);
    free(variant->points);
    free(variant);
}

uint32_t pm_variant_units(const struct pm_variant *variant)
{
    if (variant->kind == PM_KIND_ZERO)
        return pm_zero_units(&variant->zeros);
    return pm_kind_counts_entries(variant->kind) ? pm_block_units(&variant->blocks)
                                                 : 2 + PM_COUNTS * variant->point_count;
}

/* Lanes alone, one number for each point that has counters, become PM_COUNTS of each point. */
static void spread_lanes(const struct pm_variant *variant, uint64_t *totals)
{
    const uint32_t counted = variant->blocks.point_count;
    for (size_t i = counted; i < PM_COUNTS * (size_t)variant->point_count; i++)
        totals[2 + i] = 0;
    for (uint32_t i = counted; i-- > 0;) {
        const uint64_t lanes = totals[2 + i];
        const uint32_t point = variant->flow ? variant->flow->points[i] : i;
        totals[2 + i] = 0;
        totals[2 + PM_COUNTS * point + PM_BLOCK_LANES] = lanes;
    }
}

void pm_variant_totals(const struct pm_variant *variant, const uint64_t *sums, uint64_t *totals)
{
    if (variant->kind == PM_KIND_ZERO) {
        pm_zero_totals(&variant->zeros, sums, totals);
        return;
    }
    if (!pm_kind_counts_entries(variant->kind)) {
        memcpy(totals, sums, (2 + PM_COUNTS * (size_t)variant->point_count) * sizeof *totals);
        return;
    }
    pm_block_totals(&variant->blocks, sums, totals);
    if (variant->blocks.lanes_only)
        spread_lanes(variant, totals);
}

static bool follow_lanes(const struct pm_variant *variant, struct pm_point_counts *points,
                         struct pm_error *error)
{
    const struct pm_flow_points *flow = variant->flow;
    if (!flow)
        return true;
    uint64_t *lanes = calloc(flow->space, sizeof *lanes);
    bool exact = true;
    if (lanes == NULL)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a profile");
    for (uint32_t i = 0; i < flow->space; i++)
        lanes[i] = i == 0 ? points[0].entry_lanes : points[i].counts[PM_BLOCK_LANES];
    const bool done = pm_points_flow_rebuild(flow, lanes, &exact);
    for (uint32_t i = 0; i < flow->space; i++)
        points[i].counts[PM_BLOCK_LANES] = lanes[i];
    free(lanes);
    if (!done)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a profile");
    return exact || pm_fail(error, PM_ERROR_STATE, "lanes of blocks contradict each other");
}

bool pm_variant_follow_lanes(const struct pm_variant *variant, struct pm_point_counts *points,
                             struct pm_error *error)
{
    const bool done = follow_lanes(variant, points, error);
    for (uint32_t i = 0; variant->blocks.lanes_only && i < variant->point_count; i++)
        points[i].lanes_alone = points[i].counts[PM_BLOCK_LANES];
    return done;
}
