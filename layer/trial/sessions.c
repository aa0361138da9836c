#include "layer/trial/session_state.h"

#include "base/clock.h"
#include "layer/core/session.h"
#include "layer/shader/pipeline.h"
#include "layer/trial/verdict.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LEAST_SAMPLES = 8, /* for it to count */
    OPEN = 4096,       /* heartbeats in which recordings are timed */
};

/* Pairs at the end that say so are enough to drop a variant, and a single one to leave it for a
 * while: the sessions of one may be days apart, and something else may have run beside one of them.
 */
enum { HARMFUL_PAIRS = 2 };
#define HARMFUL 1250000u
#define MOST_HARMFUL 1500000u
/* One that has taken so much by now is given up for a while when all pairs together say that it is
 * slower by so much. */
#define MOST_CHARGED (60 * PM_SECOND)
#define DEAR 1.05
/* Sessions in a row without anything of one size are enough to give up for now. */
enum { MOST_UNLIKE = 8 };

struct pm_session_trials *pm_session_trials_create(struct pm_device *device,
                                                   struct pm_budget *budget)
{
    struct pm_session_trials *trials = calloc(1, sizeof *trials);
    if (trials == NULL)
        return NULL;
    trials->device = device;
    trials->budget = budget;
    pthread_mutex_init(&trials->lock, NULL);
    pm_session_draw_lot(trials);
    return trials;
}

void pm_session_trials_destroy(struct pm_session_trials *trials)
{
    if (trials == NULL)
        return;
    for (uint32_t i = 0; i < trials->count; i++)
        free(trials->trials[i]);
    pthread_mutex_destroy(&trials->lock);
    free(trials);
}

/* ---- taking part ---- */

/* Under the lock. NULL: there are too many, it is too late for another one, or not its turn. */
static struct pm_session_trial *find_or_add(struct pm_session_trials *trials,
                                            const struct pm_specialized_shader *shader)
{
    const uint32_t count = atomic_load(&trials->count);
    for (uint32_t i = 0; i < count; i++)
        if (pm_shader_key_equal(&trials->trials[i]->named.key, &shader->key) &&
            pm_shader_key_equal(&trials->trials[i]->named.original, &shader->original))
            return trials->trials[i];
    struct pm_session_trial *trial = NULL;
    /* What is proven would be drawn with the original all the same, and nobody would time it. */
    if (count < SESSION_TRIALS && !atomic_load(&trials->closed) &&
        pm_session_takes_part(trials, shader))
        trial = calloc(1, sizeof *trial);
    if (trial == NULL)
        return NULL;
    trial->owner = trials;
    trial->shader = shader;
    trial->named.key = shader->key;
    trial->named.original = shader->original;
    trial->named.environment = shader->environment;
    trial->side = pm_session_side_of(trials, shader);
    /* It waits, and is bound meanwhile. */
    trial->done = trial->side != shader->session && trial->side == PM_SESSION_VARIANT;
    for (int i = 0; i < PM_SESSION_USES; i++)
        trial->uses[i].trial = trial;
    pm_session_expects(trial);
    trials->trials[count] = trial;
    atomic_store(&trials->count, count + 1);
    return trial;
}

/* Under the lock. */
static void set_awake(struct pm_session_trials *trials, bool awake)
{
    if (atomic_exchange(&trials->awake, awake) != awake)
        pm_sampling_try(trials->device->sampling, awake ? 1 : -1);
}

/* What the program creates has a turn, also where it is another one's now. */
static void note_used(const struct pm_device *device, const struct pm_specialized_shader *shader)
{
    const struct pm_environment environment = pm_session_environment(device, &shader->environment);
    pm_verdicts_use(pm_session_verdicts(device->instance), &shader->key, &shader->original,
                    &environment, time(NULL));
}

enum pm_session_side pm_session_trials_join(struct pm_session_trials *trials,
                                            struct pm_pipeline *pipeline,
                                            const struct pm_specialized_shader *shader)
{
    enum pm_session_side side = PM_SESSION_NONE;
    if (trials == NULL)
        return side;
    /* Sessions would look for what the original takes for ever, and nothing else be made. */
    if (shader->part.ratio <= 0 && pm_sampling_never_times_kept(trials->device->sampling))
        return side;
    note_used(trials->device, shader);
    pthread_mutex_lock(&trials->lock);
    struct pm_session_trial *trial = find_or_add(trials, shader);
    if (trial != NULL && !atomic_load(&trials->closed))
        set_awake(trials, true);
    if (trial != NULL)
        side = trial->left ? PM_SESSION_ORIGINAL : trial->side;
    pthread_mutex_unlock(&trials->lock);
    atomic_store(&pipeline->session, trial);
    return side;
}

