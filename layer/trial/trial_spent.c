/* The memory of trials that are over and of which no pipeline is left, for those that come. */
#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"

#include "base/clock.h"
#include <math.h>

/* It was one of a contest's, measured as often as that wanted, and no pipeline is measured with. */
static bool was_measured(const struct pm_trial *trial)
{
    return atomic_load(&trial->measures) &&
           (trial->is_private || trial->variant == 0 || !(trial->untold.count >= 1));
}

/* A variant of a contest's goes before its pipeline: who records may just have found it, and looks
 * at its trial before taking hold of it. */
static bool was_left_just_now(const struct pm_trial *trial)
{
    return pm_now() - trial->left_at < PM_SECOND;
}

/* It is decided, who had to hear of it has, and no pipeline has the shader any more. */
static bool is_spent(const struct pm_trial *trial)
{
    if (trial->first != NULL || !atomic_load(&trial->over))
        return false;
    if (atomic_load(&trial->measures))
        return was_measured(trial) && !was_left_just_now(trial);
    return (trial->outcome == PM_FASTER || trial->outcome == PM_SLOWER) &&
           (trial->reported || trial->is_private || trial->summed == 0) &&
           !(trial->untold.count >= 1);
}

/* Forgets all of it but which pairs were begun: a time that comes late is of none that follows. */
static void empty(struct pm_trial *trial)
{
    struct pm_trial fresh = {0};
    pm_pair_list_finish(&trial->pairs_seen);
    for (uint32_t i = 0; i < TRIAL_TRACKS; i++) {
        const uint32_t next = (atomic_load(&trial->tracks[i].next) + 1) & ~1u;
        atomic_store(&fresh.tracks[i].next, next);
        atomic_store(&fresh.tracks[i].from, next / 2);
    }
    *trial = fresh;
}

void pm_trial_sum_decided(const struct pm_trial *trial, struct pm_trials_sum *sum)
{
    const double speed = trial->outcome == PM_FASTER && trial->ratio > 0 ? 1 / trial->ratio : 0;
    sum->of_passes |= atomic_load(&trial->kind) == TRIAL_PASSES;
    sum->dropped += trial->outcome == PM_SLOWER;
    sum->fastest = fmax(sum->fastest, speed);
    if (speed > 0 && (sum->slowest <= 0 || speed < sum->slowest))
        sum->slowest = speed;
}

void pm_trials_spare(struct pm_trials *trials)
{
    struct pm_trial **link = &trials->first;
    while (*link != NULL) {
        struct pm_trial *trial = *link;
        if (!is_spent(trial)) {
            link = &trial->next;
            continue;
        }
        *link = trial->next;
        pm_trial_sum_decided(trial, &trials->past);
        empty(trial);
        trial->next = trials->spare;
        trials->spare = trial;
    }
}
