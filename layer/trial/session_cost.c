/* What trials over sessions take. sessions.h. */
#include "layer/trial/session_state.h"

#include "base/clock.h"
#include "layer/core/session.h"
#include "layer/shader/candidate.h"
#include "layer/shader/pipeline.h"
#include "layer/trial/pair_list.h"
#include "profile/verdicts.h"
#include <inttypes.h>
#include <time.h>

#define MILLION 1e6

/* Of a session's time, in millionths, that draws with untried variants may take where there are
 * several: by twice as slow ones frames become so much longer. */
enum { MOST_SHARE = 50000 };
/* Days by which what has a turn in the lot was used after, at most, than what was used last. */
enum { UNUSED_DAYS = 7 };
/* What takes so many times as long as the game's own is bound no more. */
#define MUCH_SLOWER 1.4
/* Less than this of one trial is kept when the device is destroyed and not before, as each time all
 * verdicts are written. */
#define LEAST_KEPT PM_SECOND

/* ---- who may begin ---- */

/* All that want a trial. */
struct waiting {
    struct pm_session_lot *lot;
    int64_t now, latest; /* seconds; latest: that one of them was used */
};

static void find_latest(void *user, const struct pm_kept_variant *kept)
{
    struct waiting *waiting = user;
    if (kept->used_at > waiting->latest && kept->used_at <= waiting->now)
        waiting->latest = kept->used_at;
}

/* Of what an older version of the program has kept, or a level that was left, nobody gets a turn
 * that the others miss. */
static void add_to_lot(void *user, const struct pm_kept_variant *kept)
{
    const struct waiting *waiting = user;
    const struct pm_session_half *own = &kept->sessions.own;
    if (kept->used_at > waiting->latest - UNUSED_DAYS * PM_KEPT_DAY)
        pm_session_lot_add(waiting->lot, &kept->key,
                           pm_session_half_waits(own, waiting->now) && own->share > MOST_SHARE);
}

void pm_session_draw_lot(struct pm_session_trials *trials)
{
    const struct pm_device *device = trials->device;
    const struct pm_environment plain = pm_session_device_environment(device);
    const struct pm_environment environment = pm_session_environment(device, &plain);
    struct pm_verdicts *verdicts = pm_session_verdicts(device->instance);
    struct waiting waiting = {.lot = &trials->lot, .now = time(NULL)};
    pm_session_lot_init(&trials->lot, pm_session_seed(device->instance));
    pm_verdicts_each_session(verdicts, &environment, waiting.now, find_latest, &waiting);
    pm_verdicts_each_session(verdicts, &environment, waiting.now, add_to_lot, &waiting);
}

static bool is_large(const struct pm_specialized_shader *shader)
{
    return shader->part.share > MOST_SHARE;
}

bool pm_session_takes_part(const struct pm_session_trials *trials,
                           const struct pm_specialized_shader *shader)
{
    return shader->part.ratio > 0 ||
           pm_session_lot_takes_part(&trials->lot, &shader->key, is_large(shader));
}

/* NULL: it may begin; else why it waits. */
static const char *waits_for(const struct pm_session_trials *trials,
                             const struct pm_specialized_shader *shader)
{
    const struct pm_device *device = trials->device;
    /* Where it samples what the program keeps nobody would know how much longer the session is. */
    if (!pm_sampling_times_kept(device->sampling))
        return "this session samples what is submitted again";
    if (device->instance->config.limits.trial_share >= 1)
        return NULL;
    if (!pm_session_lot_is_tried(&trials->lot, &shader->key, is_large(shader)))
        return "it is another one's turn";
    if (trials->untried > 0 && trials->share + shader->part.share > MOST_SHARE)
        return "another one is tried in this session";
    return pm_budget_owes(trials->budget, pm_now()) ? "trials have taken enough for now" : NULL;
}

enum pm_session_side pm_session_side_of(struct pm_session_trials *trials,
                                        const struct pm_specialized_shader *shader)
{
    const bool proven = shader->part.ratio > 0;
    /* What is proven need not wait, but its original does. */
    if (proven && (!pm_sampling_times_kept(trials->device->sampling) ||
                   pm_budget_owes(trials->budget, pm_now())))
        return PM_SESSION_VARIANT;
    if (shader->session != PM_SESSION_VARIANT || proven)
        return shader->session;
    const char *why = waits_for(trials, shader);
    if (why != NULL) {
        char key[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&shader->key, key);
        pm_log_debug(trials->device->instance->log, "a specialized shader %.12s waits: %s", key,
                     why);
        return shader->part.otherwise;
    }
    trials->untried++;
    trials->share += shader->part.share;
    return PM_SESSION_VARIANT;
}

