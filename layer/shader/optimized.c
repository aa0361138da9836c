#include "layer/shader/optimized.h"

#include <stdlib.h>

void pm_optimized_destroy(struct pm_device *device, struct pm_optimized *optimized)
{
    if (optimized->candidate.gone)
        optimized->candidate.gone(&optimized->candidate);
    pm_built_destroy(device, &optimized->built);
    free(optimized);
}
