/* Trials begin, wake, sleep and begin anew. trial.h. */
#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"

#include "base/clock.h"
#include "layer/core/session.h"
#include "layer/core/trace.h"
#include "layer/trial/additive.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    IDLE = 512,       /* heartbeats without a timed use until a trial sleeps */
    SLEEP = 8 * IDLE, /* heartbeats until it wakes again, the first time */
    LONGEST_SLEEP = 1 << 20,
    REPEATED = 32,   /* submissions and heartbeats until it is clear that nothing can be timed */
    RETRY = 1 << 14, /* heartbeats until an undecided trial begins anew, the first time, and until
                        what is used is tried again */
    LONGEST_RETRY = 1 << 17,    /* of what is used */
    NEW_SCENE = 4 * TRIAL_LOOK, /* the same where the scene is new */
};

struct pm_trials *pm_trials_create(struct pm_device *device)
{
    struct pm_trials *trials = device->timing != NULL ? calloc(1, sizeof *trials) : NULL;
    if (trials == NULL)
        return NULL;
    trials->device = device;
    trials->pairs = pm_pair_store_open(device);
    trials->owed_kept_at = pm_now();
    const double share = device->instance->config.limits.trial_share;
    int64_t owed[PM_OWED_BY] = {0};
    for (int by = 0; by < PM_OWED_BY && share < 1; by++)
        owed[by] = pm_pairs_store_owed(trials->pairs, (enum pm_owed_by)by, time(NULL));
    trials->owed_kept = owed[PM_OWED_IN_TURN];
    pm_budget_init(&trials->budget, share, owed, trials->owed_kept_at);
    pthread_mutex_init(&trials->lock, NULL);
    return trials;
}

/* For a trace: it begins to be timed, or there is an outcome. Under the lock. */
void pm_trial_trace(struct pm_trial *trial, bool begins, const char *outcome)
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
        pm_trace_begin(to, track, "trial", &trial->game);
    else
        pm_trace_end(to, track, outcome);
}

static void log_unfinished(const struct pm_trial *trial)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_log_debug(trial->owner->device->instance->log,
                 "the trial of a specialized shader %.12s was not over after %" PRIu32 " pairs%s",
                 key, trial->pairs_seen.count + (uint32_t)trial->seen.count, trial->of);
}

/* Faster variants give some of it back. */
static void log_spent(struct pm_trials *trials)
{
    struct pm_log *log = trials->device->instance->log;
    const int64_t now = pm_now();
    double sessions;
    if (pm_budget_spent_by_sessions(&trials->budget, now, &sessions))
        pm_log_info(log, "trials took %.3f %% of the time (over sessions %.3f %%)",
                    100 * pm_budget_spent(&trials->budget, now), 100 * sessions);
    else if (trials->first != NULL)
        pm_log_info(log, "trials took %.3f %% of the time",
                    100 * pm_budget_spent(&trials->budget, now));
}

struct pm_budget *pm_trials_budget(struct pm_trials *trials)
{
    return &trials->budget;
}

/* false: it is not kept. */
static bool keep(struct pm_trials *trials, enum pm_owed_by by, int64_t more, int64_t paid)
{
    struct pm_error error = {0};
    if (more == 0 && paid == 0)
        return true;
    if (pm_pairs_store_owe(trials->pairs, by, time(NULL), more, paid, &error))
        return true;
    if (!trials->owed_failed)
        pm_log_info(trials->device->instance->log, "what trials owe is not kept: %s",
                    error.message);
    trials->owed_failed = true;
    return false;
}

/* For later sessions. Waits for the disk. */
static void keep_owed(struct pm_trials *trials, int64_t now)
{
    const int64_t owed = pm_budget_owed(&trials->budget, now);
    const struct pm_spent_over_sessions spent = pm_budget_over_sessions(&trials->budget, now),
                                        kept = trials->sessions_kept;
    trials->owed_kept_at = now;
    if (trials->budget.share >= 1)
        return;
    if (keep(trials, PM_OWED_IN_TURN, owed - trials->owed_kept, 0))
        trials->owed_kept = owed;
    if (keep(trials, PM_OWED_OVER_SESSIONS, spent.more - kept.more, spent.paid - kept.paid))
        trials->sessions_kept = spent;
}

