/* Which side is next, and what the pairs say. trial.h. */
#include "layer/trial/trial.h"
#include "layer/trial/trial_state.h"

#include "base/clock.h"
#include "base/halving.h"
#include "base/random.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum {
    CALLS_A_FRAME = 8,            /* of a pipeline */
    LONGEST_GAP = 9 * TRIAL_LOOK, /* heartbeats between the halves of a pair: of what is used more
                                     rarely the trial has fallen asleep */
};

/* ---- the next use ---- */

bool pm_trial_is_of_kind(struct pm_trial *trial, uint32_t kind)
{
    uint32_t found = TRIAL_UNUSED;
    return atomic_compare_exchange_strong(&trial->kind, &found, kind) || found == kind;
}

/* The use that follows is a pair's first half. */
static void begin_pair(struct trial_track *track)
{
    uint32_t next = atomic_load(&track->next);
    if (next % 2 != 0)
        atomic_compare_exchange_strong(&track->next, &next, next + 1);
}

void pm_trial_begin_pairs(struct pm_trial *trial)
{
    for (uint32_t i = 0; i < TRIAL_TRACKS; i++) {
        struct trial_track *track = &trial->tracks[i];
        begin_pair(track);
        atomic_store(&track->from, atomic_load(&track->next) / 2);
    }
}

uint32_t pm_trial_uses(const struct pm_trial *trial)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < TRIAL_TRACKS; i++)
        count += atomic_load(&trial->tracks[i].seen);
    return count;
}

static struct trial_track *take_over(struct trial_track *track, uint64_t what)
{
    begin_pair(track);
    atomic_store(&track->turns, 0);
    atomic_store(&track->counted, 0);
    atomic_store(&track->most, 0);
    atomic_store(&track->before, 0);
    atomic_store(&track->unmeasured, 0);
    atomic_store(&track->sides, 0);
    atomic_store(&track->what, what);
    return track;
}

/* What then comes once more has taken over one that was not used lately, each in turn. What comes
 * only once, as each size of a dispatch that is never of the same, would begin pairs that never
 * end. */
struct trial_track *pm_trial_track_of(struct pm_trial *trial, uint64_t what, uint64_t heartbeat)
{
    for (uint32_t i = 0; i < TRIAL_TRACKS; i++) {
        struct trial_track *track = &trial->tracks[i];
        const uint64_t has = atomic_load_explicit(&track->what, memory_order_relaxed);
        if (has == what)
            return track;
        if (has == 0)
            return take_over(track, what);
    }
    const uint32_t first = atomic_fetch_add_explicit(&trial->taken_over, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < TRIAL_TRACKS; i++) {
        struct trial_track *track = &trial->tracks[(first + i) % TRIAL_TRACKS];
        if (heartbeat > atomic_load(&track->used_at) + TRIAL_LOOK) {
            take_over(track, what);
            break;
        }
    }
    return NULL;
}

/* What a pair is charged that begins; below 0: none may. */
static int64_t charge_pair(struct pm_trial *trial, uint64_t heartbeat)
{
    struct pm_glance *glance = &trial->glance;
    if (!pm_glance_begin_pair(glance))
        return PM_BUDGET_HELD;
    if (!pm_glance_is_on(glance) &&
        atomic_load_explicit(&trial->owner->glances_first, memory_order_relaxed)) {
        atomic_store_explicit(&trial->used_at, heartbeat, memory_order_relaxed);
        return PM_BUDGET_HELD;
    }
    const int64_t prepaid = atomic_exchange(&glance->prepaid, 0);
    const int64_t charged =
        prepaid > 0 ? prepaid : pm_budget_begin(&trial->owner->budget, &trial->cost, pm_now());
    const bool glanced = pm_glance_is_on(glance);
    if (glanced && charged >= 0)
        pm_glance_charge_pair(glance, prepaid == 0 ? charged : 0);
    if (glanced && charged < 0)
        pm_glance_deny_pair(glance, charged == PM_BUDGET_SPENT);
    if (!glanced || charged != PM_BUDGET_SPENT)
        atomic_store_explicit(&trial->used_at, heartbeat, memory_order_relaxed);
    return charged;
}

