#include "layer/shader/passes.h"

#include <stdlib.h>

void pm_passes_destroy(struct pm_device *device, struct pm_passes *passes)
{
    for (uint32_t i = 0; i < passes->count; i++)
        pm_built_destroy(device, &passes->built[i]);
    free(passes->built);
    *passes = (struct pm_passes){0};
}
