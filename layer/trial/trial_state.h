/*
 * A trial's state, and what its files share: trial.c begins, wakes and ends trials, trial_glance.c
 * glances at what they found faster, trial_pairs.c times and judges them, executed_passes.c has the
 * uses that secondary command buffers take part in, trial_report.c says how they stand,
 * trial_spent.c keeps the memory of those that are over for the next. Private to layer/trial/.
 *
 * Thread safety: "the poller's" is the thread's that reads the times; the rest is said at each
 * member.
 */
#pragma once

#include "base/anytime.h"
#include "layer/frame/command.h"
#include "layer/frame/sampling.h"
#include "layer/shader/candidate.h"
#include "layer/shader/specialized.h"
#include "layer/trial/budget.h"
#include "layer/trial/glance.h"
#include "layer/trial/pair_list.h"
#include "layer/trial/pass_table.h"
#include "layer/trial/timing.h"
#include "layer/trial/trials_sum.h"
#include "layer/trial/verdict.h"

enum {
    TRIAL_TRACKS = 16, /* uses in a frame that are timed */
    TRIAL_PENDING = 8, /* pairs of a track of which one half is still under way */
    TRIAL_MOST_PAIRS = PM_MOST_PAIRS,
    TRIAL_LOOK = 64, /* heartbeats between two looks at who is idle */
};

enum trial_use { TRIAL_UNUSED, TRIAL_CALLS, TRIAL_PASSES };

struct trial_pair {
    uint32_t number;
    uint32_t have; /* bit 0: the original's time, bit 1: the variant's */
    double time[2];
    int64_t charged;
    uint64_t size; /* of inherited uses: which, and the area of both; 0: of others */
    uint64_t at;   /* of those: heartbeat of the first half's time */
};

/* A use that comes again in each frame. */
struct trial_track {
    _Atomic uint64_t what;    /* tells it from others; 0: free */
    _Atomic uint64_t used_at; /* heartbeat */
    _Atomic uint32_t next;    /* uses so far */
    _Atomic bool seen;        /* since the last glance began */
    _Atomic uint32_t from;    /* the first pair that counts: those before were of another trial, or
                                 of this one before it began anew */
    /* Of what secondary command buffers take part in (executed_passes.h): the use that those which
     * are recorded now have, + 1 (0: none has begun), and in the upper half the latest that is
     * over, + 1 (0: none is); they change in one step. The latest that went on for an instance,
     * + 1. In how many instances was executed what was executed last, with its use, + 1, in the
     * upper half; the most of the pair that is executed now; and how many are taken to come,
     * which is noted behind the count: of two that end at once both may be timed, or none. What
     * was charged for the latest pair and is not settled. Uses that began since both sides were
     * timed; and which of them were since, as bits. */
    _Atomic uint64_t turns;
    _Atomic uint32_t mixed;
    _Atomic uint64_t counted;
    _Atomic uint32_t most, before;
    _Atomic int64_t charged;
    _Atomic uint32_t unmeasured, sides;
    struct trial_pair pending[TRIAL_PENDING];
    /* The first pair that is measured: when a pipeline last took part, the whole pair that followed
     * was left out. With one pipeline its first use is there; of several another one may have
     * been used then. Under the lock. */
    uint32_t warm_from;
    struct pm_use_cost cost; /* of what `costs` is; the poller's, both */
    uint64_t costs;
};

