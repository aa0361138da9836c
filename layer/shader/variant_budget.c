#include "layer/shader/variant_budget.h"

#include "base/clock.h"

/* What each need leaves of the bucket, in quarters, and of what may live. A batch's further
 * variants add little to what one tells, and engines have dozens of pipelines a shader. */
static const uint8_t leaves_tokens[PM_NEEDS] = {
    [PM_NEED_SHADER] = 0, [PM_NEED_BATCH] = 1, [PM_NEED_MORE] = 3};
static const uint8_t leaves_living[PM_NEEDS] = {
    [PM_NEED_SHADER] = 0, [PM_NEED_BATCH] = 1, [PM_NEED_MORE] = 2};

void pm_variant_budget_init(struct pm_variant_budget *budget, uint32_t limit, uint32_t per_minute,
                            int64_t now)
{
    *budget = (struct pm_variant_budget){
        .limit = limit,
        .per_nanosecond = per_minute / (60.0 * PM_SECOND),
        .tokens = limit,
        .filled_at = now,
    };
    pthread_mutex_init(&budget->lock, NULL);
}

void pm_variant_budget_finish(struct pm_variant_budget *budget)
{
    pthread_mutex_destroy(&budget->lock);
}

/* Under the lock. */
static void fill(struct pm_variant_budget *budget, int64_t now)
{
    if (now > budget->filled_at)
        budget->tokens += (double)(now - budget->filled_at) * budget->per_nanosecond;
    if (budget->tokens > budget->limit)
        budget->tokens = budget->limit;
    budget->filled_at = now;
}

/* Under the lock. */
static enum pm_budget_answer answer(struct pm_variant_budget *budget, enum pm_need need,
                                    int64_t now)
{
    const uint32_t quarters_tokens = budget->first_come ? 0 : leaves_tokens[need];
    const uint32_t quarters_living = budget->first_come ? 0 : leaves_living[need];
    fill(budget, now);
    if (budget->tokens < 1 + (double)budget->limit * quarters_tokens / 4)
        return PM_BUDGET_LATER;
    return !budget->counters_full &&
                   budget->living + (uint64_t)budget->limit * quarters_living / 4 < budget->limit
               ? PM_BUDGET_YES
               : PM_BUDGET_FULL;
}

enum pm_budget_answer pm_variant_budget_ask(struct pm_variant_budget *budget, enum pm_need need,
                                            int64_t now)
{
    if (pthread_mutex_trylock(&budget->lock) != 0)
        return PM_BUDGET_LATER;
    const enum pm_budget_answer found = answer(budget, need, now);
    pthread_mutex_unlock(&budget->lock);
    return found;
}

enum pm_budget_answer pm_variant_budget_take(struct pm_variant_budget *budget, enum pm_need need,
                                             int64_t now)
{
    pthread_mutex_lock(&budget->lock);
    const enum pm_budget_answer found = answer(budget, need, now);
    if (found == PM_BUDGET_YES) {
        budget->tokens -= 1;
        budget->living++;
    }
    pthread_mutex_unlock(&budget->lock);
    return found;
}

/* Of the whole, in parts of it, from which on down the chance of each need falls. One a shader is
 * what tells of it, so a level's first ones are to have theirs; others stand for each other. */
static const uint8_t falls_below[PM_NEEDS] = {
    [PM_NEED_SHADER] = 4, [PM_NEED_BATCH] = 2, [PM_NEED_MORE] = 2};

double pm_variant_budget_chance(struct pm_variant_budget *budget, enum pm_need need,
                                uint32_t staying, int64_t now)
{
    const double left = (double)budget->limit * leaves_tokens[need] / 4;
    pthread_mutex_lock(&budget->lock);
    fill(budget, now);
    const uint32_t room = budget->limit > staying ? budget->limit - staying : 0;
    const double there = budget->counters_full ? 0 : budget->tokens < room ? budget->tokens : room;
    pthread_mutex_unlock(&budget->lock);
    if (there < 1 + left)
        return 0;
    const double share = falls_below[need] * there / budget->limit;
    return share < 1 ? share * share : 1;
}

void pm_variant_budget_refund(struct pm_variant_budget *budget)
{
    pthread_mutex_lock(&budget->lock);
    budget->tokens += 1;
    budget->living--;
    pthread_mutex_unlock(&budget->lock);
}

bool pm_variant_budget_no_counters(struct pm_variant_budget *budget)
{
    pthread_mutex_lock(&budget->lock);
    budget->counters_full = budget->living > 0;
    const bool others = budget->counters_full;
    pthread_mutex_unlock(&budget->lock);
    return others;
}

bool pm_variant_budget_may_replace(const struct pm_variant_budget *budget)
{
    return budget->tokens >= 1;
}

void pm_variant_budget_replace(struct pm_variant_budget *budget)
{
    budget->tokens -= 1;
    budget->living++;
}

void pm_variant_budget_release(struct pm_variant_budget *budget)
{
    pthread_mutex_lock(&budget->lock);
    budget->living--;
    budget->counters_full = false;
    pthread_mutex_unlock(&budget->lock);
}
