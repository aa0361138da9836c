/*
 * From statistics to a PGO database: which points are covered, which shaders are published (DESIGN,
 * PGO database; paper, section 3.4).
 *
 * Thread safety: as aggregator.h.
 */
#pragma once

#include "aggregator/aggregator.h"
#include "aggregator/statistics/statistics.h"

struct pm_curated {
    struct pm_database database;
    uint64_t points, points_covered; /* over all shaders */
    uint64_t uploads;                /* of the game, when the reading began */
    uint64_t left_out;               /* shaders for which the database has no room */
};

/* What curation tells of the game as a whole. */
struct pm_curate_result {
    uint64_t curated_at; /* seconds since the epoch */
    uint64_t uploads, points, points_covered;
};

/* One (key, environment, kind), judged. What it points to lives until the observer returns. */
struct pm_judged {
    const struct pm_shader_estimates *shader; /* its points are never NULL, published or not */
    const struct pm_statistics *statistics;   /* what they were estimated from */
    uint32_t covered, lacking;                /* points */
};
/* false, with *error filled, stops the reading. */
typedef bool (*pm_curate_observe)(void *user, const struct pm_judged *judged,
                                  struct pm_error *error);

struct pm_curate_request {
    const char *game;
    const char *scene; /* only this one; NULL: all */
    bool everything; /* estimates also for shaders that are not published, however much it is; else
                        no more than fits a database */
    pm_curate_observe observe; /* sees each shader, in order, before what is not published is
                                  forgotten; may be NULL */
    void *user;
};

/* Reads what is asked for and fills *out, whose memory is the arena's. PM_ERROR_STATE: the game is
 * not known. */
bool pm_curate_read(struct pm_aggregator *aggregator, const struct pm_curate_request *request,
                    struct pm_arena *arena, struct pm_curated *out, struct pm_error *error);

/* Shows all that there is of one key, in order; nothing of a key or game that is not known. */
bool pm_curate_read_shader(struct pm_aggregator *aggregator, const char *game,
                           const struct pm_shader_key *key, pm_curate_observe observe, void *user,
                           struct pm_error *error);

/* pm_aggregator_curate with an observer; it and *result are told of the game as a whole, not of
 * its scenes. */
bool pm_curate_publish(struct pm_aggregator *aggregator, const char *game,
                       pm_curate_observe observe, void *user, struct pm_curate_result *result,
                       struct pm_error *error);
