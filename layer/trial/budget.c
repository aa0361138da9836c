#include "layer/trial/budget.h"

#include <math.h>
#include <stdatomic.h>

/* Of a timed use: two timestamps, and a pipeline that is bound for it. */
#define USE 5000
/* A frame, before some have passed, and at most: one that takes longer is a loading screen. */
#define FIRST_FRAME INT64_C(2000000)
#define LONGEST_FRAME INT64_C(50000000)
/* A trial that was refused asks again at least so often. */
#define LONGEST_REST (PM_SECOND / 4)
/* So long nobody else has what one saves for that does not come again, or as long as so many
 * heartbeats take: more than glances have a turn for, and than pass between two looks
 * (trial_glance.c). */
#define PATIENCE (2 * PM_SECOND)
#define PATIENT_HEARTBEATS (6 * 64)
/* Of what a first pair of a trial took, so much is expected of the next trial's. */
#define REMEMBERED 0.875
/* What is put aside at most: the share of so long. */
#define LONGEST_ASIDE (60 * PM_SECOND)
/* The longer of a pair's times counts as so many times the shorter at most: beyond, something else
 * ran. */
#define LONGEST_TIME 5

enum { KNOWN = 4 /* pairs, from which on is known what one takes */ };

void pm_budget_init(struct pm_budget *budget, double share, const int64_t owed[static PM_OWED_BY],
                    int64_t now)
{
    *budget = (struct pm_budget){
        .share = share,
        .allowance = {.per_nanosecond = share,
                      .left = -(double)owed[PM_OWED_IN_TURN],
                      .filled_at = now},
        .owed_over_sessions = owed[PM_OWED_OVER_SESSIONS],
        .begun_at = now,
        .frame = FIRST_FRAME,
        .framed_at = now,
    };
    pthread_mutex_init(&budget->lock, NULL);
}

void pm_budget_finish(struct pm_budget *budget)
{
    pthread_mutex_destroy(&budget->lock);
}

void pm_budget_frames(struct pm_budget *budget, uint32_t frames, int64_t now)
{
    const int64_t frame = (now - budget->framed_at) / (frames > 0 ? frames : 1);
    atomic_store(&budget->frame, frame < LONGEST_FRAME ? frame : LONGEST_FRAME);
    budget->framed_at = now;
}

static void spend(struct pm_budget *budget, int64_t nanoseconds)
{
    budget->allowance.left -= (double)nanoseconds;
    budget->spent += nanoseconds;
}

/* What a pair takes that makes a frame twice as long. */
static int64_t frame_pair(const struct pm_budget *budget)
{
    return atomic_load(&budget->frame) + 2 * USE;
}

/* What a pair is charged. */
static int64_t charge_of(const struct pm_budget *budget, const struct pm_trial_cost *cost)
{
    const int64_t expected = atomic_load(&cost->expected), so_far = atomic_load(&cost->so_far),
                  known = so_far != 0 ? so_far : atomic_load(&budget->first),
                  frame = frame_pair(budget);
    if (expected > 0)
        return expected;
    return known > frame ? known : frame;
}

/* What is kept at most where nobody saves. Under the lock. */
static double most_of(const struct pm_budget *budget)
{
    return fmax(budget->allowance.per_nanosecond * PM_SECOND, (double)frame_pair(budget));
}

/* What a pair took beyond its charge; below 0: the charge was too much, or it saved. odd: of that,
 * beyond what its trial's pairs are known to take. Under the lock. */
static void correct(struct pm_budget *budget, double more, double odd)
{
    struct pm_allowance *allowance = &budget->allowance;
    const double most = most_of(budget), room = allowance->per_nanosecond * LONGEST_ASIDE,
                 paid = odd > 0 ? fmin(odd, budget->aside) : 0;
    budget->spent += (int64_t)more;
    budget->aside -= paid;
    allowance->left -= more - paid;
    if (allowance->left <= most)
        return;
    budget->aside = fmin(budget->aside + allowance->left - most, room);
    allowance->left = most;
}

/* So much came. Who saves for a pair has half of it, once nothing is owed, and what there is no
 * room for. Under the lock. */
static void add(struct pm_budget *budget, double came)
{
    const double left = budget->allowance.left + came, most = most_of(budget),
                 half = fmax(fmin(left, came), 0) / 2,
                 saved = fmin(fmax(budget->wanted - budget->saved, 0), fmax(half, left - most));
    budget->saved += saved;
    budget->allowance.left = fmin(left - saved, most);
}

