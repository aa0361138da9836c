/* Which side is next, and what the pairs say. trial.h. */
#include "layer/trial/trial.h"

#include "base/anytime.h"
#include "base/clock.h"
#include "base/halving.h"
#include "base/random.h"
#include "layer/core/session.h"
#include "layer/core/trace.h"
#include "layer/counts/report.h"
#include "layer/trial/additive.h"
#include "layer/trial/pass_table.h"
#include "layer/trial/verdict.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TRACKS = 16,       /* uses in a frame that are timed */
    CALLS_A_FRAME = 8, /* of a pipeline */
    PENDING = 8,       /* pairs of a track of which one half is still under way */
    MOST_PAIRS = 4096,
    IDLE = 512,       /* heartbeats without a timed use until a trial sleeps */
    SLEEP = 8 * IDLE, /* heartbeats until it wakes again, the first time */
    LONGEST_SLEEP = 1 << 20,
    LOOK = 64,       /* heartbeats between two looks at who is idle */
    REPEATED = 32,   /* submissions and heartbeats until it is clear that nothing can be timed */
    SUMMED = 16,     /* trials of which it is told how long they go on */
    RETRY = 1 << 14, /* heartbeats until an undecided trial begins anew, the first time, and until
                        what is used is tried again */
    LONGEST_RETRY = 1 << 17, /* of what is used */
    NEW_SCENE = 4 * LOOK,    /* the same where the scene is new */
};

/* Of the frames' time, for trials with a budget: what slower variants take longer, and for each use
 * what timing it costs. */
#define SHARE 0.005
enum { USE_NANOSECONDS = 5000 };

enum kind { UNUSED, CALLS, PASSES };

struct pair {
    uint32_t number;
    uint32_t have; /* bit 0: the original's time, bit 1: the variant's */
    double time[2];
};

/* A use that comes again in each frame. */
struct track {
    _Atomic uint64_t what;    /* tells it from others; 0: free */
    _Atomic uint64_t used_at; /* heartbeat */
    _Atomic uint32_t next;    /* uses so far */
    struct pair pending[PENDING];
};

struct pm_trial {
    struct pm_trials *owner;
    struct pm_trial *next;
    struct pm_candidate *first;         /* under the lock; of pipelines that are there */
    struct pm_shader_key key, original; /* of the variant and of what it was made of */
    bool is_private;                    /* its outcome stays on the machine */
    bool promising;                     /* others found it faster: it is tried again soon */
    struct pm_environment environment;
    uint64_t seed;
    uint64_t begun_at;     /* heartbeat */
    _Atomic uint32_t kind; /* of use: enum kind */
    bool compute;
    _Atomic bool awake;      /* changed under the lock */
    _Atomic bool over;       /* likewise: it is decided, or undecided and asleep */
    enum pm_outcome outcome; /* under the lock */
    double ratio;            /* likewise; of the outcome: its time over the original's */
    bool reported;           /* likewise */
    uint32_t sleep;          /* heartbeats; under the lock */
    uint32_t retry;          /* likewise; of a faster one, until it is tried again */
    bool again;              /* likewise: it was found faster, and is tried again */
    uint64_t scenes;         /* likewise: in which it was found faster, as bits */
    _Atomic uint64_t
        used_at; /* heartbeat of the latest timed use, or of waking or falling asleep */
    struct track tracks[TRACKS]; /* the pairs: the poller's */
    uint32_t count, room;        /* whole pairs; the poller's */
    double (*time)[2];           /* likewise; owned */
    double sums[2];              /* of the pairs that were judged by */
    uint32_t summed, pairs;
    /* Of one of many variants: it is measured and not judged, up to so many pairs. */
    _Atomic bool measures;
    uint32_t wanted;        /* under the lock */
    struct pm_anytime seen; /* the poller's, while it measures */
    bool budgeted;          /* set when it begins */
    bool traced;            /* its trace has its beginning; under the lock */
};

struct pm_trials {
    struct pm_device *device;
    pthread_mutex_t lock;
    struct pm_trial *first; /* all there were */
    bool unreported;
    int64_t begun_at;            /* pm_now() */
    _Atomic int64_t spent;       /* nanoseconds that budgeted trials took of the frames' time */
    _Atomic uint64_t used_at;    /* heartbeat at which something was timed, or a trial was added */
    struct pm_pass_table passes; /* what was worth timing in the frame before */
};