void pm_trials_each_second(struct pm_trials *trials)
{
    const int64_t now = pm_now();
    if (trials != NULL && now >= trials->owed_kept_at + PM_KEEP_NANOSECONDS)
        keep_owed(trials, now);
}

void pm_trials_destroy(struct pm_trials *trials)
{
    if (trials == NULL)
        return;
    log_spent(trials);
    keep_owed(trials, pm_now());
    for (struct pm_trial *trial = trials->first, *next; trial != NULL; trial = next) {
        next = trial->next;
        if (trial->outcome == PM_GOES_ON) {
            log_unfinished(trial);
            if (!trial->again) {
                const struct pm_pair_owner owner = pm_trial_owner_of_pairs(trial);
                pm_pair_list_keep(&trial->pairs_seen, &owner, true);
            }
        }
        pm_trial_trace(trial, false, "not over");
        pm_pair_list_finish(&trial->pairs_seen);
        free(trial);
    }
    for (struct pm_trial *spare = trials->spare, *next; spare != NULL; spare = next) {
        next = spare->next;
        free(spare);
    }
    pm_pairs_store_close(trials->pairs);
    pm_budget_finish(&trials->budget);
    pthread_mutex_destroy(&trials->lock);
    free(trials);
}

/* ---- waking and sleeping ---- */

/* Under the lock. */
void pm_trial_set_awake(struct pm_trial *trial, bool awake)
{
    if (atomic_load(&trial->awake) == awake)
        return;
    atomic_store(&trial->awake, awake);
    for (uint32_t i = 0; i < TRIAL_TRACKS; i++) {
        atomic_store(&trial->tracks[i].unmeasured, 0);
        atomic_store(&trial->tracks[i].sides, 0);
    }
    atomic_store(&trial->used_at, pm_trials_now(trial->owner));
    atomic_store(&trial->since, pm_trials_now(trial->owner));
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
    trial->left_at = pm_now();
    if (!trial->first && trial->owner->device->sampling != NULL) {
        pm_trial_end_glance(trial);
        pm_trial_set_awake(trial, false);
    }
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
             pm_shader_key_equal(&trial->original, &candidate->original) &&
             trial->environment.subgroup_size == candidate->environment.subgroup_size))
        trial = trial->next;
    return trial;
}

/* Under the lock. NULL: out of memory. */
static struct pm_trial *make(struct pm_trials *trials)
{
    struct pm_trial *trial = trials->spare;
    if (trial == NULL)
        return calloc(1, sizeof *trial);
    trials->spare = trial->next;
    return trial;
}

