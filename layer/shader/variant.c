#include "layer/shader/variant.h"

#include "layer/shader/variant_budget.h"
#include <stdlib.h>

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