struct pm_trials *pm_trials_create(struct pm_device *device)
{
    struct pm_trials *trials = device->timing != NULL ? calloc(1, sizeof *trials) : NULL;
    if (trials == NULL)
        return NULL;
    trials->device = device;
    trials->begun_at = pm_now();
    pthread_mutex_init(&trials->lock, NULL);
    return trials;
}

/* For a trace: it begins to be timed, or there is an outcome. Under the lock. */
static void trace(struct pm_trial *trial, bool begins, const char *outcome)
{
    struct pm_trace *to = trial->owner->device->trace;
    char key[PM_SHADER_KEY_TEXT], track[64];
    if (to == NULL || trial->traced == begins)
        return;
    trial->traced = begins;
    pm_shader_key_format(&trial->key, key);
    snprintf(track, sizeof track, "trial %.12s, subgroups of %" PRIu32, key,
             trial->environment.subgroup_size);
    if (begins)
        pm_trace_begin(to, track, "trial", &trial->original);
    else
        pm_trace_end(to, track, outcome);
}

static void log_unfinished(const struct pm_trial *trial)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_log_debug(trial->owner->device->instance->log,
                 "the trial of a specialized shader %.12s was not over after %" PRIu32 " pairs",
                 key, trial->count + (uint32_t)trial->seen.count);
}

void pm_trials_destroy(struct pm_trials *trials)
{
    if (trials == NULL)
        return;
    for (struct pm_trial *trial = trials->first, *next; trial != NULL; trial = next) {
        next = trial->next;
        if (trial->outcome == PM_GOES_ON)
            log_unfinished(trial);
        trace(trial, false, "not over");
        free(trial->time);
        free(trial);
    }
    pthread_mutex_destroy(&trials->lock);
    free(trials);
}

/* ---- waking and sleeping ---- */

static uint64_t heartbeat_of(const struct pm_trials *trials)
{
    return atomic_load_explicit(&trials->device->sampling->heartbeats, memory_order_relaxed);
}

/* Under the lock. */
static void set_awake(struct pm_trial *trial, bool awake)
{
    if (atomic_load(&trial->awake) == awake)
        return;
    atomic_store(&trial->awake, awake);
    atomic_store(&trial->used_at, heartbeat_of(trial->owner));
    pm_sampling_try(trial->owner->device->sampling, awake ? 1 : -1);
}

/* The candidate is about to be destroyed. What was measured with it stays: another pipeline with
 * the shader may come. */
static void forget(struct pm_candidate *candidate)
{
    struct pm_trial *trial = candidate->trial;
    pthread_mutex_lock(&trial->owner->lock);
    struct pm_candidate **link = &trial->first;
    while (*link != candidate)
        link = &(*link)->next;
    *link = candidate->next;
    if (!trial->first && trial->owner->device->sampling != NULL)
        set_awake(trial, false);
    pthread_mutex_unlock(&trial->owner->lock);
}

/* ---- a shader's trial ---- */

/* Under the lock. NULL: there is none yet. */
static struct pm_trial *find(const struct pm_trials *trials, const struct pm_candidate *candidate,
                             bool compute)
{
    struct pm_trial *trial = trials->first;
    while (trial != NULL &&
           !(trial->compute == compute && pm_shader_key_equal(&trial->key, &candidate->key) &&
             trial->environment.subgroup_size == candidate->environment.subgroup_size))
        trial = trial->next;
    return trial;
}

/* Under the lock. */
static struct pm_trial *begin(struct pm_trials *trials, const struct pm_candidate *candidate,
                              bool compute)
{
    struct pm_trial *trial = calloc(1, sizeof *trial);
    if (trial == NULL)
        return NULL;
    trial->owner = trials;
    trial->compute = compute;
    trial->key = candidate->key;
    trial->original = candidate->original;
    trial->is_private = candidate->is_private;
    trial->budgeted = candidate->budgeted;
    trial->promising = candidate->promising;
    trial->environment = candidate->environment;
    trial->seed = pm_sampling_seed(trials->device->sampling);
    trial->begun_at = heartbeat_of(trials);
    trial->sleep = SLEEP;
    trial->retry = RETRY;
    trial->next = trials->first;
    trials->first = trial;
    trace(trial, true, NULL);
    return trial;
}

