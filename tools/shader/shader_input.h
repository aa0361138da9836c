/*
 * What `piecemeal shader` reads: a module in a file, or a shader of the store by its key, which
 * then also says what the module is of and what device it was for.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/arena.h"
#include "tools/shader/shader_options.h"

struct pm_shader_input {
    struct pm_arena *arena;
    struct pm_words words; /* the arena's */
};

/* Reads options->in. From the store come the words that the game gave for a pass over these
 * (original), else the canonical ones, and into *options what was not given by an option: target,
 * entry point, stage, specialization constants. To be finished in any case. */
bool pm_shader_input_read(struct pm_shader_options *options, bool original,
                          struct pm_shader_input *input, struct pm_error *error);
void pm_shader_input_finish(struct pm_shader_input *input);

/* A pass failed: where the input is not valid for the target, but would be for one with a further
 * option, *error says which. */
void pm_shader_input_explain(const struct pm_shader_options *options,
                             const struct pm_shader_input *input, struct pm_error *error);
