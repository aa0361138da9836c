/* What trials say of a contest's variants: on the poller's thread, and the game's. */
#include "layer/shader/optimize_contest_private.h"

static void say_due(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    atomic_store(&contest->due, true);
    atomic_store(&optimizer->contest_due, true);
    optimizer->wake(optimizer);
}

void pm_contest_measured(struct pm_candidate *candidate, const struct pm_anytime *seen)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    struct pm_contest *contest = optimized->contest;
    struct pm_candidate *offered = candidate;
    atomic_compare_exchange_strong(pm_optimizer_candidate_place(optimized), &offered, NULL);
    if (atomic_load(&contest->has_result))
        return;
    contest->result_of = optimized->arm;
    contest->result = *seen;
    atomic_store(&contest->has_result, true);
    say_due(optimized->pipeline->device->optimizer, contest);
}

/* The outcome of what won, when it was tried anew. What is found faster later won, too. */
static void end_confirmation(const struct pm_optimized *optimized, bool faster)
{
    struct pm_contest *contest = optimized->contest;
    uint32_t state = PM_CONTEST_CONFIRM;
    if (atomic_compare_exchange_strong(&contest->state, &state,
                                       faster ? PM_CONTEST_WON : PM_CONTEST_OVER)) {
        say_due(optimized->pipeline->device->optimizer, contest);
        return;
    }
    state = PM_CONTEST_OVER;
    /* The contest has let go of the pipeline. What destroys it waits for the trials' lock, at most,
     * until this is over. */
    if (faster && atomic_compare_exchange_strong(&contest->state, &state, PM_CONTEST_WON) &&
        pm_pipeline_try_reference(optimized->pipeline)) {
        atomic_store(&contest->won_late, optimized->pipeline);
        say_due(optimized->pipeline->device->optimizer, contest);
    }
}

/* Whether it is the pipeline's variant. An outcome of any other arm is none. */
static bool is_chosen(const struct pm_optimized *optimized)
{
    return atomic_load(pm_optimizer_place(optimized)) == optimized;
}

/* The winner was tried anew, or again. */
static const char *confirmed(struct pm_candidate *candidate, bool faster)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    if (!is_chosen(optimized))
        return NULL;
    const char *said = pm_optimizer_decide(candidate, faster);
    end_confirmation(optimized, faster);
    return said;
}

/* It cannot be told from the original: the contest is over, though its trial goes on later. */
static void unconfirmed(struct pm_candidate *candidate)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    if (is_chosen(optimized))
        end_confirmation(optimized, false);
}

/* What draws with it is not drawn any more, for now. The next heartbeat queues the job. Of what was
 * retired that says nothing. */
static void idles(struct pm_candidate *candidate)
{
    const struct pm_optimized *optimized = (const struct pm_optimized *)candidate;
    struct pm_optimizer *optimizer = optimized->pipeline->device->optimizer;
    if (atomic_load(&candidate->dropped))
        return;
    atomic_store(&optimized->contest->idle, true);
    atomic_store(&optimized->contest->due, true);
    atomic_store(&optimizer->contest_due, true);
    atomic_store(&optimizer->due, true);
}

void pm_optimizer_leave_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    struct pm_contest *contest = atomic_load(&pipeline->contest);
    if (contest)
        say_due(optimizer, contest);
}

void pm_contest_hear(struct pm_candidate *candidate)
{
    candidate->verdict = confirmed;
    candidate->undecided = unconfirmed;
    candidate->idle = idles;
}