/* What passed since then, for pairs and for what trials over sessions owe. Under the lock. */
static void fill(struct pm_budget *budget, int64_t now)
{
    const double half = budget->share / 2, passed = (double)(now - budget->allowance.filled_at);
    const int64_t paid = (int64_t)(passed * half), owed = budget->owed_over_sessions;
    budget->allowance.per_nanosecond = owed > 0 ? half : budget->share;
    budget->allowance.filled_at = now;
    add(budget, passed * budget->allowance.per_nanosecond);
    if (owed <= 0 || paid <= 0)
        return;
    budget->owed_over_sessions -= paid < owed ? paid : owed;
    budget->paid_over_sessions += paid < owed ? paid : owed;
}

/* Under the lock. */
static void take_back(struct pm_budget *budget)
{
    spend(budget, -atomic_exchange(&budget->returned, 0));
}

void pm_budget_return(struct pm_budget *budget, int64_t charged)
{
    atomic_fetch_add(&budget->returned, charged);
    atomic_fetch_add(&budget->corrections, 1);
}

static bool rests(const struct pm_budget *budget, const struct pm_trial_cost *cost, int64_t now)
{
    return now < atomic_load_explicit(&cost->rests_until, memory_order_relaxed) &&
           atomic_load_explicit(&cost->corrections, memory_order_relaxed) ==
               atomic_load_explicit(&budget->corrections, memory_order_relaxed);
}

/* Until there could be enough for it, it need not ask. corrections: as many as were heeded. Under
 * the lock. */
static void rest(const struct pm_budget *budget, struct pm_trial_cost *cost, int64_t charge,
                 uint32_t corrections, int64_t now)
{
    const struct pm_allowance *allowance = &budget->allowance;
    const double has = allowance->left + (budget->saver == cost ? budget->saved : 0),
                 lasts = ((double)charge - has) / allowance->per_nanosecond;
    atomic_store_explicit(&cost->corrections, corrections, memory_order_relaxed);
    atomic_store_explicit(&cost->rests_until,
                          now + (int64_t)fmax(fmin(lasts, (double)LONGEST_REST), 0),
                          memory_order_relaxed);
}

/* It saves from here on, unless one does that was refused before it and still comes. What is saved
 * is handed on, and what is too much of that is anybody's. Under the lock. */
static void save(struct pm_budget *budget, struct pm_trial_cost *cost, double needs, int64_t now)
{
    const int64_t heartbeats = PATIENT_HEARTBEATS * atomic_load(&budget->frame),
                  patience = heartbeats > PATIENCE ? heartbeats : PATIENCE;
    if (cost->refused_since == 0)
        cost->refused_since = now;
    if (budget->saver != NULL && budget->saver != cost &&
        budget->saver_since <= cost->refused_since && now - budget->wanted_at <= patience)
        return;
    budget->saver = cost;
    budget->saver_since = cost->refused_since;
    budget->wanted = needs;
    budget->wanted_at = now;
    budget->allowance.left += fmax(budget->saved - needs, 0);
    budget->saved = fmin(budget->saved, needs);
}

/* Whether there is as much, which is spent. Under the lock. */
static bool take(struct pm_budget *budget, struct pm_trial_cost *cost, int64_t charge, int64_t now)
{
    struct pm_allowance *allowance = &budget->allowance;
    const double needs = (double)charge;
    if (allowance->left < needs)
        save(budget, cost, needs, now);
    if (budget->saver == cost && allowance->left + budget->saved >= needs) {
        allowance->left += budget->saved;
        budget->saved = budget->wanted = 0;
        budget->saver = NULL;
    }
    if (allowance->left < needs)
        return false;
    cost->refused_since = 0;
    spend(budget, charge);
    return true;
}

int64_t pm_budget_begin(struct pm_budget *budget, struct pm_trial_cost *cost, int64_t now)
{
    int64_t charged = PM_BUDGET_SPENT;
    if (rests(budget, cost, now))
        return charged;
    if (pthread_mutex_trylock(&budget->lock) != 0)
        return PM_BUDGET_HELD;
    const uint32_t corrections = atomic_load(&budget->corrections);
    const int64_t charge = charge_of(budget, cost);
    take_back(budget);
    fill(budget, now);
    if (budget->share >= 1) {
        charged = charge;
        spend(budget, charge);
    } else if (take(budget, cost, charge, now)) {
        charged = charge;
    } else {
        rest(budget, cost, charge, corrections, now);
    }
    pthread_mutex_unlock(&budget->lock);
    return charged;
}

