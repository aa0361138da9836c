/*
 * How exactly estimates are published: no finer than their intervals support, so that one upload
 * more or less changes what is published by nothing, or by a step. A value is rounded to a multiple
 * of the largest power of two that is at most half of its interval's half-width; bounds are rounded
 * outwards. Counts of calls, sessions, lanes and tokens keep their four highest bits. The error
 * that liars may make is rounded up to its three highest bits.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/database.h"

/* points: the shader's, `space` of them, which are changed. */
void pm_quantize_points(enum pm_kind kind, struct pm_point_estimate *points, uint32_t space);
/* Fewer tokens, and a larger error. */
struct pm_lying pm_quantize_lying(struct pm_lying lying);
/* Rounded down to its four highest bits. */
uint64_t pm_quantize_count(uint64_t count);
