/*
 * The summaries of the games (summary.h) that the pages and the JSON API read: at most
 * PM_MODELS_BYTES of them, those used last. One that is missing is asked of the curator, which
 * makes it with its next curation.
 *
 * Thread safety: any thread, but pm_models_curate, pm_models_begin and pm_models_retain, which are
 * the curator's.
 */
#pragma once

#include "aggregator/curation/summary.h"
#include <pthread.h>

#define PM_MODELS_BYTES ((size_t)256 << 20)
#define PM_MODELS_WANTED 16

struct pm_model {
    struct pm_summary *summary;
    uint64_t used; /* when, in uses */
};

struct pm_models {
    pthread_mutex_t mutex;
    struct pm_model *models; /* sorted by the game's name */
    size_t count, bytes;
    uint64_t uses;
    char *wanted[PM_MODELS_WANTED]; /* games that somebody asked for in vain */
    char *taken[PM_MODELS_WANTED];  /* the curator's: those it sees to now */
};

void pm_models_init(struct pm_models *models);
void pm_models_finish(struct pm_models *models);

/* A reference, which the caller drops; NULL when there is none (yet). */
struct pm_summary *pm_models_find(struct pm_models *models, const char *game);
/* Asks for it. */
void pm_models_want(struct pm_models *models, const char *game);
bool pm_models_are_wanted(struct pm_models *models);

struct pm_models_totals {
    uint64_t games, shaders, points, points_covered;
};
struct pm_models_totals pm_models_totals(struct pm_models *models);

/* The curator begins a round: is_wanted says whether somebody asked for the game before that. */
void pm_models_begin(struct pm_models *models);
bool pm_models_is_wanted(const struct pm_models *models, const char *game);
/* Curates and publishes a game, and keeps its summary. */
bool pm_models_curate(struct pm_models *models, struct pm_curator *curator, const char *game,
                      struct pm_error *error);
/* Forgets the games that are not known. */
void pm_models_retain(struct pm_models *models, bool (*known)(const void *user, const char *game),
                      const void *user);