/* Under the lock. */
static bool takes_part(const struct pm_trial *trial, const struct pm_candidate *candidate)
{
    const struct pm_candidate *c = trial->first;
    while (c != NULL && c != candidate)
        c = c->next;
    return c != NULL;
}

/* Under the lock. */
static void add_candidate(struct pm_trial *trial, struct pm_candidate *candidate)
{
    candidate->trial = trial;
    candidate->gone = forget;
    candidate->next = trial->first;
    trial->first = candidate;
}

/* It is measured some more; or it is tried from now on, on other calls than chose it. Under the
 * lock, while it is over. */
static void begin_measuring(struct pm_trial *trial, const struct pm_candidate *candidate)
{
    const bool measures = candidate->measured != NULL;
    if (!measures && !atomic_load(&trial->measures))
        return;
    trial->wanted = candidate->wanted;
    trial->seen = (struct pm_anytime){0};
    atomic_store(&trial->measures, measures);
    atomic_store(&trial->over, false);
    trace(trial, true, NULL);
}

/* Under the lock. */
static void join(struct pm_trial *trial, struct pm_candidate *candidate)
{
    begin_measuring(trial, candidate);
    if (!takes_part(trial, candidate))
        add_candidate(trial, candidate);
    if (trial->outcome == PM_UNDECIDED)
        return;
    set_awake(trial, true);
    atomic_store(&trial->owner->used_at, heartbeat_of(trial->owner));
}

void pm_trials_add(struct pm_trials *trials, struct pm_candidate *candidate, bool compute)
{
    if (trials == NULL)
        return;
    pthread_mutex_lock(&trials->lock);
    struct pm_trial *trial = find(trials, candidate, compute);
    if (trial == NULL)
        trial = begin(trials, candidate, compute);
    const enum pm_outcome outcome = trial != NULL ? trial->outcome : PM_GOES_ON;
    const bool decided = outcome == PM_FASTER || outcome == PM_SLOWER;
    if (trial != NULL && !decided)
        join(trial, candidate);
    pthread_mutex_unlock(&trials->lock);
    if (decided)
        candidate->verdict(candidate, outcome == PM_FASTER);
    else if (!compute)
        pm_additive_want(trials->device->additive);
}

/* ---- trying again what is used ---- */

static uint64_t scene_of(const struct pm_trials *trials)
{
    return UINT64_C(1) << atomic_load(&trials->device->sampling->scenes.current) % 64;
}

void pm_trials_watch(struct pm_trials *trials, struct pm_candidate *candidate, bool compute)
{
    if (trials == NULL)
        return;
    pthread_mutex_lock(&trials->lock);
    struct pm_trial *trial = find(trials, candidate, compute);
    if (trial == NULL && (trial = begin(trials, candidate, compute)) != NULL) {
        trial->outcome = PM_FASTER;
        trial->scenes = scene_of(trials);
        atomic_store(&trial->over, true);
        atomic_store(&trial->used_at, heartbeat_of(trials));
    }
    const bool dropped = trial != NULL && trial->outcome == PM_SLOWER;
    if (trial != NULL && !dropped && !takes_part(trial, candidate))
        add_candidate(trial, candidate);
    if (dropped || (trial != NULL && trial->again))
        candidate->again(candidate);
    pthread_mutex_unlock(&trials->lock);
    if (dropped)
        candidate->verdict(candidate, false);
}

/* Under the lock. */
static void try_again(struct pm_trial *trial)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_log_debug(trial->owner->device->instance->log, "a specialized shader %.12s is tried again",
                 key);
    if (trial->retry < LONGEST_RETRY)
        trial->retry *= 2;
    trial->again = true;
    trial->outcome = PM_GOES_ON;
    for (struct pm_candidate *c = trial->first; c != NULL; c = c->next)
        c->again(c);
    atomic_store(&trial->over, false);
    set_awake(trial, true);
    if (!trial->compute)
        pm_additive_want(trial->owner->device->additive);
}

/* Whether what is used is due. Under the lock. */
static bool is_due(const struct pm_trial *trial, uint64_t idle)
{
    const bool known = trial->scenes & scene_of(trial->owner);
    return trial->outcome == PM_FASTER && trial->first->again != NULL &&
           idle >= (known ? trial->retry : (uint32_t)NEW_SCENE);
}

