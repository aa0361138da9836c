/*
 * One shader alone on a device: everything around it (layouts, a vertex shader that feeds it,
 * attachments) is made up from its interface, so that any module of a game can be compiled by the
 * driver and used once. It is used for nothing: no fragment is covered, no workgroup dispatched.
 *
 * Drivers that compile when a pipeline is first used (lavapipe) are timed as those that compile
 * when it is made: pm_module_run_compile counts both.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "examples/common/gpu.h"
#include "shader_rewrite/shader_rewrite.h"

/* A module and how its pipeline specializes it. */
struct pm_module {
    const uint32_t *words;
    size_t word_count;
    const char *entry_point;
    const struct pm_spec_value *spec_values;
    size_t spec_value_count;
};

/* What is made up around the modules of one interface. */
struct pm_module_run;

/* stage and interface are read from the module. PM_ERROR_UNSUPPORTED: an interface that cannot be
 * made up (arrays, matrices and structures as inputs or outputs, acceleration structures, more than
 * PM_GPU_MAX_ATTACHMENTS outputs). gpu outlives it. */
struct pm_module_run *pm_module_run_create(const struct pm_gpu *gpu, const struct pm_module *module,
                                           enum pm_stage stage, struct pm_error *error);
/* NULL is allowed. */
void pm_module_run_destroy(struct pm_module_run *run);

/* Makes a pipeline of a module with this interface, uses it twice and destroys it. *milliseconds:
 * making it and using it the first time, less using it again. */
bool pm_module_run_compile(struct pm_module_run *run, const struct pm_module *module,
                           double *milliseconds, struct pm_error *error);
