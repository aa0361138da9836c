/*
 * A compute pipeline of the game's in several passes (shader_rewrite/partition): a pipeline of ours
 * for each, with the game's own layout, that frame/passes_run.h dispatches one after another. Their
 * values lie in the device's scratch memory (memory/scratch_memory.h).
 *
 * Thread safety: unchanged once made (passes_build.h).
 */
#pragma once

#include "layer/shader/built.h"

/* Pipelines of one shader at most; one that needs more passes runs whole. */
enum { PM_PASSES_MOST = 256 };

struct pm_passes {
    struct pm_built *built; /* one a pass; NULL: none */
    uint32_t count;
    uint64_t group_bytes; /* of scratch memory that a workgroup needs */
};

void pm_passes_destroy(struct pm_device *device, struct pm_passes *passes);
