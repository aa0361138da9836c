#include "profile/kept_variant.h"

#include <math.h>

#define MOST_RATIO 999.0

enum pm_verdict pm_kept_verdict(const struct pm_kept_variant *kept, int64_t now)
{
    static const int64_t days[] = {[PM_VERDICT_FASTER] = PM_DAYS_FASTER,
                                   [PM_VERDICT_SLOWER] = PM_DAYS_SLOWER,
                                   [PM_VERDICT_UNDECIDED] = PM_DAYS_UNDECIDED};
    const int64_t age = now - kept->decided_at;
    return kept->verdict != PM_VERDICT_NONE && age >= -PM_KEPT_DAY &&
                   age < days[kept->verdict] * PM_KEPT_DAY
               ? kept->verdict
               : PM_VERDICT_NONE;
}

uint32_t pm_kept_millionths(double ratio)
{
    const double most = ratio < MOST_RATIO ? ratio : MOST_RATIO;
    return most * PM_KEPT_PER_RATIO > 1 ? (uint32_t)lround(most * PM_KEPT_PER_RATIO) : 1;
}

bool pm_kept_same_environment(const struct pm_environment *a, const struct pm_environment *b)
{
    return a->subgroup_size == b->subgroup_size && a->vendor_id == b->vendor_id &&
           a->device_id == b->device_id && a->driver_id == b->driver_id &&
           a->driver_version == b->driver_version;
}
