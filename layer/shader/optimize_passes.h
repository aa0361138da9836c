/*
 * The optimizer's part about variants in several passes (passes.h): made, offered for a trial, and
 * used once they are proven.
 *
 * Thread safety: one thread at a time for a pipeline.
 */
#pragma once

#include "layer/shader/optimizer.h"

/* Makes the pipeline's variant in several passes, unless it was or may not be. false: there is no
 * room. */
bool pm_optimizer_make_passes(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline);
