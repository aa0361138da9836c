/*
 * What a pipeline was made with, for people: the create info that is remembered to build it again,
 * as JSON, whose names and numbers are Vulkan's. For a reproduction (variant_files.h): a program
 * that makes the pipeline again can be written by it. What is in the chains of pNext and is not
 * dynamic rendering's is named by its type alone.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/shader/pipeline.h"
#include <cjson/cJSON.h>

/* The caller's to delete; NULL: out of memory. */
cJSON *pm_pipeline_state(const struct pm_pipeline *pipeline);