void pm_session_trials_heartbeat(struct pm_session_trials *trials)
{
    if (trials == NULL || atomic_load_explicit(&trials->closed, memory_order_relaxed) ||
        pm_sampling_trial_heartbeat(trials->device->sampling) < OPEN)
        return;
    pthread_mutex_lock(&trials->lock);
    atomic_store(&trials->closed, true);
    set_awake(trials, false);
    pthread_mutex_unlock(&trials->lock);
}

bool pm_session_is_in_order(const struct pm_command *command)
{
    return !command->simultaneous || atomic_load(&command->device->sampling->queue_count) <= 1;
}

struct pm_session_trial *pm_session_bound(const struct pm_command *command, int point)
{
    const struct pm_bound *bound = &command->bound[point];
    const struct pm_pipeline *pipeline = bound->pipeline;
    /* While they are paused, behind what must not see a variant, and where nothing may stand for
     * it, the game's own stands, whatever the session's side is. Nor is it timed where that is the
     * game's own: it would have no partner. */
    if (pipeline == NULL || bound->own || pm_sampling_is_paused(command->device->sampling) ||
        pm_pipeline_stands_itself(pipeline))
        return NULL;
    struct pm_session_trial *trial = atomic_load_explicit(&pipeline->session, memory_order_relaxed);
    return trial != NULL && !atomic_load_explicit(&trial->owner->closed, memory_order_relaxed)
               ? trial
               : NULL;
}

struct pm_session_trial *pm_session_of(const struct pm_command *command, int point)
{
    struct pm_session_trial *trial = command->repeats && pm_session_is_in_order(command)
                                         ? pm_session_bound(command, point)
                                         : NULL;
    return trial != NULL &&
                   atomic_load_explicit(&trial->used, memory_order_relaxed) < PM_SESSION_USES
               ? trial
               : NULL;
}

void pm_session_recorded_anew(const struct pm_command *command, int point)
{
    const struct pm_pipeline *pipeline = command->bound[point].pipeline;
    struct pm_session_trial *trial =
        pipeline != NULL ? atomic_load_explicit(&pipeline->session, memory_order_relaxed) : NULL;
    if (trial != NULL)
        atomic_store_explicit(&trial->anew, true, memory_order_relaxed);
}

struct pm_session_use *pm_session_next(struct pm_session_trial *trial, uint64_t work)
{
    const uint32_t number = atomic_fetch_add(&trial->used, 1);
    if (number < PM_SESSION_USES) {
        trial->uses[number].work = work;
        return &trial->uses[number];
    }
    atomic_store(&trial->used, PM_SESSION_USES);
    return NULL;
}

void pm_session_miss(struct pm_session_trial *trial, uint64_t work)
{
    struct pm_session_use *use = pm_session_next(trial, work);
    if (use != NULL)
        use->missed = true;
}

/* The index of the use that has the slot; PM_SESSION_USES: there is none. */
static uint32_t find_slot(const struct pm_session_trial *trial, uint32_t slot)
{
    uint32_t i = 0;
    while (i < PM_SESSION_USES && atomic_load(&trial->uses[i].slot) != slot + 1)
        i++;
    return i;
}

struct pm_session_use *pm_session_again(struct pm_session_trial *trial, uint32_t slot,
                                        uint64_t work)
{
    const uint32_t found = find_slot(trial, slot);
    if (found < PM_SESSION_USES)
        return &trial->uses[found];
    struct pm_session_use *use = pm_session_next(trial, work);
    if (use != NULL)
        atomic_store(&use->slot, slot + 1);
    return use;
}

bool pm_session_awaits(const struct pm_session_trial *trial, uint32_t slot)
{
    return !atomic_load_explicit(&trial->done, memory_order_relaxed) &&
           (atomic_load(&trial->used) < PM_SESSION_USES ||
            find_slot(trial, slot) < PM_SESSION_USES);
}

