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

/* Whose debt it is: each has its own. */
enum pm_owed_by {
    PM_OWED_IN_TURN,       /* trials within a session */
    PM_OWED_OVER_SESSIONS, /* sessions that drew with an untried variant; below 0: more was saved */
    PM_OWED_BY
};

/* Nanoseconds that are owed at most: at 0.5 %, what half an hour of play has, and at half of that
 * what seven hours have. */
#define PM_MOST_OWED INT64_C(10000000000)
#define PM_MOST_OWED_OVER_SESSIONS INT64_C(60000000000)

/* What is owed of a debt, of which more than the most is forgiven, and what was saved, too. */
int64_t pm_owed_within(enum pm_owed_by by, int64_t nanoseconds);

/* What the game's trials spent beyond their share (layer/trial/budget.h): nanoseconds, which the
 * sessions that follow have less. 0: nothing. store NULL is allowed. Reads a small file. */
int64_t pm_pairs_store_owed(const struct pm_pairs_store *store, enum pm_owed_by by, int64_t now);
/* Adds to it (below 0: takes from it), and then pays so much of what is owed; within the most. So
 * each device and process of a game changes what it spent itself. Its age is that of the latest
 * spending. Reads and writes a small file. */
bool pm_pairs_store_owe(struct pm_pairs_store *store, enum pm_owed_by by, int64_t now, int64_t more,
                        int64_t paid, struct pm_error *error);

/* The trial is over. store NULL is allowed. */
void pm_pairs_store_forget(const struct pm_pairs_store *store, const struct pm_shader_key *key,
                           const struct pm_shader_key *original,
                           const struct pm_environment *environment);
