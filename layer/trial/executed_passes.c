#include "layer/trial/executed_passes.h"

#include "layer/trial/trial_state.h"

enum {
    BUSY = -1,            /* of a track's turn: a thread is about to begin a use, or to end one */
    MOST_UNMEASURED = 64, /* uses */
    SETTLES = 2,          /* heartbeats until what was recorded before a trial woke is executed */
};

/* Of the use with that turn. */
static bool is_first_half(uint32_t turn)
{
    return turn % 2 == 1;
}

/* ---- seats ---- */

static bool has_seat(const struct pm_trial *trial)
{
    for (uint32_t i = 0; i < PM_TIMED_MOST; i++)
        if (atomic_load_explicit(&trial->owner->seats[i], memory_order_relaxed) == trial)
            return true;
    return false;
}

/* One that nobody has, or whose trial times nothing now; NULL: there is none. */
static struct pm_trial *_Atomic *free_seat(struct pm_trials *trials, uint64_t heartbeat)
{
    for (uint32_t i = 0; i < PM_TIMED_MOST; i++) {
        const struct pm_trial *trial = atomic_load(&trials->seats[i]);
        if (trial == NULL || !pm_trial_is_awake(trial) || atomic_load(&trial->over) ||
            heartbeat > atomic_load(&trial->used_at) + TRIAL_LOOK)
            return &trials->seats[i];
    }
    return NULL;
}

/* The trial has a seat, or takes one. No instance has room for more trials than there are seats. */
static bool take_seat(struct pm_trial *trial, uint64_t heartbeat)
{
    struct pm_trials *trials = trial->owner;
    if (has_seat(trial))
        return true;
    if (free_seat(trials, heartbeat) == NULL || pthread_mutex_trylock(&trials->lock) != 0)
        return false;
    struct pm_trial *_Atomic *seat = free_seat(trials, heartbeat);
    if (seat != NULL && !has_seat(trial))
        atomic_store(seat, trial);
    pthread_mutex_unlock(&trials->lock);
    return seat != NULL;
}

/* It stays awake until it has a seat. What is recorded meanwhile has no part in it, as what was
 * recorded before it woke. */
static void wait_for_seat(struct pm_trial *trial, uint64_t heartbeat)
{
    if (atomic_load_explicit(&trial->since, memory_order_relaxed) == heartbeat)
        return;
    (void)pm_trial_is_of_kind(trial, TRIAL_PASSES);
    atomic_store(&trial->since, heartbeat);
    atomic_store(&trial->used_at, heartbeat);
}

/* ---- where a secondary one is recorded ---- */

/* The use that has begun of the track, or the next one. 0: none may begin, or another thread does
 * it just now, or what was recorded before the trial woke may yet be executed. */
static uint32_t begin(const struct pm_candidate *candidate, struct trial_track *track,
                      uint64_t heartbeat)
{
    struct pm_trial *trial = candidate->trial;
    uint32_t none = 0, use;
    int64_t charged;
    if (heartbeat < atomic_load(&trial->since) + SETTLES ||
        !atomic_compare_exchange_strong(&track->turn, &none, (uint32_t)BUSY))
        return none != (uint32_t)BUSY ? none : 0;
    const bool in_vain = atomic_load(&track->unmeasured) >= MOST_UNMEASURED;
    const bool begins = !in_vain && pm_trial_next_of(trial, track, heartbeat, &use, &charged);
    if (in_vain)
        pm_trial_is_untimed(candidate);
    if (begins) {
        if (is_first_half(use + 1))
            atomic_store(&track->charged, charged);
        atomic_fetch_add(&track->unmeasured, 1);
    }
    const uint32_t turn = begins ? use + 1 : 0;
    atomic_store(&track->turn, turn);
    return turn;
}

bool pm_executed_pass_join(const struct pm_candidate *candidate, struct pm_pass_instance *pass,
                           struct pm_timed *timed)
{
    struct pm_trial *trial = candidate->trial;
    if (atomic_load(&trial->kind) == TRIAL_CALLS || atomic_load(&trial->over))
        return false;
    const uint64_t heartbeat = pm_trials_now(trial->owner), what = pm_random_mix(pass->group) | 1;
    if (!take_seat(trial, heartbeat)) {
        wait_for_seat(trial, heartbeat);
        return false;
    }
    /* Seats were left and taken while it was recorded. */
    if (pass->timed.count == PM_TIMED_MOST) {
        pass->untimed = true;
        return false;
    }
    struct trial_track *track = pm_trial_track_of(trial, what, heartbeat);
    const uint32_t turn = track != NULL ? begin(candidate, track, heartbeat) : 0;
    *timed = turn != 0 ? pm_trial_use_of(trial, track, turn - 1, what)
                       : (struct pm_timed){.trial = trial};
    timed->turn = turn;
    timed->inherited = true;
    return true;
}