struct pm_timed pm_trial_use_of(struct pm_trial *trial, const struct trial_track *track,
                                uint32_t use, uint64_t what)
{
    const uint32_t index = (uint32_t)(track - trial->tracks);
    const uint64_t order = pm_random_mix(trial->seed + ((uint64_t)index << 32 | use / 2));
    return (struct pm_timed){.trial = trial,
                             .track = index,
                             .pair = use / 2,
                             .variant = ((order ^ use) & 1) != 0,
                             .what = what};
}

bool pm_trial_next_of(struct pm_trial *trial, struct trial_track *track, uint64_t heartbeat,
                      uint32_t *use, int64_t *charge)
{
    if (!atomic_load_explicit(&track->seen, memory_order_relaxed))
        atomic_store_explicit(&track->seen, true, memory_order_relaxed);
    /* The scene may be another. */
    if (heartbeat > atomic_load_explicit(&track->used_at, memory_order_relaxed) + LONGEST_GAP)
        begin_pair(track);
    int64_t charged = 0;
    if (atomic_load(&track->next) % 2 == 0) {
        charged = charge_pair(trial, heartbeat);
        if (charged < 0)
            return false;
    } else {
        pm_glance_second_half(&trial->glance);
    }
    *use = atomic_fetch_add(&track->next, 1);
    *charge = charged;
    atomic_store_explicit(&track->used_at, heartbeat, memory_order_relaxed);
    atomic_store_explicit(&trial->used_at, heartbeat, memory_order_relaxed);
    atomic_store_explicit(&trial->owner->used_at, heartbeat, memory_order_relaxed);
    return true;
}

static bool next(struct pm_trial *trial, uint64_t what, struct pm_timed *timed)
{
    const uint64_t heartbeat = pm_trials_now(trial->owner);
    struct trial_track *track =
        atomic_load(&trial->over) ? NULL : pm_trial_track_of(trial, what, heartbeat);
    uint32_t use;
    int64_t charged;
    if (track == NULL || !pm_trial_next_of(trial, track, heartbeat, &use, &charged))
        return false;
    *timed = pm_trial_use_of(trial, track, use, what);
    timed->charged = charged;
    return true;
}

bool pm_trial_next_call(struct pm_candidate *candidate, uint64_t work, struct pm_timed *timed)
{
    struct pm_trial *trial = candidate->trial;
    if (!pm_trial_is_of_kind(trial, TRIAL_CALLS))
        return false;
    const uint64_t heartbeat = pm_trials_now(trial->owner);
    if (atomic_exchange(&candidate->frame, heartbeat + 1) != heartbeat + 1)
        atomic_store(&candidate->uses, 0);
    const uint32_t number = atomic_fetch_add(&candidate->uses, 1);
    return number < CALLS_A_FRAME &&
           next(trial, pm_random_mix((uintptr_t)candidate + work) + number, timed);
}

bool pm_trial_next_pass(const struct pm_candidate *candidate, uint32_t slot, struct pm_timed *timed)
{
    return pm_trial_is_of_kind(candidate->trial, TRIAL_PASSES) &&
           next(candidate->trial, slot + 1u, timed);
}

uint32_t pm_trials_pass(struct pm_trials *trials, uint64_t what, bool *worth)
{
    return pm_pass_table_begin(&trials->passes, what, pm_trials_now(trials), worth);
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
    trial->pairs = trial->pairs_seen.count;
    for (uint32_t i = 0; i < trial->pairs_seen.count; i++) {
        const double *time = trial->pairs_seen.time[i];
        const double ratio = log(time[1] / time[0]);
        if (ratio < lowest || ratio > highest)
            continue;
        trial->sums[0] += time[0];
        trial->sums[1] += time[1];
        trial->summed++;
    }
}

