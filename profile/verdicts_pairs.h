/*
 * Pairs of sessions that had one side of a variant throughout each (kept_variant.h, `sessions`).
 *
 * Thread safety: plain data.
 */
#pragma once

#include "profile/kept_variant.h"

/* Whether the half waits for a partner at `now`. */
bool pm_session_half_waits(const struct pm_session_half *half, int64_t now);

/* The variant's time over the original's, of two sessions with either side: the sums of what both
 * timed, and had as much to do with, so that what takes long weighs as much as it takes. 0: nothing
 * is. */
double pm_session_ratio(const struct pm_session_half *a, const struct pm_session_half *b);

/* What a session timed becomes a pair with what is kept of another one, or is kept instead. true:
 * they are a pair. Of the game's own it is the latest, too. */
bool pm_kept_pair_up(struct pm_kept_variant *kept, const struct pm_session_half *half);
