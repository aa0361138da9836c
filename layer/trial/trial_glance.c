/* Glances at what trials found faster (glance.h): when they begin, and what comes of them. trial.h.
 *
 * Two variants that are drawn with in one render pass are timed by that, each beside all else in
 * it. If both are glanced at in the same frames, what the larger one's lots decide drowns what the
 * other takes. And they would be: glances begin at a look, and all that have waited as long begin
 * at the same one. So of n at draws only a quarter begins at each look, which is all within the
 * heartbeats that any waits.
 *
 * Those that were found not to be drawn with have recordings tracked for 64 heartbeats each, and
 * disturb nobody. They begin together: at looks that are multiples of how many each waits. */
#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"

#include "base/clock.h"
#include <math.h>

enum {
    LOOKS = 4, /* within which all may begin once */
    TURNS = 4, /* of so many times LOOKS glances may have one */
};

/* Nothing is to disturb what --ab compares. */
static bool may_be_glanced_at(const struct pm_trial *trial)
{
    return trial->first != NULL && trial->outcome == PM_FASTER && !trial->again &&
           trial->first->again != NULL && trial->owner->device->ab == NULL;
}

void pm_trials_look_around(struct pm_trials *trials)
{
    uint32_t count = 0;
    for (const struct pm_trial *trial = trials->first; trial != NULL; trial = trial->next) {
        count += !trial->compute && !trial->glance.undrawn && may_be_glanced_at(trial);
        trials->glance_waits |=
            pm_glance_is_on(&trial->glance) && atomic_load(&trial->glance.denied);
    }
    trials->looks++;
    /* Those that are found not to be drawn with meanwhile make it no longer for the rest. */
    if (trials->looks % LOOKS == 0 || count > trials->glances_counted)
        trials->glances_counted = count;
    trials->glances_left = (trials->glances_counted + LOOKS - 1) / LOOKS;
    atomic_store(&trials->glances_first,
                 trials->glance_waits && trials->looks / LOOKS % TURNS == 0);
    trials->glance_waits = false;
}

/* Of what waits so long: it is one of what waits less, too. */
static bool is_common_look(const struct pm_trials *trials, uint32_t wait)
{
    uint32_t looks = 1;
    while (2 * looks * TRIAL_LOOK <= wait)
        looks *= 2;
    return trials->looks % looks == 0;
}

static bool may_begin(const struct pm_trial *trial, uint64_t idle)
{
    const struct pm_trials *trials = trial->owner;
    const uint32_t wait = trial->glance.wait;
    if (trial->glance.undrawn)
        return idle >= wait / 2 && is_common_look(trials, wait);
    return idle >= wait && (trial->compute || trials->glances_left > 0);
}

void pm_trial_glance(struct pm_trial *trial, uint64_t idle)
{
    struct pm_trials *trials = trial->owner;
    if (!may_be_glanced_at(trial) || !may_begin(trial, idle))
        return;
    /* What pairs cost that had the original beside them is not what those cost that have not. */
    if (!trial->glance.told)
        atomic_store(&trial->cost.expected, 0);
    const int64_t charged = pm_budget_begin(&trials->budget, &trial->cost, pm_now());
    if (charged < 0) {
        trials->glance_waits |= charged == PM_BUDGET_SPENT && !trial->glance.undrawn;
        return;
    }
    trials->glances_left -= !trial->compute && !trial->glance.undrawn;
    pm_glance_begin(&trial->glance, charged, pm_trial_uses(trial), pm_trial_lot(trial));
    for (uint32_t i = 0; i < TRIAL_TRACKS; i++)
        atomic_store(&trial->tracks[i].seen, false);
    pm_trial_time_again(trial);
}

void pm_trial_end_glance(struct pm_trial *trial)
{
    if (!pm_glance_is_on(&trial->glance))
        return;
    atomic_store(&trial->over, true);
    pm_budget_return(&trial->owner->budget, pm_glance_end(&trial->glance));
    trial->again = false;
    for (struct pm_candidate *c = trial->first; c != NULL; c = c->next)
        c->glanced(c);
    pm_trial_set_awake(trial, false);
}

static void go_on(struct pm_trial *trial)
{
    pm_glance_go_on(&trial->glance, pm_trial_uses(trial), pm_trial_lot(trial));
}

void pm_trial_take_glance(struct pm_trial *trial, const struct trial_pair *pair)
{
    switch (pm_glance_take(&trial->glance, log(pair->time[1] / pair->time[0]), pair->charged)) {
    case PM_GLANCE_RESTS:
        pm_trial_end_glance(trial);
        break;
    case PM_GLANCE_GOES_ON:
        go_on(trial);
        break;
    case PM_GLANCE_ALARM:
        pm_trial_try_again(trial, ", since it seems to be slower");
        break;
    }
}

void pm_trial_take_odd_glance(struct pm_trial *trial)
{
    if (pm_glance_is_odd(&trial->glance))
        pm_trial_end_glance(trial);
    else
        go_on(trial);
}
