/*
 * What of a curated database may be published now, so that nobody's upload can be told from two
 * publications (docs/statistics.md, When something is published). A shader stays as it was
 * published until, on a later day, as many distinct tokens as publishing asks for have sent
 * profiles of it; what is published is quantized (quantize.h).
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/curation/curate.h"

/* May anything be published, so long after the database before it? */
bool pm_release_is_due(const struct pm_curator *curator, uint64_t published_at, uint64_t now);

/* Puts into the curated database what is to be published: the entries of `before` that are not to
 * change yet, and of the others quantized ones as of today, as many as the database has room for.
 * before: what is published, NULL for nothing; it must live as long as the result. New memory is
 * the arena's. */
bool pm_release_make(const struct pm_curator *curator, const struct pm_database *before,
                     struct pm_curated *curated, struct pm_arena *arena, struct pm_error *error);