/* It cannot be told from the original now, but was faster before: it stays. Under the lock. */
static void leave(struct pm_trial *trial)
{
    atomic_store(&trial->over, true);
    trial->outcome = PM_FASTER;
    trial->again = false;
    trial->scenes |= scene_of(trial->owner);
    trace(trial, false, "as fast: still used");
    set_awake(trial, false);
    for (struct pm_candidate *c = trial->first; c != NULL; c = c->next)
        c->verdict(c, true);
}

/* ---- heartbeats ---- */

/* Under the lock. */
static void begin_anew(struct pm_trial *trial)
{
    trial->outcome = PM_GOES_ON;
    if (trial->retry < LONGEST_SLEEP && !trial->promising)
        trial->retry *= 2;
    atomic_store(&trial->over, false);
    trace(trial, true, NULL);
    set_awake(trial, true);
}

/* Nothing could be timed though the game submits its recordings again: later sessions try it each
 * as a whole. Under the lock. */
static void note_untimed(const struct pm_trial *trial)
{
    struct pm_device *device = trial->owner->device;
    if (atomic_load(&trial->kind) != UNUSED || atomic_load(&device->sampling->again) < REPEATED)
        return;
    const struct pm_environment environment = pm_session_environment(device, &trial->environment);
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_verdicts_want_sessions(pm_session_verdicts(device->instance), &trial->key, &environment);
    pm_log_debug(device->instance->log,
                 "a specialized shader %.12s cannot be timed in turn: sessions are", key);
}

void pm_trials_end(struct pm_trials *trials)
{
    if (trials == NULL)
        return;
    pthread_mutex_lock(&trials->lock);
    for (const struct pm_trial *trial = trials->first; trial != NULL; trial = trial->next)
        if (heartbeat_of(trials) >= trial->begun_at + REPEATED)
            note_untimed(trial);
    pthread_mutex_unlock(&trials->lock);
}

/* Under the lock. */
static void look_at(struct pm_trial *trial, uint64_t heartbeat)
{
    const bool awake = atomic_load(&trial->awake);
    const uint64_t idle = heartbeat - atomic_load(&trial->used_at);
    if (trial->first == NULL)
        return;
    if (trial->outcome == PM_UNDECIDED && idle >= trial->retry)
        begin_anew(trial);
    if (is_due(trial, idle))
        try_again(trial);
    if (atomic_load(&trial->over) || idle < (awake ? IDLE : trial->sleep))
        return;
    if (awake)
        note_untimed(trial);
    if (awake && trial->sleep < LONGEST_SLEEP)
        trial->sleep *= 2;
    set_awake(trial, !awake);
}

void pm_trials_heartbeat(struct pm_trials *trials, uint64_t heartbeat)
{
    if (trials == NULL || heartbeat % LOOK != 0)
        return;
    pthread_mutex_lock(&trials->lock);
    for (struct pm_trial *trial = trials->first; trial != NULL; trial = trial->next)
        look_at(trial, heartbeat);
    pthread_mutex_unlock(&trials->lock);
}

bool pm_trials_are_busy(const struct pm_trials *trials, uint64_t heartbeat)
{
    return trials != NULL && pm_sampling_is_trying(trials->device->sampling) &&
           heartbeat < atomic_load(&trials->used_at) + LOOK;
}

bool pm_trial_is_awake(const struct pm_trial *trial)
{
    return trial != NULL && atomic_load_explicit(&trial->awake, memory_order_relaxed);
}

/* ---- the next use ---- */

/* Whether the trial's uses are, or become, of that kind. */
static bool is_of_kind(struct pm_trial *trial, uint32_t kind)
{
    uint32_t found = UNUSED;
    return atomic_compare_exchange_strong(&trial->kind, &found, kind) || found == kind;
}

/* The track of what comes again; one that was not used lately is taken over. NULL: there are too
 * many. */
static struct track *track_of(struct pm_trial *trial, uint64_t what, uint64_t heartbeat)
{
    struct track *track = NULL;
    for (uint32_t i = 0; i < TRACKS; i++) {
        struct track *t = &trial->tracks[i];
        const uint64_t has = atomic_load_explicit(&t->what, memory_order_relaxed);
        if (has == what)
            return t;
        if (!track && (!has || heartbeat - atomic_load(&t->used_at) > LOOK))
            track = t;
    }
    if (track) {
        /* From here on an even use is a pair's first half again. */
        atomic_store(&track->next, (atomic_load(&track->next) + 1) & ~1u);
        atomic_store(&track->what, what);
    }
    return track;
}

