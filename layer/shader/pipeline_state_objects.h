/*
 * What pipelines are made of, in a document of pipeline_state.h.
 *
 * Thread safety: one thread for a document.
 */
#pragma once

#include "layer/shader/object.h"
#include "layer/shader/pipeline_state_document.h"

/* A sampler, set layout, pipeline layout or render pass and all that it is made of; its hash. NULL:
 * 0. */
uint64_t pm_state_object(struct pm_state *state, const struct pm_object *object);
