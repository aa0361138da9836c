/*
 * Files of the specialized shaders that a session makes (debug.variants_folder), for who makes a
 * reproduction of what one of them does (`piecemeal bisect`): the words as ORIGINAL-VARIANT.spv, by
 * their keys (of what runs in several passes ORIGINAL-VARIANT.passN.spv), and beside them a JSON
 * file with what they were made for, by what passes and options of `piecemeal shader`, and the
 * state of the first pipeline with it (pipeline_state.h), whose other stages are in
 * ORIGINAL-VARIANT.stageN.spv.
 *
 * Thread safety: any thread; takes as long as the disk does: compile threads only.
 */
#pragma once

#include "layer/shader/pipeline.h"
#include "layer/shader/specialized.h"

/* A specialized shader that a pipeline is about to be built with, once, where
 * debug.variants_folder is set; what cannot be written is logged. */
void pm_variant_files_write(const struct pm_pipeline *pipeline,
                            const struct pm_specialized_shader *shader);
