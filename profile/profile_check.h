/*
 * What a piecemeal profile must satisfy. The writer checks it too, so that a fault of ours is found
 * where it is made and not in an aggregator's refusal; and an aggregator what it imports.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/profile.h"

/* The message names the shader (by its index), the point and the field. */
bool pm_profile_check(const struct pm_profile *profile, const struct pm_profile_limits *limits,
                      struct pm_error *error);
