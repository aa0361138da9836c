#include "layer/shader/optimized.h"

#include "layer/shader/arm_shader.h"
#include "layer/shader/hold.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/slow_later.h"
#include <stdlib.h>

void pm_optimized_empty(struct pm_device *device, struct pm_optimized *optimized)
{
    if (optimized->candidate.gone)
        optimized->candidate.gone(&optimized->candidate);
    optimized->candidate.gone = NULL;
    /* No verdict can come any more. */
    const uint32_t room = atomic_exchange(&optimized->room, PM_ROOM_NONE);
    if (room != PM_ROOM_NONE)
        atomic_fetch_sub(&device->pipelines->specialized[room], 1);
    pm_slow_twin_destroy(device->slow_later, optimized->slow);
    optimized->slow = NULL;
    pm_built_destroy(device, &optimized->built);
    pm_passes_destroy(device, &optimized->passes);
    if (optimized->arm_shader) {
        optimized->shader = optimized->candidate.shader = NULL;
        pm_arm_shader_release(optimized->arm_shader);
        optimized->arm_shader = NULL;
    }
}

void pm_optimized_unnote(struct pm_optimized *optimized)
{
    if (optimized->noted)
        pm_journal_gone(optimized->candidate.entry);
    optimized->noted = false;
}

void pm_optimized_destroy(struct pm_device *device, struct pm_optimized *optimized)
{
    pm_optimized_empty(device, optimized);
    pm_hold_release(optimized->candidate.hold);
    free(optimized);
}
