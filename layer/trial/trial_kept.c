/* What a trial has timed outlives its session (profile/pairs_store.h). trial.h. */
#include "layer/trial/trial_state.h"

#include "base/clock.h"
#include "layer/core/build_name.h"
#include "layer/core/session.h"
#include "profile/pairs_store.h"
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* Between two writes of a trial: what a session loses at most that is killed. */
#define KEEP_NANOSECONDS INT64_C(10000000000)

struct pm_pairs_store *pm_trial_pairs_open(const struct pm_device *device)
{
    char build[PM_BUILD_NAME_BYTES];
    (void)pm_build_name(build);
    return pm_pairs_store_open(NULL, device->instance->game, build);
}

static enum pm_timed_kind kind_of(const struct pm_trial *trial)
{
    return atomic_load(&trial->kind) == TRIAL_PASSES ? PM_TIMED_PASSES : PM_TIMED_CALLS;
}

/* What is used already and tried again is judged by what it takes now. */
static bool is_again(struct pm_trial *trial)
{
    pthread_mutex_lock(&trial->owner->lock);
    const bool again = trial->again;
    pthread_mutex_unlock(&trial->owner->lock);
    return again;
}

static void take(struct pm_trial *trial, const struct pm_kept_pairs *pairs)
{
    for (uint32_t i = 0; i < pairs->count && pm_trial_make_room(trial); i++) {
        trial->time[trial->count][0] = (double)pairs->time[i][0];
        trial->time[trial->count][1] = (double)pairs->time[i][1];
        trial->count++;
    }
    trial->recalled = trial->count;
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_log_info(trial->owner->device->instance->log,
                "the trial of a specialized shader %.12s goes on behind %" PRIu32
                " pairs of earlier sessions",
                key, trial->count);
}

void pm_trial_recall(struct pm_trial *trial)
{
    if (trial->asked)
        return;
    trial->asked = true;
    trial->kept_at = pm_now();
    if (is_again(trial))
        return;
    const struct pm_environment environment =
        pm_session_environment(trial->owner->device, &trial->environment);
    struct pm_kept_pairs pairs;
    /* With the last one there would be nothing more to time. */
    if (pm_pairs_store_read(trial->owner->pairs, &trial->key, &environment, time(NULL),
                            TRIAL_MOST_PAIRS - 1, &pairs) &&
        pairs.kind == kind_of(trial))
        take(trial, &pairs);
    free(pairs.time);
}

static void write_pairs(struct pm_trial *trial)
{
    struct pm_kept_pairs pairs = {kind_of(trial), trial->count,
                                  malloc(trial->count * sizeof *pairs.time)};
    struct pm_error error = {PM_ERROR_MEMORY, "no memory"};
    for (uint32_t i = 0; pairs.time != NULL && i < trial->count; i++) {
        pairs.time[i][0] = (float)trial->time[i][0];
        pairs.time[i][1] = (float)trial->time[i][1];
    }
    const struct pm_environment environment =
        pm_session_environment(trial->owner->device, &trial->environment);
    if (pairs.time == NULL || !pm_pairs_store_keep(trial->owner->pairs, &trial->key, &environment,
                                                   time(NULL), &pairs, &error))
        pm_log_info(trial->owner->device->instance->log, "what a trial has timed is not kept: %s",
                    error.message);
    free(pairs.time);
    trial->kept = trial->count;
}

void pm_trial_keep_pairs(struct pm_trial *trial, bool ends)
{
    const int64_t now = pm_now();
    if (trial->count == trial->kept || (!ends && now < trial->kept_at + KEEP_NANOSECONDS))
        return;
    trial->kept_at = now;
    if (!is_again(trial))
        write_pairs(trial);
}

void pm_trial_forget_pairs(struct pm_trial *trial)
{
    const struct pm_environment environment =
        pm_session_environment(trial->owner->device, &trial->environment);
    pm_pairs_store_forget(trial->owner->pairs, &trial->key, &environment);
    trial->kept = 0;
}
