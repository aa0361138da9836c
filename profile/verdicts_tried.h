/*
 * What the trials of several sessions found of a variant (kept_variant.h, `tried`), together.
 *
 * Thread safety: plain data.
 */
#pragma once

#include "profile/kept_variant.h"

/* Whether at least so many sessions found a faster one faster, and by so alike ratios that the 95 %
 * interval of their mean says so. least 1: always. A trial over sessions has asked enough of them.
 */
bool pm_kept_is_sure(const struct pm_kept_variant *kept, uint32_t least);

/* The verdict of a session's trial, over what others found before it; old NULL: nothing. */
void pm_kept_count_trial(struct pm_kept_variant *kept, const struct pm_kept_variant *old,
                         uint64_t session);
