/*
 * Random profiles that satisfy all that a profile must, for tests.
 *
 * Thread safety: as struct pm_random.
 */
#pragma once

#include "base/random.h"
#include "profile/profile.h"

/* Up to `shaders` shaders of up to `points` points, out of a population of 2 * shaders keys, so
 * that profiles overlap; everything is the arena's. Aborts when out of memory. */
struct pm_profile pm_random_profile(struct pm_random *random, struct pm_arena *arena,
                                    uint32_t shaders, uint32_t points);

/* Are they the same in all that is encoded? Points by position, strings by content. */
bool pm_same_profile(const struct pm_profile *a, const struct pm_profile *b);