void pm_executed_pass_draws(const struct pm_candidate *candidate, struct pm_pass_instance *pass)
{
    pass->untimed |= atomic_load(&candidate->trial->kind) == TRIAL_PASSES;
}

/* ---- where it is executed ---- */

/* What is of it was executed once more, and costs again. */
static void charge_again(struct pm_device *device, struct pm_trial *trial)
{
    const int64_t expected = atomic_load(&trial->cost.expected);
    if (expected > 0)
        pm_budget_return(&device->trials->budget, -expected / 2);
}

/* Whether the use goes on for one more instance, since this one has both sides. */
static bool goes_on(struct trial_track *track, const struct pm_timed *use)
{
    return use->mixed && atomic_load(&track->turn) == use->turn &&
           !atomic_exchange(&track->mixed, true);
}

/* An instance that executes it has ended. Whether it is that one whose turn it is to be timed, of
 * as many as executed the use before: with each pair it is the next one's. */
static bool is_next(struct trial_track *track, const struct pm_timed *use)
{
    const uint32_t number = atomic_fetch_add(&track->instances, 1);
    const uint32_t before = atomic_load(&track->before), first = use->trial->seed & INT32_MAX;
    return number == (first + use->pair) % (before > 1 ? before : 1);
}

/* What executes it has ended, and so the use is over. instance: it could be timed. true: it is to
 * be, and has what was charged. */
static bool end_use(struct pm_device *device, struct pm_timed *use, bool instance)
{
    struct pm_trial *trial = use->trial;
    struct trial_track *track = &trial->tracks[use->track];
    uint32_t turn = use->turn;
    if (turn == 0 || goes_on(track, use))
        return false;
    const bool ends = atomic_compare_exchange_strong(&track->turn, &turn, (uint32_t)BUSY);
    if (ends) {
        atomic_store(&track->mixed, false);
        atomic_store(&track->ended, use->turn);
        if (instance)
            atomic_store(&track->before, atomic_exchange(&track->instances, 0));
    } else if (atomic_load(&track->ended) == use->turn) {
        charge_again(device, trial);
    } else {
        return false;
    }
    const bool timed = instance && is_next(track, use);
    if (timed && is_first_half(use->turn))
        use->charged = atomic_exchange(&track->charged, 0);
    if (ends)
        atomic_store(&track->turn, 0);
    return timed;
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
            (void)end_use(device, &use, false);
        found->mixed = mixed;
        return;
    }
    if (timed->count < PM_TIMED_MOST)
        timed->uses[timed->count++] = use;
    else
        (void)end_use(device, &use, false);
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
    struct pm_pass_instance untimed = {.executes = true};
    const bool takes =
        command != NULL && !command->repeats && (command->pass.inherited || command->pass.executes);
    struct pm_pass_instance *pass = takes ? &command->pass : &untimed;
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_command *secondary = pm_command_of(device->sampling, buffers[i]);
        pass->untimed |= is_untimed(secondary);
        if (secondary == NULL || !secondary->pass.inherited)
            continue;
        const struct pm_pass_instance *executed = &secondary->pass;
        /* Something began in it that must not see a variant, or it executes others. */
        const bool mixed = executed->mixed || executed->place != PM_PLACE_TIMED_PASS;
        for (uint32_t j = 0; j < executed->timed.count; j++) {
            struct pm_timed use = executed->timed.uses[j];
            use.mixed |= mixed;
            merge(device, pass, use);
        }
    }
    for (uint32_t i = 0; i < untimed.timed.count; i++)
        (void)end_use(device, &untimed.timed.uses[i], false);
}

/* One of its uses is timed. Both sides are, where no pair waits for a half that never comes. */
static void was_timed(const struct pm_timed *use)
{
    struct trial_track *track = &use->trial->tracks[use->track];
    const uint32_t side = 1u << use->variant;
    if ((atomic_fetch_or(&track->sides, side) | side) != 3)
        return;
    atomic_store(&track->sides, 0);
    atomic_store(&track->unmeasured, 0);
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
        if (!end_use(command->device, use, true) || !counts || use->mixed ||
            !pm_trial_is_of_kind(use->trial, TRIAL_PASSES))
            continue;
        was_timed(use);
        use->area = pm_random_mix(pass->work + pass->slot) | 1;
        timed.uses[timed.count++] = *use;
    }
    return timed;
}