struct pm_trial {
    struct pm_trials *owner;
    struct pm_trial *next;
    struct pm_candidate *first;         /* under the lock; of pipelines that are there */
    struct pm_shader_key key, original; /* of the variant and of what it was made of */
    struct pm_shader_key game;          /* the game's shader that the variant stands for */
    char recipe[PM_SPECIALIZED_OF];     /* and which recipe's it is, for the log */
    char of[PM_SPECIALIZED_OF];         /* likewise, with whose */
    bool is_private;                    /* its outcome stays on the machine */
    bool promising;                     /* others found it faster: it is tried again soon */
    bool by_recipe;                     /* A-Z testing's: there are too many for a session each */
    bool over_sessions; /* sessions can try it (sessions.h): it is one pipeline, bound anywhere */
    struct pm_environment environment;
    uint64_t seed;
    uint64_t begun_at;     /* heartbeat */
    int64_t left_at;       /* pm_now() when its last pipeline went; under the lock */
    _Atomic uint32_t kind; /* of use: enum trial_use */
    _Atomic bool untimed;  /* it is drawn with in secondary command buffers, where nothing can be
                              timed in turn */
    bool paired;           /* a pair was whole; under the lock */
    bool compute;
    _Atomic bool awake;      /* changed under the lock */
    _Atomic uint64_t since;  /* heartbeat at which it woke, or one more pipeline took part, or the
                                latest pause ended, or it had no seat */
    _Atomic bool over;       /* likewise: it is decided, or undecided and asleep */
    enum pm_outcome outcome; /* under the lock */
    double ratio;            /* likewise; of the outcome: its time over the original's */
    bool reported;           /* likewise */
    uint32_t sleep;          /* heartbeats; under the lock */
    uint32_t retry;          /* likewise; of a faster one, until it is tried again */
    bool again;              /* likewise: it was found faster, and is tried again, or glanced at */
    uint64_t tried_at;       /* likewise: heartbeat at which it was found faster last */
    uint64_t scenes;         /* likewise: in which it was found faster, as bits */
    _Atomic uint64_t
        used_at; /* heartbeat of the latest timed use, or of waking or falling asleep */
    struct trial_track tracks[TRIAL_TRACKS]; /* the pairs: the poller's */
    _Atomic uint32_t taken_over;             /* tracks, when none was free any more */
    struct pm_pair_list pairs_seen;          /* likewise */
    double sums[2];                          /* of the pairs that were judged by */
    double half_width;                       /* of the interval that they were judged by */
    uint32_t summed, pairs;
    /* Of one of many variants: it is measured and not judged, up to so many pairs. */
    _Atomic bool measures;
    uint32_t wanted;          /* under the lock */
    struct pm_anytime seen;   /* likewise */
    uint32_t variant;         /* a point of its race (candidate.h) */
    struct pm_anytime untold; /* of it, measured whole; under the lock */
    struct pm_trial_cost cost;
    struct pm_glance glance;
    uint64_t lots; /* that were drawn; under the lock */
    bool traced;   /* its trace has its beginning; under the lock */
};

struct pm_trials {
    struct pm_device *device;
    struct pm_pairs_store *pairs; /* of sessions; NULL: none are kept */
    pthread_mutex_t lock;
    struct pm_trial *first;    /* those with a pipeline, and what those without have yet to tell */
    struct pm_trial *spare;    /* empty ones */
    struct pm_trials_sum past; /* of those that were emptied */
    bool unreported;
    /* Of glances (trial_glance.c): those at draws that may begin within some looks, and at this
     * one; whether one had to wait for the budget at the latest; looks so far. Under the lock,
     * these four. And whether other pairs wait for glances. */
    uint32_t glances_counted, glances_left;
    bool glance_waits;
    uint32_t looks;
    _Atomic bool glances_first;
    _Atomic uint32_t looks_due; /* at who is idle */
    struct pm_budget budget;
    _Atomic bool said_alone;                     /* that A-Z testing leaves the program alone */
    int64_t owed_kept, owed_kept_at;             /* nanoseconds, and when: pm_now(); the poller's */
    struct pm_spent_over_sessions sessions_kept; /* likewise */
    bool owed_failed;                            /* likewise: it could not be kept */
    _Atomic uint64_t used_at;    /* heartbeat at which something was timed, or a trial was added */
    struct pm_pass_table passes; /* what was worth timing in the frame before */
    /* Whose uses secondary command buffers may have part in; changed under the lock. */
    struct pm_trial *_Atomic seats[PM_TIMED_MOST];
};

