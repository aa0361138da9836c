#include "layer/shader/optimized.h"

#include "layer/shader/pipeline.h"
#include <stdlib.h>

void pm_optimized_destroy(struct pm_device *device, struct pm_optimized *optimized)
{
    if (optimized->candidate.gone)
        optimized->candidate.gone(&optimized->candidate);
    /* No verdict can come any more. */
    atomic_fetch_sub(&device->pipelines->specialized[atomic_load(&optimized->room)], 1);
    pm_built_destroy(device, &optimized->built);
    pm_passes_destroy(device, &optimized->passes);
    free(optimized);
}