double *pm_trial_log_ratios(const struct pm_trial *trial)
{
    double *ratios =
        trial->pairs_seen.count > 0 ? malloc(trial->pairs_seen.count * sizeof(*ratios)) : NULL;
    for (uint32_t i = 0; ratios != NULL && i < trial->pairs_seen.count; i++)
        ratios[i] = log(trial->pairs_seen.time[i][1] / trial->pairs_seen.time[i][0]);
    return ratios;
}

static enum pm_outcome judge(struct pm_trial *trial, struct pm_paired *paired)
{
    double *ratios = pm_trial_log_ratios(trial);
    if (ratios == NULL)
        return PM_GOES_ON;
    const enum pm_outcome outcome =
        pm_trial_judge(ratios, trial->pairs_seen.count, TRIAL_MOST_PAIRS,
                       atomic_load(&trial->kind) == TRIAL_PASSES, paired);
    const uint32_t cut = (uint32_t)(PM_TRIAL_TRIM * trial->pairs_seen.count);
    if (outcome != PM_GOES_ON) {
        sum_kept(trial, ratios[cut], ratios[trial->pairs_seen.count - 1 - cut]);
        trial->half_width = (paired->high - paired->low) / 2;
    }
    free(ratios);
    return outcome;
}

static const char *const words[] = {[PM_FASTER] = "faster: used",
                                    [PM_SLOWER] = "dropped",
                                    [PM_UNDECIDED] = "undecided: tried again later"};

/* Without the lock: a log takes as long as a file does. The poller's thread. */
static void log_outcome(const struct pm_trial *trial, enum pm_outcome outcome,
                        const struct pm_paired *paired)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->key, key);
    pm_log_info(trial->owner->device->instance->log,
                "tried a specialized shader %.12s: %.1f %% of the time (%.1f to %.1f, %" PRIu32
                " pairs%s), %s%s",
                key, 100 * paired->ratio, 100 * paired->low, 100 * paired->high,
                trial->pairs_seen.count,
                atomic_load(&trial->kind) == TRIAL_PASSES ? " of render passes" : "",
                words[outcome], trial->of);
}

void pm_trial_tell(const struct pm_trial *trial, bool faster, struct pm_trial_said *said)
{
    const uint32_t most = sizeof said->what / sizeof *said->what;
    for (struct pm_candidate *c = trial->first; c != NULL; c = c->next) {
        const char *what = c->verdict(c, faster);
        uint32_t i = 0;
        while (what != NULL && i < most && said->what[i] != NULL && said->what[i] != what)
            i++;
        if (what == NULL || i == most)
            continue;
        said->what[i] = what;
        said->times[i]++;
    }
}

/* Without the lock. */
static void log_said(const struct pm_trial *trial, const struct pm_trial_said *said)
{
    for (uint32_t i = 0; i < sizeof said->what / sizeof *said->what; i++)
        for (uint32_t n = 0; n < said->times[i]; n++)
            pm_candidate_say(trial->owner->device, &trial->game, trial->recipe, said->what[i]);
}

/* Under the lock. */
static void finish(struct pm_trial *trial, enum pm_outcome outcome, const struct pm_paired *paired,
                   struct pm_trial_said *said)
{
    struct pm_trials *trials = trial->owner;
    atomic_store(&trial->over, true);
    trial->outcome = outcome;
    trial->again = false;
    trial->tried_at = pm_trials_now(trials);
    pm_glance_was_tried(&trial->glance);
    trial->scenes |= pm_trials_scene(trials);
    trial->ratio = paired->ratio;
    trial->reported = false;
    trials->unreported = true;
    pm_trial_trace(trial, false, words[outcome]);
    pm_trial_set_awake(trial, false);
    if (outcome != PM_UNDECIDED)
        pm_trial_tell(trial, outcome == PM_FASTER, said);
    for (struct pm_candidate *c = trial->first; outcome == PM_UNDECIDED && c != NULL; c = c->next)
        if (c->undecided != NULL)
            c->undecided(c);
}

/* Keeps the outcome for the sessions to come. Waits for the disk. */
static void keep(const struct pm_trial *trial, enum pm_outcome outcome,
                 const struct pm_paired *paired)
{
    const struct pm_kept_variant named = {
        .key = trial->key, .original = trial->original, .environment = trial->environment};
    pm_trial_keep(trial->owner->device, &named,
                  atomic_load(&trial->kind) == TRIAL_PASSES ? PM_TIMED_PASSES : PM_TIMED_CALLS,
                  outcome, paired, trial->pairs);
}

