#include "profile/verdicts_tried.h"

#include "base/paired.h"
#include <math.h>
#include <string.h>

/* The interval of what their trials found. */
static struct pm_paired interval_of(const struct pm_kept_variant *kept)
{
    double ratios[PM_SESSIONS_TRIED];
    for (uint32_t i = 0; i < kept->tried.count; i++)
        ratios[i] = log(kept->tried.ratios[i] * 1e-6);
    return pm_paired_interval(ratios, kept->tried.count, 0);
}

bool pm_kept_is_sure(const struct pm_kept_variant *kept, uint32_t least)
{
    return kept->kind == PM_TIMED_SESSIONS || least <= 1 ||
           (kept->tried.count >= least && interval_of(kept).high < 1);
}

/* Of too many sessions the oldest goes. One that tries it again has its newest. */
static void add_trial(struct pm_kept_variant *kept, uint64_t session)
{
    uint32_t *ratios = kept->tried.ratios;
    if (kept->tried.count > 0 && kept->tried.last == session)
        kept->tried.count--;
    if (kept->tried.count == PM_SESSIONS_TRIED)
        memmove(ratios, ratios + 1, --kept->tried.count * sizeof *ratios);
    ratios[kept->tried.count++] = pm_kept_millionths(kept->ratio);
    kept->tried.last = session;
}

/* Of a variant that is not slower: what all sessions say. */
static enum pm_verdict verdict_over_sessions(const struct pm_kept_variant *kept)
{
    const struct pm_paired all = interval_of(kept);
    return kept->tried.count == 1                                   ? kept->verdict
           : all.high < 1                                           ? PM_VERDICT_FASTER
           : all.ratio < 1 && kept->tried.count < PM_SESSIONS_TRIED ? PM_VERDICT_FASTER
                                                                    : PM_VERDICT_UNDECIDED;
}

void pm_kept_count_trial(struct pm_kept_variant *kept, const struct pm_kept_variant *old,
                         uint64_t session)
{
    kept->tried.count = 0;
    if (kept->verdict == PM_VERDICT_SLOWER)
        return;
    if (old && old->kind == kept->kind && pm_kept_verdict(old, kept->decided_at) != PM_VERDICT_NONE)
        kept->tried = old->tried;
    add_trial(kept, session);
    kept->verdict = verdict_over_sessions(kept);
}
