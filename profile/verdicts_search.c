/* Which of an original's variants is made at once, by what is kept of them. verdicts.h. */
#include "profile/verdicts_private.h"

/* What is looked for of an original. */
struct search {
    const struct pm_shader_key *original;
    const struct pm_environment *environment;
    uint64_t options;
    int64_t now;
    uint32_t least;                      /* sessions, for one to be sure */
    const struct pm_signed_verdicts *by; /* NULL but for what is signed */
    const struct pm_environment *by_environment;
};

/* Whether a variant that can be made again is of those that are looked for. */
static bool is_faster(const struct pm_kept_variant *kept, const struct search *search)
{
    return pm_kept_verdict(kept, search->now) == PM_VERDICT_FASTER;
}

static bool is_wanted(const struct pm_kept_variant *kept, const struct search *search)
{
    return kept->sessions.wanted && pm_kept_verdict(kept, search->now) == PM_VERDICT_NONE;
}

static bool is_signed(const struct pm_kept_variant *kept, const struct search *search)
{
    if (pm_kept_verdict(kept, search->now) != PM_VERDICT_NONE)
        return false;
    const struct pm_signed_verdict *verdict = pm_signed_verdicts_find(
        search->by, &kept->key, search->by_environment, (uint64_t)search->now);
    return verdict && verdict->faster;
}

static bool is_better(const struct pm_kept_variant *kept, const struct pm_kept_variant *than,
                      const struct search *search)
{
    const bool sure = pm_kept_is_sure(kept, search->least);
    if (sure != pm_kept_is_sure(than, search->least))
        return sure;
    return kept->decided_at > than->decided_at ||
           (kept->decided_at == than->decided_at && kept->used_at > than->used_at);
}

static bool find_of_original(struct pm_verdicts *verdicts, const struct search *search,
                             bool (*is_it)(const struct pm_kept_variant *kept,
                                           const struct search *search),
                             struct pm_kept_variant *kept)
{
    const struct pm_kept_variant *best = NULL;
    if (!verdicts)
        return false;
    pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 0; i < verdicts->table.count; i++) {
        const struct pm_kept_variant *other = &verdicts->table.variants[i];
        if (pm_shader_key_equal(&other->original, search->original) &&
            pm_kept_same_environment(&other->environment, search->environment) &&
            other->made.count > 0 && other->made.options == search->options &&
            is_it(other, search) && (!best || is_better(other, best, search)))
            best = other;
    }
    if (best)
        *kept = *best;
    pthread_mutex_unlock(&verdicts->lock);
    return best != NULL;
}

bool pm_verdicts_find_faster(struct pm_verdicts *verdicts, const struct pm_shader_key *original,
                             const struct pm_environment *environment, uint64_t options,
                             int64_t now, uint32_t least, struct pm_kept_variant *kept)
{
    const struct search search = {original, environment, options, now, least, NULL, NULL};
    return find_of_original(verdicts, &search, is_faster, kept);
}

bool pm_verdicts_find_session(struct pm_verdicts *verdicts, const struct pm_shader_key *original,
                              const struct pm_environment *environment, uint64_t options,
                              int64_t now, struct pm_kept_variant *kept)
{
    const struct search search = {original, environment, options, now, 1, NULL, NULL};
    return find_of_original(verdicts, &search, is_wanted, kept);
}

bool pm_verdicts_find_signed(struct pm_verdicts *verdicts, const struct pm_signed_verdicts *by,
                             const struct pm_environment *by_environment,
                             const struct pm_shader_key *original,
                             const struct pm_environment *environment, uint64_t options,
                             int64_t now, struct pm_kept_variant *kept)
{
    const struct search search = {original, environment, options, now, 1, by, by_environment};
    return by->count > 0 && find_of_original(verdicts, &search, is_signed, kept);
}

/* Whatever the subgroup size. */
static bool can_be_made(const struct pm_kept_variant *kept,
                        const struct pm_environment *environment)
{
    struct pm_environment same = kept->environment;
    same.subgroup_size = environment->subgroup_size;
    return kept->made.count > 0 && pm_kept_same_environment(&same, environment);
}

void pm_verdicts_each_session(struct pm_verdicts *verdicts,
                              const struct pm_environment *environment, int64_t now,
                              void (*each)(void *user, const struct pm_kept_variant *kept),
                              void *user)
{
    const struct search search = {.now = now};
    if (!verdicts)
        return;
    pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 0; i < verdicts->table.count; i++) {
        const struct pm_kept_variant *kept = &verdicts->table.variants[i];
        if (is_wanted(kept, &search) && can_be_made(kept, environment))
            each(user, kept);
    }
    pthread_mutex_unlock(&verdicts->lock);
}

bool pm_verdicts_any_at_once(struct pm_verdicts *verdicts, const struct pm_environment *environment)
{
    bool any = false;
    if (!verdicts)
        return false;
    pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 0; !any && i < verdicts->table.count; i++) {
        const struct pm_kept_variant *kept = &verdicts->table.variants[i];
        any = (kept->verdict == PM_VERDICT_FASTER || kept->sessions.wanted) &&
              can_be_made(kept, environment);
    }
    pthread_mutex_unlock(&verdicts->lock);
    return any;
}

struct pm_at_once_sum pm_verdicts_sum_at_once(struct pm_verdicts *verdicts,
                                              const struct pm_environment *environment, int64_t now,
                                              uint32_t least)
{
    struct pm_at_once_sum sum = {0};
    if (!verdicts)
        return sum;
    pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 0; i < verdicts->table.count; i++) {
        const struct pm_kept_variant *kept = &verdicts->table.variants[i];
        if (pm_kept_verdict(kept, now) != PM_VERDICT_FASTER || !pm_kept_is_sure(kept, least) ||
            (kept->made.by & PM_MADE_OVER) || !can_be_made(kept, environment))
            continue;
        sum.took += (double)kept->made.took;
        sum.gain += 1 - kept->ratio;
    }
    pthread_mutex_unlock(&verdicts->lock);
    return sum;
}

bool pm_kept_is_worth(const struct pm_kept_variant *kept, const struct pm_at_once_sum *all,
                      double time)
{
    return all->took <= time ||
           (1 - kept->ratio) * all->took >= all->gain * (double)kept->made.took;
}
