/*
 * Which regions are left alone because a driver would get them wrong: asks quirks/ about a region.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"

/* What a driver would get wrong of a region that was propagated through, cleaned and refined, and
 * of which is known what leaves it; NULL: nothing. */
const char *pm_zero_guard(const struct pm_zero_round *round, const struct pm_zero_region *region);
