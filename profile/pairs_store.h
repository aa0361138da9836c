/*
 * What trials that were not over when their session ended had timed (layer/trial/trial.h), so that
 * the next session goes on where that one stopped: a demo of a minute and a half never times enough
 * by itself. They never leave the machine.
 *
 * On the disk a file a trial, in $PLACE_DATA/trials, replaced whole (rename). Its name is a hash of
 * all that the times belong to: the game, the build of the layer (what specializes may change from
 * one to the next), the specialized module, what it was made of and the environment. Of two
 * processes of a game that try the same, the one that writes last is believed. Beside them lies
 * what a game's trials owe, of whatever build. What is damaged, older than PM_DAYS_UNDECIDED or of
 * a clock that was wrong is as if it were not there. The folder is bounded: what was written
 * longest ago goes.
 *
 * Thread safety: any thread, but for opening and closing.
 */
#pragma once

#include "profile/verdicts.h"

struct pm_pairs_store;

/* folder NULL: the default. layer: the build's name. Reads nothing. NULL: out of memory, or no
 * home. */
struct pm_pairs_store *pm_pairs_store_open(const char *folder, const char *game, const char *layer);
/* NULL is allowed. */
void pm_pairs_store_close(struct pm_pairs_store *store);

/* What pairs of uses took: nanoseconds of the original's and the variant's. */
struct pm_kept_pairs {
    enum pm_timed_kind kind; /* CALLS or PASSES */
    uint32_t count;
    float (*time)[2]; /* malloc'ed; NULL: none */
};

/* The pairs of a variant, with at most so many; the caller frees them. now: CLOCK_REALTIME,
 * seconds. false: there are none. Reads a small file. store NULL is allowed. */
bool pm_pairs_store_read(const struct pm_pairs_store *store, const struct pm_shader_key *key,
                         const struct pm_shader_key *original,
                         const struct pm_environment *environment, int64_t now, uint32_t most,
                         struct pm_kept_pairs *pairs);

/* Keeps them in place of what there was. Waits for the disk, as the next. store NULL: nothing. */
bool pm_pairs_store_keep(struct pm_pairs_store *store, const struct pm_shader_key *key,
                         const struct pm_shader_key *original,
                         const struct pm_environment *environment, int64_t now,
                         const struct pm_kept_pairs *pairs, struct pm_error *error);

/* Nanoseconds: at 0.5 %, what two days and a half of play have. One session of an hour that draws
 * with a variant throughout which makes frames a fifth longer takes most of it. */
#define PM_MOST_OWED INT64_C(1000000000000)

/* What the game's trials spent beyond their share (layer/trial/budget.h): nanoseconds, which the
 * sessions that follow have less. 0: nothing. store NULL is allowed. Reads a small file. */
int64_t pm_pairs_store_owed(const struct pm_pairs_store *store, int64_t now);
/* Adds to it, or takes from it what was paid (below 0); within 0 and PM_MOST_OWED. So each device
 * and process of a game changes what it spent itself. Reads and writes a small file. */
bool pm_pairs_store_owe(struct pm_pairs_store *store, int64_t now, int64_t more,
                        struct pm_error *error);

/* The trial is over. store NULL is allowed. */
void pm_pairs_store_forget(const struct pm_pairs_store *store, const struct pm_shader_key *key,
                           const struct pm_shader_key *original,
                           const struct pm_environment *environment);
