/*
 * A new pipeline's variants, all of them at once, while the game waits (debug.synchronous).
 *
 * Thread safety: any thread; it takes as long as the driver's compiler does.
 */
#pragma once

#include "layer/shader/pipeline.h"

/* Builds every variant of a new pipeline now, or what limits.synchronous_words leaves of a large
 * shader's: the log names it once, and its calls go to what there is. The game does not have the
 * handle yet. */
void pm_pipeline_build_all(struct pm_pipeline *pipeline);
