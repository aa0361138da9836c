/*
 * What can be tried: a variant that computes what the game's pipeline computes, and may be faster.
 * Who made it fills in what it is and how to hear the verdict; who tries it (trial.h) keeps its
 * trial in it.
 *
 * Thread safety: but for the trial's own part unchanged once it is published by
 * pm_pipeline_candidate.
 */
#pragma once

#include "layer/core/layer.h"
#include "profile/journal.h"

struct pm_anytime; /* base/anytime.h */
struct pm_hold;    /* hold.h */
struct pm_passes;  /* passes.h */
struct pm_pipeline;
struct pm_session_trial;
struct pm_specialized_shader; /* specialized.h */
struct pm_trial;
struct pm_watch; /* watch.h */

struct pm_candidate {
    uint64_t handle; /* PM_BITS of what is to be bound in the game's place for a timed call */
    const struct pm_passes *passes; /* dispatched one after another, and the handle is that of the
                                       first; NULL: it is one pipeline */
    struct pm_shader_key key;       /* of the shader it runs */
    struct pm_shader_key original;  /* of the shader that was made of */
    const struct pm_specialized_shader *shader; /* that shader; until it is gone */
    struct pm_environment environment;          /* of its timing profiles */
    struct pm_journal_entry *entry;             /* to be told whenever it is about to be bound */
    bool is_private;                            /* nothing of it leaves the machine */
    bool promising;                             /* others found it faster */
    const struct pm_candidate *rival; /* the pipeline's proven variant that it is compared with;
                                         NULL: the game's own */
    _Atomic bool surpassed;           /* one whose rival it is is bound in its place */
    const struct pm_watch *watch;     /* it may only be bound where that fits; NULL: anywhere */
    struct pm_hold *hold; /* taken by a recording before it binds it: it may go before its pipeline
                             does; owned; NULL: it does not */

    /* Of one of many variants of a shader (contest.h): it is measured so many times more, and then
     * what was seen of it is told, instead of a verdict. NULL: it gets a verdict. The calls that
     * gave the one do not count for the other. Called by the poller's thread. */
    uint32_t wanted;
    void (*measured)(struct pm_candidate *candidate, const struct pm_anytime *seen);
    uint32_t variant; /* as a point of its race (profile/variant_point.h), so that what was measured
                         is told others; 0: none is */

    /* The outcome; the first one counts. faster: it is bound in the game's place from now on.
     * Returns what the log is to say (pm_candidate_log), NULL: nothing: it may be called under a
     * lock, and a log takes as long as a file does. */
    const char *(*verdict)(struct pm_candidate *candidate, bool faster);
    /* There is none for now: it is tried anew some minutes later. Called under a lock. NULL: nobody
     * asks. */
    void (*undecided)(struct pm_candidate *candidate);
    /* Its trial falls asleep, since nothing of it was timed for a while. Called by a thread of the
     * game's under a lock, and takes none. NULL: nobody asks. */
    void (*idle)(struct pm_candidate *candidate);
    /* It is tried again, though it stays bound; then there is another outcome. NULL: it never is.
     */
    void (*again)(struct pm_candidate *candidate);
    /* It is as it was before that: there is no other outcome. Called under a lock, and takes none.
     * Not NULL where `again` is not. */
    void (*glanced)(struct pm_candidate *candidate);

    /* It is bound in this session, to be timed (trial/sessions.h), and is not to be any more.
     * Called under a lock. */
    void (*withdraw)(struct pm_candidate *candidate);

    /* It is not bound from now on, though it is not destroyed yet: it is not tried again. */
    _Atomic bool dropped;

    /* the trial's own */
    struct pm_trial *trial;           /* NULL: it is not tried */
    struct pm_session_trial *session; /* or over sessions (trial/sessions.h) */
    struct pm_candidate *next;        /* that takes part in the one or the other */
    _Atomic uint64_t frame;           /* heartbeat + 1 of the latest call that could be timed */
    _Atomic uint32_t uses;            /* such calls in that frame */
    /* It is about to be destroyed; called without a lock that verdict takes. NULL: nobody asked. */
    void (*gone)(struct pm_candidate *candidate);
};

/* Into the log, at level info, of a variant of a game's shader. recipe: as pm_specialized_say_of
 * has it. what NULL: nothing. */
void pm_candidate_say(const struct pm_device *device, const struct pm_shader_key *game,
                      const char *recipe, const char *what);
/* The same by what was made. */
void pm_candidate_log(const struct pm_device *device, const struct pm_specialized_shader *shader,
                      const char *what);

/* The pipeline's variant while it is built and untried; NULL else. Never blocks. */
struct pm_candidate *pm_pipeline_candidate(const struct pm_pipeline *pipeline);
/* Likewise of what a recipe made of that variant, while that one is proven. */
struct pm_candidate *pm_pipeline_over_candidate(const struct pm_pipeline *pipeline);
/* Likewise of its variant for values of push constants. */
struct pm_candidate *pm_pipeline_folded_candidate(const struct pm_pipeline *pipeline);
/* Likewise of its variant in several passes. */
struct pm_candidate *pm_pipeline_passes_candidate(const struct pm_pipeline *pipeline);