/* Under the lock. */
static struct pm_trial *begin(struct pm_trials *trials, const struct pm_candidate *candidate,
                              bool compute)
{
    struct pm_trial *trial = make(trials);
    if (trial == NULL)
        return NULL;
    trial->owner = trials;
    trial->compute = compute;
    trial->key = candidate->key;
    trial->original = candidate->original;
    trial->game = candidate->shader != NULL ? candidate->shader->original : candidate->original;
    if (candidate->shader != NULL) {
        pm_specialized_say_of(candidate->shader, false, trial->recipe);
        pm_specialized_say_of(candidate->shader, true, trial->of);
    }
    /* Of what it is over nobody else knows anything, and so nobody asks. */
    trial->is_private = candidate->is_private || candidate->rival != NULL;
    trial->variant = candidate->variant;
    trial->promising = candidate->promising;
    trial->by_recipe = candidate->shader != NULL && *candidate->shader->recipe;
    trial->over_sessions = candidate->passes == NULL && candidate->watch == NULL &&
                           candidate->rival == NULL && !trial->by_recipe;
    trial->environment = candidate->environment;
    trial->seed = pm_sampling_seed(trials->device->sampling);
    trial->begun_at = pm_trials_now(trials);
    trial->sleep = SLEEP;
    trial->retry = RETRY;
    pm_glance_init(&trial->glance);
    trial->next = trials->first;
    trials->first = trial;
    pm_trial_trace(trial, true, NULL);
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

/* What was recorded of a render pass instance with the game's own, before it could be known that it
 * is of the trial, is on one side of a pair alone. Under the lock. */
static void add_candidate(struct pm_trial *trial, struct pm_candidate *candidate)
{
    if (atomic_load(&trial->kind) != TRIAL_CALLS)
        pm_trial_begin_pairs(trial);
    for (uint32_t i = 0; i < TRIAL_TRACKS; i++)
        trial->tracks[i].warm_from = (atomic_load(&trial->tracks[i].next) + 1) / 2 + 1;
    candidate->trial = trial;
    candidate->gone = forget;
    candidate->next = trial->first;
    trial->first = candidate;
    atomic_store(&trial->since, pm_trials_now(trial->owner));
}

/* It is measured some more; or it is tried from now on, on other calls than chose it. Where another
 * pipeline's is being measured, that goes on with this one's. Under the lock. */
static void begin_measuring(struct pm_trial *trial, const struct pm_candidate *candidate)
{
    const bool measures = candidate->measured != NULL;
    if (!measures && !atomic_load(&trial->measures))
        return;
    if (measures && atomic_load(&trial->measures) && !atomic_load(&trial->over))
        return;
    trial->wanted = candidate->wanted;
    trial->seen = (struct pm_anytime){0};
    atomic_store(&trial->measures, measures);
    pm_trial_begin_pairs(trial);
    atomic_store(&trial->over, false);
    pm_trial_trace(trial, true, NULL);
}

/* Under the lock. */
static void join(struct pm_trial *trial, struct pm_candidate *candidate)
{
    begin_measuring(trial, candidate);
    if (!takes_part(trial, candidate))
        add_candidate(trial, candidate);
    if (trial->outcome == PM_UNDECIDED)
        return;
    pm_trial_set_awake(trial, true);
    atomic_store(&trial->owner->used_at, pm_trials_now(trial->owner));
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
    if (outcome == PM_UNDECIDED && candidate->undecided != NULL)
        candidate->undecided(candidate);
    pthread_mutex_unlock(&trials->lock);
    if (decided)
        pm_candidate_log(trials->device, candidate->shader,
                         candidate->verdict(candidate, outcome == PM_FASTER));
    /* It is tried again with the others. */
    if (outcome == PM_FASTER && candidate->again != NULL && candidate->measured == NULL)
        pm_trials_watch(trials, candidate, compute);
    if (!decided && !compute)
        pm_additive_want(trials->device->additive);
}

/* ---- trying again what is used ---- */

uint64_t pm_trials_scene(const struct pm_trials *trials)
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
        trial->scenes = pm_trials_scene(trials);
        atomic_store(&trial->over, true);
        trial->tried_at = pm_trials_now(trials);
        atomic_store(&trial->used_at, trial->tried_at);
    }
    const bool dropped = trial != NULL && trial->outcome == PM_SLOWER;
    if (trial != NULL && !dropped && !takes_part(trial, candidate))
        add_candidate(trial, candidate);
    if (dropped || (trial != NULL && trial->again))
        candidate->again(candidate);
    pthread_mutex_unlock(&trials->lock);
    if (dropped)
        pm_candidate_log(trials->device, candidate->shader, candidate->verdict(candidate, false));
}

void pm_trial_time_again(struct pm_trial *trial)
{
    trial->again = true;
    for (struct pm_candidate *c = trial->first; c != NULL; c = c->next)
        if (!atomic_load(&c->dropped))
            c->again(c);
    pm_trial_begin_pairs(trial);
    atomic_store(&trial->over, false);
    pm_trial_set_awake(trial, true);
    if (!trial->compute)
        pm_additive_want(trial->owner->device->additive);
}