/* Whether a trial with a budget may begin another pair. */
static bool may_spend(const struct pm_trial *trial)
{
    struct pm_trials *trials = trial->owner;
    return !trial->budgeted ||
           (double)atomic_load(&trials->spent) <= SHARE * (double)(pm_now() - trials->begun_at);
}

static bool next(struct pm_trial *trial, uint64_t what, struct pm_timed *timed)
{
    const uint64_t heartbeat = heartbeat_of(trial->owner);
    struct track *track = atomic_load(&trial->over) ? NULL : track_of(trial, what, heartbeat);
    if (track == NULL)
        return false;
    if (atomic_load(&track->next) % 2 == 0 && !may_spend(trial)) {
        atomic_store_explicit(&trial->used_at, heartbeat, memory_order_relaxed);
        return false;
    }
    const uint32_t index = (uint32_t)(track - trial->tracks);
    const uint32_t use = atomic_fetch_add(&track->next, 1);
    const uint64_t order = pm_random_mix(trial->seed + ((uint64_t)index << 32 | use / 2));
    *timed = (struct pm_timed){trial, index, use / 2, ((order ^ use) & 1) != 0};
    atomic_store_explicit(&track->used_at, heartbeat, memory_order_relaxed);
    atomic_store_explicit(&trial->used_at, heartbeat, memory_order_relaxed);
    atomic_store_explicit(&trial->owner->used_at, heartbeat, memory_order_relaxed);
    return true;
}

bool pm_trial_next_call(struct pm_candidate *candidate, struct pm_timed *timed)
{
    struct pm_trial *trial = candidate->trial;
    if (!is_of_kind(trial, CALLS))
        return false;
    const uint64_t heartbeat = heartbeat_of(trial->owner);
    if (atomic_exchange(&candidate->frame, heartbeat + 1) != heartbeat + 1)
        atomic_store(&candidate->uses, 0);
    const uint32_t number = atomic_fetch_add(&candidate->uses, 1);
    return number < CALLS_A_FRAME &&
           next(trial, pm_random_mix((uintptr_t)candidate) + number, timed);
}

bool pm_trial_next_pass(const struct pm_candidate *candidate, uint32_t slot, struct pm_timed *timed)
{
    return is_of_kind(candidate->trial, PASSES) && next(candidate->trial, slot + 1u, timed);
}

uint32_t pm_trials_pass(struct pm_trials *trials, uint64_t what, bool *worth)
{
    return pm_pass_table_begin(&trials->passes, what, heartbeat_of(trials), worth);
}

void pm_trials_pass_was(struct pm_trials *trials, uint32_t slot, bool worth)
{
    pm_pass_table_was(&trials->passes, slot, worth);
}

/* ---- results ---- */

/* The sums of the pairs whose ratio is among those that were not trimmed. */
static void sum_kept(struct pm_trial *trial, double lowest, double highest)
{
    trial->sums[0] = trial->sums[1] = 0;
    trial->summed = 0;
    trial->pairs = trial->count;
    for (uint32_t i = 0; i < trial->count; i++) {
        const double *time = trial->time[i];
        const double ratio = log(time[1] / time[0]);
        if (ratio < lowest || ratio > highest)
            continue;
        trial->sums[0] += time[0];
        trial->sums[1] += time[1];
        trial->summed++;
    }
}

static enum pm_outcome judge(struct pm_trial *trial, struct pm_paired *paired)
{
    double *ratios = malloc(trial->count * sizeof(*ratios));
    if (ratios == NULL)
        return PM_GOES_ON;
    for (uint32_t i = 0; i < trial->count; i++)
        ratios[i] = log(trial->time[i][1] / trial->time[i][0]);
    const enum pm_outcome outcome = pm_trial_judge(ratios, trial->count, MOST_PAIRS,
                                                   atomic_load(&trial->kind) == PASSES, paired);
    const uint32_t cut = (uint32_t)(PM_TRIAL_TRIM * trial->count);
    if (outcome != PM_GOES_ON)
        sum_kept(trial, ratios[cut], ratios[trial->count - 1 - cut]);
    free(ratios);
    return outcome;
}

