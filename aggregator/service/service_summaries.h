/*
 * The summaries of the games (summary.h) that the pages and the JSON API read: at most
 * PM_SUMMARIES_BYTES of them, those used last. One that is missing is asked of the curator, which
 * makes it next.
 *
 * Thread safety: any thread, but pm_summaries_curate, pm_summaries_begin and pm_summaries_retain,
 * which are the curator's.
 */
#pragma once

#include "aggregator/curation/summary.h"
#include <pthread.h>

#define PM_SUMMARIES_BYTES ((size_t)256 << 20)
#define PM_SUMMARIES_WANTED 16

struct pm_kept_summary {
    struct pm_summary *summary;
    uint64_t used; /* when, in uses */
};

struct pm_summaries {
    pthread_mutex_t mutex;
    struct pm_kept_summary *kept; /* sorted by the game's name */
    size_t count, bytes;
    uint64_t uses;
    char *wanted[PM_SUMMARIES_WANTED]; /* games that somebody asked for in vain */
    char *taken[PM_SUMMARIES_WANTED];  /* the curator's: those it sees to now */
};

void pm_summaries_init(struct pm_summaries *summaries);
void pm_summaries_finish(struct pm_summaries *summaries);

/* A reference, which the caller drops; NULL when there is none (yet). */
struct pm_summary *pm_summaries_find(struct pm_summaries *summaries, const char *game);
/* Asks for it. */
void pm_summaries_want(struct pm_summaries *summaries, const char *game);
bool pm_summaries_are_wanted(struct pm_summaries *summaries);

struct pm_summaries_totals {
    uint64_t games, shaders, points, points_covered;
    uint64_t waiting[PM_REASONS]; /* shaders that are not published */
};
struct pm_summaries_totals pm_summaries_totals(struct pm_summaries *summaries);

/* Are all that are asked for among the known ones? */
bool pm_summaries_know_wanted(struct pm_summaries *summaries,
                              bool (*known)(const void *user, const char *game), const void *user);
/* The curator looks what is asked for: is_wanted says whether the game was, before that. */
void pm_summaries_begin(struct pm_summaries *summaries);
bool pm_summaries_is_wanted(const struct pm_summaries *summaries, const char *game);
/* Curates and publishes a game, and keeps its summary. */
bool pm_summaries_curate(struct pm_summaries *summaries, struct pm_curator *curator,
                         const char *game, struct pm_error *error);
/* Somebody else curated the game: its summary, if there is one, is made anew when it is wanted. */
void pm_summaries_forget(struct pm_summaries *summaries, const char *game);
/* Forgets the games that are not known. */
void pm_summaries_retain(struct pm_summaries *summaries,
                         bool (*known)(const void *user, const char *game), const void *user);
