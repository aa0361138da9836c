#include "layer/trial/executed_passes.h"

#include "layer/trial/trial_state.h"

enum {
    BEGINNING = -1,       /* of a track's turn: a thread is about to begin a use */
    MOST_UNMEASURED = 32, /* uses */
};

/* ---- where a secondary one is recorded ---- */

/* Begins the track's next use. 0: none may begin, or another thread does it just now. */
static uint32_t begin(struct pm_trial *trial, struct trial_track *track, uint64_t heartbeat)
{
    uint32_t none = 0, use;
    int64_t charged;
    if (!atomic_compare_exchange_strong(&track->turn, &none, (uint32_t)BEGINNING))
        return none != (uint32_t)BEGINNING ? none : 0;
    const bool begins = pm_trial_next_of(trial, track, heartbeat, &use, &charged);
    if (begins) {
        atomic_store(&track->charged, charged);
        atomic_fetch_add_explicit(&trial->unmeasured, 1, memory_order_relaxed);
    }
    const uint32_t turn = begins ? use + 1 : 0;
    atomic_store(&track->turn, turn);
    return turn;
}

bool pm_executed_pass_join(const struct pm_candidate *candidate, uint64_t group,
                           struct pm_timed *timed)
{
    struct pm_trial *trial = candidate->trial;
    if (atomic_load(&trial->kind) == TRIAL_CALLS || atomic_load(&trial->over))
        return false;
    if (atomic_load_explicit(&trial->unmeasured, memory_order_relaxed) >= MOST_UNMEASURED) {
        pm_trial_is_untimed(candidate);
        return false;
    }
    const uint64_t heartbeat = pm_trials_now(trial->owner), what = pm_random_mix(group) | 1;
    struct trial_track *track = pm_trial_track_of(trial, what, heartbeat);
    if (track == NULL)
        return false;
    const uint32_t turn = begin(trial, track, heartbeat);
    *timed = turn != 0 ? pm_trial_use_of(trial, track, turn - 1, what)
                       : (struct pm_timed){.trial = trial};
    timed->turn = turn;
    timed->inherited = true;
    return true;
}

/* ---- where it is executed ---- */

/* What is of it was executed once more, and costs again. */
static void charge_again(struct pm_device *device, struct pm_trial *trial)
{
    const int64_t expected = atomic_load(&trial->cost.expected);
    if (expected > 0)
        pm_budget_return(&device->trials->budget, -expected / 2);
}

/* The use is over, but where it goes on as both sides were executed. true: it was not over before,
 * and the instance that has ended is it. */
static bool end_use(struct pm_device *device, struct pm_timed *use)
{
    struct pm_trial *trial = use->trial;
    struct trial_track *track = &trial->tracks[use->track];
    if (use->turn == 0 || (use->mixed && !atomic_exchange(&track->mixed, true)))
        return false;
    uint32_t turn = use->turn;
    if (atomic_compare_exchange_strong(&track->turn, &turn, 0)) {
        atomic_store(&track->mixed, false);
        use->charged = atomic_exchange(&track->charged, 0);
        return true;
    }
    if (turn == 0 && use->turn == atomic_load(&track->next))
        charge_again(device, trial);
    return false;
}

/* What a secondary one has part in is the instance's, too. */
static void merge(struct pm_device *device, struct pm_pass_instance *pass, struct pm_timed use)
{
    struct pm_timed_uses *timed = &pass->timed;
    for (uint32_t i = 0; i < timed->count; i++) {
        struct pm_timed *found = &timed->uses[i];
        if (found->trial != use.trial)
            continue;
        const bool mixed = found->mixed || use.mixed || (found->turn == 0) != (use.turn == 0) ||
                           found->variant != use.variant;
        /* The latest, as turns are counted: they wrap. Of two tracks one is over. */
        if (found->turn == 0 ||
            (found->track == use.track && (int32_t)(use.turn - found->turn) > 0))
            *found = use;
        else if (found->track != use.track)
            (void)end_use(device, &use);
        found->mixed = mixed;
        return;
    }
    if (timed->count < PM_TIMED_MOST)
        timed->uses[timed->count++] = use;
    else
        (void)end_use(device, &use);
}

/* What is in an instance and sampled, or was recorded while nothing was tried, draws with what
 * stands whatever side the others have. So does what is kept, but always. */
static bool is_untimed(const struct pm_command *secondary)
{
    return secondary == NULL || secondary->pass.untimed ||
           (!secondary->pass.inherited && !secondary->repeats);
}

void pm_executed_pass_executes(struct pm_device *device, struct pm_command *command, uint32_t count,
                               const VkCommandBuffer *buffers)
{
    struct pm_pass_instance *pass = command != NULL ? &command->pass : NULL;
    const bool takes = pass != NULL && !command->repeats && (pass->inherited || pass->executes);
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_command *secondary = pm_command_of(device->sampling, buffers[i]);
        if (takes)
            pass->untimed |= is_untimed(secondary);
        if (secondary == NULL || !secondary->pass.inherited)
            continue;
        const struct pm_pass_instance *executed = &secondary->pass;
        /* Something began in it that must not see a variant, or it executes others. */
        const bool mixed = executed->mixed || executed->place != PM_PLACE_TIMED_PASS;
        for (uint32_t j = 0; j < executed->timed.count; j++) {
            struct pm_timed use = executed->timed.uses[j];
            use.mixed |= mixed;
            if (takes)
                merge(device, pass, use);
            else
                (void)end_use(device, &use);
        }
    }
}

struct pm_timed_uses pm_executed_pass_ended(struct pm_command *command)
{
    struct pm_pass_instance *pass = &command->pass;
    struct pm_timed_uses timed = {.count = 0};
    /* What is sampled now may be timed in the next frame. */
    pass->worth = pass->timed.count > 0 || pass->untimed;
    const bool counts = pass->started && !pass->unknown && !pass->untimed &&
                        !pm_sampling_is_paused(command->device->sampling);
    for (uint32_t i = 0; i < pass->timed.count; i++) {
        struct pm_timed *use = &pass->timed.uses[i];
        if (!end_use(command->device, use) || !counts || use->mixed ||
            !pm_trial_is_of_kind(use->trial, TRIAL_PASSES))
            continue;
        atomic_store_explicit(&use->trial->unmeasured, 0, memory_order_relaxed);
        use->area = pm_random_mix(pass->work + pass->slot) | 1;
        timed.uses[timed.count++] = *use;
    }
    return timed;
}
