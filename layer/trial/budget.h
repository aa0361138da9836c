/*
 * What trials may cost: a share of the frames' time (limits.trial_share; 1: as much as they take).
 * A pair takes longer by what its slower side adds, and by what timing costs. It is charged when it
 * begins, by what the pairs of its trial took so far, and corrected when both its times are there:
 * so those that are under way count, and one whose times never come stays charged, but for a
 * glance's (glance.h). A trial's first is charged a frame, or what first ones took lately if that
 * is more, up to 50 ms, and the next three a frame, or what those before took if that is more.
 *
 * What a trial's pairs took is told from the geometric means of either side's times, for each use
 * that comes again: what else runs now and then makes one time of many longer, and weighs little
 * in them, and no time counts as more than five times the other's: what is slower still costs more
 * than is told. It is longer than what is bound otherwise (enum pm_trial_stands).
 *
 * A pair begins only while what it is charged is left: by the end of a session no more than the
 * share was charged, and what pairs took beyond is known of most. Whoever asks first has what there
 * is. A pair that is more than that is saved for, by one trial after another: half of what comes is
 * put by for it, so that trials of short pairs are held up by no more than that, and those of long
 * ones come to their end too. It is the turn of the one that was refused first, of those that come;
 * one that does not come for two seconds or 384 heartbeats, whatever is longer, leaves what was
 * saved to the next. Glances have a turn, all together, where one had to wait (trial_glance.c).
 *
 * What trials over sessions take (session_cost.c) is charged as it is known, and owed in a ledger
 * of its own: no pair waits for it, but other such trials. What these save counts there, too. While
 * it is owed it is paid with half of the share, and pairs have the other half.
 *
 * What is not spent and not saved for a pair is kept for a second, or as much as a frame takes, up
 * to 50 ms. What was spent beyond, since a pair may take more than it was charged, is owed: by the
 * sessions that follow, too.
 *
 * Times that differ by chance seem to save as often as they seem to cost. Were only the latter
 * remembered, little would be left of the share. So what pairs save beyond a second's share is put
 * aside, up to a minute's. No pair begins by that, and what a trial's pairs are known to take is
 * not paid by it, so that a slow trial has no more for what others saved before. It pays what one
 * pair takes beyond what its trial's pairs are known to take: a minute's share at most, should they
 * all become slower at once.
 *
 * Thread safety: pm_budget_begin, pm_budget_owed and pm_budget_spent may be called from any thread;
 * the rest says whose it is. Times are nanoseconds, `now` is pm_now()'s.
 */
#pragma once

#include "layer/core/allowance.h"
#include "profile/pairs_store.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct pm_budget {
    pthread_mutex_t lock; /* the allowance and what is spent */
    double share;
    struct pm_allowance allowance; /* of pairs */
    double aside;                  /* nanoseconds: saved by pairs, and too much for that */
    const void *saver;             /* the trial that saves for a pair, of which only the address
                                      counts; NULL: none */
    double wanted, saved; /* nanoseconds: what that takes, and what there is for it beside what
                             is left */
    int64_t saver_since;  /* since when it was refused */
    int64_t wanted_at;    /* when it last asked */
    int64_t begun_at, spent;
    int64_t owed_over_sessions, paid_over_sessions; /* nanoseconds; the one before these are paid */
    int64_t of_sessions;                            /* of that, by trials over sessions */
    bool any_session;                               /* there were some */
    _Atomic uint32_t corrections; /* of what is left, so far: each ends all rests */
    _Atomic int64_t frame;        /* what one takes */
    _Atomic int64_t first;        /* what the first pair of a trial takes, by the latest */
    int64_t framed_at;            /* of who counts frames */
    _Atomic int64_t returned;     /* given back, and not in the allowance yet */
};

/* owed: what the sessions before left (pm_budget_owed, by enum pm_owed_by), nanoseconds. */
void pm_budget_init(struct pm_budget *budget, double share, const int64_t owed[static PM_OWED_BY],
                    int64_t now);
void pm_budget_finish(struct pm_budget *budget);

/* So many frames have passed since the last call. One thread at a time. */
void pm_budget_frames(struct pm_budget *budget, uint32_t frames, int64_t now);

/* What is bound where nothing is timed. */
enum pm_trial_stands {
    PM_STANDS_OWN,     /* the game's own */
    PM_STANDS_VARIANT, /* the variant, which is tried again */
    PM_STANDS_FASTER,  /* what was made of the variant and is faster than both */
};

/* What a trial's pairs took; all zero: none has. */
struct pm_trial_cost {
    _Atomic int64_t expected; /* of the next, with what timing costs; 0: not known */
    _Atomic int64_t so_far;   /* the mean of those there are; 0: there is none */
    /* It cannot begin one before, unless there was one more correction, and needs no lock to know.
     */
    _Atomic int64_t rests_until;
    _Atomic uint32_t corrections;
    int64_t refused_since; /* 0: it was not, since its latest pair began. The budget's lock */
    double sum;            /* the poller's, as all that follows */
    uint32_t pairs;
    enum pm_trial_stands stands;
};

/* What those of a use took that comes again in each frame. The poller's. */
struct pm_use_cost {
    uint32_t pairs;
    double logs[2]; /* sums of logarithms: of the game's own, and of the variant */
    double told;
    enum pm_trial_stands stands;
};

/* Below 0, in place of a charge. */
enum {
    PM_BUDGET_SPENT = -1, /* not enough is left */
    PM_BUDGET_HELD = -2,  /* nobody knows: it is somebody else's just now */
};

/* A pair may begin, and is charged so much; or one of the above, where another thread that has the
 * budget may be of the lowest priority. Never waits. */
int64_t pm_budget_begin(struct pm_budget *budget, struct pm_trial_cost *cost, int64_t now);

/* Of what was charged for pairs whose times nobody waits for any more. Never waits. */
void pm_budget_return(struct pm_budget *budget, int64_t charged);

/* Its times are there, of the game's own and of the variant. What stands and is faster than both is
 * taken to need no time at all. The poller's thread. */
void pm_budget_settle(struct pm_budget *budget, struct pm_trial_cost *cost, struct pm_use_cost *use,
                      const double time[static 2], enum pm_trial_stands stands, int64_t charged);

/* A trial over sessions took so long, or gave so much back (below 0): nanoseconds. */
void pm_budget_charge_session(struct pm_budget *budget, int64_t nanoseconds, int64_t now);

/* Whether trials over sessions owe more than a second's share. */
bool pm_budget_owes(struct pm_budget *budget, int64_t now);

/* What pairs spent beyond the share so far, with what is under way: nanoseconds. 0 where there is
 * no limit. */
int64_t pm_budget_owed(struct pm_budget *budget, int64_t now);

/* What trials over sessions spent, or saved (below 0), and what was paid of what they owe, so far.
 */
struct pm_spent_over_sessions {
    int64_t more, paid;
};
struct pm_spent_over_sessions pm_budget_over_sessions(struct pm_budget *budget, int64_t now);

/* The share of time that was spent, with what is under way; below 0: more was saved. */
double pm_budget_spent(struct pm_budget *budget, int64_t now);
/* The same of trials over sessions. false: there were none. */
bool pm_budget_spent_by_sessions(struct pm_budget *budget, int64_t now, double *share);
