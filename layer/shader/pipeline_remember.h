/*
 * Deep copies of what pipelines are created with.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/shader/pipeline.h"

/* What to build the pipeline from again, with one reference; NULL and *error filled: it gets no
 * variants. PM_ERROR_STATE: there is nothing to sample in it. */
struct pm_pipeline *pm_pipeline_remember_graphics(struct pm_device *device,
                                                  const VkGraphicsPipelineCreateInfo *info,
                                                  struct pm_error *error);
struct pm_pipeline *pm_pipeline_remember_compute(struct pm_device *device,
                                                 const VkComputePipelineCreateInfo *info,
                                                 struct pm_error *error);