/* Under the lock. */
static enum pm_trial_stands what_stands(const struct pm_trial *trial)
{
    if (!trial->again)
        return PM_STANDS_OWN;
    for (const struct pm_candidate *c = trial->first; c != NULL; c = c->next)
        if (atomic_load(&c->surpassed))
            return PM_STANDS_FASTER;
    return PM_STANDS_VARIANT;
}

/* What a pair took, of what the track is of now. Under the lock. */
static void settle(struct pm_trial *trial, struct trial_track *track, const struct trial_pair *pair)
{
    const uint64_t what = atomic_load(&track->what);
    if (track->costs != what) {
        track->costs = what;
        track->cost = (struct pm_use_cost){0};
    }
    pm_budget_settle(&trial->owner->budget, &trial->cost, &track->cost, pair->time,
                     what_stands(trial), pair->charged);
}

/* Of those that take part, one that is to hear what was measured; NULL: there is none. Under the
 * lock. */
static struct pm_candidate *listener_of(const struct pm_trial *trial)
{
    struct pm_candidate *candidate = trial->first;
    while (candidate != NULL && candidate->measured == NULL)
        candidate = candidate->next;
    return candidate;
}

/* One more pair of a trial that only measures. The first of a track is of a variant that was just
 * built: drivers that compile when something is used first (lavapipe) do so then. */
static void measure(struct pm_trial *trial, const struct trial_track *track,
                    const struct trial_pair *pair)
{
    struct pm_trials *trials = trial->owner;
    pthread_mutex_lock(&trials->lock);
    const bool goes_on = atomic_load(&trial->measures) && !atomic_load(&trial->over);
    struct pm_candidate *candidate = goes_on ? listener_of(trial) : NULL;
    if (goes_on && pair->number >= track->warm_from)
        pm_anytime_add(&trial->seen, log(pair->time[1] / pair->time[0]));
    if (candidate != NULL &&
        (trial->seen.count >= trial->wanted || pm_halving_is_hopeless(&trial->seen))) {
        atomic_store(&trial->over, true);
        pm_trial_trace(trial, false, "measured");
        pm_anytime_merge(&trial->untold, &trial->seen);
        trials->unreported = true;
        pm_trial_set_awake(trial, false);
        candidate->measured(candidate, &trial->seen);
    }
    pthread_mutex_unlock(&trials->lock);
}

/* Of a use whose turn is not known: a first half was charged. */
static bool is_second_half(const struct pm_timed *timed)
{
    return timed->turn != 0 ? timed->turn % 2 == 0 : timed->charged == 0;
}

/* Takes one half of a pair. Whether it is the trial's now and whole: a heartbeat may have begun or
 * ended a glance meanwhile. again: what is used already is judged by what it takes now. */
static bool take_half(struct pm_trial *trial, struct trial_track *track, struct trial_pair *pair,
                      const struct pm_timed *timed, bool *again)
{
    pthread_mutex_lock(&trial->owner->lock);
    const bool counts = !atomic_load(&trial->over) && timed->pair >= atomic_load(&track->from);
    const bool whole = counts && pair->have == 3;
    const bool glanced = counts && pm_glance_is_on(&trial->glance);
    *again = trial->again;
    trial->paired |= whole;
    if (whole)
        settle(trial, track, pair);
    if (whole && glanced)
        pm_trial_take_glance(trial, pair);
    if (!whole && glanced && timed->inherited && is_second_half(timed))
        pm_trial_take_odd_glance(trial);
    pthread_mutex_unlock(&trial->owner->lock);
    return whole && !glanced;
}

struct pm_pair_owner pm_trial_owner_of_pairs(const struct pm_trial *trial)
{
    return (struct pm_pair_owner){
        .device = trial->owner->device,
        .store = trial->owner->pairs,
        .key = &trial->key,
        .original = &trial->original,
        .environment = &trial->environment,
        .kind = atomic_load(&trial->kind) == TRIAL_PASSES ? PM_TIMED_PASSES : PM_TIMED_CALLS,
    };
}