/* ---- what they take ---- */

void pm_session_counts(struct pm_session_use *use)
{
    atomic_fetch_add_explicit(&use->times, 1, memory_order_relaxed);
}

static uint64_t heartbeat_of(const struct pm_session_trial *trial)
{
    return pm_sampling_trial_heartbeat(trial->owner->device->sampling);
}

void pm_session_begins_share(struct pm_session_trial *trial)
{
    if (trial->since != 0)
        return;
    trial->since = pm_now();
    trial->since_heartbeat = heartbeat_of(trial);
    for (int i = 0; i < PM_SESSION_USES; i++)
        trial->uses[i].before = atomic_load(&trial->uses[i].times);
}

uint32_t pm_session_share(const struct pm_session_trial *trial, const struct pm_session_half *half)
{
    const int64_t passed = trial->since != 0 ? pm_now() - trial->since : 0;
    double took = 0;
    for (int i = 0; i < PM_SESSION_USES; i++) {
        const struct pm_session_use *use = &trial->uses[i];
        took += (double)half->nanoseconds[i] * (atomic_load(&use->times) - use->before);
    }
    if (passed <= 0)
        return 0;
    return took < (double)passed ? (uint32_t)(MILLION * took / (double)passed) : (uint32_t)MILLION;
}

/* Whose frames would be shorter if nothing were tried: those with an untried variant that is
 * slower, and those with the game's own where the variant was found faster. Before it is known, the
 * one is taken to be twice as slow. */
void pm_session_expects(struct pm_session_trial *trial)
{
    const struct pm_session_part *part = &trial->shader->part;
    const double time = (double)part->time;
    double more = 0;
    if (trial->side == PM_SESSION_VARIANT)
        more = part->ratio > 0 ? 0 : time;
    else if (part->ratio > 0 && part->ratio < 1)
        more = time * (1 - part->ratio);
    for (int i = 0; i < PM_SESSION_USES; i++)
        trial->uses[i].more = more;
}

/* By what was submitted: while nothing is, nothing takes longer. Under the lock. */
static void charge(struct pm_session_trial *trial, int64_t now)
{
    const double passed = (double)(heartbeat_of(trial) - trial->done_heartbeat);
    double all = 0;
    for (int i = 0; i < PM_SESSION_USES; i++) {
        const struct pm_session_use *use = &trial->uses[i];
        all += use->more * (atomic_load(&use->times) + use->rate * passed);
    }
    const int64_t charged = (int64_t)all;
    if (charged == trial->charged)
        return;
    pm_budget_charge_session(trial->owner->budget, charged - trial->charged, now);
    trial->charged = charged;
}

static void charge_all(struct pm_session_trials *trials)
{
    const int64_t now = pm_now();
    pthread_mutex_lock(&trials->lock);
    for (uint32_t i = 0; i < trials->count; i++)
        charge(trials->trials[i], now);
    pthread_mutex_unlock(&trials->lock);
}

/* What is to be kept of what the session took longer by what nothing proves, where it is so much.
 * Under the lock. */
static bool note_charged(struct pm_session_trial *trial, struct pm_verdicts *verdicts,
                         int64_t least)
{
    const struct pm_environment environment =
        pm_session_environment(trial->owner->device, &trial->named.environment);
    const int64_t more = trial->charged - trial->kept;
    if (trial->side != PM_SESSION_VARIANT || (more < least && more > -least))
        return false;
    pm_verdicts_charge(verdicts, &trial->named.key, &trial->named.original, &environment, more,
                       time(NULL));
    trial->kept = trial->charged;
    return true;
}

/* Waits for the disk. */
static void keep_charged(struct pm_session_trials *trials, int64_t least)
{
    struct pm_instance *instance = trials->device->instance;
    struct pm_verdicts *verdicts = pm_session_verdicts(instance);
    struct pm_error error = {0};
    bool any = false;
    pthread_mutex_lock(&trials->lock);
    for (uint32_t i = 0; i < trials->count; i++)
        any |= note_charged(trials->trials[i], verdicts, least);
    pthread_mutex_unlock(&trials->lock);
    if (!any)
        return;
    trials->kept_at = pm_now();
    if (pm_verdicts_save(verdicts, &error))
        return;
    if (!trials->keep_failed)
        pm_log_info(instance->log, "what sessions took is not kept: %s", error.message);
    trials->keep_failed = true;
}