void pm_trial_try_again(struct pm_trial *trial, const char *why)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_log_debug(trial->owner->device->instance->log,
                 "a specialized shader %.12s is tried again%s%s", key, trial->of, why);
    /* What glances ask for makes no others rarer. */
    if (trial->retry < LONGEST_RETRY && !trial->glance.alarmed)
        trial->retry *= 2;
    pm_budget_return(&trial->owner->budget, pm_glance_end(&trial->glance));
    atomic_store(&trial->cost.expected, 0);
    trial->outcome = PM_GOES_ON;
    pm_trial_time_again(trial);
}

/* Whether what is used is due. Under the lock. */
static bool is_due(const struct pm_trial *trial, uint64_t heartbeat)
{
    const bool known = trial->scenes & pm_trials_scene(trial->owner);
    return trial->outcome == PM_FASTER && trial->first->again != NULL &&
           heartbeat >= trial->tried_at + (known ? trial->retry : (uint32_t)NEW_SCENE);
}

/* It cannot be told from the original now, but was faster before: it stays. Under the lock. */
void pm_trial_leave(struct pm_trial *trial, struct pm_trial_said *said)
{
    atomic_store(&trial->over, true);
    trial->outcome = PM_FASTER;
    trial->again = false;
    trial->tried_at = pm_trials_now(trial->owner);
    pm_glance_was_tried(&trial->glance);
    trial->scenes |= pm_trials_scene(trial->owner);
    pm_trial_trace(trial, false, "as fast: still used");
    pm_trial_set_awake(trial, false);
    pm_trial_tell(trial, true, said);
}

/* ---- heartbeats ---- */

/* Under the lock. */
static void begin_anew(struct pm_trial *trial)
{
    trial->outcome = PM_GOES_ON;
    if (trial->retry < LONGEST_SLEEP && !trial->promising)
        trial->retry *= 2;
    pm_trial_begin_pairs(trial);
    atomic_store(&trial->over, false);
    pm_trial_trace(trial, true, NULL);
    pm_trial_set_awake(trial, true);
}

void pm_trial_is_untimed(const struct pm_candidate *candidate)
{
    if (!atomic_load_explicit(&candidate->trial->untimed, memory_order_relaxed))
        atomic_store_explicit(&candidate->trial->untimed, true, memory_order_relaxed);
}

/* Whether nothing can be timed, as the game submits its recordings again, or draws with it in
 * secondary command buffers. Of what was timed a pair may yet come, but where render pass instances
 * are timed in vain. Under the lock. */
static bool is_untimed(const struct pm_trial *trial)
{
    const uint32_t kind = atomic_load(&trial->kind);
    if (trial->paired || kind == TRIAL_CALLS)
        return false;
    return atomic_load(&trial->untimed) ||
           (kind == TRIAL_UNUSED &&
            atomic_load(&trial->owner->device->sampling->again) >= REPEATED);
}

/* Once. */
static void say_alone(struct pm_trials *trials)
{
    if (!atomic_exchange(&trials->said_alone, true))
        pm_log_info(trials->device->instance->log,
                    "A-Z testing leaves shaders alone that the program has in recordings which it "
                    "submits again: they cannot be timed in turn");
}

/* Later sessions try each as a whole what cannot be timed, where they can. Under the lock. */
static void note_untimed(const struct pm_trial *trial)
{
    struct pm_device *device = trial->owner->device;
    if (!is_untimed(trial))
        return;
    if (trial->by_recipe)
        say_alone(trial->owner);
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    if (!trial->over_sessions || pm_sampling_never_times_kept(device->sampling)) {
        pm_log_debug(device->instance->log,
                     "a specialized shader %.12s cannot be timed in turn, and stays untried%s", key,
                     trial->of);
        return;
    }
    const struct pm_environment environment = pm_session_environment(device, &trial->environment);
    pm_verdicts_want_sessions(pm_session_verdicts(device->instance), &trial->key, &trial->original,
                              &environment, true);
    pm_log_debug(device->instance->log,
                 "a specialized shader %.12s cannot be timed in turn: sessions are%s", key,
                 trial->of);
}

