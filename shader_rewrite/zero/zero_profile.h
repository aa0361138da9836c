/*
 * A zero profile from the estimates of a PGO database: what the layer and the tools give
 * specialize_zero.
 *
 * Ownership: the profile's arrays are its own until pm_zero_profile_finish. Thread safety: no
 * state.
 */
#pragma once

#include "profile/database.h"
#include "shader_rewrite/zero/zero.h"

/* zeros: the shader's estimates of kind zero, with points; or provisional levels, of which likely
 * is taken for 3/4 and unlikely for 1/4, and writes are not known. blocks: those of kind block;
 * NULL, or without points: not known. What was never written, or whose shader was never entered,
 * weighs nothing and has no probability. false: out of memory. */
bool pm_zero_profile_init(struct pm_zero_profile *profile, const struct pm_shader_estimates *zeros,
                          const struct pm_shader_estimates *blocks);
void pm_zero_profile_finish(struct pm_zero_profile *profile);
