#include "layer/trial/verdict.h"

#include "layer/core/session.h"
#include <math.h>
#include <time.h>

/* An interval of so many pairs is made twice as wide, that of twice as many one and a half times.
 */
#define EARLY_PAIRS 8.0
/* Below this the interval must lie. A call that gains less is not worth a variant; a whole render
 * pass instance gains less than the shader does. */
#define LIMIT_CALL 0.99
#define LIMIT_PASS 1.0
/* An interval's upper end over its lower one. Beyond the one, something else decides what was
 * measured, and no outcome is taken from it; below the other, more pairs would tell nothing that
 * matters. */
#define WIDEST 1.25
#define NARROWEST 1.025

/* Of so few pairs so many may say otherwise than their outcome. */
enum { FEW_PAIRS = 16, OTHERWISE = 2 };

static enum pm_outcome outcome_of(const struct pm_paired *paired, uint32_t count, uint32_t most,
                                  bool whole)
{
    const double limit = whole ? LIMIT_PASS : LIMIT_CALL;
    const double width = paired->high / paired->low;
    if (width <= WIDEST && paired->high < limit)
        return PM_FASTER;
    if (width <= WIDEST && paired->low > limit)
        return PM_SLOWER;
    return width < NARROWEST || count >= most ? PM_UNDECIDED : PM_GOES_ON;
}

/* Whether the pairs' lots alone would hardly have it that nearly all of them say the same: one time
 * in a hundred. Where what there is to do changes from use to use more than the variant changes it,
 * and nobody knows, an interval of few says too much: what differs in it is trimmed away. */
static bool is_more_than_luck(const double *ratios, uint32_t count, enum pm_outcome outcome)
{
    if (count > FEW_PAIRS || (outcome != PM_FASTER && outcome != PM_SLOWER))
        return true;
    uint32_t otherwise = 0;
    for (uint32_t i = 0; i < count; i++)
        otherwise += outcome == PM_FASTER ? ratios[i] >= 0 : ratios[i] <= 0;
    return otherwise <= (count < FEW_PAIRS ? 0 : OTHERWISE);
}

enum pm_outcome pm_trial_judge(double *ratios, uint32_t count, uint32_t most, bool whole,
                               struct pm_paired *paired)
{
    if (count < PM_LEAST_PAIRS || (count & (count - 1)) != 0)
        return PM_GOES_ON;
    *paired = pm_paired_interval(ratios, count, PM_TRIAL_TRIM);
    /* Whoever looks often finds a gain by chance: the earlier, the more is asked for. */
    const double wider = 1 + EARLY_PAIRS / count;
    paired->low = paired->ratio * pow(paired->low / paired->ratio, wider);
    paired->high = paired->ratio * pow(paired->high / paired->ratio, wider);
    const enum pm_outcome outcome = outcome_of(paired, count, most, whole);
    return is_more_than_luck(ratios, count, outcome) ? outcome : PM_GOES_ON;
}

uint32_t pm_trial_pairs_wanted(double *ratios, uint32_t count, uint32_t most, bool whole)
{
    if (count < 2)
        return PM_LEAST_PAIRS;
    const struct pm_paired now = pm_paired_interval(ratios, count, PM_TRIAL_TRIM);
    const double narrower = sqrt((double)count);
    uint32_t pairs = PM_LEAST_PAIRS;
    while (pairs < most && pairs <= count)
        pairs *= 2;
    for (; pairs < most; pairs *= 2) {
        /* An interval narrows as the square root of the pairs. */
        const double share = (1 + EARLY_PAIRS / pairs) * narrower / sqrt((double)pairs);
        const struct pm_paired then = {.ratio = now.ratio,
                                       .low = now.ratio * pow(now.low / now.ratio, share),
                                       .high = now.ratio * pow(now.high / now.ratio, share)};
        if (outcome_of(&then, pairs, most, whole) != PM_GOES_ON)
            break;
    }
    return pairs;
}

void pm_trial_keep(const struct pm_device *device, const struct pm_kept_variant *named,
                   enum pm_timed_kind kind, enum pm_outcome outcome, const struct pm_paired *paired,
                   uint32_t pairs)
{
    static const enum pm_verdict verdicts[] = {[PM_FASTER] = PM_VERDICT_FASTER,
                                               [PM_SLOWER] = PM_VERDICT_SLOWER,
                                               [PM_UNDECIDED] = PM_VERDICT_UNDECIDED};
    struct pm_verdicts *kept = pm_session_verdicts(device->instance);
    const int64_t now = time(NULL);
    const struct pm_kept_variant variant = {
        .key = named->key,
        .original = named->original,
        .environment = pm_session_environment(device, &named->environment),
        .used_at = now,
        .verdict = verdicts[outcome],
        .kind = kind,
        .ratio = paired->ratio,
        .low = paired->low,
        .high = paired->high,
        .pairs = pairs,
        .decided_at = now,
    };
    struct pm_error error = {0};
    if (kind == PM_TIMED_SESSIONS)
        pm_verdicts_put(kept, &variant);
    else
        pm_verdicts_put_trial(kept, &variant);
    if (!pm_verdicts_save(kept, &error))
        pm_log_info(device->instance->log, "a verdict is not kept: %s", error.message);
}