/* It begins, or begins anew: pairs of which one half was timed before do not count. Under the lock.
 */
void pm_trial_begin_pairs(struct pm_trial *trial);

/* Whether the trial's uses are, or become, of that kind. */
bool pm_trial_is_of_kind(struct pm_trial *trial, uint32_t kind);

/* The track of what comes again: its own, or a free one. NULL: there is none. */
struct trial_track *pm_trial_track_of(struct pm_trial *trial, uint64_t what, uint64_t heartbeat);

/* The next use of the track, and what was charged for it. false: none may begin. */
bool pm_trial_next_of(struct pm_trial *trial, struct trial_track *track, uint64_t heartbeat,
                      uint32_t *use, int64_t *charged);

/* A use of it by its number, with its side. */
struct pm_timed pm_trial_use_of(struct pm_trial *trial, const struct trial_track *track,
                                uint32_t use, uint64_t what);

/* Of how many tracks a use was seen since the last glance began. */
uint32_t pm_trial_uses(const struct pm_trial *trial);

/* What the log is to say of a trial's candidates once nobody waits for its lock. */
struct pm_trial_said {
    const char *what[4];
    uint32_t times[4];
};

/* Of its whole pairs, in the order in which they came; the caller frees them. NULL: none, or out of
 * memory. The poller's. */
double *pm_trial_log_ratios(const struct pm_trial *trial);

/* Whose pairs they are. */
struct pm_pair_owner pm_trial_owner_of_pairs(const struct pm_trial *trial);

/* Under the lock, all of these. */

/* For a trace: it begins to be timed, or there is an outcome. */
void pm_trial_trace(struct pm_trial *trial, bool begins, const char *outcome);

void pm_trial_set_awake(struct pm_trial *trial, bool awake);

/* What is used is tried again; why: for the log. */
void pm_trial_try_again(struct pm_trial *trial, const char *why);

/* What is used is timed beside the original again. */
void pm_trial_time_again(struct pm_trial *trial);

/* A look at all trials begins: how many glances may. */
void pm_trials_look_around(struct pm_trials *trials);

/* Begins a glance at what is used, where it is time, since nothing was timed for so many
 * heartbeats. */
void pm_trial_glance(struct pm_trial *trial, uint64_t idle);

/* Where it is glanced at it is not any more: nothing is known, or it is still faster. What was
 * charged for times that are not there is given back. */
void pm_trial_end_glance(struct pm_trial *trial);

/* A pair of what is glanced at; or a second half of a use that secondary command buffers take part
 * in has no first one of its size. */
void pm_trial_take_glance(struct pm_trial *trial, const struct trial_pair *pair);
void pm_trial_take_odd_glance(struct pm_trial *trial);

/* The scene that is drawn now, as a bit of pm_trial.scenes. */
uint64_t pm_trials_scene(const struct pm_trials *trials);

/* What is spent becomes spare: the outcome of a shader that no pipeline has is in the journal. The
 * poller's thread, which alone may still have times of it. */
void pm_trials_spare(struct pm_trials *trials);

/* Adds how it was decided, and what kind of use was timed. */
void pm_trial_sum_decided(const struct pm_trial *trial, struct pm_trials_sum *sum);

/* Its candidates have an outcome; adds what the log is to say of them. */
void pm_trial_tell(const struct pm_trial *trial, bool faster, struct pm_trial_said *said);

/* It cannot be told from the original now, but was faster before: it stays. */
void pm_trial_leave(struct pm_trial *trial, struct pm_trial_said *said);

/* Another number at random each time. Under the lock. */
static inline uint64_t pm_trial_lot(struct pm_trial *trial)
{
    return pm_random_mix(trial->seed + ++trial->lots);
}

/* Without the lock. */
static inline uint64_t pm_trials_now(const struct pm_trials *trials)
{
    return pm_sampling_trial_heartbeat(trials->device->sampling);
}
