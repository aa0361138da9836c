/*
 * The passes of `piecemeal shader` about constants (shader_rewrite/constants).
 *
 * Thread safety: one thread.
 */
#pragma once

#include "tools/shader/shader_options.h"

bool pm_shader_points_constant(struct pm_shader_options *options, const struct pm_words *in,
                               struct pm_error *error);
/* The words are options->points, numbers of those that points_constant finds; "all": all that are
 * in uniform buffers. */
bool pm_shader_instrument_constants(struct pm_shader_options *options, const struct pm_words *in,
                                    struct pm_error *error);
/* The words are options->known. */
bool pm_shader_specialize_constants(struct pm_shader_options *options, const struct pm_words *in,
                                    struct pm_error *error);
