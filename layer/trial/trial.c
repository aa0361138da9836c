/* Which side is next, and what the pairs say. trial.h. */
#include "layer/trial/trial.h"

#include "base/paired.h"
#include "base/random.h"
#include "layer/counts/report.h"
#include "layer/trial/additive.h"
#include "layer/trial/pass_table.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    TRACKS = 8,        /* uses of a pipeline in a frame that are timed */
    PENDING = 8,       /* pairs of a track of which one half is still under way */
    LEAST_PAIRS = 8,   /* judged first, and whenever there are twice as many */
    MOST_PAIRS = 64,   /* of calls */
    MOST_PASSES = 256, /* of render pass instances, in which others draw too */
    IDLE = 512,        /* heartbeats without a timed use until a trial sleeps */
    SLEEP = 8 * IDLE,  /* heartbeats until it wakes again, the first time */
    LONGEST_SLEEP = 1 << 20,
    LOOK = 64,         /* heartbeats between two looks at who is idle */
};

/* Share of the pairs left out at either end (Yuen). */
#define TRIM 0.2
/* An interval of so many pairs is made twice as wide, that of twice as many one and a half times.
 */
#define EARLY_PAIRS 8.0
/* Below this the interval must lie. A call that gains less is not worth a variant; a whole render
 * pass instance gains less than the shader does. */
#define LIMIT_CALL 0.99
#define LIMIT_PASS 1.0

enum kind { UNUSED, CALLS, PASSES };

struct pair {
    uint32_t number;
    uint32_t have; /* bit 0: the original's time, bit 1: the variant's */
    double time[2];
};

struct track {
    _Atomic uint32_t next; /* uses so far */
    struct pair pending[PENDING];
};

struct pm_trial {
    struct pm_trials *owner;
    struct pm_trial *next;
    struct pm_candidate *candidate;     /* under the lock; NULL: destroyed */
    struct pm_shader_key key, original; /* of the variant and of what it was made of */
    struct pm_environment environment;
    uint64_t seed;
    _Atomic uint32_t kind; /* of use: enum kind */
    _Atomic bool awake;    /* changed under the lock */
    _Atomic bool over;     /* likewise */
    bool judged, reported; /* under the lock */
    uint32_t sleep;        /* heartbeats; under the lock */
    _Atomic uint64_t
        used_at;            /* heartbeat of the latest timed use, or of waking or falling asleep */
    _Atomic uint64_t frame; /* heartbeat + 1 of the latest use */
    _Atomic uint32_t uses;  /* in that frame */
    struct track tracks[TRACKS]; /* the pairs: the poller's */
    uint32_t count;              /* whole pairs; the poller's */
    double time[MOST_PASSES][2];
    double sums[2]; /* of the pairs that were judged by */
    uint32_t summed;
};

struct pm_trials {
    struct pm_device *device;
    pthread_mutex_t lock;
    struct pm_trial *first; /* all there were */
    bool unreported;
    _Atomic uint64_t used_at; /* heartbeat at which something was timed, or a trial was added */
    struct pm_pass_table passes; /* what was worth timing in the frame before */
};

struct pm_trials *pm_trials_create(struct pm_device *device)
{
    struct pm_trials *trials = device->timing != NULL ? calloc(1, sizeof *trials) : NULL;
    if (trials == NULL)
        return NULL;
    trials->device = device;
    pthread_mutex_init(&trials->lock, NULL);
    return trials;
}

static void log_unfinished(const struct pm_trial *trial)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_log_debug(trial->owner->device->instance->log,
                 "the trial of a specialized shader %.12s was not over after %" PRIu32 " pairs",
                 key, trial->count);
}

