/*
 * What the layer says of a driver to instrument_blocks (layer/shader/shader_record_instrument.c).
 */
#pragma once

#include "shader_rewrite/quirks/quirks.h"
#include "tests/gpu/gpu.h"

static inline bool pm_gpu_sums_outlive_loops(const struct pm_gpu *gpu)
{
    const struct pm_driver driver =
        pm_driver_of(gpu->driver_id, gpu->driver_version, gpu->driver_info);
    return !(pm_quirks_of(&driver) & PM_QUIRK_CHOOSES_AGAIN);
}
