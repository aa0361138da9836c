/*
 * What simulated populations are drawn by.
 *
 * Thread safety: no state but the caller's generator.
 */
#pragma once

#include "base/random.h"
#include <stdbool.h>

/* A standard normal number. */
double pm_population_normal(struct pm_random *random);

/* How often a shader's values are zero: 7 in 10 are hardly ever, 2 in 10 nearly always, and the
 * rest anything. split: one in four, of which a player's share is 0 or 1. */
void pm_population_values(struct pm_random *random, uint32_t count, double *share, bool *split);
