/*
 * `piecemeal shader make_variant`: A-Z testing's variants (shader_rewrite/variants).
 *
 * Thread safety: one thread.
 */
#pragma once

#include "tools/shader/shader_options.h"

/* By options->recipe, "NAME" or "NAME,NAME"; NULL: says what each recipe makes of the module. */
bool pm_shader_make_variant(struct pm_shader_options *options, const struct pm_words *in,
                            struct pm_error *error);
