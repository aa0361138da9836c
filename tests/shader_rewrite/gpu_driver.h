/* The driver that a test runs on, as the passes know it: guards against others' quirks are off. */
#pragma once

#include "shader_rewrite/quirks/quirks.h"
#include "tests/gpu/gpu.h"

static inline struct pm_driver gpu_driver(const struct pm_gpu *gpu)
{
    return pm_driver_of(gpu->driver_id, gpu->driver_version, gpu->driver_info);
}
