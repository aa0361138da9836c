/*
 * Cutting a shader into the passes that a pipeline may run it in (passes.h).
 *
 * Thread safety: any thread; takes as long as a compiler does.
 */
#pragma once

#include "layer/shader/shader_record.h"
#include "shader_rewrite/shader_rewrite.h"

/* Cuts a shader's canonical module. false: it stays whole, and the reason; PM_OK where one pass has
 * room for it. */
bool pm_passes_cut(const struct pm_device *device, const struct pm_shader_record *record,
                   struct pm_partitioned *out, struct pm_error *error);
