/*
 * Trials over sessions (sessions.h), what its files share: sessions.c has who takes part and what
 * is timed, session_cost.c what that takes. Private to layer/trial/.
 *
 * Thread safety: "the poller's" is the thread's that reads the times; "under the lock" is
 * pm_session_trials.lock.
 */
#pragma once

#include "layer/trial/budget.h"
#include "layer/trial/session_lot.h"
#include "layer/trial/sessions.h"
#include <pthread.h>

enum {
    SESSION_SAMPLES = 64, /* of a use that are kept */
};

struct pm_session_use {
    struct pm_session_trial *trial;
    _Atomic uint32_t slot;  /* of what comes again in each frame, + 1; 0: it is recorded once */
    uint32_t count;         /* the poller's */
    _Atomic uint32_t times; /* that it was submitted */
    uint32_t before;        /* of them, those before the first time of its trial; the poller's */
    double rate; /* submissions a heartbeat, of what comes again in each frame: those after
                    the trial is done are not counted; under the lock */
    double more; /* nanoseconds, by which each is longer than without the trial; likewise */
    uint64_t work;
    _Atomic bool missed; /* it cannot be timed */
    uint64_t samples[SESSION_SAMPLES];
};

struct pm_session_trial {
    struct pm_session_trials *owner;
    struct pm_kept_variant named; /* key, original, environment */
    const struct pm_specialized_shader *shader;
    enum pm_session_side side;
    _Atomic uint32_t used; /* uses that were recorded */
    _Atomic bool done;     /* enough was timed */
    _Atomic bool anew;     /* bound in what is recorded for one submission */
    struct pm_session_use uses[PM_SESSION_USES];
    struct pm_candidate *first; /* that are bound for it; under the lock */
    bool left;                  /* likewise: none is bound any more */
    int64_t since;              /* pm_now() when its first time was there: a driver may compile
                                   before that; the poller's */
    uint64_t since_heartbeat;   /* the same in heartbeats */
    uint64_t done_heartbeat;    /* when its part was over; under the lock */
    int64_t charged, kept;      /* nanoseconds, and those of them that are kept; likewise */
};

struct pm_session_trials {
    struct pm_device *device;
    struct pm_budget *budget; /* of all trials */
    struct pm_session_lot lot;
    pthread_mutex_t lock; /* adding */
    struct pm_session_trial *trials[SESSION_TRIALS];
    _Atomic uint32_t count;
    _Atomic bool closed; /* nothing more is recorded for them */
    _Atomic bool awake;  /* recordings are tracked for them; changed under the lock */
    uint32_t untried;    /* variants that are drawn with; under the lock */
    uint64_t share;   /* of a session's time that draws with these take, in millionths; likewise */
    int64_t kept_at;  /* when what they took was kept last: pm_now(); the poller's */
    bool keep_failed; /* likewise: it could not be */
};

/* Whether its queries are reset and written in one order. */
bool pm_session_is_in_order(const struct pm_command *command);

/* ---- session_cost.c ---- */

/* Draws who has a turn. Before anybody else has it. */
void pm_session_draw_lot(struct pm_session_trials *trials);

/* Whether the shader may take part in this session, where there is room. */
bool pm_session_takes_part(const struct pm_session_trials *trials,
                           const struct pm_specialized_shader *shader);

/* The side that the shader has in this session. Under the lock. */
enum pm_session_side pm_session_side_of(struct pm_session_trials *trials,
                                        const struct pm_specialized_shader *shader);

/* By how much each use is longer than without the trial, before anything is timed. Before anybody
 * else has it. */
void pm_session_expects(struct pm_session_trial *trial);

/* There is a time of it; the first one begins the time of which the uses have a share. The
 * poller's.
 */
void pm_session_begins_share(struct pm_session_trial *trial);
/* The share of the time since then that the uses took of which the times are known, in millionths.
 */
uint32_t pm_session_share(const struct pm_session_trial *trial, const struct pm_session_half *half);

/* Charges what they took since the last call, and keeps all that is not. After all have finished.
 * Waits for the disk. */
void pm_session_charge_last(struct pm_session_trials *trials);

/* What was timed says how much longer the session is for it; own: the latest one with the game's
 * own. A variant that is much slower is not bound any more. */
void pm_session_weigh(struct pm_session_trial *trial, const struct pm_session_half *half,
                      const struct pm_session_half *own);
