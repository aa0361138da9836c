/*
 * Which clusters of variants choose a race's winner, and which are held out to judge it
 * (statistics/race.h): half of them, by lots that no client can know or draw again.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/profile.h"

/* The flags of a cluster's statistics: the shader's own, and of one of variants by lot also
 * PM_PROFILE_HELD_OUT. secret: tells the cluster from others, and is no client's choice: the mark
 * of its token and day, or where it stood among what waited. */
uint32_t pm_hold_out(const struct pm_shader_profile *shader, uint64_t secret);
