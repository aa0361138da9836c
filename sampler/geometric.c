#include "sampler/sampler.h"

#include <math.h>

uint64_t pm_geometric(struct pm_random *random, double p)
{
    if (!(p > 0.0))
        return PM_NEVER;
    if (p >= 1.0)
        return 1;
    /* P(k > n) = (1 - p)^n, inverted. 1 - u is in (0, 1] and exact; log1p keeps a p that 1 - p
     * would round away. */
    double trials = floor(log1p(-pm_random_unit(random)) / log1p(-p));
    if (!(trials < 0x1p64 - 4096.0))
        return PM_NEVER;
    return 1 + (uint64_t)trials;
}

void pm_call_sampler_begin(struct pm_call_sampler *sampler, struct pm_random *random, double p)
{
    sampler->countdown = pm_geometric(random, p);
}
