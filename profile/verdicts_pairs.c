#include "profile/verdicts_pairs.h"

bool pm_session_half_waits(const struct pm_session_half *half, int64_t now)
{
    return half->there && now - half->at >= -PM_KEPT_DAY &&
           now - half->at < PM_DAYS_HALF * PM_KEPT_DAY;
}

/* The sum of the times of uses of that work, and their count; 0: there are none, or one was not
 * timed. */
static unsigned sum_of(const struct pm_session_half *half, uint64_t work, double *sum)
{
    unsigned count = 0;
    *sum = 0;
    for (int i = 0; i < PM_SESSION_USES; i++) {
        if (half->work[i] != work || (work == 0 && half->nanoseconds[i] == 0))
            continue;
        if (half->nanoseconds[i] == 0)
            return 0;
        *sum += (double)half->nanoseconds[i];
        count++;
    }
    return count;
}

static bool is_first_of_work(const struct pm_session_half *half, int use)
{
    int i = 0;
    while (half->work[i] != half->work[use])
        i++;
    return i == use;
}

/* Of uses that do not differ in their work nobody knows which of the other session is the same one,
 * so all are compared with all, and where one is missing none is. */
double pm_session_ratio(const struct pm_session_half *a, const struct pm_session_half *b)
{
    double all_ours = 0, all_others = 0;
    for (int i = 0; i < PM_SESSION_USES; i++) {
        double ours, others;
        if (!is_first_of_work(a, i))
            continue;
        const unsigned uses = sum_of(a, a->work[i], &ours);
        if (uses == 0 || sum_of(b, a->work[i], &others) != uses)
            continue;
        all_ours += ours;
        all_others += others;
    }
    if (all_others <= 0)
        return 0;
    return a->variant ? all_ours / all_others : all_others / all_ours;
}

bool pm_kept_pair_up(struct pm_kept_variant *kept, const struct pm_session_half *half)
{
    struct pm_session_half *other = &kept->sessions.half;
    const bool waits = pm_session_half_waits(other, half->at) && other->variant != half->variant;
    const double ratio = waits ? pm_session_ratio(half, other) : 0;
    kept->used_at = half->at;
    if (!half->variant)
        kept->sessions.own = *half;
    if (ratio <= 0 || kept->sessions.count == PM_SESSION_PAIRS) {
        const uint32_t unlike = other->unlike + (waits && other->unlike < UINT32_MAX);
        *other = *half;
        other->unlike = unlike;
        return false;
    }
    *other = (struct pm_session_half){.there = false};
    kept->sessions.ratios[kept->sessions.count++] = pm_kept_millionths(ratio);
    return true;
}
