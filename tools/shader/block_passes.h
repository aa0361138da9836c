/*
 * `piecemeal shader optimize_blocks` and the passes that it is made of.
 *
 * Thread safety: one thread, as main.
 */
#pragma once

#include "tools/shader/shader_options.h"

/* The module's profile from options->profile and options->game; the caller finishes it. */
bool pm_shader_block_profile(const struct pm_shader_options *options, const struct pm_words *in,
                             struct pm_block_profile *profile, struct pm_error *error);

/* Of the passes that options->pass names: what they make of the module goes to options->out, what
 * they decided is said. */
bool pm_shader_optimize_blocks(struct pm_shader_options *options, const struct pm_words *in,
                               struct pm_error *error);