/* Under the lock. */
static void finish(struct pm_trial *trial, enum pm_outcome outcome, const struct pm_paired *paired)
{
    struct pm_trials *trials = trial->owner;
    static const char *const words[] = {[PM_FASTER] = "faster: used",
                                        [PM_SLOWER] = "dropped",
                                        [PM_UNDECIDED] = "undecided: tried again later"};
    atomic_store(&trial->over, true);
    trial->outcome = outcome;
    trial->again = false;
    trial->scenes |= scene_of(trials);
    trial->ratio = paired->ratio;
    trial->reported = false;
    trials->unreported = true;
    trace(trial, false, words[outcome]);
    set_awake(trial, false);
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_log_info(trials->device->instance->log,
                "tried a specialized shader %.12s: %.1f %% of the time (%.1f to %.1f, %" PRIu32
                " pairs%s), %s",
                key, 100 * paired->ratio, 100 * paired->low, 100 * paired->high, trial->count,
                atomic_load(&trial->kind) == PASSES ? " of render passes" : "", words[outcome]);
    for (struct pm_candidate *c = trial->first; c != NULL && outcome != PM_UNDECIDED; c = c->next)
        c->verdict(c, outcome == PM_FASTER);
}

/* Keeps the outcome for the sessions to come. Waits for the disk. */
static void keep(const struct pm_trial *trial, enum pm_outcome outcome,
                 const struct pm_paired *paired)
{
    const struct pm_kept_variant named = {
        .key = trial->key, .original = trial->original, .environment = trial->environment};
    pm_trial_keep(trial->owner->device, &named,
                  atomic_load(&trial->kind) == PASSES ? PM_TIMED_PASSES : PM_TIMED_CALLS, outcome,
                  paired, trial->pairs);
}

/* The difference with its sign, and no more than either took: what else ran adds as much as it
 * takes away. */
static void spend(struct pm_trial *trial, const double *time)
{
    const double longer = fmax(-time[1], fmin(time[1] - time[0], time[0]));
    if (trial->budgeted)
        atomic_fetch_add(&trial->owner->spent, (int64_t)longer + 2 * USE_NANOSECONDS);
}

/* One more pair of a trial that only measures. */
static void measure(struct pm_trial *trial, const double *time)
{
    struct pm_trials *trials = trial->owner;
    pm_anytime_add(&trial->seen, log(time[1] / time[0]));
    pthread_mutex_lock(&trials->lock);
    struct pm_candidate *candidate = trial->first;
    if (candidate != NULL && candidate->measured != NULL && !atomic_load(&trial->over) &&
        (trial->seen.count >= trial->wanted || pm_halving_is_hopeless(&trial->seen))) {
        atomic_store(&trial->over, true);
        trace(trial, false, "measured");
        set_awake(trial, false);
        candidate->measured(candidate, &trial->seen);
    }
    pthread_mutex_unlock(&trials->lock);
}

/* For one more pair; false: out of memory. */
static bool make_room(struct pm_trial *trial)
{
    if (trial->count < trial->room)
        return true;
    const uint32_t room = trial->room ? 2 * trial->room : PM_LEAST_PAIRS;
    double(*time)[2] = realloc(trial->time, room * sizeof(*time));
    if (time == NULL)
        return false;
    trial->time = time;
    trial->room = room;
    return true;
}

void pm_trials_take(void *user, const struct pm_timed *timed, double nanoseconds)
{
    struct pm_trials *trials = user;
    struct pm_trial *trial = timed->trial;
    if (atomic_load(&trial->over))
        return;
    struct pair *pair = &trial->tracks[timed->track].pending[timed->pair % PENDING];
    if (pair->number != timed->pair)
        *pair = (struct pair){.number = timed->pair};
    pair->time[timed->variant] = nanoseconds;
    pair->have |= 1u << timed->variant;
    if (pair->have != 3)
        return;
    spend(trial, pair->time);
    if (atomic_load(&trial->measures)) {
        measure(trial, pair->time);
        return;
    }
    if (!make_room(trial))
        return;
    trial->time[trial->count][0] = pair->time[0];
    trial->time[trial->count][1] = pair->time[1];
    trial->count++;
    struct pm_paired paired;
    const enum pm_outcome outcome = judge(trial, &paired);
    if (outcome == PM_GOES_ON)
        return;
    pthread_mutex_lock(&trials->lock);
    const bool stays = trial->again && outcome == PM_UNDECIDED;
    if (stays)
        leave(trial);
    else
        finish(trial, outcome, &paired);
    pthread_mutex_unlock(&trials->lock);
    if (!stays)
        keep(trial, outcome, &paired);
    /* The outcome is all that is kept, until the device goes: others may have the shader. */
    free(trial->time);
    trial->time = NULL;
    trial->count = trial->room = 0;
}