/* ---- times ---- */

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median(const struct pm_session_use *use)
{
    uint64_t sorted[SESSION_SAMPLES];
    const uint32_t count = use->count < SESSION_SAMPLES ? use->count : SESSION_SAMPLES;
    if (count < LEAST_SAMPLES)
        return 0;
    memcpy(sorted, use->samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    return sorted[count / 2];
}

static bool is_harmful(const struct pm_kept_variant *kept)
{
    bool harmful = kept->sessions.count >= HARMFUL_PAIRS;
    for (uint32_t i = 0; harmful && i < HARMFUL_PAIRS; i++)
        harmful = kept->sessions.ratios[kept->sessions.count - 1 - i] >= HARMFUL;
    return harmful;
}

/* Whether its sessions have paid enough for what they said. Nothing is found faster by it, so it
 * may look at what there is. */
static bool is_dear(struct pm_session_trial *trial, const struct pm_kept_variant *kept,
                    const double *logarithms)
{
    double sum = 0;
    for (uint32_t i = 0; i < kept->sessions.count; i++)
        sum += logarithms[i];
    pthread_mutex_lock(&trial->owner->lock);
    const int64_t charged = trial->side == PM_SESSION_VARIANT ? trial->charged - trial->kept : 0;
    pthread_mutex_unlock(&trial->owner->lock);
    return kept->sessions.charged > MOST_CHARGED - charged &&
           sum >= kept->sessions.count * log(DEAR);
}

static enum pm_outcome judge(struct pm_session_trial *trial, const struct pm_kept_variant *kept,
                             struct pm_paired *paired)
{
    double ratios[PM_SESSION_PAIRS];
    const uint32_t count = kept->sessions.count;
    for (uint32_t i = 0; i < count; i++)
        ratios[i] = log(kept->sessions.ratios[i] * 1e-6);
    const bool harmful = is_harmful(kept);
    if (!harmful && kept->sessions.ratios[count - 1] < MOST_HARMFUL) {
        const enum pm_outcome outcome =
            pm_trial_judge(ratios, count, PM_SESSION_PAIRS, true, paired);
        if (outcome != PM_GOES_ON || !is_dear(trial, kept, ratios))
            return outcome;
    }
    *paired = pm_paired_interval(ratios, count, 0);
    return harmful ? PM_SLOWER : PM_UNDECIDED;
}

/* Nothing was timed: the next session tries it in turn, where the program records anew or had the
 * time. Where somebody paused them that says nothing, nor does a session that sampled what the
 * program keeps. Where sessions before it have timed
 * something, both must be: this one may have warmed it up and ended. */
static void end_in_vain(const struct pm_session_trial *trial,
                        const struct pm_environment *environment)
{
    struct pm_verdicts *verdicts = pm_session_verdicts(trial->owner->device->instance);
    const struct pm_shader_key *key = &trial->named.key, *original = &trial->named.original;
    struct pm_kept_variant kept;
    if (atomic_load(&trial->owner->device->sampling->paused_heartbeats) > 0 ||
        !pm_sampling_times_kept(trial->owner->device->sampling) ||
        !pm_verdicts_find(verdicts, key, original, environment, &kept))
        return;
    const bool never = kept.sessions.count == 0 && !kept.sessions.half.there;
    const bool anew = atomic_load(&trial->anew), long_enough = atomic_load(&trial->owner->closed);
    if (never ? anew || long_enough : anew && long_enough)
        pm_verdicts_want_sessions(verdicts, key, original, environment, false);
}

/* What was timed. */
static struct pm_session_half half_of(const struct pm_session_trial *trial)
{
    struct pm_session_half half = {
        .there = true, .variant = trial->side == PM_SESSION_VARIANT, .at = time(NULL)};
    for (int i = 0; i < PM_SESSION_USES; i++) {
        half.nanoseconds[i] = median(&trial->uses[i]);
        half.work[i] = half.nanoseconds[i] > 0 || trial->uses[i].missed ? trial->uses[i].work : 0;
    }
    half.share = pm_session_share(trial, &half);
    return half;
}

/* 0: there is none. */
static uint64_t first_time(const struct pm_session_half *half)
{
    int i = 0;
    while (i < PM_SESSION_USES && half->nanoseconds[i] == 0)
        i++;
    return i < PM_SESSION_USES ? half->nanoseconds[i] : 0;
}

static void log_session(const struct pm_session_trial *trial, const struct pm_session_half *half,
                        uint32_t pairs, const char *what)
{
    char key[PM_SHADER_KEY_TEXT], of[PM_SPECIALIZED_OF];
    pm_shader_key_format(&trial->named.key, key);
    pm_specialized_say_of(trial->shader, true, of);
    pm_log_info(trial->owner->device->instance->log,
                "timed a session with the %s shader %.12s (%" PRIu64
                " ns, %.1f %% of the time), %u pairs of sessions: %s%s",
                half->variant ? "specialized" : "original of the specialized", key,
                first_time(half), half->share / 1e4, pairs, what, of);
}

/* A half of a pair, or both; *kept has all. */
static enum pm_outcome take_half(struct pm_session_trial *trial,
                                 const struct pm_environment *environment,
                                 const struct pm_session_half *half, struct pm_kept_variant *kept,
                                 struct pm_paired *paired)
{
    struct pm_verdicts *verdicts = pm_session_verdicts(trial->owner->device->instance);
    const bool pair = pm_verdicts_add_half(verdicts, &trial->named.key, &trial->named.original,
                                           environment, half, kept);
    /* Sizes that never come again say nothing however many sessions there are. */
    const bool in_vain = !pair && kept->sessions.half.unlike >= MOST_UNLIKE;
    return pair ? judge(trial, kept, paired) : in_vain ? PM_UNDECIDED : PM_GOES_ON;
}

/* The session's part in the trial is over. Waits for the disk. */
static void finish(struct pm_session_trial *trial)
{
    static const char *const words[] = {[PM_GOES_ON] = "more sessions are to come",
                                        [PM_FASTER] = "faster: used from the next session on",
                                        [PM_SLOWER] = "dropped",
                                        [PM_UNDECIDED] = "undecided: tried again later"};
    if (atomic_load(&trial->done))
        return;
    struct pm_device *device = trial->owner->device;
    struct pm_verdicts *verdicts = pm_session_verdicts(device->instance);
    const struct pm_environment environment =
        pm_session_environment(device, &trial->named.environment);
    const struct pm_session_half half = half_of(trial);
    atomic_store(&trial->done, true);
    if (first_time(&half) == 0) {
        end_in_vain(trial, &environment);
        return;
    }
    struct pm_kept_variant kept = {.sessions.count = 0};
    struct pm_paired paired = {.ratio = 1, .low = 0, .high = INFINITY};
    enum pm_outcome outcome = PM_GOES_ON;
    if (trial->side == PM_SESSION_LOOK) {
        pm_verdicts_look(verdicts, &trial->named.key, &trial->named.original, &environment, &half);
        pm_verdicts_find(verdicts, &trial->named.key, &trial->named.original, &environment, &kept);
    } else {
        outcome = take_half(trial, &environment, &half, &kept, &paired);
    }
    pm_session_weigh(trial, &half, &kept.sessions.own);
    log_session(trial, &half, kept.sessions.count,
                trial->side == PM_SESSION_LOOK ? "this one is of none" : words[outcome]);
    struct pm_error error = {0};
    if (outcome != PM_GOES_ON)
        pm_trial_keep(device, &trial->named, PM_TIMED_SESSIONS, outcome, &paired,
                      kept.sessions.count);
    else if (!pm_verdicts_save(verdicts, &error))
        pm_log_info(device->instance->log, "a session is not kept: %s", error.message);
}

void pm_session_trials_end(struct pm_session_trials *trials)
{
    for (uint32_t i = 0; trials != NULL && i < trials->count; i++)
        finish(trials->trials[i]);
    if (trials != NULL)
        pm_session_charge_last(trials);
    /* What they took is said where it is nothing, too. */
    if (trials != NULL && trials->count > 0)
        pm_budget_charge_session(trials->budget, 0, pm_now());
}

bool pm_session_wants(const struct pm_session_use *use)
{
    return !atomic_load_explicit(&use->trial->done, memory_order_relaxed);
}

/* Whether all that is recorded was timed often enough, or something so often that the rest is not
 * submitted any more. */
static bool has_enough(const struct pm_session_trial *trial)
{
    const uint32_t used = atomic_load(&trial->used);
    bool all = used > 0;
    for (uint32_t i = 0; i < used && i < PM_SESSION_USES; i++) {
        all = all && (trial->uses[i].missed || trial->uses[i].count >= SESSION_SAMPLES);
        if (trial->uses[i].count >= 8 * SESSION_SAMPLES)
            return true;
    }
    return all;
}

void pm_session_take(struct pm_session_use *use, double nanoseconds)
{
    struct pm_session_trial *trial = use->trial;
    if (atomic_load(&trial->done) || pm_sampling_is_paused(trial->owner->device->sampling))
        return;
    pm_session_begins_share(trial);
    if (use->count < SESSION_SAMPLES)
        use->samples[use->count] = (uint64_t)llround(nanoseconds);
    use->count++;
    if (has_enough(trial))
        finish(trial);
}
