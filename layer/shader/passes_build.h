/*
 * The pipelines of a shader's passes (passes.h). The scratch memory's address is in them: none
 * enters a cache of ours that outlives the process (HAZARDS 17).
 *
 * Thread safety: any thread; takes as long as the driver's compiler does.
 */
#pragma once

#include "layer/shader/passes.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/specialized.h"

/* Whether there may be any for a pipeline. */
bool pm_passes_possible(const struct pm_pipeline *pipeline);

/* Builds them. What is in *passes is the caller's to destroy, also when building fails. */
bool pm_passes_build(struct pm_pipeline *pipeline, const struct pm_specialized_shader *shader,
                     struct pm_passes *passes, struct pm_error *error);