/* A trial takes calls of any scene. */
static bool add(const struct pm_trial *trial, struct pm_report *report, struct pm_error *error)
{
    const struct pm_point_counts point = {
        .calls = trial->pairs,
        .entry_lanes = trial->summed,
        .entry_subgroups = trial->summed,
        .counts = {[PM_TIMING_ORIGINAL] = (uint64_t)llround(trial->sums[0]),
                   [PM_TIMING_VARIANT] = (uint64_t)llround(trial->sums[1])},
    };
    const struct pm_shader_profile shader = {
        .key = trial->key,
        .environment = trial->environment,
        .kind = PM_KIND_TIMING,
        .space = 1,
        .original = trial->original,
        .points = &point,
        .point_count = 1,
    };
    return pm_report_add(report, PM_SCENE_STANDARD, &shader, error);
}

void pm_trials_report(struct pm_trials *trials, struct pm_report *report)
{
    pthread_mutex_lock(&trials->lock);
    for (struct pm_trial *trial = trials->unreported ? trials->first : NULL; trial != NULL;
         trial = trial->next) {
        if (trial->summed == 0 || trial->reported || trial->is_private)
            continue;
        trial->reported = true;
        struct pm_error error = {0};
        add(trial, report, &error);
        if (error.code != PM_OK)
            pm_log_warning(trials->device->instance->log, "a trial was not kept: %s",
                           error.message);
    }
    trials->unreported = false;
    pthread_mutex_unlock(&trials->lock);
}

/* Heartbeats until the trial has as many pairs as it wants, if they go on coming as they do; 0: it
 * cannot be told. The poller's thread. */
static uint64_t frames_more(const struct pm_trial *trial, uint64_t heartbeat)
{
    const uint64_t since = heartbeat - trial->begun_at;
    if (trial->outcome == PM_UNDECIDED) {
        const uint64_t idle = heartbeat - atomic_load(&trial->used_at);
        return idle < trial->retry ? trial->retry - idle : 1;
    }
    double *ratios = trial->count > 0 ? malloc(trial->count * sizeof(*ratios)) : NULL;
    if (ratios == NULL)
        return 0;
    for (uint32_t i = 0; i < trial->count; i++)
        ratios[i] = log(trial->time[i][1] / trial->time[i][0]);
    const uint32_t wanted = pm_trial_pairs_wanted(ratios, trial->count, MOST_PAIRS,
                                                  atomic_load(&trial->kind) == PASSES);
    free(ratios);
    return wanted <= trial->count
               ? 1
               : 1 + (uint64_t)((double)since * (wanted - trial->count) / trial->count);
}

void pm_trials_sum(struct pm_trials *trials, struct pm_trials_sum *sum)
{
    *sum = (struct pm_trials_sum){0};
    if (trials == NULL)
        return;
    uint32_t looked_at = 0;
    pthread_mutex_lock(&trials->lock);
    const uint64_t heartbeat = heartbeat_of(trials);
    for (const struct pm_trial *trial = trials->first; trial != NULL; trial = trial->next) {
        const bool decided = trial->outcome == PM_FASTER || trial->outcome == PM_SLOWER;
        if (atomic_load(&trial->measures)) {
            sum->measured += !atomic_load(&trial->over);
            continue;
        }
        sum->of_passes |= atomic_load(&trial->kind) == PASSES;
        sum->dropped += trial->outcome == PM_SLOWER;
        sum->going_on += !decided;
        if (!decided && looked_at++ < SUMMED) {
            const uint64_t more = frames_more(trial, heartbeat);
            sum->frames_more = more > sum->frames_more ? more : sum->frames_more;
        }
        const double speed = trial->outcome == PM_FASTER && trial->ratio > 0 ? 1 / trial->ratio : 0;
        sum->fastest = fmax(sum->fastest, speed);
        if (speed > 0 && (sum->slowest <= 0 || speed < sum->slowest))
            sum->slowest = speed;
    }
    pthread_mutex_unlock(&trials->lock);
}
