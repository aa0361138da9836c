/*
 * Regions whose S is right, but that some driver would compute wrongly, or not survive: they are
 * left alone, on every driver, since a specialized shader is a function of the shader and the
 * profile.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"

/* What a driver would get wrong of a region that was propagated through, cleaned and refined, and
 * of which is known what leaves it; NULL: nothing. */
const char *pm_zero_driver_bug(struct pm_zero_work *work, struct pm_zero_region *region);
