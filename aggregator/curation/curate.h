/*
 * From statistics to a PGO database: which points are covered, which shaders are published (DESIGN,
 * PGO database; paper, section 3.4).
 *
 * Thread safety: any thread, once struct pm_curator is filled.
 */
#pragma once

#include "aggregator/curation/breakdown.h"
#include "aggregator/curation/deficit.h"
#include "aggregator/curation/prior_pool.h"
#include "aggregator/intake/fold.h"
#include "aggregator/statistics/statistics.h"
#include "aggregator/trust/left_alone_claims.h"

/* By what rules one curates; the pointers stay their owner's and live longer. */
struct pm_curator {
    struct pm_world *world;
    struct pm_folding *folding;
    struct pm_coverage_rules rules;
    bool publish_all;              /* every covered shader, whatever its intervals */
    uint32_t scenes;               /* most of a game that get a database of their own */
    uint32_t half_life_days;       /* ageing.h */
    uint32_t min_tokens;           /* before a shader is published (claims.h) */
    uint32_t publish_seconds;      /* least between two publications (release.h); 0: whatever
                                      changed is published with every curation, as exactly as it is
                                      known */
    bool strangers;                /* as in struct pm_aged */
    size_t database_bytes;         /* for the shaders of a database, before compression */
    size_t shader_bytes;           /* of one shader's blobs; what has more is left out */
    struct pm_prior_pool *priors;  /* its own; NULL: no game learns from others */
    pthread_mutex_t publish_mutex; /* held while a body is published; before the write mutex */
};

struct pm_curated {
    struct pm_database database;
    /* Beside each shader of the database, until pm_release_make says what is published of it: the
     * last day on which as many tokens as publishing asks for are known to have sent profiles of
     * it, 0: none; and the clusters that entered it, as far as a point can tell. */
    const uint32_t *vouched_days;
    const uint64_t *sessions;
    uint64_t points, points_covered; /* over all shaders */
    uint64_t uploads;                /* of the game, when the reading began */
    uint64_t left_out;               /* shaders for which the database has no room */
    struct pm_left_alone_count left_alone[PM_LEFT_ALONE_WHYS]; /* by clients, and why */
};

/* One (key, environment, kind), judged. What it points to lives until the observer returns. */
struct pm_judged {
    const struct pm_shader_estimates *shader; /* its points are never NULL, published or not; its
                                                 levels only as pm_curate_read_shader says */
    const struct pm_statistics *statistics;   /* what they were estimated from: all that was
                                                 measured of them is of points in it */
    uint32_t covered, lacking;                /* points */
    bool vouched;                             /* enough tokens sent profiles of it (claims.h) */
    uint32_t tokens;       /* as many distinct ones did, on the best day of the retention */
    uint32_t days;         /* since its first day within the retention, today included */
    double clusters_a_day; /* of the point that has most, on a day that had some, on average */
    struct pm_breakdown breakdown; /* of strangers; else without tokens and error */
};
/* false, with *error filled, stops the reading. */
typedef bool (*pm_curate_observe)(void *user, const struct pm_judged *judged,
                                  struct pm_error *error);

struct pm_curate_request {
    const char *game;
    const char *scene; /* only this one; NULL: all */
    bool everything; /* estimates also for shaders that are not published, however much it is; else
                        no more than fits a database */
    struct pm_race_gathering *races; /* takes what variants took (races.h); NULL: nothing does */
    bool at_once;                    /* publishing does not wait for its time (publish.h) */
    pm_curate_observe observe;       /* sees each shader, in order, before what is not published is
                                        forgotten; may be NULL */
    void *user;
};

/* Reads what is asked for and fills *out, whose memory is the arena's. PM_ERROR_STATE: the game is
 * not known. */
bool pm_curate_read(struct pm_curator *curator, const struct pm_curate_request *request,
                    struct pm_arena *arena, struct pm_curated *out, struct pm_error *error);

/* Shows all that there is of one key, in order; nothing of a key or game that is not known. A
 * shader that is not published has the levels that it would be published with (provisional), by
 * what its game's last curation knew of all others. PM_ERROR_LIMIT: it has more than shader_bytes
 * in one of its kinds; the others were shown. */
bool pm_curate_read_shader(struct pm_curator *curator, const char *game,
                           const struct pm_shader_key *key, pm_curate_observe observe, void *user,
                           struct pm_error *error);
