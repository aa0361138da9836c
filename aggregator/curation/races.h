/*
 * Races of variants (A-Z testing over many machines): from statistics of PM_KIND_VARIANT to what is
 * published of them (profile/races.h), by the rules of statistics/race.h. Per shader and
 * environment, over all scenes and days of the retention; of who has tokens, once their day has
 * ended.
 *
 * The same players may have come on all days. So of a variant no more clusters count as independent
 * than players who came on all of the days (race_gathering.c).
 *
 * In a race are the variants by recipes of this build, of which as many clusters of one day speak
 * as publishing asks for tokens, at most PM_RACE_ARMS, those of which most do. So what few made up
 * holds nothing up, and what more made up the others are asked to measure. Once one recipe has won,
 * pairs of it and the next best ones are in it, too. Where there are more races than a body has
 * room for, those that fewest take part in are left out.
 *
 * Thread safety: as curate.h.
 */
#pragma once

#include "aggregator/curation/curate.h"
#include "aggregator/curation/race_gathering.h"
#include "aggregator/statistics/race.h"
#include "profile/races.h"

enum { PM_RACE_ARMS = 96, PM_RACE_PAIRS = 4 };

/* What the name of the body is among those of scenes: no scene is called so (pm_name_check). */
#define PM_RACES_PUBLICATION "\x01races"

/* Judges all that may be published, whose memory is the arena's. before: what is, whose winners
 * stay as race.h says; NULL: nothing. vouched_days: of each. */
bool pm_races_judge(const struct pm_race_gathering *gathering, const struct pm_curator *curator,
                    const struct pm_races *before, struct pm_arena *arena, struct pm_races *races,
                    const uint32_t **vouched_days, struct pm_error *error);