void pm_trials_destroy(struct pm_trials *trials)
{
    if (trials == NULL)
        return;
    for (struct pm_trial *trial = trials->first, *next; trial != NULL; trial = next) {
        next = trial->next;
        if (!trial->judged)
            log_unfinished(trial);
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

/* The candidate is about to be destroyed. */
static void forget(struct pm_candidate *candidate)
{
    struct pm_trial *trial = candidate->trial;
    pthread_mutex_lock(&trial->owner->lock);
    trial->candidate = NULL;
    atomic_store(&trial->over, true);
    if (trial->owner->device->sampling != NULL)
        set_awake(trial, false);
    pthread_mutex_unlock(&trial->owner->lock);
}

void pm_trials_add(struct pm_trials *trials, struct pm_candidate *candidate, bool compute)
{
    struct pm_trial *trial = trials != NULL ? calloc(1, sizeof *trial) : NULL;
    if (trial == NULL)
        return;
    candidate->trial = trial;
    candidate->gone = forget;
    trial->owner = trials;
    trial->candidate = candidate;
    trial->key = candidate->key;
    trial->original = candidate->original;
    trial->environment = candidate->environment;
    trial->seed = pm_sampling_seed(trials->device->sampling);
    trial->sleep = SLEEP;
    pthread_mutex_lock(&trials->lock);
    trial->next = trials->first;
    trials->first = trial;
    set_awake(trial, true);
    atomic_store(&trials->used_at, heartbeat_of(trials));
    pthread_mutex_unlock(&trials->lock);
    if (!compute)
        pm_additive_want(trials->device->additive);
}

/* Under the lock. */
static void look_at(struct pm_trial *trial, uint64_t heartbeat)
{
    const bool awake = atomic_load(&trial->awake);
    if (atomic_load(&trial->over) ||
        heartbeat < atomic_load(&trial->used_at) + (awake ? IDLE : trial->sleep))
        return;
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

bool pm_trial_next(struct pm_trial *trial, bool pass, struct pm_timed *timed)
{
    if (!is_of_kind(trial, pass ? PASSES : CALLS))
        return false;
    const uint64_t heartbeat = heartbeat_of(trial->owner);
    if (atomic_exchange(&trial->frame, heartbeat + 1) != heartbeat + 1)
        atomic_store(&trial->uses, 0);
    const uint32_t track = atomic_fetch_add(&trial->uses, 1);
    if (track >= TRACKS || atomic_load(&trial->over))
        return false;
    const uint32_t use = atomic_fetch_add(&trial->tracks[track].next, 1);
    const uint64_t order = pm_random_mix(trial->seed + ((uint64_t)track << 32 | use / 2));
    *timed = (struct pm_timed){trial, track, use / 2, ((order ^ use) & 1) != 0};
    atomic_store_explicit(&trial->used_at, heartbeat, memory_order_relaxed);
    atomic_store_explicit(&trial->owner->used_at, heartbeat, memory_order_relaxed);
    return true;
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

/* Whether the trial is over; *faster: how. */
static bool judge(struct pm_trial *trial, bool *faster, struct pm_paired *paired)
{
    if (trial->count < LEAST_PAIRS || (trial->count & (trial->count - 1)) != 0)
        return false;
    double ratios[MOST_PASSES];
    for (uint32_t i = 0; i < trial->count; i++)
        ratios[i] = log(trial->time[i][1] / trial->time[i][0]);
    *paired = pm_paired_interval(ratios, trial->count, TRIM);
    /* Whoever looks often finds a gain by chance: the earlier, the more is asked for. */
    const double wider = 1 + EARLY_PAIRS / trial->count;
    paired->low = paired->ratio * pow(paired->low / paired->ratio, wider);
    paired->high = paired->ratio * pow(paired->high / paired->ratio, wider);
    const bool passes = atomic_load(&trial->kind) == PASSES;
    const double limit = passes ? LIMIT_PASS : LIMIT_CALL;
    *faster = paired->high < limit;
    if (!*faster && paired->low <= limit && trial->count < (passes ? MOST_PASSES : MOST_PAIRS))
        return false;
    const uint32_t cut = (uint32_t)(TRIM * trial->count);
    sum_kept(trial, ratios[cut], ratios[trial->count - 1 - cut]);
    return true;
}

/* Under the lock. */
static void finish(struct pm_trial *trial, bool faster, const struct pm_paired *paired)
{
    struct pm_trials *trials = trial->owner;
    atomic_store(&trial->over, true);
    trial->judged = trials->unreported = true;
    set_awake(trial, false);
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_log_info(trials->device->instance->log,
                "tried a specialized shader %.12s: %.1f %% of the time (%.1f to %.1f, %" PRIu32
                " pairs%s), %s",
                key, 100 * paired->ratio, 100 * paired->low, 100 * paired->high, trial->count,
                atomic_load(&trial->kind) == PASSES ? " of render passes" : "",
                faster ? "faster: used" : "dropped");
    if (trial->candidate != NULL)
        trial->candidate->verdict(trial->candidate, faster);
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
    trial->time[trial->count][0] = pair->time[0];
    trial->time[trial->count][1] = pair->time[1];
    trial->count++;
    bool faster;
    struct pm_paired paired;
    if (!judge(trial, &faster, &paired))
        return;
    pthread_mutex_lock(&trials->lock);
    if (!atomic_load(&trial->over))
        finish(trial, faster, &paired);
    pthread_mutex_unlock(&trials->lock);
}

/* A trial takes calls of any scene. */
static bool add(const struct pm_trial *trial, struct pm_report *report, struct pm_error *error)
{
    const struct pm_point_counts point = {
        .calls = trial->count,
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
        if (trial->summed == 0 || trial->reported)
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
