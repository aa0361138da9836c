/* How trials stand, for the profile and for whoever looks. trial.h. */
#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"

#include "layer/counts/report.h"
#include "profile/variant_point.h"
#include <math.h>
#include <stdlib.h>

#define WIDEST 100.0
enum { SUMMED = 16 }; /* trials of which it is told how long they go on */

/* As a share of the time without the variant; one that tells nothing is cut. */
static uint64_t spread_of(const struct pm_trial *trial)
{
    const uint64_t spread = (uint64_t)llround(fmin(trial->half_width, WIDEST) * trial->sums[0]);
    return spread == 0 && trial->sums[0] > 0 ? 1 : spread; /* 0 would be none */
}

/* A trial takes calls of any scene. */
static bool add(const struct pm_trial *trial, struct pm_report *report, struct pm_error *error)
{
    const struct pm_point_counts point = {
        .calls = trial->pairs,
        .entry_lanes = trial->summed,
        .entry_subgroups = trial->summed,
        .counts = {[PM_TIMING_ORIGINAL] = (uint64_t)llround(trial->sums[0]),
                   [PM_TIMING_VARIANT] = (uint64_t)llround(trial->sums[1]),
                   [PM_TIMING_SPREAD] = spread_of(trial)},
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

/* What was measured of one of many variants: of their race, under the original's key. */
static bool add_measured(struct pm_trial *trial, struct pm_report *report, struct pm_error *error)
{
    const struct pm_anytime told = trial->untold;
    trial->untold = (struct pm_anytime){0};
    if (!(told.count >= 1) || trial->variant == 0)
        return true;
    const struct pm_point_counts point =
        pm_variant_counts(trial->variant, (uint32_t)told.count, pm_anytime_mean(&told));
    const struct pm_shader_profile shader = {
        .key = trial->original,
        .environment = trial->environment,
        .kind = PM_KIND_VARIANT,
        .space = PM_VARIANT_SPACE,
        .points = &point,
        .point_count = 1,
    };
    return pm_report_add(report, PM_SCENE_STANDARD, &shader, error);
}

static bool add_decided(struct pm_trial *trial, struct pm_report *report, struct pm_error *error)
{
    if (trial->summed == 0 || trial->reported)
        return true;
    trial->reported = true;
    return add(trial, report, error);
}

void pm_trials_report(struct pm_trials *trials, struct pm_report *report)
{
    struct pm_error failed = {0};
    pthread_mutex_lock(&trials->lock);
    for (struct pm_trial *trial = trials->unreported ? trials->first : NULL; trial != NULL;
         trial = trial->next) {
        if (trial->is_private)
            continue;
        struct pm_error error = {0};
        if (add_decided(trial, report, &error))
            add_measured(trial, report, &error);
        if (error.code != PM_OK)
            failed = error;
    }
    trials->unreported = false;
    pm_trials_spare(trials);
    pthread_mutex_unlock(&trials->lock);
    if (failed.code != PM_OK)
        pm_log_warning(trials->device->instance->log, "a trial was not kept: %s", failed.message);
}

/* What is told of one that goes on: what is the lock's of it. */
struct going_on {
    const struct pm_trial *trial;
    bool undecided;
    uint32_t retry;
};

/* Heartbeats until the trial has as many pairs as it wants, if they go on coming as they do; 0: it
 * cannot be told. The poller's thread, without the lock. */
static uint64_t frames_more(const struct going_on *of, uint64_t heartbeat)
{
    const struct pm_trial *trial = of->trial;
    const uint64_t since = heartbeat - trial->begun_at;
    if (of->undecided) {
        const uint64_t idle = heartbeat - atomic_load(&trial->used_at);
        return idle < of->retry ? of->retry - idle : 1;
    }
    double *ratios = pm_trial_log_ratios(trial);
    if (ratios == NULL)
        return 0;
    const uint32_t wanted = pm_trial_pairs_wanted(ratios, trial->pairs_seen.count, TRIAL_MOST_PAIRS,
                                                  atomic_load(&trial->kind) == TRIAL_PASSES);
    free(ratios);
    const uint32_t timed =
        trial->pairs_seen.count - trial->pairs_seen.recalled; /* in this session */
    if (wanted <= trial->pairs_seen.count)
        return 1;
    return timed > 0 ? 1 + (uint64_t)((double)since * (wanted - trial->pairs_seen.count) / timed)
                     : 0;
}

void pm_trials_sum(struct pm_trials *trials, struct pm_trials_sum *sum)
{
    *sum = (struct pm_trials_sum){0};
    if (trials == NULL)
        return;
    struct going_on going_on[SUMMED];
    uint32_t count = 0;
    pthread_mutex_lock(&trials->lock);
    *sum = trials->past;
    const uint64_t heartbeat = pm_trials_now(trials);
    for (const struct pm_trial *trial = trials->first; trial != NULL; trial = trial->next) {
        const bool decided = trial->outcome == PM_FASTER || trial->outcome == PM_SLOWER;
        if (atomic_load(&trial->measures)) {
            sum->measured += !atomic_load(&trial->over);
            continue;
        }
        pm_trial_sum_decided(trial, sum);
        sum->going_on += !decided;
        if (!decided && count < SUMMED)
            going_on[count++] =
                (struct going_on){trial, trial->outcome == PM_UNDECIDED, trial->retry};
    }
    pthread_mutex_unlock(&trials->lock);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t more = frames_more(&going_on[i], heartbeat);
        sum->frames_more = more > sum->frames_more ? more : sum->frames_more;
    }
}
