/*
 * What a shader is, as tokens say it: how many points it has, and which of them run at most once.
 * Both follow from its code, so honest clients agree; and an upload that leaves the second out
 * would make a share of what is none. So a claim is both, as one, and on each day each token has
 * one vote for it, which is counted when the day has ended (fold_day.h). The claim with the most
 * votes of a day is believed, unless what is known already had as many on one day of the retention.
 * So a lie goes as soon as more honest tokens than liars come on one day, and who is few cannot do
 * away with what many said. What was gathered by a claim that turns out a lie is deleted.
 *
 * Whoever has the shader's words can compute the facts (`piecemeal db import-shaders`); they are
 * known then, by PM_VOTES_KNOWN votes of a day yet to come.
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/storage/storage.h"

#define PM_VOTES_KNOWN INT32_MAX
#define PM_VOTES_KNOWN_DAY INT32_MAX /* within every retention */

/* A claim; tokens: that made it on one day. facts 0: of before there were any, or of whoever
 * imported: it agrees with all. */
struct pm_vote {
    uint32_t space, facts, tokens;
};

/* Of the points that run at most once per invocation; never 0, PM_STORAGE_FACTS at most. Bits
 * beyond the space do not count, and no bitmap is an empty one. */
uint32_t pm_facts_of(const uint8_t *at_most_once, uint32_t space);
/* Are they the same points? */
bool pm_facts_agree(const uint8_t *a, const uint8_t *b, uint32_t space);

/* Which of the day's claims counts; `count`: none. known: claims of other days within the
 * retention; space: that the storage has of the shader, 0: none. *replaces: what was gathered is by
 * a lie. */
size_t pm_votes_decide(const struct pm_vote *day, size_t count, const struct pm_vote *known,
                       size_t known_count, uint32_t space, bool *replaces);