void pm_trials_end(struct pm_trials *trials)
{
    if (trials == NULL)
        return;
    pthread_mutex_lock(&trials->lock);
    for (const struct pm_trial *trial = trials->first; trial != NULL; trial = trial->next)
        if (pm_trials_now(trials) >= trial->begun_at + REPEATED)
            note_untimed(trial);
    pthread_mutex_unlock(&trials->lock);
}

/* Under the lock. */
static bool is_dropped(const struct pm_trial *trial)
{
    const struct pm_candidate *c = trial->first;
    while (c != NULL && atomic_load(&c->dropped))
        c = c->next;
    return c == NULL;
}

/* Under the lock. */
static void look_at(struct pm_trial *trial, uint64_t heartbeat)
{
    const bool awake = atomic_load(&trial->awake);
    /* Another thread may have seen a later heartbeat. */
    const uint64_t used_at = atomic_load(&trial->used_at),
                   idle = heartbeat > used_at ? heartbeat - used_at : 0;
    if (trial->first == NULL || (!awake && is_dropped(trial)))
        return;
    if (trial->outcome == PM_UNDECIDED && idle >= trial->retry)
        begin_anew(trial);
    if (is_due(trial, heartbeat))
        pm_trial_try_again(trial, "");
    if (pm_glance_is_on(&trial->glance)) {
        if (pm_glance_finds_nothing(&trial->glance, idle))
            pm_trial_end_glance(trial);
        return;
    }
    pm_trial_glance(trial, idle);
    if (atomic_load(&trial->over) || idle < (awake ? IDLE : trial->sleep))
        return;
    if (awake)
        note_untimed(trial);
    for (struct pm_candidate *c = trial->first; awake && c != NULL; c = c->next)
        if (c->idle != NULL)
            c->idle(c);
    if (awake && trial->sleep < LONGEST_SLEEP)
        trial->sleep *= 2;
    pm_trial_set_awake(trial, !awake);
}

void pm_trials_heartbeat(struct pm_trials *trials, uint64_t heartbeat)
{
    if (trials == NULL)
        return;
    if (heartbeat % TRIAL_LOOK == 0)
        atomic_fetch_add(&trials->looks_due, 1);
    /* A thread of ours may have the lock: no frame waits for it, but the next one looks. */
    if (atomic_load_explicit(&trials->looks_due, memory_order_relaxed) == 0 ||
        pthread_mutex_trylock(&trials->lock) != 0)
        return;
    const uint32_t looks = atomic_exchange(&trials->looks_due, 0);
    if (looks > 0)
        pm_budget_frames(&trials->budget, looks * TRIAL_LOOK, pm_now());
    pm_trials_look_around(trials);
    struct pm_trial *first = pm_sampling_is_paused(trials->device->sampling) ? NULL : trials->first;
    for (struct pm_trial *trial = first; trial != NULL; trial = trial->next)
        look_at(trial, pm_trials_now(trials));
    pthread_mutex_unlock(&trials->lock);
}

void pm_trials_pause(struct pm_trials *trials, bool paused)
{
    if (trials == NULL)
        return;
    /* No pair has one half before and one behind. */
    pthread_mutex_lock(&trials->lock);
    for (struct pm_trial *trial = trials->first; trial != NULL && !paused; trial = trial->next) {
        pm_trial_begin_pairs(trial);
        atomic_store(&trial->since, pm_trials_now(trials));
    }
    pthread_mutex_unlock(&trials->lock);
    pm_sampling_pause_trials(trials->device->sampling, paused);
}

bool pm_trials_are_busy(const struct pm_trials *trials, uint64_t heartbeat)
{
    return trials != NULL && pm_sampling_is_trying(trials->device->sampling) &&
           heartbeat < atomic_load(&trials->used_at) + TRIAL_LOOK;
}

bool pm_trial_is_awake(const struct pm_trial *trial)
{
    return trial != NULL && atomic_load_explicit(&trial->awake, memory_order_relaxed);
}
