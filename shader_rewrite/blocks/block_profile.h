/*
 * A block profile from the estimates of a PGO database: what the layer and the tools give
 * pm_optimize_blocks.
 *
 * Ownership: the profile's arrays are its own until pm_block_profile_finish. Thread safety: no
 * state.
 */
#pragma once

#include "profile/database.h"
#include "shader_rewrite/blocks/blocks.h"

/* estimates: a shader's of kind block, with points. What was never counted is not known, and how
 * many subgroups enter is not of any block where it is not of all. false: out of memory. */
bool pm_block_profile_init(struct pm_block_profile *profile,
                           const struct pm_shader_estimates *estimates);
/* The same of its turns, of kind turns; once. */
bool pm_block_profile_add_turns(struct pm_block_profile *profile,
                                const struct pm_shader_estimates *estimates);
void pm_block_profile_finish(struct pm_block_profile *profile);