void pm_session_trials_each_second(struct pm_session_trials *trials)
{
    if (trials == NULL || atomic_load(&trials->count) == 0)
        return;
    charge_all(trials);
    if (pm_now() >= trials->kept_at + PM_KEEP_NANOSECONDS)
        keep_charged(trials, LEAST_KEPT);
}

void pm_session_charge_last(struct pm_session_trials *trials)
{
    charge_all(trials);
    keep_charged(trials, 1);
}

/* ---- what is much slower ---- */

/* Under the lock. */
static void withdraw(struct pm_session_trial *trial)
{
    trial->left = true;
    for (int i = 0; i < PM_SESSION_USES; i++)
        trial->uses[i].rate = 0;
    for (struct pm_candidate *c = trial->first; c != NULL; c = c->next)
        c->withdraw(c);
}

static void log_withdrawn(const struct pm_session_trial *trial, double ratio)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&trial->named.key, key);
    pm_log_info(trial->owner->device->instance->log,
                "a specialized shader %.12s takes %.0f %% of the original's time: it is bound no "
                "more in this session",
                key, 100 * ratio);
}

/* Of what is recorded anew nothing is counted from now on: it goes on as often. Under the lock. */
static void foresee(struct pm_session_trial *trial)
{
    trial->done_heartbeat = heartbeat_of(trial);
    const uint64_t passed = trial->done_heartbeat - trial->since_heartbeat;
    for (int i = 0; i < PM_SESSION_USES; i++) {
        struct pm_session_use *use = &trial->uses[i];
        const uint32_t times = atomic_load(&use->times) - use->before;
        use->rate = atomic_load(&use->slot) != 0 && passed > 0 ? (double)times / (double)passed : 0;
    }
}

/* The part of what the uses take by which they are longer than without the trial. ratio 0: it is
 * not known. */
static double longer_by(const struct pm_session_trial *trial, double ratio)
{
    const double proven = trial->shader->part.ratio;
    /* Of what earlier sessions proved it is no trial that makes it slower. */
    if (trial->side == PM_SESSION_VARIANT)
        return proven > 0 ? 0 : ratio > 0 ? 1 - 1 / ratio : 0.5;
    return proven > 0 && proven < 1 ? 1 - proven : 0;
}

void pm_session_weigh(struct pm_session_trial *trial, const struct pm_session_half *half,
                      const struct pm_session_half *own)
{
    const bool variant = trial->side == PM_SESSION_VARIANT;
    const double ratio = variant && own->there ? pm_session_ratio(half, own) : 0;
    pthread_mutex_lock(&trial->owner->lock);
    foresee(trial);
    /* Of those that were not timed it is known what the original takes, on average. */
    for (int i = 0; i < PM_SESSION_USES; i++)
        if (half->nanoseconds[i] > 0)
            trial->uses[i].more = longer_by(trial, ratio) * (double)half->nanoseconds[i];
        else if (ratio > 0)
            trial->uses[i].more =
                longer_by(trial, ratio) * ratio * (double)trial->shader->part.time;
    if (ratio >= MUCH_SLOWER)
        withdraw(trial);
    charge(trial, pm_now());
    pthread_mutex_unlock(&trial->owner->lock);
    if (ratio >= MUCH_SLOWER)
        log_withdrawn(trial, ratio);
}

/* ---- who is bound ---- */

/* It is about to be destroyed. */
static void forget(struct pm_candidate *candidate)
{
    struct pm_session_trials *trials = candidate->session->owner;
    pthread_mutex_lock(&trials->lock);
    struct pm_candidate **link = &candidate->session->first;
    while (*link != candidate)
        link = &(*link)->next;
    *link = candidate->next;
    pthread_mutex_unlock(&trials->lock);
}

void pm_session_trials_bound(struct pm_session_trials *trials, struct pm_pipeline *pipeline,
                             struct pm_candidate *candidate)
{
    struct pm_session_trial *trial = atomic_load(&pipeline->session);
    pthread_mutex_lock(&trials->lock);
    if (trial->left) {
        candidate->withdraw(candidate);
    } else {
        candidate->session = trial;
        candidate->gone = forget;
        candidate->next = trial->first;
        trial->first = candidate;
    }
    pthread_mutex_unlock(&trials->lock);
}
