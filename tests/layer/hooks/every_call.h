/* For tests of programs all of whose calls are sampled, on the null driver. */
#pragma once

#include "tests/layer/layered.h"

/* In the sessions to come. */
void every_call_enable(void);

/* Draws and dispatches with the pipelines; how many of the two calls were sampled. */
uint32_t every_call_sampled(struct pm_harness *h, VkPipeline graphics, VkPipeline dispatch);
