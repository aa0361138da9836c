/*
 * From statistics to a PGO database: which points are covered, which shaders are published (DESIGN,
 * PGO database; paper, section 3.4).
 *
 * Thread safety: as aggregator.h.
 */
#pragma once

#include "aggregator/aggregator.h"

struct pm_curated {
    struct pm_database database;
    uint64_t points, points_covered; /* over all shaders */
    uint64_t uploads;                /* of the game, when the reading began */
    uint64_t left_out;               /* shaders for which the database has no room */
};

/* Reads all of the game and fills *out, whose memory is the arena's. everything: estimates also for
 * shaders that are not published, however much it is; else no more than fits a database.
 * PM_ERROR_STATE: the game is not known. */
bool pm_curate_read(struct pm_aggregator *aggregator, const char *game, bool everything,
                    struct pm_arena *arena, struct pm_curated *out, struct pm_error *error);