/* How much longer than before all pairs of the use took, with this one. */
static double longer(struct pm_use_cost *use, const double *time, enum pm_trial_stands stands)
{
    if (use->stands != stands)
        *use = (struct pm_use_cost){.stands = stands};
    use->pairs++;
    for (int i = 0; i < 2; i++)
        use->logs[i] += log(fmin(time[i], LONGEST_TIME * time[1 - i]));
    const double own = exp(use->logs[0] / use->pairs), variant = exp(use->logs[1] / use->pairs);
    const double told = use->told;
    const double more = stands == PM_STANDS_OWN       ? variant - own
                        : stands == PM_STANDS_VARIANT ? own - variant
                                                      : own + variant;
    use->told = use->pairs * more;
    return use->told - told;
}

void pm_budget_settle(struct pm_budget *budget, struct pm_trial_cost *cost, struct pm_use_cost *use,
                      const double time[static 2], enum pm_trial_stands stands, int64_t charged)
{
    const double took = longer(use, time, stands) + 2 * USE, more = took - (double)charged;
    const int64_t usual = atomic_load(&cost->expected);
    double odd = 0;
    if (cost->stands != stands || (usual <= 0 && cost->pairs >= KNOWN)) {
        cost->stands = stands;
        cost->sum = 0;
        cost->pairs = 0;
        atomic_store(&cost->expected, 0);
    }
    if (usual > 0 && cost->pairs >= KNOWN)
        odd = fmin(more, took - (double)usual);
    cost->sum += took;
    cost->pairs++;
    atomic_store(&cost->so_far, (int64_t)(cost->sum / cost->pairs));
    if (cost->pairs == 1)
        atomic_store(&budget->first,
                     (int64_t)fmin(fmax(took, REMEMBERED * (double)atomic_load(&budget->first)),
                                   (double)LONGEST_FRAME));
    if (cost->pairs >= KNOWN)
        atomic_store(&cost->expected, (int64_t)fmax(cost->sum / cost->pairs, 2 * USE));
    pthread_mutex_lock(&budget->lock);
    correct(budget, more, odd);
    atomic_fetch_add(&budget->corrections, 1);
    pthread_mutex_unlock(&budget->lock);
}

void pm_budget_charge_session(struct pm_budget *budget, int64_t nanoseconds, int64_t now)
{
    pthread_mutex_lock(&budget->lock);
    fill(budget, now);
    budget->spent += nanoseconds;
    budget->owed_over_sessions =
        pm_owed_within(PM_OWED_OVER_SESSIONS, budget->owed_over_sessions + nanoseconds);
    budget->of_sessions += nanoseconds;
    budget->any_session = true;
    pthread_mutex_unlock(&budget->lock);
}

int64_t pm_budget_owed(struct pm_budget *budget, int64_t now)
{
    pthread_mutex_lock(&budget->lock);
    take_back(budget);
    fill(budget, now);
    const double left = budget->allowance.left + budget->saved;
    pthread_mutex_unlock(&budget->lock);
    return left < 0 && budget->share < 1 ? (int64_t)-left : 0;
}

double pm_budget_spent(struct pm_budget *budget, int64_t now)
{
    pthread_mutex_lock(&budget->lock);
    take_back(budget);
    const int64_t spent = budget->spent;
    pthread_mutex_unlock(&budget->lock);
    return (double)spent / (double)(now - budget->begun_at + 1);
}

bool pm_budget_owes(struct pm_budget *budget, int64_t now)
{
    pthread_mutex_lock(&budget->lock);
    fill(budget, now);
    const double owed = (double)budget->owed_over_sessions;
    pthread_mutex_unlock(&budget->lock);
    return budget->share < 1 && owed > budget->share * PM_SECOND;
}

struct pm_spent_over_sessions pm_budget_over_sessions(struct pm_budget *budget, int64_t now)
{
    pthread_mutex_lock(&budget->lock);
    fill(budget, now);
    const struct pm_spent_over_sessions spent = {
        .more = budget->of_sessions,
        .paid = budget->paid_over_sessions,
    };
    pthread_mutex_unlock(&budget->lock);
    return spent;
}

bool pm_budget_spent_by_sessions(struct pm_budget *budget, int64_t now, double *share)
{
    pthread_mutex_lock(&budget->lock);
    const bool any = budget->any_session;
    *share = (double)budget->of_sessions / (double)(now - budget->begun_at + 1);
    pthread_mutex_unlock(&budget->lock);
    return any;
}
