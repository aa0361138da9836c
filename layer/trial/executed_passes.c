#include "layer/trial/executed_passes.h"

#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"

enum {
    BUSY = -1,            /* of a track's turn: a thread is about to begin a use, or to end one */
    MOST_UNMEASURED = 64, /* uses */
    SETTLES = 2,          /* heartbeats until what was recorded before a trial woke is executed */
    FORGETS = 4,          /* pairs until half of the instances that were missing are forgotten */
};

/* Of a track's `turns`: the use that has begun, beside the latest that is over. */
static uint32_t begun(uint64_t turns)
{
    return (uint32_t)turns;
}

static uint32_t ended(uint64_t turns)
{
    return (uint32_t)(turns >> 32);
}

static uint64_t turns_of(uint32_t begun, uint32_t ended)
{
    return (uint64_t)ended << 32 | begun;
}

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

/* Both sides of it were not timed for so long that no use begins. */
static bool is_given_up(const struct trial_track *track)
{
    return atomic_load(&track->unmeasured) >= MOST_UNMEASURED;
}

/* The use that has begun of the track, or the next one. 0: none may begin, or another thread does
 * it just now, or what was recorded before the trial woke may yet be executed. */
static uint32_t begin(const struct pm_candidate *candidate, struct trial_track *track,
                      uint64_t heartbeat)
{
    struct pm_trial *trial = candidate->trial;
    uint64_t turns = atomic_load(&track->turns);
    uint32_t use;
    int64_t charged;
    if (heartbeat < atomic_load(&trial->since) + SETTLES)
        return 0;
    do
        if (begun(turns) != 0)
            return begun(turns) != (uint32_t)BUSY ? begun(turns) : 0;
    while (!atomic_compare_exchange_weak(&track->turns, &turns,
                                         turns_of((uint32_t)BUSY, ended(turns))));
    const bool in_vain = is_given_up(track);
    const bool begins = !in_vain && pm_trial_next_of(trial, track, heartbeat, &use, &charged);
    if (in_vain)
        pm_trial_is_untimed(candidate);
    if (begins) {
        if (is_first_half(use + 1))
            atomic_store(&track->charged, charged);
        atomic_fetch_add(&track->unmeasured, 1);
    }
    const uint32_t turn = begins ? use + 1 : 0;
    atomic_store(&track->turns, turns_of(turn, ended(turns)));
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
    if (track != NULL)
        timed->track = (uint32_t)(track - trial->tracks);
    timed->awaited = track == NULL || !is_given_up(track);
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
    return use->mixed && begun(atomic_load(&track->turns)) == use->turn &&
           atomic_exchange(&track->mixed, use->turn) != use->turn;
}

/* Of so many instances the one that is timed in a pair. */
static uint32_t place_in(const struct pm_trial *trial, uint32_t pair, uint32_t instances)
{
    const uint32_t first = trial->seed & INT32_MAX;
    return (first + pair) % (instances > 1 ? instances : 1);
}

/* Of the uses before this one the latest was executed in so many instances. What comes only in some
 * frames has its turn as well, and both halves of a pair are of as many. Where the one whose turn
 * it was did not come, as once there were many, fewer are taken to come at once. */
static void note_instances(struct trial_track *track, const struct pm_timed *use,
                           uint32_t instances)
{
    const uint32_t most =
        instances > atomic_load(&track->most) ? instances : atomic_load(&track->most);
    uint32_t before = atomic_load(&track->before);
    atomic_store(&track->most, is_first_half(use->turn) ? 0 : most);
    if (!is_first_half(use->turn))
        return;
    if (most > before)
        before = most;
    else if (use->turn / 2 % FORGETS == 0 || place_in(use->trial, use->pair - 1, before) >= most)
        before = (before + most) / 2;
    atomic_store(&track->before, before);
}

/* One more instance that executes the use; its number is among those, from 0 on. false: one of a
 * later use was counted. */
static bool count_instance(struct trial_track *track, const struct pm_timed *use, uint32_t *number)
{
    const uint32_t turn = use->turn;
    uint64_t counted = atomic_load(&track->counted), next;
    bool same;
    do {
        const uint32_t of = (uint32_t)(counted >> 32);
        if (of != 0 && (int32_t)(turn - of) < 0)
            return false;
        same = of == turn;
        next = same ? counted + 1 : (uint64_t)turn << 32 | 1;
    } while (!atomic_compare_exchange_weak(&track->counted, &counted, next));
    *number = same ? (uint32_t)counted : 0;
    if (!same)
        note_instances(track, use, (uint32_t)counted);
    return true;
}

/* An instance that executes it has ended. Whether it is that one whose turn it is to be timed: with
 * each pair it is the next one's. */
static bool is_next(struct trial_track *track, const struct pm_timed *use)
{
    uint32_t number;
    if (!count_instance(track, use, &number))
        return false;
    return number == place_in(use->trial, use->pair, atomic_load(&track->before));
}

/* What executes it has ended, and so the use is over, in one step. instance: it could be timed.
 * true: it is to be, and has what was charged. */
static bool end_use(struct pm_device *device, struct pm_timed *use, bool instance)
{
    struct pm_trial *trial = use->trial;
    struct trial_track *track = &trial->tracks[use->track];
    if (use->turn == 0 || goes_on(track, use))
        return false;
    uint64_t turns = atomic_load(&track->turns);
    while (begun(turns) == use->turn &&
           !atomic_compare_exchange_weak(&track->turns, &turns, turns_of(0, use->turn)))
        ;
    const bool ends = begun(turns) == use->turn;
    if (!ends && ended(turns) != use->turn)
        return false;
    if (!ends)
        charge_again(device, trial);
    const bool timed = instance && is_next(track, use);
    if (timed && is_first_half(use->turn))
        use->charged = atomic_exchange(&track->charged, 0);
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
        const bool awaited = found->awaited || use.awaited;
        /* The latest, as turns are counted: they wrap. Of two tracks one is over. */
        if (found->turn == 0 ||
            (found->track == use.track && (int32_t)(use.turn - found->turn) > 0))
            *found = use;
        else if (found->track != use.track)
            (void)end_use(device, &use, false);
        found->mixed = mixed;
        found->awaited = awaited;
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
    /* What was worth it and is sampled now may be timed in the next frame. */
    pass->worth = pass->untimed && pass->started;
    const bool counts = pass->started && !pass->unknown && !pass->untimed &&
                        !pm_sampling_is_paused(command->device->sampling);
    for (uint32_t i = 0; i < pass->timed.count; i++) {
        struct pm_timed *use = &pass->timed.uses[i];
        pass->worth |= use->awaited;
        if (!end_use(command->device, use, true) || !counts || use->mixed ||
            !pm_trial_is_of_kind(use->trial, TRIAL_PASSES))
            continue;
        was_timed(use);
        use->area = pm_random_mix(pass->work + pass->slot) | 1;
        timed.uses[timed.count++] = *use;
    }
    return timed;
}
