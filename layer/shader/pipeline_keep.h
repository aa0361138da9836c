/*
 * Keeps in the shader store what a pipeline is made with (profile/stored_pipeline.h), for
 * `piecemeal db export --format foz`. Of each shader it is the first pipeline that is sampled.
 *
 * Thread safety: any thread; takes as long as the disk does: compile threads only.
 */
#pragma once

#include "layer/shader/pipeline.h"

/* What cannot be kept is logged. Shader objects are not kept: Fossilize knows none. */
void pm_pipeline_keep(const struct pm_pipeline *pipeline, struct pm_shader_record *record);
