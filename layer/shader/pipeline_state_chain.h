/*
 * Chains of pNext in a document of pipeline_state.h.
 *
 * Thread safety: one thread for a document.
 */
#pragma once

#include "layer/shader/object.h"
#include "layer/shader/pipeline_state_document.h"

/* The chain of pNext, as the member "pNext" where there is anything in it. conversion: what a
 * sampler's VkSamplerYcbcrConversionInfo stands for; NULL: nothing. */
void pm_state_chain(struct pm_state *state, cJSON *json, const void *chain,
                    const struct pm_object *conversion);
