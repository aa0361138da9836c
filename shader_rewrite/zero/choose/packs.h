/*
 * Vector candidates made of scalars (packs) lose those that are zero too rarely (AZP 3.3.1, "we
 * remove any element from the candidate"): of an RGBA whose alpha is not zero RGB stays. Vectors
 * that the code has need none of it, as their prefixes were counted.
 *
 * How often all of the rest are zero was not counted; it is at least the sum of their P(zero) less
 * one for each but one, and that is what they are taken for.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/zero/candidates/candidates.h"

/* Changes the candidates, and zero, their P(zero), of packs that are below the threshold, where
 * what is left is not. bound: the module's. false: out of memory. */
bool pm_zero_drop_elements(struct pm_zero_points *points, double *zero, double threshold,
                           uint32_t bound);
