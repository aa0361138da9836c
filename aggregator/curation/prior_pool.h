/*
 * What the games of an aggregator have in common: how the zeros of each are distributed, so that
 * one that few play begins with what the others know (statistics/provisional.h). It is in memory,
 * filled as games are curated, and empty after a start; of shaders that too few tokens sent it
 * holds nothing. No game counts for more than 256 points.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "aggregator/statistics/provisional.h"

struct pm_prior_pool;

/* NULL: out of memory. */
struct pm_prior_pool *pm_prior_pool_create(void);
void pm_prior_pool_destroy(struct pm_prior_pool *pool);

/* Takes the place of what was known of the game, which has no place where that is nothing. Where
 * there is no memory, or no room among 4,096 games, others do not learn from it. */
void pm_prior_pool_put(struct pm_prior_pool *pool, const char *game,
                       const struct pm_prior_moments *moments);

void pm_prior_pool_forget(struct pm_prior_pool *pool, const char *game);

/* From the game's own moments (NULL: those that were put last) and what is known of all others.
 * pool: NULL: nothing is. */
struct pm_prior pm_prior_pool_fit(struct pm_prior_pool *pool, const char *game,
                                  const struct pm_prior_moments *own);