static struct trial_pair *pair_of_number(struct trial_track *track, const struct pm_timed *timed)
{
    struct trial_pair *pair = &track->pending[timed->pair % TRIAL_PENDING];
    if (pair->number != timed->pair || pair->size != 0)
        *pair = (struct trial_pair){.number = timed->pair};
    return pair;
}

/* Whether a half waits for another one, and not for too long. */
static bool waits(const struct trial_track *track, const struct trial_pair *pair, uint64_t now)
{
    return (pair->have == 1 || pair->have == 2) && pair->number >= atomic_load(&track->from) &&
           now <= pair->at + LONGEST_GAP;
}

/* Of a use whose size nobody knew when its side was chosen: the half of that size that waits.
 * Which of two comes first is as likely on either side. */
static struct trial_pair *pair_of_size(struct trial_track *track, const struct pm_timed *timed,
                                       uint64_t now)
{
    const uint64_t size = pm_random_mix(timed->what + timed->area) | 1;
    struct trial_pair *found = NULL, *oldest = &track->pending[0];
    for (uint32_t i = 0; i < TRIAL_PENDING && found == NULL; i++) {
        struct trial_pair *pair = &track->pending[i];
        if (!waits(track, pair, now))
            pair->at = 0;
        else if (pair->size == size)
            found = pair;
        if (pair->at < oldest->at)
            oldest = pair;
    }
    /* Of one side the latest waits. */
    if (found != NULL && found->have != 1u << timed->variant)
        return found;
    found = found != NULL ? found : oldest;
    *found = (struct trial_pair){.number = timed->pair, .size = size, .at = now};
    return found;
}

void pm_trials_take(void *user, const struct pm_timed *timed, double nanoseconds)
{
    struct pm_trials *trials = user;
    struct pm_trial *trial = timed->trial;
    if (atomic_load(&trial->over) || pm_sampling_is_paused(trials->device->sampling))
        return;
    struct trial_track *track = &trial->tracks[timed->track];
    if (timed->pair < atomic_load(&track->from))
        return;
    /* What nobody knows the size of may be of any. */
    if (timed->inherited && timed->area == 0)
        return;
    struct trial_pair *pair = timed->inherited ? pair_of_size(track, timed, pm_trials_now(trials))
                                               : pair_of_number(track, timed);
    pair->time[timed->variant] = nanoseconds;
    pair->charged += timed->charged;
    pair->have |= 1u << timed->variant;
    if (pair->have != 3 && !timed->inherited)
        return;
    bool again;
    if (!take_half(trial, track, pair, timed, &again))
        return;
    if (atomic_load(&trial->measures)) {
        measure(trial, track, pair);
        return;
    }
    const struct pm_pair_owner owner = pm_trial_owner_of_pairs(trial);
    if (!again)
        pm_pair_list_recall(&trial->pairs_seen, &owner);
    if (!pm_pair_list_add(&trial->pairs_seen, pair->time))
        return;
    struct pm_paired paired;
    const enum pm_outcome outcome = judge(trial, &paired);
    if (outcome == PM_GOES_ON) {
        if (!again)
            pm_pair_list_keep(&trial->pairs_seen, &owner, false);
        return;
    }
    /* `again` does not change while it is not over and not glanced at. */
    const bool stays = again && outcome == PM_UNDECIDED;
    if (!stays)
        log_outcome(trial, outcome, &paired);
    struct pm_trial_said said = {0};
    pthread_mutex_lock(&trials->lock);
    if (stays)
        pm_trial_leave(trial, &said);
    else
        finish(trial, outcome, &paired, &said);
    pthread_mutex_unlock(&trials->lock);
    log_said(trial, &said);
    if (!stays)
        keep(trial, outcome, &paired);
    /* The outcome is all that is kept, while a pipeline has the shader. */
    pm_pair_list_clear(&trial->pairs_seen, &owner);
}
