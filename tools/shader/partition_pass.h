/*
 * `piecemeal shader partition`: a large compute shader in several passes
 * (shader_rewrite/partition).
 *
 * Thread safety: one thread.
 */
#pragma once

#include "tools/shader/shader_options.h"

/* Within options->limits and by options->method; into the folder options->out pass-N.spv and
 * passes.json, which says how to run them. */
bool pm_shader_partition(struct pm_shader_options *options, const struct pm_words *in,
                         struct pm_error *error);
