/*
 * A pipeline of the shader store (profile/stored_pipeline.h) in a Fossilize database: itself and
 * all that it is made of.
 *
 * Thread safety: one thread for a file.
 */
#pragma once

#include "profile/stored_pipeline.h"
#include "tools/export/fossilize_file.h"

/* What takes the place of the shader that variants replace; its module is in the file already. */
struct pm_fossilize_shader {
    uint64_t module;
    const char *entry_point;
};

/* Writes what is not there yet. shader NULL: with the program's own. *hash: the pipeline's.
 * PM_ERROR_UNSUPPORTED: it has structures that Fossilize's format is not told of here. */
bool pm_fossilize_pipeline(struct pm_fossilize_file *file,
                           const struct pm_stored_pipeline *pipeline,
                           const struct pm_fossilize_shader *shader, uint64_t *hash,
                           struct pm_error *error);
