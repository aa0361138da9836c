/* What trials over sessions take. sessions.h. */
#include "layer/trial/session_state.h"

#include "base/clock.h"
#include "layer/shader/candidate.h"
#include "layer/shader/pipeline.h"
#include "profile/verdicts_pairs.h"
#include <inttypes.h>

#define MILLION 1e6

/* Of a session's time, in millionths, that draws with untried variants may take where there are
 * several: by twice as slow ones frames become so much longer. */
enum { MOST_SHARE = 50000 };
/* What takes so many times as long as the game's own is bound no more. */
#define MUCH_SLOWER 1.4

/* ---- who may begin ---- */

static bool may_begin(const struct pm_session_trials *trials,
                      const struct pm_specialized_shader *shader)
{
    const struct pm_device *device = trials->device;
    if (device->instance->config.limits.trial_share >= 1)
        return true;
    const bool alone = trials->untried == 0;
    return (alone || trials->share + shader->part.share <= MOST_SHARE) &&
           !pm_budget_owes(trials->budget, pm_now());
}

enum pm_session_side pm_session_side_of(struct pm_session_trials *trials,
                                        const struct pm_specialized_shader *shader)
{
    const bool proven = shader->part.ratio > 0;
    /* Where it samples what the program keeps nobody would know how much longer the session is. */
    const bool timed = pm_sampling_times_kept(trials->device->sampling);
    /* What is proven need not wait, but its original does. */
    if (proven && (!timed || pm_budget_owes(trials->budget, pm_now())))
        return PM_SESSION_VARIANT;
    if (shader->session != PM_SESSION_VARIANT || proven)
        return shader->session;
    if (!timed || !may_begin(trials, shader)) {
        char key[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&shader->key, key);
        pm_log_debug(trials->device->instance->log, "a specialized shader %.12s waits: %s", key,
                     !timed                ? "this session samples what is submitted again"
                     : trials->untried > 0 ? "another one is tried in this session"
                                           : "trials have taken enough for now");
        return shader->part.otherwise;
    }
    trials->untried++;
    trials->share += shader->part.share;
    return PM_SESSION_VARIANT;
}

/* ---- what they take ---- */

void pm_session_counts(struct pm_session_use *use)
{
    struct pm_session_trial *trial = use->trial;
    int64_t none = 0;
    if (atomic_load_explicit(&trial->done, memory_order_relaxed))
        return;
    atomic_fetch_add_explicit(&use->times, 1, memory_order_relaxed);
    if (atomic_load_explicit(&trial->from, memory_order_relaxed) == 0)
        atomic_compare_exchange_strong(&trial->from, &none, pm_now());
}

void pm_session_begins_share(struct pm_session_trial *trial)
{
    if (trial->since != 0)
        return;
    trial->since = pm_now();
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
double pm_session_expected(const struct pm_session_trial *trial)
{
    const struct pm_session_part *part = &trial->shader->part;
    const double share = part->share / MILLION;
    if (trial->side == PM_SESSION_VARIANT)
        return part->ratio > 0 ? 0 : share / (1 + share);
    return part->ratio > 0 && part->ratio < 1 ? share * (1 - part->ratio) : 0;
}

/* Under the lock. */
static void charge(struct pm_session_trial *trial, int64_t now)
{
    const int64_t from = atomic_load(&trial->from);
    const int64_t all = from != 0 && now > from ? (int64_t)(trial->more * (double)(now - from)) : 0;
    if (all == trial->charged)
        return;
    pm_budget_charge_session(trial->owner->budget, all - trial->charged, now);
    trial->charged = all;
}

void pm_session_trials_each_second(struct pm_session_trials *trials)
{
    if (trials == NULL || atomic_load(&trials->count) == 0)
        return;
    const int64_t now = pm_now();
    pthread_mutex_lock(&trials->lock);
    for (uint32_t i = 0; i < trials->count; i++)
        charge(trials->trials[i], now);
    pthread_mutex_unlock(&trials->lock);
}

/* ---- what is much slower ---- */

/* Under the lock. */
static void withdraw(struct pm_session_trial *trial)
{
    trial->left = true;
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

void pm_session_weigh(struct pm_session_trial *trial, const struct pm_session_half *half,
                      const struct pm_session_half *own)
{
    const bool variant = trial->side == PM_SESSION_VARIANT;
    const double ratio = variant && own->there ? pm_session_ratio(half, own) : 0;
    const double share = half->share / MILLION, proven = trial->shader->part.ratio;
    pthread_mutex_lock(&trial->owner->lock);
    /* Of what earlier sessions proved it is no trial that makes it slower. */
    if (variant && ratio > 0)
        trial->more = proven > 0 ? 0 : share * (1 - 1 / ratio);
    else if (!variant && trial->more > 0)
        trial->more = share * (1 - proven);
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
